// SPDX-License-Identifier: BSD-3-Clause
#include "trace/properties.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/text.hpp"

namespace entrain::trace {

namespace {

/// The truth values that tracers write; anything else says nothing.
std::optional<bool> truth_of(std::string_view value) {
  const std::string text = in_small_letters(value);
  constexpr std::array<std::string_view, 4> k_true{"true", "yes", "on", "1"};
  constexpr std::array<std::string_view, 4> k_false{"false", "no", "off", "0"};
  if (std::ranges::find(k_true, text) != k_true.end()) return true;
  if (std::ranges::find(k_false, text) != k_false.end()) return false;
  return std::nullopt;
}

/// Per rank its set, as k_property_clocks has them; empty if the text has another form, or names a
/// rank twice or one that is not there.
std::vector<std::uint32_t> sets_of_ranks(std::string_view text, std::size_t ranks) {
  std::vector<std::uint32_t> set(ranks, k_none);
  for (std::uint32_t number = 0; !text.empty();) {
    const auto first = take_number<std::uint32_t>(text);
    const auto last = first && take(text, "-") ? take_number<std::uint32_t>(text) : first;
    if (!first || !last || *last < *first || *last >= ranks) return {};
    for (std::uint32_t rank = *first; rank <= *last; ++rank) {
      if (set[rank] != k_none) return {};
      set[rank] = number;
    }
    if (take(text, " ")) {
      ++number;
    } else if (!take(text, ",") && !text.empty()) {
      return {};
    }
  }
  return set;
}

}  // namespace

const std::string* find_property(const Definitions& definitions, std::string_view name) {
  for (const Property& property : definitions.properties) {
    if (property.name == name) return &property.value;
  }
  return nullptr;
}

std::vector<std::uint32_t> ranks_of_processes(const Definitions& definitions) {
  const auto& process_of = definitions.process_of;
  const std::uint32_t count = count_of(process_of);
  const Comm* world = nullptr;
  for (const Comm& comm : definitions.comms) {
    if (comm.inter || comm.self) continue;
    if (world == nullptr || comm.group_a.size() > world->group_a.size()) world = &comm;
  }
  std::vector<std::uint32_t> ranks(count, k_none);
  for (std::uint32_t p = 0; p < count && world == nullptr; ++p) ranks[p] = p;
  for (std::uint32_t rank = 0; world != nullptr && rank < world->group_a.size(); ++rank) {
    const LocationIndex l = world->group_a[rank];
    if (l != k_none) ranks[process_of[l]] = rank;
  }
  return ranks;
}

std::vector<std::uint32_t> proved_clocks(const Definitions& definitions) {
  if (!definitions.known_clocks.empty()) return definitions.known_clocks;
  const std::string* const value = find_property(definitions, k_property_clocks);
  if (value == nullptr || find_property(definitions, k_property_correction) != nullptr) return {};
  const std::vector<std::uint32_t> ranks = ranks_of_processes(definitions);
  std::uint32_t most = 0;
  for (const std::uint32_t rank : ranks) most = std::max(most, rank == k_none ? 0 : rank + 1);
  const std::vector<std::uint32_t> sets = sets_of_ranks(*value, most);
  std::vector<std::uint32_t> result;
  for (std::size_t l = 0; l < definitions.process_of.size() && !sets.empty(); ++l) {
    const std::uint32_t rank = ranks[definitions.process_of[l]];
    result.push_back(rank == k_none ? k_none : sets[rank]);
  }
  return result;
}

Completeness completeness_of(const Definitions& definitions) {
  constexpr std::string_view k_ending = "_complete";
  Completeness result;
  for (const Property& property : definitions.properties) {
    const std::string name = in_small_letters(property.name);
    const std::optional<bool> truth = truth_of(property.value);
    if (name == in_small_letters(k_property_mpi_complete)) result.mpi_communication = truth;
    if (truth == false && name.size() > k_ending.size() && name.ends_with(k_ending)) {
      result.incomplete.push_back(property.name);
    }
    if (name.find("filter") != std::string::npos) {
      result.filters.emplace_back(property.name, property.value);
    }
  }
  return result;
}

std::string to_property(const SessionSpan& span) {
  return fmt::format("{} {}", span.begin, span.end);
}

std::optional<SessionSpan> span_of_property(std::string_view text) {
  const auto begin = take_number<std::int64_t>(text);
  const auto end = begin && take(text, " ") ? take_number<std::int64_t>(text) : std::nullopt;
  if (!end || !text.empty()) return std::nullopt;
  return SessionSpan{*begin, *end};
}

}  // namespace entrain::trace
