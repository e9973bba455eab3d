// SPDX-License-Identifier: BSD-3-Clause
// What a run sets aside before its calls are paired: times that are none of it, and ranks that
// these leave without evidence.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/stray_times.hpp"
#include "formats/kineto/collective_calls.hpp"
#include "formats/kineto/run.hpp"

namespace entrain::kineto {

/// Calls at times that are others' over a power of a thousand would move clocks that are right.
void Run::set_aside_wrong_units() {
  constexpr double k_year_2000 = k_year_2000_s * 1e9, k_error = 1e-4;  // of 50 years 44 hours
  std::vector<double> usual;
  for (const RankFile& rank : ranks_) {
    const auto first = static_cast<double>(rank.clocks.front().first);
    if (first >= k_year_2000) usual.push_back(first);
  }
  if (usual.empty()) return;
  const double middle = median(std::move(usual));
  for (RankFile& rank : ranks_) {
    const auto first = static_cast<double>(rank.clocks.front().first);
    if (const auto factor = unit_factor(middle / std::max(first, 1.0), k_error)) {
      const std::string name = fmt::format("rank {}", rank.rank);
      set_aside.push_back(
          {.kind = "wrong_unit",
           .clock = name,
           .records = rank.calls.size(),
           .total = rank.calls.size(),
           .is_decisive = true,
           .reason = fmt::format("the times of {} are {}: they are not in "
                                 "microseconds, and its calls move no clock; write them in "
                                 "microseconds",
                                 name, factor_text(*factor, "small"))});
      rank.calls.clear();
      rank.arrows.clear();
    }
  }
}

void Run::set_aside_far_times() {
  const auto add = [&](const std::string& name, std::uint64_t count, std::uint64_t all,
                       const std::string& what) {
    set_aside.push_back(
        {.kind = "no_times_of_this_run",
         .clock = name,
         .records = count,
         .total = all,
         .is_decisive = matters(count, all),
         .reason = fmt::format("{}: they count for nothing, and stay as they are", what)});
    warnings.push_back(set_aside.back().reason);
  };
  for (const RankFile& file : files_) {
    for (const FileClock& clock : file.clocks) {
      const std::string name =
          fmt::format("rank {}{}", file.rank + clock.part,
                      clock.process.empty() ? "" : " device " + shown_text(clock.process));
      if (clock.process.empty() && clock.events == 0 && is_in(clock.none, 0)) {
        add(name, file.zeros, file.zeros,
            fmt::format("all times of {} are 0, or none of this run", name));
      }
      const auto far = std::ranges::find_if(
          clock.none, [](const NoTimes& one) { return one.first != 0 || one.last != 0; });
      if (far == clock.none.end()) continue;
      std::uint64_t count = 0;
      for (const NoTimes& one : clock.none) count += one.first == 0 ? 0 : one.count;
      add(name, count, clock.times,
          fmt::format("{} of {} begins and ends of {} are {}", count, clock.times, name,
                      is_beyond(far->first)
                          ? "after the year 2116, if their unit is the microsecond: another unit "
                            "is likely"
                          : fmt::format("a day or more from all others of its clock (the first at "
                                        "{:.9f} s)",
                                        static_cast<double>(far->first + file.facts.base) / 1e9)));
    }
  }
}

/// Ranks that nothing compares with others, since all of their calls were set aside, or were not
/// recorded although groups have more ranks than those that recorded some.
void Run::set_aside_lone_ranks() {
  std::uint32_t most = 0, calling = 0;  // ranks of the largest group; ranks that recorded calls
  for (const RankFile& rank : ranks_) {
    calling += rank.calls.empty() ? 0 : 1;
    for (const Call& call : rank.calls) most = std::max(most, call.group_size);
  }
  if (ranks_.size() < 2) return;
  for (const RankFile& rank : ranks_) {
    std::uint64_t lost = 0;
    for (const RankFile& file : files_) {
      const bool is_of_rank = file.rank <= rank.rank && rank.rank < file.rank + file.parts;
      if (is_of_rank) lost += file.endless_calls + file.timeless_calls + file.mixed_calls;
    }
    const bool has_other = !rank.calls.empty() || !rank.arrows.empty() || rank.events == 0;
    const std::string name = fmt::format("rank {}", rank.rank);
    const bool is_known = std::ranges::any_of(
        set_aside, [&](const SetAside& one) { return one.is_decisive && one.clock == name; });
    if (has_other || is_known || (lost == 0 && most <= calling)) continue;
    set_aside.push_back({.kind = "no_time",
                         .clock = name,
                         .records = lost,
                         .total = lost,
                         .is_decisive = true,
                         .reason = fmt::format(
                             "{}: nothing ties its clock to others",
                             lost == 0 ? fmt::format("{} recorded no collective call", name)
                                       : fmt::format("no collective call of {} has a begin and an "
                                                     "end that could be used, of {} recorded",
                                                     name, lost))});
  }
}

}  // namespace entrain::kineto
