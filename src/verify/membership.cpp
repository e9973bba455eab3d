// SPDX-License-Identifier: BSD-3-Clause
#include "verify/membership.hpp"

#include <algorithm>

namespace entrain::verify {

std::uint32_t process_at(const trace::Definitions& definitions, const trace::Comm& comm,
                         std::uint32_t group, std::uint32_t rank) {
  const auto& members = group == 0 ? comm.group_a : comm.group_b;
  if (rank >= members.size()) return k_none;
  const LocationIndex location = members[rank];
  return location < definitions.process_of.size() ? definitions.process_of[location] : k_none;
}

std::optional<Seat> Memberships::seat_of(CommIndex comm, std::uint32_t process) {
  auto& seats = seats_[comm];
  if (!seats) {
    seats.emplace();
    const trace::Comm& named = definitions_->comms[comm];
    for (const std::uint32_t group : {0U, 1U}) {
      const auto& members = group == 0 ? named.group_a : named.group_b;
      if (group == 1 && !named.inter) break;
      for (std::uint32_t rank = 0; rank < members.size(); ++rank) {
        const std::uint32_t member = process_at(*definitions_, named, group, rank);
        if (member != k_none) seats->push_back({member, {group, rank}});
      }
    }
    std::stable_sort(seats->begin(), seats->end(),
                     [](const Entry& a, const Entry& b) { return a.process < b.process; });
  }
  const auto found =
      std::lower_bound(seats->begin(), seats->end(), process,
                       [](const Entry& entry, std::uint32_t p) { return entry.process < p; });
  if (found == seats->end() || found->process != process) return std::nullopt;
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
    std::sort(processes->begin(), processes->end());
    processes->erase(std::unique(processes->begin(), processes->end()), processes->end());
  }
  return *processes;
}

}  // namespace entrain::verify
