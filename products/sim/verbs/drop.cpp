// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <entrain/entrain.hpp>

#include "base/executor.hpp"
#include "base/file.hpp"
#include "base/try.hpp"
#include "engine/verbs.hpp"
#include "formats/otf2/load.hpp"
#include "formats/otf2/write_archive.hpp"
#include "formats/registry/open.hpp"
#include "output/output.hpp"
#include "sim/model/drop.hpp"
#include "sim/otf2/filter_events.hpp"

namespace entrain {

namespace {

/// The record of a message or collective.
sim::DropRecord drop_record(const otf2::EventRecord& record) {
  return {.kind = *record.kind,
          .time = record.time,
          .op = record.op,
          .request = record.request,
          .region = record.region};
}

/// Result of a first pass over the event file of a location.
struct FirstLook {
  sim::DropSpan span;
  std::vector<bool> beginnings;
};

/// Reads an event file for all that must be known before its first record is lost.
Result<FirstLook> look(const otf2::Archive& archive, LocationIndex location,
                       const sim::DropPlan& plan, Progress* progress) {
  TRY_ASSIGN(const otf2::LocalDefinitions local, archive.local_definitions(location));
  FirstLook result;
  sim::NamedBeginnings beginnings(plan);
  bool any = false;
  const auto visit = [&](const otf2::EventRecord& record) {
    if (!std::exchange(any, true)) result.span.first = result.span.last = record.time;
    result.span.last = std::max(result.span.last, record.time);
    if (!record.kind) return;
    result.span.communicates |= sim::in_skeletons(*record.kind);
    if (sim::NamedBeginnings::needed(plan)) beginnings.add(drop_record(record));
  };
  TRY(otf2::read_records(archive.events_of(location, local), progress, visit));
  result.beginnings = beginnings.take();
  return result;
}

/// The filter of one location: asks the choice, and counts all records.
class DropFilter final : public otf2::EventFilter {
 public:
  DropFilter(const sim::DropPlan& plan, LocationIndex location, std::vector<bool> beginnings,
             bool mark_windows)
      : stream_(plan, location, std::move(beginnings)),
        drop_(plan.locations[location]),
        wants_regions_(!plan.regions.empty()),
        mark_windows_(mark_windows) {}

  bool keeps(const otf2::EventRecord& record) override {
    ++records_;
    return record.kind ? !stream_.loses(drop_record(record)) : !stream_.loses_other(record.time);
  }
  [[nodiscard]] bool wants_regions() const override { return wants_regions_; }
  /// Returns the marks before an early end: after it nothing is recorded.
  [[nodiscard]] std::vector<otf2::MeasurementMark> marks() const override {
    if (!mark_windows_ || !drop_.window) return {};
    std::vector<otf2::MeasurementMark> marks;
    const auto add = [&](std::uint64_t time, bool on) {
      if (!drop_.end || time < *drop_.end) marks.push_back({time, on});
    };
    add(drop_.window->begin, false);
    add(drop_.window->end, true);
    return marks;
  }

  [[nodiscard]] const sim::DropStream& stream() const { return stream_; }
  [[nodiscard]] std::uint64_t records() const { return records_; }

 private:
  sim::DropStream stream_;
  const sim::LocationDrop& drop_;
  bool wants_regions_;
  bool mark_windows_;
  std::uint64_t records_ = 0;
};

/// A single run of the verb.
class Drop {
 public:
  Drop(const otf2::Archive& archive, const DropOptions& options, Progress* progress)
      : archive_(archive),
        options_(options),
        progress_(progress),
        locations_(archive.definitions().locations.size()),
        marks_(locations_.size()) {
    std::iota(locations_.begin(), locations_.end(), LocationIndex{0});
  }

  Result<DropReport> run(const std::filesystem::path& output, const OutputRule& rule) {
    TRY(check_anything_there());
    TRY_ASSIGN(plan_, sim::plan_drop(archive_.definitions(), options_));
    TRY_ASSIGN(std::vector<std::vector<bool>> beginnings, look_first());
    std::vector<std::unique_ptr<DropFilter>> filters;
    for (const LocationIndex l : locations_) {
      filters.push_back(
          std::make_unique<DropFilter>(plan_, l, std::move(beginnings[l]), options_.mark_windows));
    }
    const auto begin = static_cast<std::int64_t>(archive_.definitions().clock.global_offset);
    const otf2::WritePlan plan{
        .maps = std::vector<ClockMap>(locations_.size()),
        .copy_events = [&](LocationIndex l,
                           const std::filesystem::path& to) { return copy(l, *filters[l], to); },
        .first_time = begin,
        .last_time = begin,
        .rule = rule,
        .threads = options_.threads,
        .progress = progress_};
    TRY_ASSIGN(otf2::StagedArchive written, otf2::stage_archive(archive_, plan, output));
    TRY(archive_.check_unchanged());
    TRY(written.folder.commit());
    return report(filters, written);
  }

 private:
  /// Refuses a trace none of whose event files exists: nothing could be lost.
  [[nodiscard]] Result<void> check_anything_there() const {
    const bool any = std::any_of(locations_.begin(), locations_.end(), [&](LocationIndex l) {
      return file_exists(archive_.event_file(l));
    });
    if (any || locations_.empty()) return {};
    return otf2::no_event_files(archive_.path());
  }

  /// Draws windows and ends; returns the named beginnings per location.
  Result<std::vector<std::vector<bool>>> look_first() {
    std::vector<std::vector<bool>> beginnings(locations_.size());
    if (!sim::has_stretches(options_) && !sim::NamedBeginnings::needed(plan_)) return beginnings;
    std::vector<sim::DropSpan> spans(locations_.size());
    if (progress_ != nullptr) progress_->begin("scan", archive_.event_bytes(locations_), "B");
    TRY(parallel_for(options_.threads, locations_.size(), [&](std::size_t l) -> Result<void> {
      TRY_ASSIGN(FirstLook found, look(archive_, locations_[l], plan_, progress_));
      spans[l] = found.span;
      beginnings[l] = std::move(found.beginnings);
      return {};
    }));
    sim::draw_stretches(plan_, spans, options_);
    return beginnings;
  }

  /// Writes the records that a filter keeps; returns their number.
  Result<std::uint64_t> copy(LocationIndex l, DropFilter& filter, const std::filesystem::path& to) {
    TRY_ASSIGN(const otf2::LocalDefinitions local, archive_.local_definitions(l));
    TRY_ASSIGN(const otf2::FilteredEvents copied,
               otf2::filter_events(archive_.events_of(l, local), to, filter, progress_));
    marks_[l] = copied.marks;
    return copied.events;
  }

  [[nodiscard]] DropReport report(const std::vector<std::unique_ptr<DropFilter>>& filters,
                                  const otf2::StagedArchive& written) const {
    DropReport report;
    report.input = archive_.path();
    report.output = written.final_anchor().string();
    report.leftovers_removed = written.leftovers_removed;
    report.seed = options_.seed;
    report.resolution_hz = archive_.definitions().clock.resolution_hz;
    for (const LocationIndex l : locations_) {
      report.events += filters[l]->records();
      report.marks += marks_[l];
      sim::add_location(report, archive_.definitions(), plan_.locations[l], filters[l]->stream());
    }
    return report;
  }

  const otf2::Archive& archive_;
  const DropOptions& options_;
  Progress* progress_;
  std::vector<LocationIndex> locations_;
  std::vector<std::uint64_t> marks_;  ///< records that were added, per location
  sim::DropPlan plan_;
};

}  // namespace

Result<DropReport> drop(const std::filesystem::path& archive, const std::filesystem::path& output,
                        const DropOptions& options, Progress* progress) {
  const OutputRule rule = engine::output_rule({archive}, options.force);
  TRY(OutputFolder::check(output, rule));
  TRY(formats::require_archive(archive));
  TRY_ASSIGN(const std::unique_ptr<otf2::Archive> original, otf2::Archive::open(archive));
  std::vector<LocationIndex> all(original->definitions().locations.size());
  std::iota(all.begin(), all.end(), LocationIndex{0});
  original->note_files(all, 0);
  return Drop(*original, options, progress).run(output, rule);
}

}  // namespace entrain
