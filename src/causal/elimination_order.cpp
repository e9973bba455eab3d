// SPDX-License-Identifier: BSD-3-Clause
#include "causal/elimination_order.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include <Eigen/OrderingMethods>

namespace entrain::causal {

namespace {

using Index = std::int32_t;
using Matrix = Eigen::SparseMatrix<double>;

/// The rows of a column, ascending.
std::span<const Index> rows_of(const Matrix& lower, Index column) {
  const Index* const begin = lower.outerIndexPtr() + column;
  return {lower.innerIndexPtr() + begin[0], static_cast<std::size_t>(begin[1] - begin[0])};
}

/// True if an unknown and the next one share an entry and at least half of their other neighbours,
/// as far as the lower half shows.
bool are_alike(const Matrix& lower, Index column) {
  const auto one = rows_of(lower, column), next = rows_of(lower, column + 1);
  if (one.size() < 2 || one[1] != column + 1) return false;
  std::size_t common = 0;
  for (std::size_t i = 2, j = 1; i < one.size() && j < next.size();) {
    common += one[i] == next[j] ? 1 : 0;
    const bool first = one[i] <= next[j], second = next[j] <= one[i];
    i += first ? 1 : 0;
    j += second ? 1 : 0;
  }
  return common > 0 && 2 * common >= std::max(one.size() - 2, next.size() - 1);
}

/// The group of every unknown: groups are made of unknowns in a row.
struct Grouping {
  std::vector<Index> of;
  Index count = 0;
};

/// Pattern of the matrix of groups; entries are 0.
Matrix matrix_of(const Grouping& groups, const Matrix& lower) {
  Matrix coarse(groups.count, groups.count);
  coarse.reserve(lower.nonZeros());
  std::vector<Index> seen(static_cast<std::size_t>(groups.count), -1), rows;
  const auto size = static_cast<Index>(lower.rows());
  for (Index column = 0; column < size;) {
    const Index own = groups.of[static_cast<std::size_t>(column)];
    rows.clear();
    for (; column < size && groups.of[static_cast<std::size_t>(column)] == own; ++column) {
      for (const Index row : rows_of(lower, column)) {
        const Index other = groups.of[static_cast<std::size_t>(row)];
        if (std::exchange(seen[static_cast<std::size_t>(other)], own) != own) rows.push_back(other);
      }
    }
    std::sort(rows.begin(), rows.end());
    coarse.startVec(own);
    for (const Index row : rows) coarse.insertBack(row, own) = 0;
  }
  coarse.finalize();
  return coarse;
}

}  // namespace

std::vector<Index> elimination_order(const Matrix& lower) {
  const auto size = static_cast<Index>(lower.rows());
  Grouping groups;
  std::vector<Index> first;  // unknown of every group
  for (Index i = 0; i < size; ++groups.count) {
    const bool pair = i + 1 < size && are_alike(lower, i);
    first.push_back(i);
    groups.of.insert(groups.of.end(), pair ? 2 : 1, groups.count);
    i += pair ? 2 : 1;
  }
  first.push_back(size);
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, Index> old_of_new;
  const Matrix coarse = matrix_of(groups, lower);
  Eigen::AMDOrdering<Index>()(coarse.selfadjointView<Eigen::Lower>(), old_of_new);
  std::vector<Index> place(static_cast<std::size_t>(size));
  for (Index next = 0, n = 0; n < groups.count; ++n) {
    const auto group = static_cast<std::size_t>(old_of_new.indices()[n]);
    for (Index i = first[group]; i < first[group + 1]; ++i)
      place[static_cast<std::size_t>(i)] = next++;
  }
  return place;
}

}  // namespace entrain::causal
