// SPDX-License-Identifier: BSD-3-Clause
#include "lines/consensus.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/ids.hpp"
#include "base/try.hpp"
#include "constraints/edge_worklist.hpp"

namespace entrain::lines {
namespace {

/// Search for places; consensus_test.cpp. Chosen, not measured.
struct ConsensusThresholds {
  /// Steps after which no further clock is tried; about a second, 4,000 clocks with few neighbours.
  static constexpr std::uint64_t most_steps = std::uint64_t{1} << 27;
  static constexpr double rounding = 1e-3;  ///< error of sums of slacks, ticks
};
constexpr double k_no_bound = std::numeric_limits<double>::infinity();

/// Least slack between two clocks, for each of them moving (0) or staying (1): index from * 2 + to.
struct Pair {
  std::uint32_t from = 0, to = 0;
  std::array<double, 4> slack{k_no_bound, k_no_bound, k_no_bound, k_no_bound};
};

class ConsensusSearch {
 public:
  ConsensusSearch(std::span<const constraints::ClockConstraint> constraints,
                  std::span<const ClockShift> moved, std::int64_t middle,
                  std::optional<std::uint32_t> reference)
      : moved_(moved), middle_(middle) {
    result_.reference = reference.value_or(median());
    result_.stays.assign(moved.size(), 0);
    result_.shift.assign(moved.size(), 0);
    measure(constraints);
  }

  Result<Consensus> run(const std::function<Result<void>()>& check) && {
    for (const std::uint32_t c : by_distance()) {
      TRY(check());
      if (steps_ > ConsensusThresholds::most_steps) {
        result_.complete = false;
        break;
      }
      result_.stays[c] = 1;
      if (c != result_.reference && !is_feasible()) result_.stays[c] = 0;
    }
    place();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::uint32_t median() const {
    std::vector<std::uint32_t> order(moved_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return moved_[a].at(middle_) < moved_[b].at(middle_);
    });
    return order.empty() ? 0 : order[(order.size() - 1) / 2];
  }

  /// Move that makes a clock show what it did, relative to the reference.
  [[nodiscard]] double back(std::uint32_t clock, std::int64_t time) const {
    return moved_[clock].at(time) - moved_[result_.reference].at(time);
  }

  void measure(std::span<const constraints::ClockConstraint> constraints) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> numbers;
    for (const constraints::ClockConstraint& constraint : constraints) {
      const auto [found, is_new] =
          numbers.try_emplace({constraint.from, constraint.to}, pairs_.size());
      if (is_new) pairs_.push_back({constraint.from, constraint.to});
      // A violation by the alignment may remain.
      const double aligned = std::max(static_cast<double>(constraint.slack), 0.0);
      const double from = back(constraint.from, constraint.from_time);
      const double to = back(constraint.to, constraint.to_time);
      auto& slack = pairs_[found->second].slack;
      for (std::size_t i = 0; i < slack.size(); ++i) {
        slack[i] = std::min(slack[i], aligned - (i / 2 == 1 ? from : 0) + (i % 2 == 1 ? to : 0));
      }
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> by_distance() const {
    std::vector<std::uint32_t> order(moved_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto rank = [&](std::uint32_t c) {
        return std::pair(c != result_.reference, std::abs(back(c, middle_)));
      };
      return rank(a) < rank(b);
    });
    return order;
  }

  [[nodiscard]] double slack(const Pair& pair) const {
    return pair
        .slack[static_cast<std::size_t>(result_.stays[pair.from] * 2 + result_.stays[pair.to])];
  }

  /// Lowers `latest` until shift[from] - shift[to] <= slack for all pairs. False if it never does.
  [[nodiscard]] bool relax(std::vector<double>& latest, bool reversed) const {
    std::vector<std::uint32_t> begins;
    begins.reserve(pairs_.size());
    for (const Pair& pair : pairs_) begins.push_back(reversed ? pair.from : pair.to);
    constraints::EdgeWorklist worklist(begins, moved_.size());
    for (std::uint32_t c = 0; c < latest.size(); ++c) {
      if (latest[c] < k_no_bound) worklist.moved(c);
    }
    bool staying_fell = false;
    const auto step = [&](std::uint32_t p) {
      const Pair& pair = pairs_[p];
      const std::uint32_t from = begins[p], to = reversed ? pair.to : pair.from;
      // Rounding must not lower sums for ever.
      if (staying_fell ||
          !(latest[from] + slack(pair) < latest[to] - ConsensusThresholds::rounding))
        return k_none;
      staying_fell = result_.stays[to] != 0;
      if (staying_fell) return k_none;
      latest[to] = latest[from] + slack(pair);
      return to;
    };
    bool ended = false;
    for (std::size_t round = 0; round <= moved_.size() && !ended && !staying_fell; ++round) {
      ended = !worklist.round(step);
    }
    steps_ += moved_.size() + pairs_.size() + worklist.steps();
    return ended && !staying_fell;
  }

  /// True if the clocks that do not stay can be placed.
  [[nodiscard]] bool is_feasible() const {
    std::vector<double> latest(moved_.size(), k_no_bound);
    for (std::size_t c = 0; c < moved_.size(); ++c) {
      if (result_.stays[c] != 0) latest[c] = 0;
    }
    return relax(latest, false);
  }

  /// Finds the latest places of all clocks, and the earliest ones with the opposite sign.
  [[nodiscard]] bool find_places(std::vector<double>& latest, std::vector<double>& earliest) const {
    latest.assign(moved_.size(), k_no_bound);
    for (std::size_t c = 0; c < moved_.size(); ++c) {
      if (result_.stays[c] != 0) latest[c] = 0;
    }
    earliest = latest;
    return relax(latest, false) && relax(earliest, true);
  }

  void place() {
    std::vector<double> latest, earliest;
    if (!find_places(latest, earliest)) return;
    for (std::uint32_t c = 0; c < moved_.size(); ++c) {
      if (result_.stays[c] != 0) continue;
      const double low = -earliest[c], high = latest[c];
      if (low <= 0 && high >= 0) continue;  // keeps its aligned place
      const bool between = low > -k_no_bound && high < k_no_bound;
      result_.shift[c] = between ? low + (high - low) / 2 : low > 0 ? low : high;
    }
    if (is_satisfied()) return;
    // Centres and unmoved clocks may contradict each other. The smallest possible moves never do.
    for (std::uint32_t c = 0; c < moved_.size(); ++c) {
      if (result_.stays[c] == 0) {
        result_.shift[c] = std::max(-earliest[c], std::min(0.0, latest[c]));
      }
    }
  }
  [[nodiscard]] bool is_satisfied() const {
    return std::all_of(pairs_.begin(), pairs_.end(), [&](const Pair& pair) {
      return result_.shift[pair.from] - result_.shift[pair.to] <=
             slack(pair) + ConsensusThresholds::rounding;
    });
  }

  std::span<const ClockShift> moved_;
  std::int64_t middle_;
  std::vector<Pair> pairs_;
  mutable std::uint64_t steps_ = 0;  ///< clocks and pairs visited
  Consensus result_;
};

}  // namespace

Result<Consensus> find_consensus(std::span<const constraints::ClockConstraint> constraints,
                                 std::span<const ClockShift> moved, std::int64_t middle,
                                 std::optional<std::uint32_t> reference,
                                 const std::function<Result<void>()>& check) {
  return ConsensusSearch(constraints, moved, middle, reference).run(check);
}

}  // namespace entrain::lines
