// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/report.hpp>

#include "base/edge_list.hpp"
#include "base/order.hpp"

/// Stamps that are no times of a run, before anything is concluded from times: of all formats.
namespace entrain {

/// Stamp of a record without a valid one.
inline constexpr std::uint64_t k_no_time = std::numeric_limits<std::uint64_t>::max();
inline constexpr double k_year_2000_s = 946'684'800, k_year_2100_s = 4'102'444'800;

/// True if so many of all are more than a conclusion about all may leave out: a twentieth.
inline bool matters(std::uint64_t some, std::uint64_t all) { return 20 * some > all; }

/// The factor between two times, 1,000, 10^6 or 10^9, if a wrong unit explains their ratio, which
/// is off by `error` at most; else empty.
std::optional<double> unit_factor(double ratio, double error);
/// "1,000 times too small", as `how` is "small".
std::string factor_text(double factor, const char* how);

/// Stamps of a clock without a long gap between two of them.
struct Stretch {
  std::uint64_t first = 0, last = 0;  ///< stamps
  std::uint64_t count = 0;
  /// Stamps that are at about the same time as one of another clock, or stretch; those that no
  /// clocks explain; whole calls or messages among the latter.
  std::uint64_t ties = 0, far = 0, calls = 0;
  std::vector<double> ratios{};  ///< of the times at the other ends of far ties to these
  std::vector<double> others{}, distances{};  ///< these times, and how far they are from the stamps
  double longest = 0;                         ///< length of a call of a far tie

  void add_tie(std::uint64_t time, std::uint64_t other, bool is_far);
  /// True if a clock that was set explains the far ties: three calls or more show distances that
  /// differ by the lengths of calls, or by less than half of the time in which they happened.
  [[nodiscard]] bool is_of_one_clock() const;
  /// True if nine of ten ties are far.
  [[nodiscard]] bool is_displaced() const { return far > 0 && far >= ties - ties / 10; }
};

/// The stretches of a clock between gaps of more than `far`, in order; one if it has no stamps.
std::vector<Stretch> stretches_of(std::vector<std::uint64_t> stamps, std::uint64_t far);

/// Calls use(clock, time, is_effect) for all ends of edges and members of instances.
template <class List, class Use>
void for_ends(List& list, const Use& use) {
  for (std::size_t i = 0; i < list.cause_clock.size(); ++i) {
    use(list.cause_clock[i], list.cause_time[i], false);
    use(list.effect_clock[i], list.effect_time[i], true);
  }
  for (const CollectiveInstance& one : list.instances) {
    for (std::uint64_t m = 0; m < std::uint64_t{one.begins} + one.ends; ++m) {
      auto& member = list.members[one.first + m];
      use(member.clock, member.time, m >= one.begins);
    }
  }
}

/// Stamps of each clock that are no times of the run, in order.
using StrayRanges = std::vector<std::vector<StampRange>>;
/// True for a stamp of one of the ranges.
bool is_in(const std::vector<StampRange>& ranges, std::uint64_t stamp);

/// Finds the stamps that are no times of the run, says so, and takes the edges and members at them
/// out of the list:
///
/// * k_no_time;
/// * stamps that 100 days separate from the others of their clock, whose edges show other distances
///   than usual, unless a clock that was set explains these;
/// * all of a clock whose times pass a thousand, a million or 10^9 times faster or slower than
///   those of the clocks at the other ends of its edges.
///
/// `hz`: ticks per second of each clock; 0, or none: those of the run. A clock with
/// Clock::wrap_bits may have gaps. O(n log n).
StrayRanges take_stray_times(EdgeList& list, const Clocks& clocks,
                             std::span<const std::uint64_t> hz, std::vector<SetAside>& set_aside);

/// Takes the edges and members at stamps of some ranges out of a list.
void take_out(EdgeList& list, const StrayRanges& ranges);

}  // namespace entrain
