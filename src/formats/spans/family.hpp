// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "base/big_vector.hpp"
#include "base/ids.hpp"
#include "formats/spans/spans.hpp"

namespace entrain::spans {

/// Positions of the spans of one id, which a client's and a server's half may share.
struct Halves {
  std::uint32_t own = k_none;     ///< the first one that is not shared
  std::uint32_t shared = k_none;  ///< the server's half
};

/// The part of time, of parts in order, that a time is in: the last that begins no later, else the
/// first.
template <class Parts>
auto& part_at(Parts& parts, std::uint64_t time) {
  const auto next =
      std::ranges::upper_bound(parts, time, {}, [](const auto& one) { return one.first; });
  return next == parts.begin() ? *next : *std::prev(next);
}

/// Which span called which.
class Family {
 public:
  /// The spans must outlive it.
  explicit Family(const Spans& spans);

  /// The span that called this one; k_none for a root, or if it is missing.
  [[nodiscard]] std::uint32_t parent_of(std::uint32_t position) const { return parents_[position]; }
  /// The span of an id: the client's half, where there are two; k_none if it is missing.
  [[nodiscard]] std::uint32_t span_of(std::uint32_t id) const {
    return halves_[id].own != k_none ? halves_[id].own : halves_[id].shared;
  }
  /// True for the second span of an id, and for one that is its own ancestor.
  [[nodiscard]] bool is_ignored(std::uint32_t position) const { return ignored_[position]; }

  std::uint64_t duplicates = 0, in_circles = 0;
  std::uint32_t first_duplicate = k_none;  ///< position

 private:
  void index(std::uint32_t position);
  [[nodiscard]] std::uint32_t find_parent(std::uint32_t position) const;
  void ignore_circles();

  const Spans& spans_;
  BigVector<Halves> halves_;  ///< index: Span::id
  BigVector<std::uint32_t> parents_;
  std::vector<bool> ignored_;
};

}  // namespace entrain::spans
