// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <Eigen/SparseCore>

namespace entrain::causal {

/// Cholesky factor L of a sparse symmetric matrix H = P' L L' P, for many matrices of one pattern.
///
/// Columns of L with the same rows below them are a *supernode*, one dense panel. Its contribution
/// to later columns is dense too, and its parent in the elimination tree assembles it (multifrontal
/// method: Duff, Reid 1983; Liu 1992). So nearly all work is on small dense blocks, at three times
/// the speed of single columns. The order of elimination is elimination_order(), with the tree in
/// postorder. Similar supernodes are merged, with some explicit zeros.
///
/// Example of merging: columns 5 and 6 have the rows {5, 6, 9, 12} and {6, 9, 12, 20}. As one panel
/// of two columns and five rows they have one zero, and one block to work on instead of two.
///
/// Deterministic, and the same on every machine: sums are added in a fixed order. One thread.
class SparseFactor {
 public:
  using Matrix = Eigen::SparseMatrix<double>;
  using Vector = Eigen::VectorXd;

  /// Finds the order of elimination. `lower`: the lower half, the whole diagonal included,
  /// compressed. Call it again for another pattern.
  void analyse(const Matrix& lower);
  /// Approximate multiplications of a factorisation, without merging.
  [[nodiscard]] double work() const { return work_; }
  /// Factorises a matrix of the pattern that was analysed. False if it is not positive definite.
  bool factorise(const Matrix& lower);

  [[nodiscard]] Vector solve(const Vector& right) const;
  [[nodiscard]] double log_determinant() const;

 private:
  using Index = std::int32_t;

  struct Supernode {
    Index first = 0, columns = 0;  ///< first column and number of columns
    Index parent = -1;
    std::size_t rows_begin = 0;  ///< offset in rows_: its columns, then the rows below them
    Index rows = 0;              ///< number of these
    std::size_t panel = 0;       ///< offset in panels_: rows x columns, column by column
    std::size_t entries_begin = 0, entries_end = 0;  ///< range in entries_
    [[nodiscard]] Index below() const { return rows - columns; }
  };
  struct Entry {
    std::size_t value = 0, place = 0;  ///< indices in the matrix and in the panel
  };
  /// Upper half by columns, in the order of elimination: the rows of every column.
  struct Pattern {
    std::vector<std::size_t> begin;
    std::vector<Index> rows;
  };

  [[nodiscard]] Pattern pattern_of(const Matrix& lower) const;
  static std::vector<Index> tree_of(const Pattern& upper);
  static std::vector<Index> postorder(const std::vector<Index>& parent);
  static std::vector<Index> counts_of(const Pattern& upper, const std::vector<Index>& parent);
  void find_supernodes(const std::vector<Index>& parent, const std::vector<Index>& counts);
  void find_rows(const Pattern& upper);
  void place(const Matrix& lower);
  void place_entries(const Matrix& lower);
  void place_contributions();
  void take_over(const Supernode& from, const double* update, const Supernode& to,
                 double* to_update);

  Index size_ = 0;
  double work_ = 0;
  bool is_placed_ = false;
  std::vector<Index> place_of_;  ///< position of an unknown in the order of elimination
  /// Parent in the tree, entries below the diagonal; one per column.
  std::vector<Index> parent_, counts_;
  std::vector<Supernode> supernodes_;
  std::vector<Index> supernode_of_;           ///< one per column
  std::vector<std::vector<Index>> children_;  ///< one per supernode, ascending
  std::vector<Index> rows_;
  std::vector<Index> in_parent_;  ///< row number within the parent, one per row below
  std::vector<Entry> entries_;
  std::vector<double> panels_;
  std::vector<double> stack_;  ///< contributions not yet assembled
};

}  // namespace entrain::causal
