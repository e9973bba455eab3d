// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace entrain::explain {

/// Something that breaks cycles, alone or with others.
struct Candidate {
  struct Part {
    std::uint32_t cycle = 0;
    std::int64_t lost = 0;  ///< ticks of the need of the cycle
  };
  double price = 0;         ///< bits, above 0
  std::vector<Part> parts;  ///< sorted by cycle
};

/// The cheapest candidates that together break all cycles: a covering program with weights. Branch
/// and bound, from a greedy cover: to the first cycle that is left every candidate is added in
/// turn, first what breaks most for its price; the next ones do without it. The lower bound is the
/// value of a dual solution of the linear relaxation (dual ascent).
class Cover {
 public:
  /// `needs`: of each cycle, ticks, above 0. Their sum with what all candidates lose must be below
  /// 2^63. `most`: parts of candidates that the search may look at; the cover is exact if it ends
  /// before. The candidates must outlive this.
  Cover(std::span<const Candidate> candidates, std::vector<std::int64_t> needs, std::size_t most);

  /// Positions of the candidates, increasing; none if nothing breaks some cycle. Once only.
  std::vector<std::uint32_t> run();

  /// Parts that the search has looked at.
  [[nodiscard]] std::size_t looked_at() const { return looked_at_; }

 private:
  struct Breaker {
    std::uint32_t candidate = 0;
    std::int64_t lost = 0;  ///< see Candidate::Part::lost
  };

  void choose(std::uint32_t c, std::int64_t sign);
  void choose_greedily();
  void branch(std::size_t from);
  [[nodiscard]] double least_of_rest(std::size_t from);
  [[nodiscard]] double share(std::int64_t lost, std::size_t cycle) const;

  std::span<const Candidate> candidates_;
  std::vector<double> unpaid_;                  ///< prices of candidates that no cycle has paid yet
  std::vector<std::vector<Breaker>> breakers_;  ///< candidates of each cycle
  std::vector<std::int64_t> needs_;             ///< what is left of that of each cycle
  std::vector<char> is_used_;                   ///< chosen, or done without
  std::vector<std::uint32_t> used_, chosen_, best_;
  double price_ = 0, least_ = std::numeric_limits<double>::max();  ///< those of `chosen_`, `best_`
  std::size_t most_, looked_at_ = 0;                               ///< parts
};

}  // namespace entrain::explain
