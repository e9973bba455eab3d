// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/report.hpp>

#include "base/ids.hpp"
#include "base/team.hpp"
#include "trace/partition.hpp"
#include "trace/trace.hpp"

namespace entrain::verify {

/// An event of the skeleton: trace.locations[location].events[event]. What the matching hands out
/// names the first of the events that share its stamp, so that equal references are one instant.
struct EventRef {
  LocationIndex location = k_none;
  std::uint32_t event = k_none;

  friend bool operator==(const EventRef&, const EventRef&) = default;
  friend auto operator<=>(const EventRef&, const EventRef&) = default;
};

/// The instant as a key.
inline std::uint64_t key_of(EventRef ref) { return std::uint64_t{ref.location} << 32 | ref.event; }

/// Which process, member and machine node everything belongs to, and the numbers of the
/// communication events: those of a process count through its locations, one after the other.
/// The same at every member. Immutable, so safe to share between threads.
class Places {
 public:
  /// A common call of the team. Errors: ErrorKind::input for a process of 2^32 communication
  /// events or more.
  static Result<Places> agree(Team& team, const trace::Partition& partition,
                              const trace::Trace& trace);

  [[nodiscard]] std::uint32_t process_count() const {
    return static_cast<std::uint32_t>(owner_.size());
  }
  /// Rank of the member that works on a process.
  [[nodiscard]] std::uint32_t owner(std::uint32_t process) const { return owner_[process]; }
  [[nodiscard]] std::uint32_t process_of(LocationIndex l) const {
    return definitions_->process_of[l];
  }
  /// In increasing order.
  [[nodiscard]] std::span<const LocationIndex> locations(std::uint32_t process) const {
    return {locations_.data() + begin_[process], begin_[process + 1] - begin_[process]};
  }
  /// True if at most one location of the process has communication events.
  [[nodiscard]] bool is_single(std::uint32_t process) const { return only_[process] != k_many; }
  /// Number of the first event of a location.
  [[nodiscard]] std::uint32_t first_number(LocationIndex l) const { return first_[l]; }

  /// Position of the first event of a location, or of the end, among those of the whole trace.
  [[nodiscard]] std::uint64_t first_position(LocationIndex l) const { return position_[l]; }
  [[nodiscard]] std::uint64_t position_count() const { return position_.back(); }

  [[nodiscard]] EventRef event(std::uint32_t process, std::uint32_t number) const {
    const LocationIndex l = is_single(process) ? only_[process] : search(process, number);
    return {l, number - first_[l]};
  }

  [[nodiscard]] LatencyClass latency_class(LocationIndex a, LocationIndex b) const {
    return trace::latency_class(definitions_->process_of, definitions_->node_of, a, b);
  }

 private:
  static constexpr LocationIndex k_many = k_none - 1;
  Places(const trace::Partition& partition, const trace::Trace& trace);
  Result<void> number_events(std::span<const std::int64_t> counts);
  [[nodiscard]] LocationIndex search(std::uint32_t process, std::uint32_t number) const;

  const trace::Definitions* definitions_;
  std::vector<std::uint32_t> owner_;      ///< per process
  std::vector<std::size_t> begin_;        ///< per process and the end, in locations_
  std::vector<LocationIndex> locations_;  ///< process after process
  std::vector<LocationIndex> only_;      ///< per process: its location with events; k_many: several
  std::vector<std::uint32_t> first_;     ///< per location
  std::vector<std::uint64_t> position_;  ///< per location and the end
};

}  // namespace entrain::verify
