// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.hpp"
#include "match/ends.hpp"

namespace entrain::match {

/// A pair of the cheapest explanation.
struct Likely {
  std::int32_t send = 0, receive = 0;
  int margin = k_never;  ///< to explanations that pair the receive otherwise, or others otherwise
  int alone = k_never;   ///< to the same explanation without this pair
};

/// Where an explanation stands: its last pair, and the delays up to there.
struct Standing {
  Pair pair;
  Delays delays;
};

/// All explanations of a stretch of receives that are worth a thought, as ways through pairs.
class Lattice {
 public:
  static constexpr std::int32_t k_whole = std::numeric_limits<std::int32_t>::max();

  explicit Lattice(const Ends& ends) : ends_(ends) {}

  /// Explains receives from `begin` on, at most a block of them, or only until the cheapest
  /// explanation has become plain after the receive `odd`. Adds the pairs of this explanation to
  /// `likely`, and sets `standing`, its last pair before `begin`, to its last one that is decided.
  void explain(Standing& standing, std::int32_t begin, std::int32_t odd,
               std::vector<Likely>& likely);

  /// First receive that is not decided.
  [[nodiscard]] std::int32_t decided() const { return decided_; }
  /// True if explain() ended because the cheapest explanation is plain.
  [[nodiscard]] bool plain() const { return plain_; }
  /// Pairs of explanations that were looked at.
  [[nodiscard]] std::uint64_t looked_at() const { return looked_at_; }

 private:
  /// The last pair of a partial explanation.
  struct Node {
    Pair pair;
    int cost = 0;        ///< of the cheapest partial explanation that ends here
    int rest = k_never;  ///< of the cheapest way from here to the end
    std::uint32_t parent = k_none;
    std::int32_t run = 0;        ///< plain pairs in a row that end here
    std::size_t first_step = 0;  ///< that lead here
  };
  /// From one pair to the next.
  struct Step {
    std::uint32_t from = 0;
    int cost = 0;
  };
  /// Partial explanations that are kept: cost above the best one, and number.
  struct Breadth {
    int cost = 0;
    std::size_t number = 0;
  };
  static constexpr Breadth k_wide = {90, 96}, k_narrow = {64, 16};
  struct Found {
    std::int32_t send;
    std::uint32_t from;
    int cost;
  };

  void extend(std::int32_t receive);
  void extend(std::uint32_t from, std::int32_t receive, int best);
  void add_node(std::int32_t receive, std::size_t& found);
  void give_up(int best);
  [[nodiscard]] bool has_become_plain(std::int32_t receive, std::int32_t odd);
  int look_back(bool last);
  void accept(int total, bool last, std::vector<Likely>& likely);

  const Ends& ends_;
  std::int32_t begin_ = 0, end_ = 0, decided_ = 0;
  bool plain_ = false;
  Breadth breadth_;
  std::vector<Node> nodes_;          ///< the first one, then by receive
  std::vector<Delays> delays_;       ///< per node
  std::vector<Step> steps_;          ///< by the node that they lead to
  std::vector<std::size_t> layers_;  ///< per receive of the block: its first node
  std::vector<std::uint32_t> alive_;
  std::uint32_t best_end_ = 0;  ///< last pair of the cheapest explanation
  std::vector<Found> found_;
  std::uint64_t looked_at_ = 0;
};

}  // namespace entrain::match
