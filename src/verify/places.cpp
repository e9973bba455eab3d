// SPDX-License-Identifier: BSD-3-Clause
#include "verify/places.hpp"

#include <algorithm>

#include "base/order.hpp"
#include "base/try.hpp"

namespace entrain::verify {

Places::Places(const trace::Share& share)
    : definitions_(&share.trace.definitions), first_(share.trace.locations.size(), 0) {
  const std::vector<std::uint32_t>& process_of = definitions_->process_of;
  const std::uint32_t processes = trace::count_of(process_of);
  owner_.assign(processes, 0);
  begin_.assign(std::size_t{processes} + 1, 0);
  for (LocationIndex l = 0; l < process_of.size(); ++l) {
    owner_[process_of[l]] = share.partition.owner[l];
    ++begin_[process_of[l] + 1];
  }
  for (std::size_t p = 0; p < processes; ++p) begin_[p + 1] += begin_[p];
  locations_.resize(process_of.size());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (LocationIndex l = 0; l < process_of.size(); ++l) locations_[next[process_of[l]]++] = l;
}

Result<void> Places::number_events(std::span<const std::int64_t> counts) {
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
        return input_error(
            "the process of location {} has more communication events than can be checked",
            definitions_->locations[l].id);
      }
    }
  }
  return {};
}

Result<Places> Places::agree(const trace::Share& share) {
  std::vector<std::int64_t> counts(share.trace.locations.size(), 0);
  for (const LocationIndex l : share.own()) {
    counts[l] = static_cast<std::int64_t>(share.trace.locations[l].events.size());
  }
  share.team.reduce(Team::Reduction::sum, counts);
  Places places(share);
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

std::uint32_t process_at(const trace::Definitions& definitions, const trace::Comm& comm,
                         std::uint32_t group, std::uint32_t rank) {
  const auto& members = group == 0 ? comm.group_a : comm.group_b;
  if (rank >= members.size()) return k_none;
  const LocationIndex location = members[rank];
  return location < definitions.process_of.size() ? definitions.process_of[location] : k_none;
}

const std::vector<Memberships::Entry>& Memberships::seats_of(CommIndex comm) {
  auto& seats = seats_[comm];
  if (!seats) {
    seats.emplace();
    const trace::Comm& named = definitions_->comms[comm];
    for (const std::uint32_t group : {0U, 1U}) {
      const auto& members = group == 0 ? named.group_a : named.group_b;
      if (group == 1 && !named.inter) break;
      for (std::uint32_t rank = 0; rank < members.size(); ++rank) {
        // k_none: of a process that was not recorded, such as a spawned one.
        seats->push_back({process_at(*definitions_, named, group, rank), {group, rank}});
      }
    }
    std::ranges::stable_sort(*seats, {}, &Entry::process);
  }
  return *seats;
}

bool Memberships::is_shared(CommIndex comm) {
  const std::vector<Entry>& seats = seats_of(comm);
  return !seats.empty() && seats.front().process != seats.back().process;
}

bool Memberships::lacks_members(CommIndex comm) {
  if (comm >= definitions_->comms.size()) return false;
  const std::vector<Entry>& seats = seats_of(comm);
  return !seats.empty() && seats.back().process == k_none;
}

std::optional<Seat> Memberships::seat_of(CommIndex comm, std::uint32_t process) {
  const std::vector<Entry>& seats = seats_of(comm);
  const auto found = std::ranges::lower_bound(seats, process, {}, &Entry::process);
  if (found == seats.end() || found->process != process) return std::nullopt;
  return found->seat;
}

std::uint32_t Memberships::peer_process(CommIndex comm, std::uint32_t own, std::uint32_t rank) {
  if (comm >= definitions_->comms.size()) return k_none;
  const trace::Comm& named = definitions_->comms[comm];
  if (named.self) return own;
  if (!named.inter) return process_at(*definitions_, named, 0, rank);
  const auto seat = seat_of(comm, own);
  return seat ? process_at(*definitions_, named, 1 - seat->group, rank) : k_none;
}

const std::vector<std::uint32_t>& Memberships::processes_of(std::uint32_t group) {
  if (group >= processes_.size()) return nobody_;
  auto& processes = processes_[group];
  if (!processes) {
    processes.emplace();
    for (const LocationIndex member : definitions_->groups[group].members) {
      if (member < definitions_->process_of.size()) {
        processes->push_back(definitions_->process_of[member]);
      }
    }
    sort_unique(*processes);
  }
  return *processes;
}

}  // namespace entrain::verify
