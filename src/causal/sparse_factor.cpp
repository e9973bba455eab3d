// SPDX-License-Identifier: BSD-3-Clause
#include "causal/sparse_factor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "causal/dense_panels.hpp"
#include "causal/elimination_order.hpp"

namespace entrain::causal {

namespace {

/// Entries of the lower half of so many columns, the diagonal included.
double entries_of(double columns, double below) {
  return columns * (columns + 1) / 2 + columns * below;
}

/// True if two supernodes with so many columns together and this share of zeros are merged: rule
/// and numbers of CHOLMOD (Chen, Davis, Hager, Rajamanickam 2008).
bool is_worth_merging(std::int32_t columns, double zeros) {
  return columns <= 4 || (columns <= 16 && zeros < 0.8) || (columns <= 48 && zeros < 0.1) ||
         zeros < 0.05;
}

}  // namespace

/// The upper half of the matrix with its unknowns in the order of place_of_.
SparseFactor::Pattern SparseFactor::pattern_of(const Matrix& lower) const {
  Pattern upper;
  upper.begin.resize(static_cast<std::size_t>(size_) + 1);
  const auto for_pairs = [&](auto body) {
    for (Index column = 0; column < size_; ++column) {
      for (Matrix::InnerIterator entry(lower, column); entry; ++entry) {
        const Index a = place_of_[static_cast<std::size_t>(column)];
        const Index b = place_of_[static_cast<std::size_t>(entry.row())];
        if (a != b) body(std::min(a, b), static_cast<std::size_t>(std::max(a, b)));
      }
    }
  };
  for_pairs([&](Index, std::size_t column) { ++upper.begin[column + 1]; });
  std::partial_sum(upper.begin.begin(), upper.begin.end(), upper.begin.begin());
  upper.rows.resize(upper.begin.back());
  std::vector<std::size_t> next = upper.begin;
  for_pairs([&](Index row, std::size_t column) { upper.rows[next[column]++] = row; });
  return upper;
}

/// Elimination tree: the first row below the diagonal of each column of L, or -1 (Liu 1990).
std::vector<SparseFactor::Index> SparseFactor::tree_of(const Pattern& upper) {
  const std::size_t size = upper.begin.size() - 1;
  std::vector<Index> parent(size, -1), ancestor(size, -1);
  for (std::size_t column = 0; column < size; ++column) {
    for (std::size_t k = upper.begin[column]; k < upper.begin[column + 1]; ++k) {
      Index i = upper.rows[k];
      while (i != -1 && i < static_cast<Index>(column)) {
        const auto at = static_cast<std::size_t>(i);
        const Index next = std::exchange(ancestor[at], static_cast<Index>(column));
        if (next == -1) parent[at] = static_cast<Index>(column);
        i = next;
      }
    }
  }
  return parent;
}

/// Postorder: the place of every column if children come before their parents, and those of one
/// parent together.
std::vector<SparseFactor::Index> SparseFactor::postorder(const std::vector<Index>& parent) {
  const std::size_t size = parent.size();
  std::vector<Index> first(size, -1), next(size, -1), place(size), open;
  for (std::size_t i = size; i-- > 0;) {
    if (parent[i] < 0) continue;
    next[i] = std::exchange(first[static_cast<std::size_t>(parent[i])], static_cast<Index>(i));
  }
  Index placed = 0;
  for (std::size_t root = 0; root < size; ++root) {
    if (parent[root] >= 0) continue;
    open.push_back(static_cast<Index>(root));
    while (!open.empty()) {
      const auto at = static_cast<std::size_t>(open.back());
      if (first[at] >= 0) {
        open.push_back(std::exchange(first[at], next[static_cast<std::size_t>(first[at])]));
      } else {
        place[at] = placed++;
        open.pop_back();
      }
    }
  }
  return place;
}

/// Number of entries below the diagonal in every column of L.
std::vector<SparseFactor::Index> SparseFactor::counts_of(const Pattern& upper,
                                                         const std::vector<Index>& parent) {
  const std::size_t size = parent.size();
  std::vector<Index> counts(size, 0), seen(size, -1);
  for (std::size_t row = 0; row < size; ++row) {
    seen[row] = static_cast<Index>(row);
    for (std::size_t k = upper.begin[row]; k < upper.begin[row + 1]; ++k) {
      for (Index i = upper.rows[k]; seen[static_cast<std::size_t>(i)] != static_cast<Index>(row);
           i = parent[static_cast<std::size_t>(i)]) {
        ++counts[static_cast<std::size_t>(i)];
        seen[static_cast<std::size_t>(i)] = static_cast<Index>(row);
      }
    }
  }
  return counts;
}

void SparseFactor::find_supernodes(const std::vector<Index>& parent,
                                   const std::vector<Index>& counts) {
  struct Open {
    Index first = 0, columns = 0, below = 0;
    double zeros = 0;
  };
  std::vector<Open> found;
  const auto parent_column = [&](const Open& one) {
    return parent[static_cast<std::size_t>(one.first + one.columns - 1)];
  };
  /// Merges the latest supernode with its children right before it.
  const auto merge = [&] {
    while (found.size() >= 2) {
      const Open &child = found[found.size() - 2], &top = found.back();
      const Index to = parent_column(child);
      if (to < top.first || to >= top.first + top.columns) return;
      const Index columns = child.columns + top.columns;
      const double all = entries_of(columns, top.below);
      const double zeros = all - (entries_of(child.columns, child.below) - child.zeros) -
                           (entries_of(top.columns, top.below) - top.zeros);
      if (!is_worth_merging(columns, zeros / all)) return;
      const Open both{child.first, columns, top.below, zeros};
      found.pop_back();
      found.back() = both;
    }
  };
  for (Index column = 0; column < size_;) {
    Open one{column, 1, counts[static_cast<std::size_t>(column)], 0};
    // Same rows below, except the next column itself: a fundamental supernode.
    while (parent_column(one) == one.first + one.columns &&
           counts[static_cast<std::size_t>(one.first + one.columns)] + 1 == one.below) {
      ++one.columns;
      --one.below;
    }
    column += one.columns;
    found.push_back(one);
    merge();
  }
  supernodes_.clear();
  supernode_of_.assign(static_cast<std::size_t>(size_), 0);
  for (const Open& one : found) {
    for (Index c = 0; c < one.columns; ++c) {
      supernode_of_[static_cast<std::size_t>(one.first + c)] =
          static_cast<Index>(supernodes_.size());
    }
    supernodes_.push_back({.first = one.first, .columns = one.columns});
  }
  children_.assign(supernodes_.size(), {});
  for (std::size_t s = 0; s < supernodes_.size(); ++s) {
    const Index to = parent_column(found[s]);
    if (to < 0) continue;
    supernodes_[s].parent = supernode_of_[static_cast<std::size_t>(to)];
    children_[static_cast<std::size_t>(supernodes_[s].parent)].push_back(static_cast<Index>(s));
  }
}

/// Finds the rows of each supernode: those of the matrix in its columns, and of its children.
void SparseFactor::find_rows(const Pattern& upper) {
  // The lower half by columns, from the upper one.
  Pattern lower;
  lower.begin.resize(upper.begin.size());
  for (const Index row : upper.rows) ++lower.begin[static_cast<std::size_t>(row) + 1];
  std::partial_sum(lower.begin.begin(), lower.begin.end(), lower.begin.begin());
  lower.rows.resize(upper.rows.size());
  std::vector<std::size_t> next = lower.begin;
  for (std::size_t column = 0; column + 1 < upper.begin.size(); ++column) {
    for (std::size_t k = upper.begin[column]; k < upper.begin[column + 1]; ++k) {
      lower.rows[next[static_cast<std::size_t>(upper.rows[k])]++] = static_cast<Index>(column);
    }
  }
  rows_.clear();
  std::vector<Index> seen(static_cast<std::size_t>(size_), -1);
  std::size_t panel = 0;
  for (std::size_t s = 0; s < supernodes_.size(); ++s) {
    Supernode& own = supernodes_[s];
    const Index end = own.first + own.columns;
    own.rows_begin = rows_.size();
    for (Index c = own.first; c < end; ++c) rows_.push_back(c);
    const auto add = [&](Index row) {
      if (row < end || std::exchange(seen[static_cast<std::size_t>(row)], static_cast<Index>(s)) ==
                           static_cast<Index>(s)) {
        return;
      }
      rows_.push_back(row);
    };
    for (std::size_t k = lower.begin[static_cast<std::size_t>(own.first)];
         k < lower.begin[static_cast<std::size_t>(end)]; ++k) {
      add(lower.rows[k]);
    }
    for (const Index c : children_[s]) {
      const Supernode& child = supernodes_[static_cast<std::size_t>(c)];
      for (Index i = child.columns; i < child.rows; ++i) {
        add(rows_[child.rows_begin + static_cast<std::size_t>(i)]);
      }
    }
    own.rows = static_cast<Index>(rows_.size() - own.rows_begin);
    std::sort(rows_.begin() + static_cast<std::ptrdiff_t>(own.rows_begin) + own.columns,
              rows_.end());
    own.panel = panel;
    panel += static_cast<std::size_t>(own.rows) * static_cast<std::size_t>(own.columns);
  }
  panels_.resize(panel);
}

/// Sorts the entries of the matrix by supernodes, and finds their places in the panels.
void SparseFactor::place_entries(const Matrix& lower) {
  const auto for_entries = [&](auto body) {  // with its supernode, its column and its row in L
    for (Index column = 0; column < size_; ++column) {
      for (Matrix::InnerIterator entry(lower, column); entry; ++entry) {
        const Index a = place_of_[static_cast<std::size_t>(column)];
        const Index b = place_of_[static_cast<std::size_t>(entry.row())];
        const Index low = std::min(a, b);
        body(static_cast<std::size_t>(supernode_of_[static_cast<std::size_t>(low)]), low,
             std::max(a, b), static_cast<std::size_t>(&entry.value() - lower.valuePtr()));
      }
    }
  };
  std::vector<std::size_t> next(supernodes_.size() + 1);
  for_entries([&](std::size_t s, Index, Index, std::size_t) { ++next[s + 1]; });
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t s = 0; s < supernodes_.size(); ++s) {
    supernodes_[s].entries_begin = next[s];
    supernodes_[s].entries_end = next[s + 1];
  }
  entries_.resize(next.back());
  std::vector<Index> rows(entries_.size());
  for_entries([&](std::size_t s, Index column, Index row, std::size_t value) {
    const Supernode& own = supernodes_[s];
    const std::size_t at = next[s]++;
    entries_[at] = {
        value, static_cast<std::size_t>(column - own.first) * static_cast<std::size_t>(own.rows)};
    rows[at] = row;
  });
  std::vector<std::size_t> place(static_cast<std::size_t>(size_));  // of a row in the panel
  for (const Supernode& own : supernodes_) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(own.rows); ++i) {
      place[static_cast<std::size_t>(rows_[own.rows_begin + i])] = i;
    }
    for (std::size_t e = own.entries_begin; e < own.entries_end; ++e) {
      entries_[e].place += place[static_cast<std::size_t>(rows[e])];
    }
  }
}

/// Finds the rows of every supernode within its parent, and the size of the stack.
void SparseFactor::place_contributions() {
  in_parent_.assign(rows_.size(), 0);
  std::size_t used = 0, most = 0;
  for (std::size_t s = 0; s < supernodes_.size(); ++s) {
    const Supernode& own = supernodes_[s];
    const auto square = [](const Supernode& one) {
      return static_cast<std::size_t>(one.below()) * static_cast<std::size_t>(one.below());
    };
    used += square(own);
    most = std::max(most, used);
    for (const Index c : children_[s]) used -= square(supernodes_[static_cast<std::size_t>(c)]);
    if (own.parent < 0) continue;
    const Supernode& parent = supernodes_[static_cast<std::size_t>(own.parent)];
    std::size_t at = parent.rows_begin;
    for (Index i = own.columns; i < own.rows; ++i) {
      const std::size_t from = own.rows_begin + static_cast<std::size_t>(i);
      while (rows_[at] != rows_[from]) ++at;
      in_parent_[from] = static_cast<Index>(at - parent.rows_begin);
    }
  }
  stack_.resize(most);
}

void SparseFactor::analyse(const Matrix& lower) {
  size_ = static_cast<Index>(lower.rows());
  place_of_ = elimination_order(lower);
  const std::vector<Index> place = postorder(tree_of(pattern_of(lower)));
  for (Index& one : place_of_) one = place[static_cast<std::size_t>(one)];
  const Pattern upper = pattern_of(lower);
  parent_ = tree_of(upper);
  counts_ = counts_of(upper, parent_);
  work_ = 0;
  for (const Index count : counts_) work_ += static_cast<double>(count) * count;
  is_placed_ = false;
}

/// Second half of the analysis, needed only before a factorisation.
void SparseFactor::place(const Matrix& lower) {
  find_supernodes(parent_, counts_);
  find_rows(pattern_of(lower));
  place_entries(lower);
  place_contributions();
  is_placed_ = true;
}

void SparseFactor::take_over(const Supernode& from, const double* update, const Supernode& to,
                             double* to_update) {
  const Index* const place =
      in_parent_.data() + from.rows_begin + static_cast<std::size_t>(from.columns);
  const std::ptrdiff_t size = from.below(), rows = to.rows, columns = to.columns;
  const std::ptrdiff_t below = to.below();
  for (std::ptrdiff_t j = 0; j < size; ++j) {
    const std::ptrdiff_t column = place[j];
    const double* const source = update + j * size;
    if (column < columns) {
      double* const target = panels_.data() + to.panel + column * rows;
      for (std::ptrdiff_t i = j; i < size; ++i) target[place[i]] += source[i];
    } else {  // its rows are below the columns as well
      double* const target = to_update + (column - columns) * below;
      for (std::ptrdiff_t i = j; i < size; ++i) target[place[i] - columns] += source[i];
    }
  }
}

bool SparseFactor::factorise(const Matrix& lower) {
  if (!is_placed_) place(lower);
  std::fill(panels_.begin(), panels_.end(), 0.0);
  const double* const values = lower.valuePtr();
  std::size_t used = 0;  // of the stack
  for (std::size_t s = 0; s < supernodes_.size(); ++s) {
    const Supernode& own = supernodes_[s];
    double* const panel = panels_.data() + own.panel;
    for (std::size_t e = own.entries_begin; e < own.entries_end; ++e) {
      panel[entries_[e].place] += values[entries_[e].value];
    }
    const std::ptrdiff_t below = own.below();
    const auto square = static_cast<std::size_t>(below * below);
    double* const update = stack_.data() + used;
    std::fill_n(update, square, 0.0);
    // Contributions of its children are on top of the stack.
    std::size_t taken = used;
    for (std::size_t c = children_[s].size(); c-- > 0;) {
      const Supernode& child = supernodes_[static_cast<std::size_t>(children_[s][c])];
      taken -= static_cast<std::size_t>(child.below()) * static_cast<std::size_t>(child.below());
      take_over(child, stack_.data() + taken, own, update);
    }
    if (!factorise_panel(panel, own.rows, own.columns)) return false;
    subtract_products(update, below, below, below, panel + own.columns, own.rows, own.columns);
    std::copy_n(update, square, stack_.data() + taken);
    used = taken + square;
  }
  return true;
}

SparseFactor::Vector SparseFactor::solve(const Vector& right) const {
  Vector v(size_);
  for (Index i = 0; i < size_; ++i) v[place_of_[static_cast<std::size_t>(i)]] = right[i];
  for (const Supernode& own : supernodes_) {
    const double* column = panels_.data() + own.panel;
    const Index* const rows = rows_.data() + own.rows_begin;
    for (Index j = 0; j < own.columns; ++j, column += own.rows) {
      const double x = v[own.first + j] /= column[j];
      for (Index i = j + 1; i < own.rows; ++i) v[rows[i]] -= column[i] * x;
    }
  }
  for (std::size_t s = supernodes_.size(); s-- > 0;) {
    const Supernode& own = supernodes_[s];
    const Index* const rows = rows_.data() + own.rows_begin;
    for (Index j = own.columns; j-- > 0;) {
      const double* const column =
          panels_.data() + own.panel + static_cast<std::ptrdiff_t>(j) * own.rows;
      double x = v[own.first + j];
      for (Index i = j + 1; i < own.rows; ++i) x -= column[i] * v[rows[i]];
      v[own.first + j] = x / column[j];
    }
  }
  Vector solution(size_);
  for (Index i = 0; i < size_; ++i) solution[i] = v[place_of_[static_cast<std::size_t>(i)]];
  return solution;
}

double SparseFactor::log_determinant() const {
  double sum = 0;
  for (const Supernode& own : supernodes_) {
    for (Index j = 0; j < own.columns; ++j) {
      sum += std::log(panels_[own.panel + static_cast<std::size_t>(j) *
                                              (static_cast<std::size_t>(own.rows) + 1)]);
    }
  }
  return 2 * sum;
}

}  // namespace entrain::causal
