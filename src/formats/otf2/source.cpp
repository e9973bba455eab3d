// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/source.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "clocks/samples.hpp"
#include "formats/given_trace.hpp"
#include "formats/otf2/load.hpp"
#include "formats/otf2/moved_times.hpp"
#include "match/graph.hpp"
#include "trace/event.hpp"
#include "trace/properties.hpp"

namespace entrain::otf2 {

namespace fs = std::filesystem;

namespace {

using trace::EventKind;

/// Names of records in the order of EventKind.
constexpr std::array k_record_names{"MpiSend",
                                    "MpiIsend",
                                    "MpiRecv",
                                    "MpiIrecvRequest",
                                    "MpiIrecv",
                                    "MpiRequestCancelled",
                                    "MpiCollectiveBegin",
                                    "MpiCollectiveEnd",
                                    "NonBlockingCollectiveRequest",
                                    "NonBlockingCollectiveComplete",
                                    "MPI_Init enter",
                                    "MPI_Init leave",
                                    "MPI_Finalize enter",
                                    "MPI_Finalize leave",
                                    "neighbourhood collective enter",
                                    "neighbourhood collective leave",
                                    "ThreadFork",
                                    "ThreadJoin",
                                    "ThreadTeamBegin",
                                    "ThreadTeamEnd",
                                    "ThreadCreate",
                                    "ThreadBegin",
                                    "ThreadWait",
                                    "ThreadEnd",
                                    "lock acquire",
                                    "lock release",
                                    "thread barrier enter",
                                    "thread barrier leave",
                                    "ThreadTaskCreate",
                                    "ThreadTaskSwitch",
                                    "kernel launch",
                                    "kernel begin",
                                    "kernel end",
                                    "wait for a stream",
                                    "end of an edge",
                                    "RmaCollectiveBegin",
                                    "RmaCollectiveEnd",
                                    "RmaGroupSync",
                                    "RmaSync",
                                    "Rma locks"};
static_assert(k_record_names.size() == static_cast<std::size_t>(EventKind::rma_lock) + 1);

/// Counts of what the skeletons of all locations hold.
class Summary {
 public:
  explicit Summary(ArchiveInfo& info) : info_(info) {}

  void add(const trace::LocationSkeleton& location) {
    info_.events += location.event_count;
    info_.communication_events += location.events.size();
    info_.empty_locations += location.event_count == 0 ? 1 : 0;
    info_.clock_offset_records += location.clock_offsets.size();
    info_.locations_with_clock_offsets += location.clock_offsets.empty() ? 0 : 1;
    if (location.event_count > 0) {
      info_.first_ticks = any_ ? std::min(info_.first_ticks, location.first) : location.first;
      info_.last_ticks = std::max(info_.last_ticks, location.last);
      any_ = true;
    }
    for (const trace::Event& event : location.events) {
      ++records_[event.kind];
      if (event.kind == EventKind::collective_end || event.kind == EventKind::nb_complete) {
        ++operations_[event.op];
      }
    }
    anomaly("truncated_event_files", location.truncated ? 1 : 0);
    anomaly("missing_event_files", location.event_file_missing ? 1 : 0);
    anomaly("missing_definition_files", location.definition_file_missing ? 1 : 0);
    anomaly("unknown_records", location.unknown_records);
    anomaly("undefined_references", location.undefined_references);
    anomaly("locations_with_decreasing_time", location.decreasing.empty() ? 0 : 1);
  }

  void finish() {
    for (const auto& [kind, n] : records_) {
      info_.communication.emplace_back(k_record_names[static_cast<std::size_t>(kind)], n);
    }
    for (const auto& [code, n] : operations_) {
      info_.collectives.emplace_back(trace::operation_name(code), n);
    }
    for (const auto& [name, n] : anomalies_) info_.anomalies.emplace_back(name, n);
  }

 private:
  void anomaly(const char* name, std::uint64_t n) {
    if (n > 0) anomalies_[name] += n;
  }
  ArchiveInfo& info_;
  bool any_ = false;
  std::map<EventKind, std::uint64_t> records_;
  std::map<std::uint8_t, std::uint64_t> operations_;
  std::map<std::string, std::uint64_t> anomalies_;
};

std::uint64_t distinct(const std::vector<std::uint32_t>& numbers) {
  return std::set<std::uint32_t>(numbers.begin(), numbers.end()).size();
}

/// The contents of an archive that was loaded as a whole, without the size of its event files.
ArchiveInfo describe(const trace::LoadedTrace& loaded) {
  const trace::Definitions& definitions = loaded.trace.definitions;
  const Anchor& anchor = archive_of(loaded).anchor();
  ArchiveInfo info;
  info.archive = loaded.trace.path;
  info.machine = anchor.machine;
  info.creator = anchor.creator;
  info.description = anchor.description;
  info.trace_format = anchor.trace_format;
  info.locations = definitions.locations.size();
  info.processes = distinct(definitions.process_of);
  info.nodes = distinct(definitions.node_of);
  info.resolution_hz = definitions.clock.resolution_hz;
  info.global_offset_ticks = definitions.clock.global_offset;
  info.length_ticks = definitions.clock.length;
  for (const trace::Property& property : definitions.properties) {
    info.properties.emplace_back(property.name, property.value);
  }
  info.completeness = trace::completeness_of(definitions);
  Summary summary(info);
  for (const auto& location : loaded.trace.locations) summary.add(location);
  summary.finish();
  return info;
}

/// Files of the archive itself, measurements of clocks, which hold for the old times only, and
/// hidden files.
bool stays_behind(const std::string& name, const std::string& archive) {
  return name.starts_with('.') || name.starts_with(archive + ".") ||
         (name.starts_with("clock_") && name.ends_with(".csv"));
}

Result<void> copy_to(const fs::path& from, const fs::path& to) {
  return file_exists(to) ? Result<void>() : duplicate_file(from, to);
}

/// Copies into a new archive's folder the files that stand beside the archive with this anchor,
/// such as scorep.cfg and profile.cubex, so that the folder is an experiment, too. Links and
/// folders stay behind. Errors: ErrorKind::output.
Result<void> keep_beside(const fs::path& anchor, const fs::path& folder) {
  const std::string archive = anchor.stem().string();
  std::error_code error;
  for (fs::directory_iterator it(anchor.parent_path(), error), end; !error && it != end;
       it.increment(error)) {
    std::error_code unknown;
    const bool is_file = it->is_regular_file(unknown) && !it->is_symlink(unknown);
    if (!is_file || stays_behind(it->path().filename().string(), archive)) continue;
    TRY(copy_to(it->path(), folder / it->path().filename()));
  }
  return {};
}

/// Markers and the span of sessions move with the clocks.
Result<void> move_along(const formats::WritePlan& plan, const trace::Share& share,
                        WritePlan& result) {
  // A location that was left alone keeps the times that a reader sees, also inside a flush.
  for (LocationIndex l = 0; l < plan.maps.size(); ++l) {
    result.split_flushes.push_back(plan.maps[l] != plan.measured[l]);
  }
  const CorrectedTimes times{.share = share, .measured = plan.measured, .corrected = plan.maps};
  std::vector<MarkerTime> markers;
  for (const auto& archive : archives_of(plan.loaded).all()) {
    TRY_ASSIGN(const auto own, agree(share.team, read_marker_times(*archive)));
    markers.insert(markers.end(), own.begin(), own.end());
  }
  result.marker_times = move_markers(times, markers);
  if (const auto span = corrected_session_span(times)) {
    result.properties.push_back({trace::k_property_session_span, trace::to_property(*span)});
  }
  return {};
}

class ArchiveSource : public formats::Source {
 public:
  explicit ArchiveSource(std::vector<fs::path> paths)
      : paths_(std::move(paths)), path_(formats::shown_name(paths_)) {
    const std::size_t archives = anchors_of(paths_).size();
    if (archives < 2) return;
    warnings_.push_back(
        fmt::format("nothing ties the clocks of the {} archives to each other, so that the verdict "
                    "says nothing of how far they are apart",
                    archives));
  }

  [[nodiscard]] const std::string& path() const override { return path_; }
  [[nodiscard]] std::string format_name() const override { return "an OTF2 archive"; }

  [[nodiscard]] formats::Remarks remarks() const override { return {{}, warnings_}; }

  [[nodiscard]] Result<void> check_writable(WriteMode, bool mark_offsets) const override {
    if (!mark_offsets) return {};
    return usage_error("--mark-offsets needs spans of services");
  }
  [[nodiscard]] Result<void> check_mergeable() const override {
    for (const fs::path& path : paths_) TRY(Archive::open(path));
    return Source::check_mergeable();
  }
  [[nodiscard]] Result<trace::LoadedTrace> load(trace::Workers& workers,
                                                std::span<const std::uint32_t> together,
                                                Progress* progress) const override {
    TRY_ASSIGN(trace::LoadedTrace loaded, otf2::load(workers, paths_, progress, together));
    TRY(check_same_files(workers.processes(), loaded));
    return loaded;
  }
  [[nodiscard]] Result<Clocks> clock_table(const trace::LoadedTrace& loaded,
                                           const std::string& clock_samples) const override {
    const fs::path folder =
        clock_samples.empty() ? fs::path(loaded.trace.path).parent_path() : fs::path(clock_samples);
    Solo solo;
    TRY_ASSIGN(const auto exchanges,
               clocks::read_clock_samples(folder, loaded.trace, loaded.own(solo)));
    return formats::clocks_of(loaded.trace, exchanges);
  }
  [[nodiscard]] Result<std::optional<trace::Collectives>> collectives(
      const trace::Share& share, const CheckOptions& options, Progress* progress) const override {
    TRY_ASSIGN(trace::Collectives found,
               match::find_collectives(share, options.alltoallv == AlltoallvRule::dense,
                                       options.threads, progress));
    return std::optional(std::move(found));
  }
  [[nodiscard]] Result<ArchiveInfo> describe(unsigned threads, Progress* progress) const override {
    trace::Workers workers(threads);
    TRY_ASSIGN(const trace::LoadedTrace loaded, otf2::load(workers, paths_, progress));
    ArchiveInfo info = otf2::describe(loaded);
    std::vector<LocationIndex> all(info.locations);
    std::iota(all.begin(), all.end(), LocationIndex{0});
    TRY(loaded.reader->check_unchanged());
    info.event_bytes = loaded.reader->event_bytes(all);
    return info;
  }
  [[nodiscard]] std::uint64_t latest_stamp() const override { return k_last_time; }
  [[nodiscard]] Result<std::unique_ptr<formats::Staged>> stage(
      const formats::WritePlan& plan, const fs::path& output) const override {
    const trace::Share share = plan.loaded.share(plan.workers.processes());
    WritePlan result;
    result.maps.assign(plan.maps.begin(), plan.maps.end());
    result.clock_offsets = plan.clock_offsets;
    result.first_time = plan.first_time;
    result.last_time = plan.last_time;
    result.properties = plan.properties;
    result.removed_properties = plan.removed_properties;
    result.mode = plan.mode;
    result.link = plan.link;
    result.rule = plan.rule;
    result.threads = plan.workers.threads();
    result.progress = plan.progress;
    result.share = &share;
    if (!plan.measured.empty()) TRY(move_along(plan, share, result));
    const Archives& archives = archives_of(plan.loaded);
    std::vector<PlacedArchive> placed;
    for (std::size_t k = 0; k < archives.all().size(); ++k) {
      placed.push_back({*archives.all()[k], archives.place_of(k)});
    }
    TRY_ASSIGN(StagedArchive staged, stage_archives(placed, result, output));
    std::error_code none;
    if (std::ranges::all_of(paths_, [&](const fs::path& p) { return fs::is_directory(p, none); })) {
      for (const PlacedArchive& one : placed) {
        TRY(share.team.agree(share.team.rank() == 0
                                 ? keep_beside(one.archive.path(), staged.folder.path() / one.place)
                                 : Result<void>()));
      }
    }
    return make_staged(std::move(staged), std::move(result.maps), plan.mode);
  }
  [[nodiscard]] Result<std::unique_ptr<formats::TimedEvents>> timed_events(
      bool raw, unsigned threads, Progress* progress) const override {
    return otf2::timed_events(paths_, raw, threads, progress);
  }

 private:
  std::vector<fs::path> paths_;
  std::string path_;  ///< named in messages
  std::vector<std::string> warnings_;
};

}  // namespace

std::unique_ptr<formats::Source> source_of(std::vector<fs::path> paths) {
  return std::make_unique<ArchiveSource>(std::move(paths));
}

void add_inputs(Inputs& inputs, const fs::path& anchor) {
  std::error_code error;
  inputs.add_file(anchor);
  const fs::path real = fs::weakly_canonical(anchor, error);
  for (const char* ending : {ending::definitions, ending::markers}) {
    inputs.add_file(fs::path(real).replace_extension(ending));
  }
  const fs::path folder = fs::path(real).replace_extension();
  if (!fs::is_directory(folder, error)) return;
  inputs.add_folder(folder);
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code unknown;
    if (it->is_symlink(unknown)) inputs.add_file(it->path());
  }
}

fs::path anchor_around(const fs::path& path) {
  fs::path part = path.has_filename() ? path : path.parent_path();
  std::error_code error;
  const bool is_folder = fs::is_directory(part, error);
  const fs::path ending = part.extension();
  if (!is_folder && (ending == ".evt" || ending == ".def" || ending == ".snap")) {
    const fs::path own = fs::path(part).replace_extension(ending::anchor);
    if (file_exists(own)) return own;
    part = fs::absolute(part, error).lexically_normal().parent_path();
  } else if (!is_folder && ending != ending::markers) {
    return {};
  }
  part.replace_extension(ending::anchor);
  return file_exists(part) ? part : fs::path();
}

}  // namespace entrain::otf2
