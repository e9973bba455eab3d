// SPDX-License-Identifier: BSD-3-Clause
#include "constraints/edge_worklist.hpp"

#include <algorithm>
#include <bit>

namespace entrain::constraints {

namespace {

constexpr std::size_t k_bits = 64;  ///< bits per word

std::uint64_t bit(std::size_t number) { return std::uint64_t{1} << (number % k_bits); }
std::uint64_t from_bit(std::size_t number) { return ~std::uint64_t{0} << (number % k_bits); }
std::size_t lowest(std::uint64_t word) { return static_cast<std::size_t>(std::countr_zero(word)); }

}  // namespace

EdgeWorklist::EdgeWorklist(std::span<const std::uint32_t> begins, std::size_t nodes)
    : edges_(begins.size()),
      from_(edges_),
      first_(nodes + 1, 0),
      pending_(edges_ / k_bits + 1),
      pending_words_(pending_.size() / k_bits + 1),
      move_(nodes) {
  for (const std::uint32_t node : begins) ++first_[node + 1];
  for (std::size_t n = 0; n < nodes; ++n) first_[n + 1] += first_[n];
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (std::uint32_t e = 0; e < edges_; ++e) from_[next[begins[e]]++] = e;
}

void EdgeWorklist::mark_all() {
  for (std::size_t e = 0; e < edges_; ++e) insert(e);
}

void EdgeWorklist::insert(std::size_t edge) {
  pending_[edge / k_bits] |= bit(edge);
  pending_words_[edge / k_bits / k_bits] |= bit(edge / k_bits);
}

/// Removes the first pending edge from `first` to before `end`; returns `end` if there is none.
std::size_t EdgeWorklist::take(std::size_t first, std::size_t end) {
  if (first >= end) return end;
  std::size_t word = first / k_bits;
  std::uint64_t left = pending_[word] & from_bit(first);
  if (left == 0) {
    word = next_word(word + 1, (end - 1) / k_bits + 1);
    if (word * k_bits >= end) return end;
    left = pending_[word];
  }
  const std::size_t edge = word * k_bits + lowest(left);
  if (edge >= end) return end;
  pending_[word] &= ~bit(edge);
  if (pending_[word] == 0) pending_words_[word / k_bits] &= ~bit(word);
  return edge;
}

/// First word from `word` to before `end` with a pending edge; `end` if there is none.
std::size_t EdgeWorklist::next_word(std::size_t word, std::size_t end) const {
  for (; word < end; word = (word / k_bits + 1) * k_bits) {
    const std::uint64_t left = pending_words_[word / k_bits] & from_bit(word);
    if (left != 0) return std::min(end, word / k_bits * k_bits + lowest(left));
  }
  return end;
}

void EdgeWorklist::mark(std::uint32_t node, EdgeRange range) {
  const auto last = from_.begin() + first_[node + 1];
  for (auto edge = std::lower_bound(from_.begin() + first_[node], last, range.begin);
       edge != last && *edge < range.end; ++edge) {
    insert(*edge);
    ++steps_;
  }
}

void EdgeWorklist::moved_at(std::uint32_t node, std::size_t edge, EdgeRange range) {
  Move& move = move_[node];
  // Since its last move in this round, only edges up to this one were relaxed.
  if (move.round == round_) range = {move.edge + 1, edge + 1};
  mark(node, range);
  move = {round_, edge};
}

}  // namespace entrain::constraints
