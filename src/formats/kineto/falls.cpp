// SPDX-License-Identifier: BSD-3-Clause
//
// Where clocks were set back, by the order of the records in a file.
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "base/exact.hpp"
#include "base/stray_times.hpp"
#include "formats/kineto/clocks.hpp"

namespace entrain::kineto {

/// True if launched work of these rows falls at each of their falls, and its correlation numbers go
/// on. Work of a stream runs in the order of its launches, which these numbers count: so the clock
/// was set back there. In blocks of a file that begin anew they fall with the times.
bool ClockReader::are_launched_in_order(std::span<const std::uint32_t> rows) const {
  struct Order {
    std::uint32_t part = 0;
    std::uint64_t before = 0, most = 0;  ///< largest numbers: of earlier parts, of all so far
    std::int64_t begin = 0;              ///< of the last work
  };
  std::map<std::uint32_t, Order> orders;
  for (const std::uint32_t r : rows) {
    if (!rows_[r].order.falls().empty()) orders.try_emplace(r);
  }
  for (const Work& work : work_) {
    const auto of_row = orders.find(work.row);
    if (of_row == orders.end() || work.correlation == 0 || is_far(work)) continue;
    Order& order = of_row->second;
    if (work.part > order.part) {
      if (work.part > order.part + 1 || order.most == 0 || work.begin >= order.begin) return false;
      order.part = work.part;
      order.before = order.most;
    }
    if (order.part > 0 && work.correlation <= order.before) return false;
    order.most = std::max(order.most, work.correlation);
    order.begin = work.begin;
  }
  return !orders.empty() && std::ranges::all_of(orders, [&](const auto& of_row) {
    return of_row.second.part == rows_[of_row.first].order.falls().size();
  });
}

/// True if a device was set back, and its host was not: long after the first fall work begins
/// sooner after its launch than before it, in the median by more than half of the fall.
bool ClockReader::is_set_alone(std::string_view process, const Falls& falls) const {
  const auto device = devices_.find(process);
  if (device == devices_.end() || falls.all.empty()) return false;
  std::array<std::vector<std::int64_t>, 2> waits;  // before and after the fall
  for (const Work* const work : device->second.work) {
    const KeptEvent* const by = launch_by(work->correlation, device->second.host);
    const std::uint32_t before = falls.before(work->begin, work->part);
    if (by != nullptr && before < 2) waits[before].push_back(work->begin - by->begin);
  }
  if (waits[0].empty() || waits[1].empty()) return false;
  // The first of these were launched before the fall.
  waits[1].erase(waits[1].begin(),
                 waits[1].begin() + static_cast<std::ptrdiff_t>(waits[1].size() / 2));
  const std::int64_t by = falls.all[0].from - falls.all[0].to;
  return median(std::move(waits[0])) - median(std::move(waits[1])) > by / 2;
}

/// Where the clock of some rows was set back: those that fall at all do so equally often, each time
/// by less than they show before and after. `repeats_little`: refuses blocks that begin anew.
Falls ClockReader::falls_of(std::span<const std::uint32_t> rows, bool repeats_little) const {
  constexpr std::int64_t k_longest = std::int64_t{1} << 45;  ///< longest fall, ns: ten hours
  constexpr std::int64_t k_apart = 50'000'000;  ///< ns: longer than what may hide when it was set
  std::vector<RowOrder::Fall> all;
  std::vector<Stamps> parts;
  for (const std::uint32_t r : rows) {
    const std::vector<RowOrder::Fall>& own = rows_[r].order.falls();
    if (own.empty()) continue;
    if (own.size() > RowOrder::k_most_falls || (!all.empty() && all.size() != own.size()))
      return {};
    if (all.empty()) all = own;
    parts.resize(own.size() + 1);
    for (std::size_t f = 0; f < own.size(); ++f) {
      all[f] = {std::max(all[f].from, own[f].from), std::min(all[f].to, own[f].to),
                std::max(all[f].until, own[f].until)};
    }
    for (std::size_t p = 0; p < parts.size(); ++p) parts[p].add(rows_[r].stamps[p]);
  }
  for (std::size_t f = 0; f < all.size(); ++f) {
    auto& [begin, next, until, ahead] = all[f];
    const Int128 from = begin, to = next, by = from - to;
    if (by > k_longest || until - from > k_longest) return {};
    // Parts are at least as long as what they repeat.
    if (repeats_little && (to - parts[f].first < by || parts[f + 1].last - from < by)) return {};
    ahead = until - next + k_apart;
  }
  return {std::move(all)};
}

/// Lets the times of each clock count on, before these are taken for times.
void ClockReader::count_all_on() {
  std::map<std::pair<bool, std::string_view>, std::vector<std::uint32_t>> rows;
  for (std::uint32_t r = 0; r < rows_.size(); ++r) {
    const RowFacts& row = rows_[r];
    const std::string_view host = part_of(row.name.process) > 0 ? row.name.process : "";
    rows[{row.is_of_device, row.is_of_device ? row.name.process : host}].push_back(r);
  }
  std::map<std::pair<bool, std::string_view>, Falls> of_clock;
  for (const auto& [clock, own] : rows) {
    of_clock[clock] = falls_of(own, !are_launched_in_order(own));
  }
  // A host and its devices that were set together count on by the same.
  const auto host_name = [&](const auto& clock) {
    const std::string_view host = clock.first ? host_of(clock.second) : clock.second;
    return std::pair(false, part_of(host) > 0 ? host : std::string_view());
  };
  const auto host_of_clock = [&](const auto& clock) -> Falls& {
    return of_clock[host_name(clock)];
  };
  const auto take_like = [&](const auto& clock, Falls& falls, const Falls& other) {
    if (!falls.all.empty() || other.all.empty()) return;
    Falls own = falls_of(rows[clock], false);
    if (own.all.size() == other.all.size()) falls = std::move(own);
  };
  // One that shows no fall is assumed to have been set between two of its events.
  const auto unseen = [](Falls falls) {
    for (RowOrder::Fall& fall : falls.all) fall.until = fall.to + (fall.from - fall.to) / 2;
    return falls;
  };
  for (auto& [clock, falls] : of_clock) {
    Falls& host = host_of_clock(clock);
    if (&host == &falls) continue;
    take_like(host_name(clock), host, falls);
    if (host.all.empty() && !is_set_alone(clock.second, falls)) host = unseen(falls);
  }
  for (auto& [clock, falls] : of_clock) {
    Falls& host = host_of_clock(clock);
    if (&host == &falls) continue;
    take_like(clock, falls, host);
    if (falls.all.empty()) falls = unseen(host);
    for (std::size_t f = 0; f < host.all.size() && falls.all.size() == host.all.size(); ++f) {
      host.all[f].ahead = std::max(host.all[f].ahead, falls.all[f].ahead);
    }
  }
  for (auto& [clock, falls] : of_clock) {
    const Falls& host = host_of_clock(clock);
    for (std::size_t f = 0; f < host.all.size() && falls.all.size() == host.all.size(); ++f) {
      falls.all[f].ahead = host.all[f].ahead;
    }
  }
  ahead_.resize(rows_.size());
  for (const auto& [clock, own] : rows) {
    for (const std::uint32_t r : own) ahead_[r] = of_clock[clock];
  }
  for (Work& work : work_) count_on(work);
  for (Wait& wait : waits_) count_on(wait);
  for (auto& [process, launches] : launches_) {
    for (auto& [correlation, launch] : launches) count_on(launch);
  }
}

}  // namespace entrain::kineto
