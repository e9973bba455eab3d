// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/source/source.hpp"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "clocks/samples.hpp"
#include "formats/otf2/source/beside.hpp"
#include "formats/otf2/source/describe.hpp"
#include "formats/otf2/source/load.hpp"
#include "formats/otf2/source/moved_times.hpp"
#include "formats/otf2/source/same_files.hpp"
#include "formats/otf2/source/staged.hpp"
#include "formats/otf2/source/timed_events.hpp"
#include "formats/otf2/write/write_archive.hpp"
#include "formats/tables/trace.hpp"
#include "trace/properties.hpp"

namespace entrain::otf2 {

namespace fs = std::filesystem;

namespace {

class ArchiveSource : public formats::Source {
 public:
  explicit ArchiveSource(const fs::path& path) : path_(path.string()) {}

  [[nodiscard]] const std::string& path() const override { return path_; }
  [[nodiscard]] const std::string& format_name() const override {
    static const std::string name = "an OTF2 archive";
    return name;
  }

  [[nodiscard]] Result<void> check_writable(WriteMode, bool mark_offsets) const override {
    if (!mark_offsets) return {};
    return fail(ErrorKind::usage, "--mark-offsets needs spans of services");
  }
  [[nodiscard]] Result<void> check_loaded(const session::LoadedTrace& loaded) const override {
    return otf2::check_writable(archive_of(loaded));
  }
  [[nodiscard]] Result<session::LoadedTrace> load(session::Workers& workers,
                                                  std::span<const std::uint32_t> together,
                                                  Progress* progress) const override {
    TRY_ASSIGN(session::LoadedTrace loaded, otf2::load(workers, path_, progress, together));
    TRY(check_same_files(workers.processes(), loaded));
    return loaded;
  }
  [[nodiscard]] Result<Clocks> clock_table(const session::LoadedTrace& loaded,
                                           const std::string& clock_samples) const override {
    const fs::path folder =
        clock_samples.empty() ? fs::path(loaded.trace.path).parent_path() : fs::path(clock_samples);
    Solo solo;
    TRY_ASSIGN(const auto exchanges,
               clocks::read_clock_samples(folder, loaded.trace, loaded.own(solo)));
    return tables::clocks_of(loaded.trace, exchanges);
  }
  [[nodiscard]] Result<ArchiveInfo> describe(unsigned threads, Progress* progress) const override {
    TRY_ASSIGN(const session::LoadedTrace loaded, otf2::load(path_, threads, progress));
    ArchiveInfo info = otf2::describe(loaded);
    std::vector<LocationIndex> all(info.locations);
    std::iota(all.begin(), all.end(), LocationIndex{0});
    TRY(loaded.reader->check_unchanged());
    info.event_bytes = loaded.reader->event_bytes(all);
    return info;
  }
  [[nodiscard]] std::uint64_t latest_stamp() const override { return k_latest_time; }
  [[nodiscard]] Result<std::unique_ptr<formats::Staged>> stage(
      const formats::WritePlan& plan, const fs::path& output) const override;
  [[nodiscard]] Result<std::unique_ptr<formats::TimedEvents>> timed_events(
      bool raw, unsigned threads, Progress* progress) const override {
    return otf2::timed_events(path_, raw, threads, progress);
  }

 private:
  std::string path_;
};

/// Markers and the span of sessions move with the clocks.
Result<void> move_along(const formats::WritePlan& plan, const trace::Share& share,
                        WritePlan& result) {
  // A location that was left alone keeps the times that a reader sees, also inside a flush.
  for (LocationIndex l = 0; l < plan.maps.size(); ++l) {
    result.split_flushes.push_back(plan.maps[l] != plan.measured[l]);
  }
  const CorrectedTimes times{.share = share, .measured = plan.measured, .corrected = plan.maps};
  TRY_ASSIGN(const std::vector<MarkerTime> markers,
             agree(share.team, read_marker_times(archive_of(plan.loaded))));
  result.marker_times = move_markers(times, markers);
  if (const auto span = corrected_session_span(times)) {
    result.properties.push_back({trace::k_property_session_span, trace::to_property(*span)});
  }
  return {};
}

Result<std::unique_ptr<formats::Staged>> ArchiveSource::stage(const formats::WritePlan& plan,
                                                              const fs::path& output) const {
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
  TRY_ASSIGN(StagedArchive staged, stage_archive(archive_of(plan.loaded), result, output));
  if (std::error_code none; fs::is_directory(path_, none)) {
    const fs::path anchor = plan.loaded.trace.path;
    TRY(share.team.agree(share.team.rank() == 0 ? keep_beside(anchor, staged.anchor().parent_path())
                                                : Result<void>()));
  }
  return make_staged(std::move(staged), std::move(result.maps), plan.mode);
}

}  // namespace

std::unique_ptr<formats::Source> source_of(const fs::path& path) {
  return std::make_unique<ArchiveSource>(path);
}

}  // namespace entrain::otf2
