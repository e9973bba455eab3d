// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/warnings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <tuple>

#include <fmt/core.h>

#include "trace/definitions.hpp"

namespace entrain::clocks {
namespace {

constexpr double k_million = 1e6;

/// Summary of the records of one location.
struct LocationSummary {
  LocationIndex location = k_none;
  bool measured = false;
  bool single = false;      ///< measured once, and not the global clock
  std::int64_t offset = 0;  ///< offset of the first session, ticks
  double rate = 0;          ///< farthest off between two sessions, ticks per tick
  double gap = 0;           ///< time between these sessions, ticks
};

double half_width(const trace::ClockOffset& record) {
  return std::isfinite(record.stddev) && record.stddev > 0 ? record.stddev : 0;
}

LocationSummary summary_of(LocationIndex l, const std::vector<trace::ClockOffset>& records) {
  if (records.empty()) return {.location = l};
  const bool global = records.front().offset == 0 && half_width(records.front()) == 0;
  LocationSummary result{l, true, records.size() == 1 && !global, records.front().offset, 0, 0};
  for (std::size_t k = 1; k < records.size(); ++k) {
    const trace::ClockOffset &a = records[k - 1], &b = records[k];
    const double gap = static_cast<double>(b.time - a.time);
    const double rise = static_cast<double>(b.offset - a.offset);
    const double certain = std::max(0.0, std::abs(rise) - half_width(a) - half_width(b)) / gap;
    if (certain > std::abs(result.rate)) {
      result.rate = std::copysign(certain, rise);
      result.gap = gap;
    }
  }
  return result;
}

std::string text_of_offsets(const trace::Trace& trace, const std::vector<LocationSummary>& all) {
  const auto [least, most] = std::ranges::minmax_element(all, {}, &LocationSummary::offset);
  const double apart_s = static_cast<double>(most->offset - least->offset) /
                         static_cast<double>(trace.definitions.clock.resolution_hz);
  if (apart_s <= k_suspicious_offset_s) return "";
  // Global time is the clock's own plus the offset: the larger the offset, the later the clock.
  return fmt::format(
      "the clock of {} is {:.6g} s ahead of that of {}: as it should be where timers count from "
      "the start of their machine, but clocks that tell the time of day are not set then",
      trace::process_name(trace.definitions, least->location), apart_s,
      trace::process_name(trace.definitions, most->location));
}

std::string text_of_rates(const trace::Trace& trace, const std::vector<LocationSummary>& all) {
  const auto is_off = [](const LocationSummary& m) {
    return std::abs(m.rate) * k_million > k_suspicious_rate_ppm;
  };
  const auto count = std::ranges::count_if(all, is_off);
  if (count == 0) return "";
  const auto& worst =
      *std::ranges::max_element(all, {}, [](const auto& one) { return std::abs(one.rate); });
  const std::string others =
      count == 1 ? "" : fmt::format(" ({} locations above {:g} ppm)", count, k_suspicious_rate_ppm);
  return fmt::format(
      "the clock of {} is at least {:.6g} ppm too {} between two sessions {:.3g} s apart{}: no "
      "crystal is; it was set while the program ran, or the sessions are wrong",
      trace::process_name(trace.definitions, worst.location), std::abs(worst.rate) * k_million,
      worst.rate > 0 ? "slow" : "fast",
      worst.gap / static_cast<double>(trace.definitions.clock.resolution_hz), others);
}

std::string text_of_singles(const trace::Trace& trace, const std::vector<LocationSummary>& all,
                            const RatePrior& prior) {
  const auto is_single = [](const LocationSummary& m) { return m.single; };
  const auto count = std::ranges::count_if(all, is_single);
  if (count == 0) return "";
  const auto first = std::ranges::find_if(all, is_single);
  return fmt::format(
      "the clock of {} was measured only once{}: its offset is known there, but not its rate; it "
      "may be off by up to {:g} us more for every second of distance from that session ({})",
      trace::process_name(trace.definitions, first->location),
      count == 1 ? "" : fmt::format(" ({} locations in all)", count),
      static_cast<double>(prior.mean_ppb) / 1e3,
      !prior.limited                  ? "nothing is assumed of its rate"
      : prior.mean_given              ? "as --max-mean-rate-ppm says"
      : prior.kind == ClockKind::wall ? "as wall clocks are set"
                                      : "as crystals are made");
}

/// `unmeasured`: locations without records, beside `measured` ones.
std::string text_of_unmeasured(const trace::Trace& trace,
                               std::span<const LocationSummary> unmeasured,
                               const std::vector<LocationSummary>& measured) {
  if (unmeasured.empty()) return "";
  const LocationIndex first = unmeasured.front().location;
  const trace::Definitions& definitions = trace.definitions;
  const std::string& name = definitions.locations[first].name;
  const bool is_beside = std::ranges::any_of(measured, [&](const LocationSummary& other) {
    return definitions.process_of[other.location] == definitions.process_of[first];
  });
  return fmt::format(
      "nothing measured the clock of {}{}, but those of others: its times are taken as they are, "
      "and only messages and collectives tell how far off they are",
      (is_beside && !name.empty() ? name + " of " : "") + trace::process_name(definitions, first),
      unmeasured.size() == 1 ? "" : fmt::format(" ({} locations in all)", unmeasured.size()));
}

}  // namespace

std::vector<std::string> warnings_of_records(const trace::Share& share, const RatePrior& prior) {
  std::vector<LocationSummary> mine;
  for (const LocationIndex l : share.own()) {
    const trace::LocationSkeleton& location = share.trace.locations[l];
    if (!location.clock_offsets.empty() || location.event_count > 0)
      mine.push_back(summary_of(l, location.clock_offsets));
  }
  std::vector<LocationSummary> all = gather_everywhere(share.team, mine);
  std::ranges::sort(all, [](const LocationSummary& a, const LocationSummary& b) {
    return std::tie(b.measured, a.location) < std::tie(a.measured, b.location);
  });
  const auto measured = std::ranges::find(all, false, &LocationSummary::measured);
  const std::vector<LocationSummary> unmeasured(measured, all.end());
  all.erase(measured, all.end());
  std::vector<std::string> warnings;
  if (all.empty()) return warnings;
  for (std::string text :
       {text_of_unmeasured(share.trace, unmeasured, all), text_of_offsets(share.trace, all),
        text_of_rates(share.trace, all), text_of_singles(share.trace, all, prior)}) {
    if (!text.empty()) warnings.push_back(std::move(text));
  }
  return warnings;
}

void warn_of_violations(CheckReport& report) {
  std::int64_t worst = 0;
  for (const EdgeStatistics& edges : report.edges) {
    if (edges.worst) worst = std::min(worst, edges.worst->margin_ticks);
  }
  const double hz = static_cast<double>(std::max<std::uint64_t>(1, report.resolution_hz));
  const double seconds = -static_cast<double>(worst) / hz;
  if (seconds <= k_suspicious_offset_s) return;
  report.estimation.warnings.push_back(
      fmt::format("effects come up to {:.6g} s before their causes{}", seconds,
                  report.presync == PresyncMethod::none
                      ? ", and nothing measured the clocks: only messages and collectives tell how "
                        "far these are apart, within the bounds that entrain clocks shows"
                      : ", whatever the sessions measured: these are wrong, or clocks were set"));
}

}  // namespace entrain::clocks
