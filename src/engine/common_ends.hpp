// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "engine/timeline.hpp"
#include "lines/simultaneous_ends.hpp"

namespace entrain::engine {

/// Maps of clocks by the ends of collectives that coincide (docs/method.md, section 8). Of given
/// edges in one process only.
class CommonEnds {
 public:
  /// `context`: that of `timeline`, whose maps are set. The timeline must outlive this.
  CommonEnds(constraints::Context context, Timeline& timeline)
      : context_(std::move(context)), t_(timeline) {}

  /// Finds such ends. Errors: those of lines::find_simultaneous_ends().
  Result<void> find(const formats::GivenEdges& given, unsigned threads, Progress* progress);

  /// Sets the maps, if they leave no violation but small ones of bends. False: they do, or there
  /// are none.
  bool set();

  /// Sets maps with bends that leave violations, if those of `timeline` leave larger ones.
  void choose_less_violated();

 private:
  void take(std::vector<ClockMap> maps);

  constraints::Context context_;
  Timeline& t_;
  std::optional<lines::SimultaneousEnds> ends_;
  std::optional<std::vector<ClockMap>> set_aside_;  ///< maps that were not taken yet
};

}  // namespace entrain::engine
