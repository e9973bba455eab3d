// SPDX-License-Identifier: BSD-3-Clause
#include "verify/places.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/try.hpp"

namespace entrain::verify {

Places::Places(const trace::Partition& partition, const trace::Trace& trace)
    : definitions_(&trace.definitions), first_(trace.locations.size(), 0) {
  const std::vector<std::uint32_t>& process_of = trace.definitions.process_of;
  std::uint32_t processes = 0;
  for (const std::uint32_t process : process_of) processes = std::max(processes, process + 1);
  owner_.assign(processes, 0);
  begin_.assign(std::size_t{processes} + 1, 0);
  for (LocationIndex l = 0; l < process_of.size(); ++l) {
    owner_[process_of[l]] = partition.owner[l];
    ++begin_[process_of[l] + 1];
  }
  for (std::size_t p = 0; p < processes; ++p) begin_[p + 1] += begin_[p];
  locations_.resize(process_of.size());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (LocationIndex l = 0; l < process_of.size(); ++l) locations_[next[process_of[l]]++] = l;
}

Result<void> Places::number_events(std::span<const std::int64_t> counts) {
  position_.assign(1, 0);
  for (const std::int64_t count : counts) {
    position_.push_back(position_.back() + static_cast<std::uint64_t>(count));
  }
  only_.assign(owner_.size(), k_none);
  for (std::uint32_t p = 0; p < process_count(); ++p) {
    if (locations(p).empty()) continue;
    only_[p] = locations(p).front();
    std::uint64_t number = 0;
    for (const LocationIndex l : locations(p)) {
      if (counts[l] > 0) only_[p] = number == 0 ? l : k_many;
      first_[l] = static_cast<std::uint32_t>(number);
      number += static_cast<std::uint64_t>(counts[l]);
      if (number >= k_none) {
        return fail(ErrorKind::input,
                    fmt::format("the process of location {} has more communication events than "
                                "can be checked",
                                definitions_->locations[l].id));
      }
    }
  }
  return {};
}

Result<Places> Places::agree(Team& team, const trace::Partition& partition,
                             const trace::Trace& trace) {
  std::vector<std::int64_t> counts(trace.locations.size(), 0);
  for (LocationIndex l = 0; l < counts.size(); ++l) {
    if (!partition.owns(team.rank(), l)) continue;
    counts[l] = static_cast<std::int64_t>(trace.locations[l].events.size());
  }
  team.reduce(Team::Reduction::sum, counts);
  Places places(partition, trace);
  TRY(places.number_events(counts));  // the same outcome at every member
  return places;
}

LocationIndex Places::search(std::uint32_t process, std::uint32_t number) const {
  const auto all = locations(process);
  // Locations without events share their number with the next one: the last of equals has it.
  const auto after =
      std::upper_bound(all.begin(), all.end(), number,
                       [this](std::uint32_t n, LocationIndex l) { return n < first_[l]; });
  return *std::prev(after);
}

}  // namespace entrain::verify
