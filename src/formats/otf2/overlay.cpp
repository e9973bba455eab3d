// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/overlay.hpp"

#include <utility>

#include "base/executor.hpp"
#include "base/try.hpp"
#include "formats/otf2/format/definition_file.hpp"
#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

Overlay::Overlay(Overlay&& other) noexcept
    : original_(std::exchange(other.original_, nullptr)),
      written_(std::move(other.written_)),
      kept_(std::move(other.kept_)) {}

Overlay::~Overlay() {
  if (original_ == nullptr) return;
  for (std::size_t l = 0; l < kept_.size(); ++l) {
    if (!kept_[l]) continue;
    trace::LocationSkeleton& skeleton = original_->trace.locations[l];
    skeleton = std::move(written_.trace.locations[l]);
    skeleton.clock_offsets = std::move(kept_[l]->clock_offsets);
    skeleton.definition_file_missing = kept_[l]->definition_file_missing;
  }
}

Result<Overlay> Overlay::open(trace::Workers& workers, std::span<const std::filesystem::path> paths,
                              trace::LoadedTrace& original) {
  Team& processes = workers.processes();
  Overlay overlay(original);
  trace::LoadedTrace& written = overlay.written_;
  TRY_ASSIGN(written.reader, agree(processes, Archives::open(paths)));
  written.trace.path = written.reader->path();
  written.trace.definitions = written.reader->definitions();
  written.partition = original.partition;
  const std::vector<LocationIndex> own = original.own(processes);
  written.trace.locations.resize(written.trace.definitions.locations.size());
  overlay.kept_.resize(written.trace.locations.size());
  TRY(processes.agree(parallel_for(workers.threads(), own.size(),
                                   [&](std::size_t i) { return overlay.borrow(own[i]); })));
  return overlay;
}

Result<void> Overlay::borrow(LocationIndex l) {
  const Archive& from = archive_of(*original_, l);
  const Archive& to = archive_of(written_, l);
  trace::LocationSkeleton& skeleton = written_.trace.locations[l];
  skeleton = std::move(original_->trace.locations[l]);
  kept_[l] = {.clock_offsets = skeleton.clock_offsets,
              .definition_file_missing = skeleton.definition_file_missing};
  TRY_ASSIGN(const bool adopted, adopt_skeleton(from, to, l, skeleton));
  if (adopted) return {};
  skeleton = {};  // before the scan: both at once are twice the memory
  TRY_ASSIGN(skeleton, to.scan(l));
  return {};
}

Result<bool> adopt_skeleton(const Archive& original, const Archive& overlay, LocationIndex location,
                            trace::LocationSkeleton& skeleton) {
  const FileStamp events = original.stamp(location, LocationFile::events);
  if (!leads_to(overlay.event_file(location), events) &&
      (events.named || overlay.has(location, LocationFile::events))) {
    return false;
  }
  if (original.anchor().event_chunk_size != overlay.anchor().event_chunk_size) return false;
  const std::filesystem::path path = overlay.definition_file(location);
  TRY_ASSIGN(const auto before, original.local_file(location));
  TRY_ASSIGN(const auto after,
             read_definition_file_if_any(path, overlay.anchor().definition_chunk_size));
  const DefinitionFile none;
  if (!same_records(before ? *before : none, after ? *after : none, def::local_clock_offset)) {
    return false;
  }
  TRY_ASSIGN(LocalDefinitions local, local_definitions_of(after ? *after : none, path));
  skeleton.clock_offsets = std::move(local.clock_offsets);
  skeleton.definition_file_missing = !after;
  return true;
}

}  // namespace entrain::otf2
