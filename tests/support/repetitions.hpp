// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <vector>

/// Repetitions and sizes of `make soak` that `make test` leaves out, for its time.
namespace entrain::test {

/// Set by `make soak` (tests/CMakeLists.txt).
inline bool every_repetition() { return std::getenv("ENTRAIN_EVERY_REPETITION") != nullptr; }

/// `quick`, and in `make soak` `more` as well.
template <class T>
std::vector<T> repetitions(std::initializer_list<T> quick, std::initializer_list<T> more) {
  std::vector<T> all(quick);
  if (every_repetition()) all.insert(all.end(), more);
  return all;
}

}  // namespace entrain::test
