// SPDX-License-Identifier: BSD-3-Clause
#include "clc/cycles.hpp"

namespace entrain::clc {

Counters Cycles::counters() const {
  Counters result;
  const auto add = [&](const char* name, std::uint64_t n) {
    if (n > 0) result.emplace_back(name, n);
  };
  add("tied_components", tied.size());
  add("tied_nodes", tied_nodes);
  add("dropped_components", dropped_components);
  add("dropped_edges", dropped_edges);
  return result;
}

}  // namespace entrain::clc
