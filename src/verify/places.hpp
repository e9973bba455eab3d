// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/report.hpp>

#include "base/ids.hpp"
#include "base/team.hpp"
#include "trace/share.hpp"
#include "trace/trace.hpp"

/// Who belongs where: events to processes (Places), processes to communicators (Memberships).
namespace entrain::verify {

/// An event of the skeleton: trace.locations[location].events[event]. Edges name the first of the
/// events that share a stamp, so that equal references are one instant.
struct EventRef {
  LocationIndex location = k_none;
  std::uint32_t event = k_none;

  friend bool operator==(const EventRef&, const EventRef&) = default;
  friend auto operator<=>(const EventRef&, const EventRef&) = default;
};

/// Processes, members and machines of locations, and the numbers of the communication events: each
/// process numbers its own events location by location.
/// The same at every member. Immutable, so safe to share between threads.
///
/// Example: process 0 has locations 0 and 2 with 3 and 5 events, process 1 has location 1 with 4.
/// In process 0, number 2 is the last event of location 0, and number 3 the first of location 2
/// (first_number(2) == 3). In process 1, number 0 is the first event of location 1.
class Places {
 public:
  /// Collective. Errors: ErrorKind::input for a process of 2^32 communication events or more.
  static Result<Places> agree(const trace::Share& share);

  [[nodiscard]] std::uint32_t process_count() const {
    return static_cast<std::uint32_t>(owner_.size());
  }
  /// Rank of the member that works on a process.
  [[nodiscard]] std::uint32_t owner(std::uint32_t process) const { return owner_[process]; }
  [[nodiscard]] std::uint32_t process_of(LocationIndex l) const {
    return definitions_->process_of[l];
  }
  /// The locations of a process, in increasing order.
  [[nodiscard]] std::span<const LocationIndex> locations(std::uint32_t process) const {
    return {locations_.data() + begin_[process], begin_[process + 1] - begin_[process]};
  }
  /// True if at most one location of the process has communication events.
  [[nodiscard]] bool is_single(std::uint32_t process) const { return only_[process] != k_many; }
  [[nodiscard]] std::uint32_t first_number(LocationIndex l) const { return first_[l]; }

  [[nodiscard]] std::size_t location_count() const { return first_.size(); }

  /// The event of a process with this number. O(1) if the process is single, else O(log locations).
  [[nodiscard]] EventRef event(std::uint32_t process, std::uint32_t number) const {
    const LocationIndex l = is_single(process) ? only_[process] : search(process, number);
    return {l, number - first_[l]};
  }

  [[nodiscard]] std::uint32_t machine_of(LocationIndex l) const { return definitions_->node_of[l]; }
  [[nodiscard]] LatencyClass latency_class(LocationIndex a, LocationIndex b) const {
    return trace::latency_class(definitions_->process_of, definitions_->node_of, a, b);
  }

 private:
  static constexpr LocationIndex k_many = k_none - 1;
  explicit Places(const trace::Share& share);
  Result<void> number_events(std::span<const std::int64_t> counts);
  [[nodiscard]] LocationIndex search(std::uint32_t process, std::uint32_t number) const;

  const trace::Definitions* definitions_;
  std::vector<std::uint32_t> owner_;      ///< one per process
  std::vector<std::size_t> begin_;        ///< begin in locations_ per process, and the end
  std::vector<LocationIndex> locations_;  ///< sorted by process
  std::vector<LocationIndex> only_;       ///< location with events of each process; k_many: several
  std::vector<std::uint32_t> first_;      ///< number of the first event of each location
};

struct Seat {
  std::uint32_t group = 0;  ///< 1 only in the second group of an inter-communicator
  std::uint32_t rank = 0;
};

/// The process of a rank of a group of a communicator; k_none if there is no such rank.
std::uint32_t process_at(const trace::Definitions& definitions, const trace::Comm& comm,
                         std::uint32_t group, std::uint32_t rank);

/// Cache of the processes of communicators and groups. Used by one thread.
class Memberships {
 public:
  explicit Memberships(const trace::Definitions& definitions)
      : definitions_(&definitions),
        seats_(definitions.comms.size()),
        processes_(definitions.groups.size()) {}

  /// Seat of a process in a communicator; nothing if it does not belong to it. A process named
  /// twice has the first seat only.
  std::optional<Seat> seat_of(CommIndex comm, std::uint32_t process);

  /// True if a communicator has members of more than one process.
  bool is_shared(CommIndex comm);
  /// True if a member was not recorded; false for an undefined communicator.
  bool lacks_members(CommIndex comm);

  /// Process of `rank` in a message of process `own` on `comm`; k_none: undefined.
  std::uint32_t peer_process(CommIndex comm, std::uint32_t own, std::uint32_t rank);

  /// Processes of a group, each once, in increasing order: one with several locations is one.
  const std::vector<std::uint32_t>& processes_of(std::uint32_t group);

 private:
  struct Entry {
    std::uint32_t process = k_none;
    Seat seat;
  };

  const std::vector<Entry>& seats_of(CommIndex comm);

  const trace::Definitions* definitions_;
  std::vector<std::optional<std::vector<Entry>>> seats_;  ///< one per communicator, sorted
  std::vector<std::optional<std::vector<std::uint32_t>>> processes_;  ///< one list per group
  std::vector<std::uint32_t> nobody_;
};

}  // namespace entrain::verify
