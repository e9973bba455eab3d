// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/source.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

#include "base/try.hpp"
#include "clocks/presync.hpp"
#include "formats/otf2/compare_rewritten.hpp"
#include "formats/otf2/load.hpp"
#include "formats/otf2/overlay.hpp"

namespace entrain::otf2 {

namespace {

namespace fs = std::filesystem;
using trace::LoadedTrace;
using trace::Workers;

/// The written archive: as an overlay, as a trace of its own, or as the original with the maps,
/// which say all about it. `Held`: Overlay, LoadedTrace, or a reference to the original.
template <class Held>
class ReadArchive : public formats::Reread {
 public:
  explicit ReadArchive(Held held) : held_(std::forward<Held>(held)) {}
  [[nodiscard]] const LoadedTrace& loaded() const override {
    if constexpr (std::is_same_v<Held, Overlay>) {
      return held_.written();
    } else {
      return held_;
    }
  }
  [[nodiscard]] bool has_own_stamps() const override { return std::is_same_v<Held, LoadedTrace>; }

 private:
  Held held_;
};

/// An overlay has all local definitions, of which the original may lack some.
bool lacks_definitions(Team& processes, const LoadedTrace& original) {
  return processes.any(std::ranges::any_of(original.own(processes), [&](LocationIndex l) {
    return original.trace.locations[l].definition_file_missing;
  }));
}

class Written : public formats::Staged {
 public:
  Written(StagedArchive staged, std::vector<ClockMap> maps, WriteMode mode)
      : staged_(std::move(staged)), maps_(std::move(maps)), mode_(mode) {}

  [[nodiscard]] fs::path path() const override {
    return staged_.anchors.size() == 1 ? staged_.final_anchor() : staged_.folder.target();
  }
  [[nodiscard]] std::vector<fs::path> anchors() const override {
    std::vector<fs::path> paths;
    for (const fs::path& anchor : staged_.anchors) paths.push_back(staged_.folder.path() / anchor);
    return paths;
  }
  [[nodiscard]] LinkCounts links() const override { return staged_.links; }
  [[nodiscard]] std::uint64_t leftovers_removed() const override {
    return staged_.leftovers_removed;
  }
  [[nodiscard]] Result<void> commit(bool unproven) override {
    return staged_.folder.commit(unproven);
  }

  [[nodiscard]] Result<std::unique_ptr<formats::Reread>> read_back(
      Workers& workers, LoadedTrace& original, bool anew, Progress* progress) const override {
    if (anew) return scanned(workers, progress);
    return mode_ == WriteMode::overlay ? overlay(workers, original)
                                       : rewritten(workers, original, progress);
  }

 private:
  using Read = Result<std::unique_ptr<formats::Reread>>;

  Read overlay(Workers& workers, LoadedTrace& original) const {
    const bool has_new_records = lacks_definitions(workers.processes(), original);
    TRY_ASSIGN(Overlay opened, readable(Overlay::open(workers, anchors(), original)));
    auto read = std::make_unique<ReadArchive<Overlay>>(std::move(opened));
    TRY(apply_clocks(workers, *read));
    read->has_new_records = has_new_records;
    return read;
  }

  /// The file holds the values of the maps, so these tell what a reader sees.
  Read rewritten(Workers& workers, const LoadedTrace& original, Progress* progress) const {
    Team& processes = workers.processes();
    TRY_ASSIGN(const std::unique_ptr<Archives> written,
               agree(processes, Archives::open(anchors())));
    const std::vector<LocationIndex> all = original.own(processes);
    Rewritten result;
    for (std::size_t k = 0; k < written->all().size(); ++k) {
      std::vector<LocationIndex> own;
      std::ranges::copy_if(all, std::back_inserter(own),
                           [&](LocationIndex l) { return written->all()[k]->owns(l); });
      TRY_ASSIGN(const Rewritten one,
                 agree(processes, compare_rewritten({.original = *archives_of(original).all()[k],
                                                     .written = *written->all()[k],
                                                     .locations = own,
                                                     .maps = maps_},
                                                    workers.threads(), progress)));
      result.as_mapped &= one.as_mapped;
      result.has_clock_offsets |= one.has_clock_offsets;
    }
    if (processes.any(!result.as_mapped)) return scanned(workers, progress);
    auto read = std::make_unique<ReadArchive<const LoadedTrace&>>(original);
    read->maps = maps_;
    const bool has_offsets = processes.any(result.has_clock_offsets);
    read->presync = has_offsets ? PresyncMethod::linear : PresyncMethod::none;
    return read;
  }

  Read scanned(Workers& workers, Progress* progress) const {
    TRY_ASSIGN(LoadedTrace written, readable(load(workers, anchors(), progress)));
    auto read = std::make_unique<ReadArchive<LoadedTrace>>(std::move(written));
    TRY(apply_clocks(workers, *read));
    return read;
  }

  /// The times that any reader finds.
  Result<void> apply_clocks(Workers& workers, formats::Reread& read) const {
    TRY_ASSIGN(clocks::Presynchronised as_read,
               readable(clocks::presynchronise(read.loaded().share(workers.processes()),
                                               clocks::PresyncOptions::of_reader())));
    read.maps = std::move(as_read.maps);
    read.presync = as_read.method;
    return {};
  }

  /// An archive that was written from a good one and cannot be read: nobody shall get it. Its
  /// folder has no name yet; the sentence gives it the one that it would have had.
  template <class T>
  Result<T> readable(Result<T> result) const {
    if (result || result.error().kind != ErrorKind::input) return result;
    const std::string staged = staged_.folder.path().string(),
                      named = staged_.folder.target().string();
    std::string why = std::move(result).error().message;
    for (std::size_t at = 0; (at = why.find(staged, at)) != std::string::npos; at += named.size()) {
      why.replace(at, staged.size(), named);
    }
    return output_error(
        "the corrected archive would be unreadable, so it was not kept: {}; try another --presync, "
        "or leave that location out",
        why);
  }

  StagedArchive staged_;
  std::vector<ClockMap> maps_;
  WriteMode mode_;
};

}  // namespace

std::unique_ptr<formats::Staged> make_staged(StagedArchive staged, std::vector<ClockMap> maps,
                                             WriteMode mode) {
  return std::make_unique<Written>(std::move(staged), std::move(maps), mode);
}

}  // namespace entrain::otf2
