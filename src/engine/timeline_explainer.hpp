// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include <entrain/error.hpp>

#include "base/edge_list.hpp"
#include "causal/project.hpp"
#include "engine/archive_records.hpp"
#include "engine/timeline_reader.hpp"
#include "explain/explained.hpp"

namespace entrain::engine {

/// Explains why no clocks within the assumed rates meet all edges of a timeline, and goes on with
/// the edges that are evidence.
class TimelineExplainer : protected TimelineReader {
 protected:
  using TimelineReader::TimelineReader;

  /// Finds out, once, why no clocks within the assumed rates meet all edges; takes away what is no
  /// evidence. An archive must be whole in this process. An explanation of more than `most_bits` is
  /// none. Errors: ErrorKind::input if the user gave the rates, and these are all that is wrong.
  Result<void> explain(double most_bits = std::numeric_limits<double>::max(),
                       std::span<const ClockMap> estimate = {});
  /// After an explanation without success: supposes that a few stamps of an archive are wrong, by
  /// which no clock was set. Messages inside of buffer flushes are certain.
  Result<void> explain_by_wrong_stamps(std::span<const ClockMap> estimate);

  /// False if an explanation would need edges that are not known here, or too much memory.
  [[nodiscard]] bool may_be_explained() const;

  [[nodiscard]] bool corrects() const { return use_.purpose == Purpose::correction; }
  [[nodiscard]] bool wants_estimate() const;
  [[nodiscard]] bool wants_bending() const;

  /// Limits on rates: given, assumed, or the least that are possible.
  [[nodiscard]] causal::AssumedRates assumed_rates() const;
  /// True for wall clocks, of which few are as fast as is assumed of each. Ends of collectives show
  /// the rates themselves.
  [[nodiscard]] bool are_usual() const;

  [[nodiscard]] explain::Told told(std::span<const ClockMap> maps) const;

  /// Goes on without some given edges.
  Result<void> set_aside(IgnoredEdges which);

  std::optional<explain::Explained> explained_;  ///< what explain() found, but for raised rates
  ArchiveRecords records_;  ///< records of an archive; or doubts about given edges
  bool was_tried_ = false;  ///< explain() knows by now whether there is anything to explain
  /// Least limit on rates that is possible; 0: that assumed is.
  std::int64_t raised_ppb_ = use_.raised_ppb;

 private:
  /// True if clocks and edges are those of domains, not of given clocks.
  [[nodiscard]] bool is_joined() const { return !records_.run.clocks.empty(); }
  [[nodiscard]] const Clocks& run() const { return is_joined() ? records_.run : given_->clocks; }
  [[nodiscard]] Edges edges() const { return is_joined() ? records_.list.view() : given_->edges; }
  [[nodiscard]] std::int64_t wander_ppb() const;
  [[nodiscard]] std::uint32_t reference_clock() const;
  [[nodiscard]] Result<void> refuse_given_rates() const;
  void take_wrong_pairs();
  void find_explanation(std::span<const ClockMap> estimate);

  EdgeList rest_;  ///< given edges that are evidence
};

}  // namespace entrain::engine
