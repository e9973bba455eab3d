// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "clocks/presync.hpp"
#include "constraints/context.hpp"
#include "lines/simultaneous_ends.hpp"

namespace entrain::causal {

/// Maps of clocks by the ends of collectives that coincide (docs/method.md, section 8). Of given
/// edges in one process only.
class CommonEnds {
 public:
  /// `measured`: the clocks as measured; `presync`: those whose maps are set. Both must outlive
  /// this.
  CommonEnds(constraints::Context context, const clocks::Presynchronised& measured,
             clocks::Presynchronised& presync)
      : context_(std::move(context)), measured_(measured), presync_(presync) {}

  /// Finds such ends. Errors: those of lines::find_simultaneous_ends().
  Result<void> find(const Clocks& clocks, const Edges& edges);

  /// Sets the maps, if they leave no violation but small ones of bends. False: they do, or there
  /// are none. `votes`: see lines::maps_of().
  bool set(std::span<const char> votes);

  /// Sets maps with bends that leave violations, if those that are set leave larger ones.
  void choose_less_violated();

  /// Lets the clocks that agree stay, if the maps that are set give them the time of none: a fit
  /// does not know which are right. Others show their time. The largest set counts whose maps
  /// differ by no more than ends do; no edge may be violated by more than before.
  void let_most_stay();

 private:
  void take(std::vector<ClockMap> maps);
  /// The largest set of locations whose maps agree with that of one, at k_times times of the run.
  [[nodiscard]] std::vector<std::size_t> clocks_that_agree() const;

  constraints::Context context_;
  const clocks::Presynchronised& measured_;
  clocks::Presynchronised& presync_;
  std::optional<lines::SimultaneousEnds> ends_;
  std::optional<std::vector<ClockMap>> set_aside_;  ///< maps that were not taken yet
};

}  // namespace entrain::causal
