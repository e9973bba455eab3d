// SPDX-License-Identifier: BSD-3-Clause
#include "trace/event.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace entrain::trace {

namespace {

constexpr std::array<const char*, 23> k_names{"Barrier",
                                              "Bcast",
                                              "Gather",
                                              "Gatherv",
                                              "Scatter",
                                              "Scatterv",
                                              "Allgather",
                                              "Allgatherv",
                                              "Alltoall",
                                              "Alltoallv",
                                              "Alltoallw",
                                              "Allreduce",
                                              "Reduce",
                                              "Reduce_scatter",
                                              "Scan",
                                              "Exscan",
                                              "Reduce_scatter_block",
                                              "create handle",
                                              "destroy handle",
                                              "allocate",
                                              "deallocate",
                                              "create handle and allocate",
                                              "destroy handle and deallocate"};

}  // namespace

const char* operation_name(std::uint8_t operation) {
  return operation < k_names.size() ? k_names[operation] : "unknown operation";
}

std::optional<std::uint8_t> find_operation(std::string_view name) {
  const auto found = std::ranges::find(k_names, in_small_letters(name), in_small_letters);
  if (found == k_names.end()) return std::nullopt;
  return static_cast<std::uint8_t>(found - k_names.begin());
}

}  // namespace entrain::trace
