// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/delays.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/file.hpp"
#include "base/try.hpp"
#include "clocks/recorder_table.hpp"

namespace entrain::clocks {
namespace {

constexpr RecorderTable k_delay_table{
    "child_node,parent_node,min_round_trip_ticks,min_to_parent_ticks,min_to_child_ticks",
    "this is no pair of nodes with its shortest ways", "try --mu auto"};
constexpr std::uint64_t k_recorder_hz = 1'000'000'000;
constexpr std::int64_t k_share_of_round_trip = 4;

std::set<std::string> nodes_of(const trace::Definitions& definitions) {
  std::set<std::string> nodes;
  for (const trace::SystemTreeNode& node : definitions.tree_nodes) {
    if (node.shared_memory) nodes.insert(node.name);
  }
  return nodes;
}

/// Number of each machine that has locations, by name; k_none where two have one name.
std::map<std::string, std::uint32_t> numbers_of(const trace::Definitions& definitions) {
  std::map<std::string, std::uint32_t> numbers;
  for (LocationIndex l = 0; l < definitions.node_of.size(); ++l) {
    const std::uint32_t number = definitions.node_of[l];
    const auto [known, is_new] = numbers.try_emplace(trace::node_name(definitions, l), number);
    if (!is_new && known->second != number) known->second = k_none;
  }
  return numbers;
}

/// mu from a shortest round trip.
std::int64_t mu_of(std::int64_t round_trip) {
  return std::min(round_trip / k_share_of_round_trip, trace::k_largest_mu);
}

}  // namespace

Result<DelayMu> read_delay_mu(const std::filesystem::path& folder,
                              const trace::Definitions& definitions, bool apart) {
  const std::filesystem::path path = folder / k_clock_delays;
  if (!file_exists(path)) {
    return input_error(
        "{} cannot be read: only archives of 'entrain record' with clock sessions "
        "have that file; try --mu auto",
        path.string());
  }
  const std::set<std::string> nodes = nodes_of(definitions);
  const std::map<std::string, std::uint32_t> numbers = numbers_of(definitions);
  std::array<std::optional<std::int64_t>, k_latency_classes> shortest;
  DelayMu mu;
  TRY(read_recorder_table(path, k_delay_table, [&](RecorderRow words) -> std::string_view {
    const std::string child(words[0]), parent(words[1]);
    std::int64_t round_trip = 0, to_parent = 0, to_child = 0;
    if (child.empty() || parent.empty() ||
        !read_numbers(words.subspan(2), round_trip, to_parent, to_child) || round_trip < 0) {
      return k_delay_table.no_row;
    }
    const bool known = nodes.contains(child) && nodes.contains(parent);
    if (!apart && (!known || definitions.clock.resolution_hz != k_recorder_hz)) {
      return "the file belongs to another archive";
    }
    auto& least = shortest[static_cast<std::size_t>(child == parent ? LatencyClass::same_node
                                                                    : LatencyClass::other)];
    least = std::min(least.value_or(round_trip), round_trip);
    const auto one = numbers.find(child), other = numbers.find(parent);
    if (one != numbers.end() && other != numbers.end() && one->second != k_none &&
        other->second != k_none) {
      mu.of_pairs.add(one->second, other->second, mu_of(round_trip));
    }
    return {};
  }));
  for (std::size_t c = 0; c < mu.by_class.size(); ++c)
    mu.by_class[c] = mu_of(shortest[c].value_or(0));
  return mu;
}

}  // namespace entrain::clocks
