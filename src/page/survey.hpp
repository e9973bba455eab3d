// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include <entrain/report.hpp>

#include "base/flat_map.hpp"
#include "base/team.hpp"
#include "verify/edge_walk.hpp"
#include "verify/relation.hpp"

namespace entrain::page {

/// A histogram of ticks with bins that grow with their values: four per power of two, exact below
/// 8, negative values as mirror images of positive ones.
///
/// Example: 9 lies in the bin from 8 to 9, 100 in the one from 96 to 111, -100 in its mirror image.
class Bins {
 public:
  static constexpr std::size_t k_positive = 8 + 4 * 61;  ///< bins of values >= 0
  static constexpr std::size_t k_count = 2 * k_positive - 1;
  static constexpr std::size_t k_zero = k_positive - 1;  ///< the bin of 0

  [[nodiscard]] static std::size_t bin_of(std::int64_t ticks) {
    const std::uint64_t size =
        ticks < 0 ? ~static_cast<std::uint64_t>(ticks) + 1 : static_cast<std::uint64_t>(ticks);
    std::size_t bin = size;
    if (size >= 8) {
      const auto bits = static_cast<unsigned>(std::bit_width(size));
      bin = 8 + 4 * (bits - 4) + ((size >> (bits - 3)) & 3);
    }
    return ticks < 0 ? k_zero - bin : k_zero + bin;
  }
  /// The smallest value, in size, of the bin that is `distance` bins away from that of 0.
  [[nodiscard]] static std::uint64_t edge(std::size_t distance) {
    if (distance < 8) return distance;
    return std::uint64_t{4 + (distance - 8) % 4} << ((distance - 8) / 4 + 1);
  }

  void add(std::int64_t ticks) { ++counts_[bin_of(ticks)]; }
  [[nodiscard]] std::array<std::int64_t, k_count>& counts() { return counts_; }
  [[nodiscard]] const std::array<std::int64_t, k_count>& counts() const { return counts_; }

 private:
  std::array<std::int64_t, k_count> counts_{};
};

/// An edge that is kept: with its margin under the times of the survey.
struct KeptEdge {
  std::int64_t margin_ticks = 0;  ///< receive - send
  verify::EventRef send, receive;
  EdgeKind kind{};

  /// The worst one first; it depends on nothing but the edges.
  friend auto operator<=>(const KeptEdge&, const KeptEdge&) = default;
};

/// The edges from one row of the matrix to another one.
struct Cell {
  static constexpr std::size_t k_kept = 3;
  std::uint64_t count = 0, violations = 0;
  std::array<KeptEdge, k_kept> worst{};  ///< the first `kept` ones, the worst first
  std::uint32_t kept = 0;

  /// An edge with a larger margin need not be kept.
  [[nodiscard]] bool wants(std::int64_t margin_ticks) const {
    return kept < k_kept || margin_ticks <= worst[k_kept - 1].margin_ticks;
  }
  void keep(const KeptEdge& edge);
};

/// Single edges (messages, threads, RMA), or those of collectives.
enum class Family : std::uint8_t { single, collective };

struct MatrixCell {
  std::uint32_t from = 0, to = 0;  ///< rows of the layout
  Family family{};
  Cell cell;
};

/// Counts of edges under some times.
struct EdgeCounts {
  std::vector<MatrixCell> cells;  ///< order: family, from, to
  std::array<Bins, k_edge_kinds> margins;
  /// Arrival skew and spread of the ends of all collectives in which all wait
  /// for all.
  Bins arrivals, ends;
};

/// A collective in which all wait for all, from the sample of them.
struct SampledInstance {
  static constexpr std::uint32_t k_shown = 32;
  std::uint64_t hash = 0;  ///< hash of its order: the smallest ones make the sample
  verify::EdgeOrder order{};
  std::int64_t time = 0;        ///< earliest begin
  std::int64_t arrival = 0;     ///< latest begin minus earliest begin, ticks
  std::int64_t ends = 0;        ///< latest end minus earliest end, ticks
  std::int64_t worst = 0;       ///< earliest end minus latest begin, ticks
  std::uint32_t processes = 0;  ///< number of processes that begin
  std::uint32_t shown = 0;      ///< begins of this many of them, evenly spaced:
  std::array<std::int64_t, k_shown> begins{};
};

/// The bounds of a survey, the same at every member.
struct SurveyScope {
  std::vector<std::uint32_t> row_of;    ///< each location's row of the matrix
  std::vector<std::uint32_t> clock_of;  ///< each location's clock
  std::uint32_t clocks = 0;
  std::int64_t begin = 0, end = 0;  ///< range of the times looked at, ticks

  /// Slices of time per clock, each with its tightest edges: fewer where there
  /// are many clocks.
  [[nodiscard]] std::uint32_t slices() const;
};

/// Summary of the edges that a check tests: counts by pair of rows, histograms
/// by kind, the worst edges of each pair and clock, and a sample of the
/// collectives. The size is fixed except for the pairs that communicate, at
/// most k_most_rows squared.
class Survey final : public verify::EdgeObserver {
 public:
  static constexpr std::size_t k_sample = 1000;

  explicit Survey(SurveyScope scope);

  void restart() override;
  void channel(const verify::Relation& relation, const verify::MatchedChannel& channel,
               LocationIndex from, LocationIndex to) override;
  void pair(const verify::Pair& pair) override;
  void instance(const verify::Instance& instance,
                std::span<const verify::WorstPair> deciding) override;

  /// Brings the surveys of all members together at rank 0; the others keep
  /// theirs. Collective.
  void gather(Team& team);

  [[nodiscard]] const SurveyScope& scope() const { return scope_; }
  [[nodiscard]] EdgeCounts counts() const { return {cells(), margins_, arrivals_, ends_}; }
  /// In order of family, from, to.
  [[nodiscard]] std::vector<MatrixCell> cells() const;
  [[nodiscard]] std::uint64_t instances() const { return instances_; }
  /// In order of time.
  [[nodiscard]] std::vector<SampledInstance> sample() const;
  /// The tightest edges to (`receiving`) or from a clock, one per slice of time
  /// that has any.
  [[nodiscard]] std::vector<KeptEdge> tightest(std::uint32_t clock, bool receiving) const;

 private:
  [[nodiscard]] std::size_t slot_of(LocationIndex location, std::int64_t time) const;
  void add(Family family, const KeptEdge& edge, std::int64_t sent, std::int64_t received);
  void note_sample(const verify::Instance& instance);
  void keep_sample(const SampledInstance& instance);

  SurveyScope scope_;
  std::uint32_t slices_;
  double slices_per_tick_;
  std::unordered_map<std::uint64_t, Cell, IntegerHash> cells_;
  std::array<Bins, k_edge_kinds> margins_;
  Bins arrivals_, ends_;
  std::uint64_t instances_ = 0;
  std::vector<KeptEdge> into_,
      out_of_;                           ///< one for each clock and slice; kind k_no_edge: none
  std::vector<SampledInstance> sample_;  ///< a heap, the largest hash first
};

}  // namespace entrain::page
