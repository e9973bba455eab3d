// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "base/edge_list.hpp"
#include "explain/backward_steps.hpp"
#include "explain/explain.hpp"
#include "explain/staying.hpp"

namespace entrain::explain {

/// An explanation as reports and verdicts tell it.
struct Told {
  std::vector<ClockExplanation> all;
  bool is_exchanged = false;  ///< causes and effects of all edges
  std::uint64_t weak = 0;     ///< edges that are set aside as weak evidence
  std::uint64_t wrong = 0;    ///< other edges and instances that are set aside
  /// More than a twentieth of the edges of two clocks are set aside as weak, and more than 3; or
  /// some are at times that a clock shows twice.
  bool is_much = false;
  /// Clocks beyond Prices::fastest_ppb, or one that was set more than 3 times, and more than once
  /// in twenty edges and members of instances.
  bool is_too_fast = false;
  std::vector<SetAside> set_aside{};  ///< sessions that contradict the edges
  bool is_tied = false;               ///< other clocks, as many, could stay (KeptClocks::are_known)

  /// Adds doubts of another timeline of the same trace.
  void doubt(const Told& other);
};

/// A clock that was set, ahead by `size` ticks if that is known, at a time.
ClockExplanation told_step(const std::string& clock, std::uint64_t time,
                           std::optional<std::int64_t> size, std::uint64_t resolution_hz);

/// Facts of a run beside its clocks and edges.
struct Knowledge {
  std::int64_t rate_ppb = 0;                ///< limit on the rates of clocks
  std::int64_t assumed_ppb = rate_ppb;      ///< higher rates that need not be explained
  Trust trust{};                            ///< trust in its edges
  std::span<const std::int64_t> offsets{};  ///< see difference::Constraints::offsets
  std::span<const std::string> names{};     ///< names of clocks, for reports; empty: their own
  /// Maps of the clocks, from which searches begin; empty: unknown.
  std::span<const ClockMap> estimate{};
};

/// Clocks and edges of a run without what its explanation relaxes, so that some clocks meet all of
/// them. A clock that was set is one clock up to a step and another one after it.
class Explained {
 public:
  /// Empty if clocks within the limit on rates meet all edges, if no explanation is found, or if
  /// there are more than 2^21 edges and members of instances. `run` and `edges` must outlive the
  /// result.
  static std::optional<Explained> find(const Clocks& run, const Edges& edges,
                                       const Knowledge& known);

  [[nodiscard]] const Explanation& explanation() const { return explanation_; }
  /// True if clocks were set or are fast, not only pairs are wrong.
  [[nodiscard]] bool tells_of_clocks() const {
    return explanation_.rate_ppb || !explanation_.steps.empty();
  }
  [[nodiscard]] const Clocks& clocks() const { return clocks_; }
  /// Of clocks(), which are parts of the run's clocks.
  [[nodiscard]] SetClocks set_clocks() const { return {clock_of_, set_back_}; }
  [[nodiscard]] Edges edges() const { return list_.view(); }

  /// Moves each step to the place of least slacks by the maps of clocks() (place_step()). Clocks
  /// and edges of parts stay as they were.
  void place_steps(std::span<const ClockMap> maps);
  /// The maps of the run's clocks from those of clocks(). `extents`: first and last stamps of the
  /// run's clocks. A part reaches into the gap around a step, as far as the order of times allows,
  /// for stamps there without edges, and others of a coarse clock. Empty if time would run
  /// backward.
  [[nodiscard]] std::optional<std::vector<ClockMap>> join(
      std::span<const ClockMap> maps, std::span<const StampRange> extents) const;
  /// `maps`: of the run's clocks; empty: sizes of steps are not known.
  [[nodiscard]] Told told(std::span<const ClockMap> maps) const;
  /// Names the records of a cycle of edges that contradicts the limit on rates.
  [[nodiscard]] std::string contradiction() const;

 private:
  Explained(const Clocks& run, const Edges& edges, std::uint64_t base, const Knowledge& known,
            Explanation explanation, std::vector<BackwardStep> backward);

  void divide_clocks();
  [[nodiscard]] std::uint32_t part_of(std::uint32_t clock, std::uint64_t time) const;
  /// Steps of a clock.
  [[nodiscard]] std::span<const Step> steps_of(std::uint32_t clock) const;
  [[nodiscard]] std::uint64_t time_of(std::int64_t stamp) const {
    return base_ + static_cast<std::uint64_t>(stamp);
  }
  [[nodiscard]] std::string words_for(std::uint64_t time) const;
  [[nodiscard]] std::string words_for_edge(std::uint32_t edge) const;
  [[nodiscard]] ClockExplanation words_for_step(const Step& step, std::uint32_t evidence,
                                                std::span<const ClockMap> maps) const;
  void tell_rates(Told& told) const;
  void tell_backward_steps(Told& told) const;
  void tell_pairs(Told& told) const;
  void tell_exchange(Told& told) const;

  const Clocks* run_;
  std::vector<std::string> names_;
  Edges run_edges_;
  std::uint64_t base_;              ///< stamp that those of the explanation count from
  std::vector<Evidence> evidence_;  ///< evidence of edges, then of instances
  std::int64_t assumed_ppb_;        ///< limit on rates, for reports
  Explanation explanation_;         ///< `edges`: also those of backward_
  std::vector<BackwardStep> backward_;
  std::vector<std::uint32_t> set_back_;  ///< their clocks, increasing
  std::vector<std::uint32_t> first_;     ///< first part of every clock
  std::vector<std::uint32_t> clock_of_;  ///< clock of every part
  Clocks clocks_;
  EdgeList list_;
};

}  // namespace entrain::explain
