// SPDX-License-Identifier: BSD-3-Clause
#include "report/report.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/parts.hpp"
#include "report/units.hpp"

namespace entrain::report {
namespace {

/// Number of clocks that a sentence names.
constexpr std::size_t k_names = 3;

/// The location with the largest value of a member; null if all are 0 or unbounded throughout.
const LocationBounds* largest(const ClockBounds& bounds, std::int64_t LocationBounds::*value) {
  const LocationBounds* found = nullptr;
  for (const LocationBounds& location : bounds.locations) {
    if (location.unbounded == location.windows) continue;
    if (found == nullptr || location.*value > found->*value) found = &location;
  }
  return found;
}

std::size_t unbounded_count(const ClockBounds& bounds) {
  return static_cast<std::size_t>(std::ranges::count_if(
      bounds.locations, [](const LocationBounds& location) { return location.unbounded > 0; }));
}

std::string worst_text(const ClockBounds& bounds, std::uint64_t hz) {
  const LocationBounds& worst = *largest(bounds, &LocationBounds::worst_ticks);
  return fmt::format(
      "Clocks are certain to within {} of {}'s (worst: {} at {}; half of its time within {})",
      format_ticks(worst.worst_ticks, hz), bounds.reference_process, worst.process,
      format_time(worst.worst_time_ticks, hz), format_ticks(worst.median_ticks, hz));
}

std::string unbounded_text(const ClockBounds& bounds) {
  const std::size_t count = unbounded_count(bounds);
  if (count == 0) return "";
  std::string names;
  std::size_t told = 0;
  for (const LocationBounds& location : bounds.locations) {
    if (location.unbounded == 0 || told == k_names) continue;
    names += (told++ == 0 ? "" : ", ") + location.process;
  }
  if (count > told) names += fmt::format(" and {} more", format_count(count - told));
  return fmt::format(" Not tied to it, both ways, by messages or sessions: {}.", names);
}

std::string outside_text(const ClockBounds& bounds, std::uint64_t hz) {
  const LocationBounds* const worst = largest(bounds, &LocationBounds::outside_ticks);
  if (worst == nullptr || worst->outside_ticks == 0) return "";
  return fmt::format(" These times lie outside the possible interval by up to {} ({} at {}).",
                     format_ticks(worst->outside_ticks, hz), worst->process,
                     format_time(worst->outside_time_ticks, hz));
}

std::string held_text(const ClockBounds& bounds, std::uint64_t hz) {
  if (bounds.held_ticks == 0) return "";
  return fmt::format(" To be inside, presync was moved by up to {}.",
                     format_ticks(bounds.held_ticks, hz));
}

/// Why that limit on mean rates was assumed.
std::string mean_source_text(const ClockBounds& bounds) {
  if (bounds.mean_rate_source == LimitOrigin::given) return "as given";
  const bool wall = bounds.clock_kind == ClockKind::wall;
  if (bounds.least_mean_rate_ppm) {
    return fmt::format("twice the {:.4g} ppm that the trace demands at least, beyond the limit",
                       *bounds.least_mean_rate_ppm);
  }
  const bool given = bounds.clock_kind_source == LimitOrigin::given;
  return wall    ? given ? "wall clocks, as given" : "wall clocks, by their stamps"
         : given ? "timers, as given"
                 : "timers, by their stamps";
}

std::string condition_text(const ClockBounds& bounds) {
  std::string text = fmt::format(
      ", if no clock's rate leaves its mean by more than {:.4g} ppm ({})", bounds.max_rate_ppm,
      bounds.max_rate_source == LimitOrigin::given ? "as given"
      : bounds.least_rate_ppm ? fmt::format("from the trace, which is possible from {:.3g} ppm on",
                                            *bounds.least_rate_ppm)
                              : "from the trace");
  if (bounds.mean_rate_ppm) {
    text += fmt::format(" and if all mean rates are within {:.4g} ppm of {}'s ({})",
                        *bounds.mean_rate_ppm, bounds.reference_process, mean_source_text(bounds));
  } else if (bounds.least_mean_rate_ppm) {
    text += fmt::format(
        " (nothing is assumed of mean rates: clocks were at least {:.4g} ppm apart, and no usual "
        "limit fits)",
        *bounds.least_mean_rate_ppm);
  }
  const MuOrigin mu = bounds.mu_source.origin;
  const bool estimated = mu == MuOrigin::round_trip || mu == MuOrigin::delays;
  if (estimated && bounds.mu_source.pairs_above == 0) text += " and if the estimate of mu is right";
  if (mu == MuOrigin::given) text += " and no message is faster than mu";
  return text + ".";
}

/// The largest bound that follows from sessions without half-widths; empty: there are none.
std::optional<std::int64_t> assumed_worst(const ClockBounds& bounds) {
  std::optional<std::int64_t> worst;
  for (const LocationBounds& location : bounds.locations) {
    if (location.assumed_ticks) worst = std::max(worst.value_or(0), *location.assumed_ticks);
  }
  return worst;
}

std::string assumed_text(const ClockBounds& bounds, std::uint64_t hz) {
  const auto worst = assumed_worst(bounds);
  if (!worst) return "";
  return fmt::format(
      " Within {}, if the {} clock offsets without a half-width are right to {}, as the shortest "
      "messages suggest.",
      format_ticks(*worst, hz), format_count(bounds.assumed_sessions),
      format_ticks(bounds.assumed_half_width_ticks, hz));
}

std::string helpful_text(const ClockBounds& bounds, std::uint64_t hz) {
  if (!bounds.helpful) return "";
  return fmt::format(
      " A clock session at {}, certain to {}, would narrow the widest interval from {} to {} on "
      "either side.",
      format_time(bounds.helpful->time_ticks, hz),
      format_ticks(bounds.helpful->half_width_ticks, hz),
      format_ticks(bounds.helpful->before_ticks, hz),
      format_ticks(bounds.helpful->after_ticks, hz));
}

/// Seconds with all digits that the resolution has, at most nanoseconds.
std::string seconds_text(std::int64_t ticks, std::uint64_t hz) {
  std::string text = format_time(ticks, hz);
  text.erase(text.find(' '));
  return text;
}

/// The largest bound of all clocks; null if nothing is bounded.
Json worst_json(const ClockBounds& bounds, std::uint64_t hz) {
  const LocationBounds* const worst = largest(bounds, &LocationBounds::worst_ticks);
  return worst == nullptr ? Json(nullptr) : seconds(worst->worst_ticks, hz);
}

Json helpful_json(const ClockBounds& bounds, std::uint64_t hz) {
  if (!bounds.helpful) return nullptr;
  return {{"time_ticks", bounds.helpful->time_ticks},
          {"half_width_s", seconds(bounds.helpful->half_width_ticks, hz)},
          {"before_s", seconds(bounds.helpful->before_ticks, hz)},
          {"after_s", seconds(bounds.helpful->after_ticks, hz)}};
}

/// The clock with the largest value of a member.
Json place_json(const ClockBounds& bounds, std::int64_t LocationBounds::*value,
                std::int64_t LocationBounds::*time, const char* name, std::uint64_t hz) {
  const LocationBounds* const location = largest(bounds, value);
  if (location == nullptr || location->*value == 0) return nullptr;
  return {{"location", location->location},
          {"time_ticks", location->*time},
          {name, seconds(location->*value, hz)}};
}

}  // namespace

std::string bounds_text(const std::optional<ClockBounds>& of, std::uint64_t hz,
                        const Style& style) {
  if (!of) return "";
  const ClockBounds& bounds = *of;
  std::string text;
  if (!bounds.reason.empty()) {
    text = fmt::format("No error bounds: {}.", bounds.reason);
  } else if (unbounded_count(bounds) + 1 >= bounds.locations.size()) {
    text = bounds.locations.size() == 1
               ? "Error bounds: there is one clock only."
               : fmt::format("No clock is certain relative to {}'s.{}", bounds.reference_process,
                             unbounded_text(bounds));
  } else {
    text = worst_text(bounds, hz) + condition_text(bounds) + assumed_text(bounds, hz) +
           helpful_text(bounds, hz) + held_text(bounds, hz) + outside_text(bounds, hz) +
           unbounded_text(bounds);
  }
  return paragraph(text, style);
}

Json bounds_json(const ClockBounds& bounds, std::uint64_t hz) {
  if (!bounds.reason.empty()) return {{"reason", bounds.reason}};
  Json locations = Json::array();
  for (const LocationBounds& location : bounds.locations) {
    const auto known = [&](std::int64_t ticks) {
      return location.unbounded == location.windows ? Json(nullptr) : seconds(ticks, hz);
    };
    locations.push_back({{"id", location.location},
                         {"worst_s", known(location.worst_ticks)},
                         {"proved_s", known(location.worst_ticks)},
                         {"assumed_s", seconds(location.assumed_ticks, hz)},
                         {"median_s", known(location.median_ticks)},
                         {"outside_s", known(location.outside_ticks)},
                         {"windows", location.windows},
                         {"unbounded_windows", location.unbounded}});
  }
  return {{"reference", bounds.reference},
          {"reference_process", bounds.reference_process},
          {"max_rate_ppm", number(bounds.max_rate_ppm)},
          {"max_rate_source", name_of(bounds.max_rate_source)},
          {"least_rate_ppm", number(bounds.least_rate_ppm)},
          {"measured_once", bounds.measured_once},
          {"clock_kind", name_of(bounds.clock_kind)},
          {"clock_kind_source", name_of(bounds.clock_kind_source)},
          {"mean_rate_ppm", number(bounds.mean_rate_ppm)},
          {"mean_rate_source", name_of(bounds.mean_rate_source)},
          {"least_mean_rate_ppm", number(bounds.least_mean_rate_ppm)},
          {"mu_source", text_of(bounds.mu_source)},
          {"sessions", bounds.sessions},
          {"assumed_sessions", bounds.assumed_sessions},
          {"assumed_half_width_s", seconds(bounds.assumed_half_width_ticks, hz)},
          {"proved_s", worst_json(bounds, hz)},
          {"assumed_s", seconds(assumed_worst(bounds), hz)},
          {"helpful_session", helpful_json(bounds, hz)},
          {"windows", bounds.windows},
          {"window_s", seconds(bounds.window_ticks, hz)},
          {"unbounded_clocks", unbounded_count(bounds)},
          {"held_s", seconds(bounds.held_ticks, hz)},
          {"worst", place_json(bounds, &LocationBounds::worst_ticks,
                               &LocationBounds::worst_time_ticks, "bound_s", hz)},
          {"outside", place_json(bounds, &LocationBounds::outside_ticks,
                                 &LocationBounds::outside_time_ticks, "outside_s", hz)},
          {"locations", std::move(locations)}};
}

std::string bounds_csv(const ClockBounds& bounds, std::uint64_t hz) {
  std::string text =
      "location,local_ticks,time_ticks,time_s,offset_ticks,least_offset_ticks,most_offset_ticks,"
      "bound_s,proved_s,assumed_s\n";
  for (const BoundsRow& row : bounds.rows) {
    const auto local = static_cast<std::int64_t>(row.local_ticks);
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},", row.location, row.local_ticks,
                   row.time_ticks, seconds_text(row.time_ticks, hz), row.time_ticks - local);
    if (row.bounded) {
      const double bound = seconds_of(row.bound_ticks, hz);
      fmt::format_to(std::back_inserter(text), "{},{},{:.6e},{:.6e},", row.earliest_ticks - local,
                     row.latest_ticks - local, bound, bound);
    } else {
      text += ",,,,";
    }
    if (row.assumed_ticks) text += fmt::format("{:.6e}", seconds_of(*row.assumed_ticks, hz));
    text += "\n";
  }
  return text;
}

}  // namespace entrain::report
