// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.hpp"
#include "match/ends.hpp"

namespace entrain::match {

/// A pair of the cheapest alignment, with its evidence in bits.
struct Candidate {
  std::int32_t send = 0, receive = 0;
  int margin = k_never;          ///< extra cost of the best alignment with another pair here
  int removal_margin = k_never;  ///< extra cost of the same alignment without this pair
};

/// A partial alignment: its last pair, and the delays up to it.
struct BeamState {
  Pair pair;
  Delays delays;
};

/// Finds the cheapest alignment of a stretch of receives: a beam search over the lattice of pairs.
/// A partial alignment stays in the beam if it costs at most W more than the cheapest one and is
/// among the N cheapest.
class BeamSearch {
 public:
  static constexpr std::int32_t k_whole = std::numeric_limits<std::int32_t>::max();

  explicit BeamSearch(const Ends& ends) : ends_(ends) {}

  /// Searches from receive `begin` on: a block of receives, or only until the cheapest alignment
  /// has converged after the receive `irregular` (k_whole: always a block). Adds its pairs to
  /// `candidates`, and moves `state` from its last pair before `begin` to its last decided one.
  void run(BeamState& state, std::int32_t begin, std::int32_t irregular,
           std::vector<Candidate>& candidates);

  [[nodiscard]] std::int32_t decided() const { return decided_; }
  /// True if run() ended because the cheapest alignment converged.
  [[nodiscard]] bool converged() const { return converged_; }
  [[nodiscard]] std::uint64_t examined_pairs() const { return examined_pairs_; }

 private:
  /// The last pair of a partial alignment.
  struct Node {
    Pair pair;
    int cost = 0;        ///< cheapest partial alignment that ends here
    int rest = k_never;  ///< cheapest path from here to the end
    std::uint32_t parent = k_none;
    std::int32_t run = 0;        ///< number of consecutive regular pairs that end here
    std::size_t first_step = 0;  ///< first of the steps that lead here
  };
  struct Step {
    std::uint32_t from = 0;
    int cost = 0;
  };
  struct Found {
    std::int32_t send;
    std::uint32_t from;
    int cost;
  };

  void extend(std::int32_t receive);
  void extend(std::uint32_t from, std::int32_t receive, int best);
  void add_node(std::int32_t receive, std::size_t& found);
  void prune(int best);
  [[nodiscard]] bool has_converged(std::int32_t receive, std::int32_t irregular);
  int pass_backward(bool last);
  void add_candidates(int total, bool last, std::vector<Candidate>& candidates);

  const Ends& ends_;
  std::int32_t begin_ = 0, end_ = 0, decided_ = 0;
  bool converged_ = false;
  int beam_cost_ = 0;                ///< W: most cost above the cheapest, bits
  std::size_t beam_size_ = 0;        ///< N: most partial alignments
  std::vector<Node> nodes_;          ///< start node, then sorted by receive
  std::vector<Delays> delays_;       ///< one per node
  std::vector<Step> steps_;          ///< sorted by target node
  std::vector<std::size_t> layers_;  ///< first node per receive of the block
  std::vector<std::uint32_t> alive_;
  std::uint32_t best_end_ = 0;  ///< last pair of the cheapest alignment
  std::vector<Found> found_;
  std::uint64_t examined_pairs_ = 0;
};

}  // namespace entrain::match
