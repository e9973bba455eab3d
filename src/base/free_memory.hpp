// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace entrain {

/// Empties a vector and gives its memory back. `v = {}` assigns a list without elements and keeps
/// the memory.
template <class T, class Allocator>
void free_memory(std::vector<T, Allocator>& v) noexcept {
  std::vector<T, Allocator>().swap(v);
}

}  // namespace entrain
