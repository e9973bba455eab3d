// SPDX-License-Identifier: BSD-3-Clause
#include "trace/layout.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

namespace entrain::trace {

namespace {

/// The first location of each process or machine.
std::vector<LocationIndex> first_of(const std::vector<std::uint32_t>& numbers) {
  std::vector<LocationIndex> first(count_of(numbers), k_none);
  for (LocationIndex l = 0; l < numbers.size(); ++l) {
    if (first[numbers[l]] == k_none) first[numbers[l]] = l;
  }
  return first;
}

/// Names of machines; those without a name get that of their only process, or a number.
void name_nodes(const Definitions& definitions, Layout& layout) {
  layout.node_of = definitions.node_of;
  std::vector<std::size_t> processes(count_of(definitions.node_of));
  for (const LocationIndex l : first_of(definitions.process_of)) {
    if (l != k_none) ++processes[definitions.node_of[l]];
  }
  for (const LocationIndex l : first_of(definitions.node_of)) {
    const std::size_t node = layout.nodes.size();
    std::string name = l == k_none ? std::string() : node_name(definitions, l);
    if (name.empty() && processes[node] == 1) name = process_name(definitions, l);
    if (name.empty()) name = fmt::format("machine {}", node);
    layout.nodes.push_back(std::move(name));
  }
}

void name_rows(const Definitions& definitions, const std::vector<std::uint32_t>& sorted,
               const std::vector<LocationIndex>& first, Layout& layout) {
  std::size_t at = 0;
  for (Layout::Row& row : layout.rows) {
    const auto name = [&](std::size_t i) { return process_name(definitions, first[sorted[i]]); };
    const std::size_t end = at + row.processes;
    row.name = layout.grouping == Layout::Rows::machines ? layout.nodes[row.node]
               : row.processes == 1                      ? name(at)
                                    : fmt::format("{} to {}", name(at), name(end - 1));
    at = end;
  }
}

void add_rows(const Definitions& definitions, Layout& layout) {
  const std::vector<LocationIndex> first = first_of(definitions.process_of);
  std::vector<std::uint32_t> sorted(first.size());
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::ranges::stable_sort(sorted, [&](std::uint32_t a, std::uint32_t b) {
    return layout.node_of[first[a]] < layout.node_of[first[b]];
  });
  const std::size_t nodes = layout.nodes.size();
  const bool are_machines = nodes >= 2 && nodes <= k_most_rows;
  if (first.size() > k_most_rows) {
    layout.grouping = are_machines ? Layout::Rows::machines : Layout::Rows::neighbours;
  }
  const std::size_t size = (first.size() + k_most_rows - 1) / k_most_rows;  // neighbours per row
  std::vector<std::uint32_t> row_of(first.size());
  std::size_t last = 0;  // what tells the last row from others
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const std::uint32_t node = layout.node_of[first[sorted[i]]];
    const std::size_t own = layout.grouping == Layout::Rows::machines ? node : i / size;
    if (layout.rows.empty() || own != last) layout.rows.push_back({{}, node, 0});
    last = own;
    ++layout.rows.back().processes;
    row_of[sorted[i]] = static_cast<std::uint32_t>(layout.rows.size() - 1);
  }
  name_rows(definitions, sorted, first, layout);
  for (const std::uint32_t process : definitions.process_of) {
    layout.row_of.push_back(row_of[process]);
  }
}

/// The name of its first location, but of its machine if that has several processes.
std::string clock_name(const Definitions& definitions, const Layout& layout,
                       const std::vector<LocationIndex>& members,
                       const std::vector<std::string>& names) {
  const std::uint32_t process = definitions.process_of[members.front()];
  const bool one_process = std::ranges::all_of(
      members, [&](LocationIndex l) { return definitions.process_of[l] == process; });
  return one_process ? names[members.front()] : layout.nodes[layout.node_of[members.front()]];
}

void add_clocks(const Definitions& definitions, const ClockDomains& clocks, Layout& layout) {
  layout.clock_of = clocks.of;
  const std::vector<std::string> names = clock_names(definitions);
  for (const auto& members : clocks.members) {
    layout.clocks.push_back({.name = clock_name(definitions, layout, members, names),
                             .node = layout.node_of[members.front()],
                             .location = members.front(),
                             .locations = static_cast<std::uint32_t>(members.size())});
  }
}

}  // namespace

Layout make_layout(const Definitions& definitions, const ClockDomains& clocks) {
  Layout layout;
  name_nodes(definitions, layout);
  add_rows(definitions, layout);
  add_clocks(definitions, clocks, layout);
  return layout;
}

}  // namespace entrain::trace
