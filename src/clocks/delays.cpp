// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/delays.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "clocks/recorder_table.hpp"

namespace entrain::clocks {
namespace {

constexpr std::string_view k_delay_columns =
    "child_node,parent_node,min_round_trip_ticks,min_to_parent_ticks,min_to_child_ticks";
constexpr std::uint64_t k_recorder_hz = 1'000'000'000;
constexpr std::int64_t k_share_of_round_trip = 4;

/// A line of the file, as far as it is used.
struct DelayRow {
  std::string child, parent;
  std::int64_t round_trip = 0;  ///< ticks, >= 0
};

std::optional<std::int64_t> number_of(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::optional<DelayRow> delay_row_of(std::string_view line) {
  std::array<std::string_view, 5> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t comma = line.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == words.size())) return std::nullopt;
    words[i] = line.substr(0, comma);
    if (comma != std::string_view::npos) line.remove_prefix(comma + 1);
  }
  const auto round_trip = number_of(words[2]);
  if (words[0].empty() || words[1].empty() || !round_trip || *round_trip < 0 ||
      !number_of(words[3]) || !number_of(words[4])) {
    return std::nullopt;
  }
  return DelayRow{std::string(words[0]), std::string(words[1]), *round_trip};
}

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
    return fail(
        ErrorKind::input,
        fmt::format("{} cannot be read: only archives of 'entrain record' with clock sessions "
                    "have that file; try --mu auto",
                    path.string()));
  }
  const std::set<std::string> nodes = nodes_of(definitions);
  const std::map<std::string, std::uint32_t> numbers = numbers_of(definitions);
  std::array<std::optional<std::int64_t>, k_latency_classes> shortest;
  DelayMu mu;
  TRY(read_recorder_table(
      path, k_delay_columns, "try --mu auto", [&](const std::string& line) -> std::string_view {
        const auto row = delay_row_of(line);
        if (!row) return "this is no pair of nodes with its shortest ways";
        const bool known = nodes.contains(row->child) && nodes.contains(row->parent);
        if (!apart && (!known || definitions.clock.resolution_hz != k_recorder_hz)) {
          return "the file belongs to another archive";
        }
        auto& least = shortest[static_cast<std::size_t>(
            row->child == row->parent ? LatencyClass::same_node : LatencyClass::other)];
        least = std::min(least.value_or(row->round_trip), row->round_trip);
        const auto child = numbers.find(row->child), parent = numbers.find(row->parent);
        if (child != numbers.end() && parent != numbers.end() && child->second != k_none &&
            parent->second != k_none)
          mu.of_pairs.add(child->second, parent->second, mu_of(row->round_trip));
        return {};
      }));
  for (std::size_t c = 0; c < mu.by_class.size(); ++c)
    mu.by_class[c] = mu_of(shortest[c].value_or(0));
  return mu;
}

}  // namespace entrain::clocks
