// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/report.hpp>

#include "base/edge_list.hpp"
#include "base/exact.hpp"

namespace entrain::tables {

/// How to count the stamps of a clock on where its counter wraps.
struct Wrap {
  std::uint64_t period = 0;  ///< ticks; 0: the stamps do not wrap
  std::uint64_t first = 0;   ///< first stamp of the run; smaller ones follow the wrap
  bool repeats = false;      ///< the run is longer than the period: a stamp alone tells no time
  /// Ticks per second of the run, and of the stored stamps; equal: a stamp is a tick of the run.
  std::uint64_t run_hz = 1, own_hz = 1;
  std::vector<StampRange> none{};  ///< stamps that are no times of the run, in order

  /// The counted stamp of a stored one.
  [[nodiscard]] std::uint64_t counted(std::uint64_t stamp) const {
    if (own_hz != run_hz) return scaled(stamp, run_hz, own_hz);
    return repeats || stamp >= first || period == 0 ? stamp : stamp + period;
  }
  /// The stored stamp nearest to a counted one, of a clock that does not wrap.
  [[nodiscard]] std::uint64_t stored(std::uint64_t stamp) const {
    return scaled(stamp, own_hz, run_hz);
  }
  static std::uint64_t scaled(std::uint64_t stamp, std::uint64_t to, std::uint64_t from) {
    return static_cast<std::uint64_t>((Int128{stamp} * to + from / 2) / from);
  }
};

/// Counts stamps on where counters wrap, and notes it. A counter has Clock::wrap_bits, or the bits
/// of its largest stamp; `unit`: ticks of one count, or a thousandth or millionth of them. The
/// clocks of the other ends tell how often it has wrapped: stamps are changed only if by one
/// period, and no other clock by its own, all edges of the clock agree. Else its edges are set
/// aside: they become edges inside it; those of instances stay. Returns one element per clock. O(n)
/// if nothing wraps, else O(k n log n) for k clocks that wrap.
std::vector<Wrap> count_on(EdgeList& list, Clocks& clocks, std::uint64_t unit,
                           std::vector<std::string>& notes, std::vector<SetAside>& set_aside);

/// Turns stamps of clocks with other resolutions into ticks of the run; `hz`: ticks per second of
/// each clock, 0: those of the run.
void count_in_one_unit(EdgeList& list, const Clocks& clocks, std::span<const std::uint64_t> hz,
                       std::vector<Wrap>& wraps);

/// Moves effects to the ends of the steps of their clocks, and notes the steps: a clock that counts
/// whole milliseconds shows 5 ms until just before 6 ms. A step is Clock::granule if the stamps of
/// effects have it, else the greatest common divisor of their distances; begins do not matter.
/// Times that are doubles of `unit` ticks have the step of these.
void move_to_ends_of_steps(EdgeList& list, const Clocks& clocks, std::uint64_t unit,
                           std::vector<std::string>& notes);

}  // namespace entrain::tables
