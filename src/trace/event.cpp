// SPDX-License-Identifier: BSD-3-Clause
#include "trace/event.hpp"

#include <algorithm>
#include <array>

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

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

const char* operation_name(std::uint8_t operation) {
  return operation < k_names.size() ? k_names[operation] : "unknown operation";
}

std::optional<std::uint8_t> find_operation(std::string_view name) {
  const auto same = [name](std::string_view other) {
    return std::equal(name.begin(), name.end(), other.begin(), other.end(),
                      [](char a, char b) { return lower(a) == lower(b); });
  };
  const auto found = std::ranges::find_if(k_names, same);
  if (found == k_names.end()) return std::nullopt;
  return static_cast<std::uint8_t>(found - k_names.begin());
}

}  // namespace entrain::trace
