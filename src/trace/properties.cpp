// SPDX-License-Identifier: BSD-3-Clause
#include "trace/properties.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace entrain::trace {

namespace {

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return result;
}

/// The truth values that tracers write; anything else says nothing.
std::optional<bool> truth_of(std::string_view value) {
  const std::string text = upper(value);
  constexpr std::array<std::string_view, 4> k_true{"TRUE", "YES", "ON", "1"};
  constexpr std::array<std::string_view, 4> k_false{"FALSE", "NO", "OFF", "0"};
  if (std::find(k_true.begin(), k_true.end(), text) != k_true.end()) return true;
  if (std::find(k_false.begin(), k_false.end(), text) != k_false.end()) return false;
  return std::nullopt;
}

}  // namespace

const std::string* find_property(const Definitions& definitions, std::string_view name) {
  for (const Property& property : definitions.properties) {
    if (property.name == name) return &property.value;
  }
  return nullptr;
}

Completeness completeness_of(const Definitions& definitions) {
  constexpr std::string_view k_ending = "_COMPLETE";
  Completeness result;
  for (const Property& property : definitions.properties) {
    const std::string name = upper(property.name);
    const std::optional<bool> truth = truth_of(property.value);
    if (name == k_property_mpi_complete) result.mpi_communication = truth;
    if (truth == false && name.size() > k_ending.size() && name.ends_with(k_ending)) {
      result.incomplete.push_back(property.name);
    }
    if (name.find("FILTER") != std::string::npos) {
      result.filters.emplace_back(property.name, property.value);
    }
  }
  return result;
}

}  // namespace entrain::trace
