// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>

#include "base/big_vector.hpp"
#include "trace/share.hpp"
#include "verify/places.hpp"
#include "verify/stream_times.hpp"

namespace entrain::verify {

/// The times of instants by other maps. A member knows the stamps of its own processes only, so it
/// asks the owners of the others: for all at once, instead of one message each.
///
/// Use: begin() and ask() for every instant, answer(), then begin() and take() for the same ones in
/// the same order. Example: member 0 holds the sends of process 3 at instants 5 and 9, whose events
/// are member 1's. It asks for both, member 1 looks up their stamps, and take() returns their
/// times.
class TimesAnew {
 public:
  /// `maps`: per location, stored stamp -> time. All must outlive this.
  TimesAnew(const trace::Share& share, const Places& places, std::span<const ClockMap> maps);

  /// Instants of this process follow, best in order of their numbers.
  void begin(std::uint32_t process);
  void ask(std::uint32_t instant);
  /// Collective.
  void answer();
  [[nodiscard]] std::int64_t take(std::uint32_t instant) {
    return is_own() ? time_of(instant) : parcels_[owner_].times[next_[owner_]++];
  }

 private:
  /// Instants of a process, one after the other.
  struct Run {
    std::uint32_t process = k_none, count = 0;
  };
  /// What one member asks another.
  struct Parcel {
    std::vector<Run> runs;
    BigVector<std::uint32_t> instants;
    BigVector<std::int64_t> times;  ///< the answers
  };

  [[nodiscard]] bool is_own() const { return owner_ == share_.team.rank(); }
  [[nodiscard]] std::int64_t time_of(std::uint32_t instant);

  const trace::Share& share_;
  const Places& places_;
  std::span<const ClockMap> maps_;
  std::vector<Parcel> parcels_;     ///< by member
  std::vector<std::size_t> next_;   ///< by member: the next answer
  std::uint32_t process_ = k_none;  ///< in work, and who owns it
  std::uint32_t owner_ = k_none;
  LocationIndex location_ = k_none;  ///< of the latest instant, and its times
  std::optional<StreamTimes> stream_;
};

}  // namespace entrain::verify
