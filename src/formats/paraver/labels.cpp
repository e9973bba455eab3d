// SPDX-License-Identifier: BSD-3-Clause
#include "formats/paraver/labels.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "formats/json/packing.hpp"
#include "formats/paraver/calls.hpp"
#include "formats/paraver/records.hpp"

namespace entrain::paraver {

namespace fs = std::filesystem;

namespace {

/// True for a text that reports can show.
bool is_name(std::string_view text) {
  return !text.empty() && is_utf8(text) &&
         std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= ' '; });
}

/// Calls `see(line)` for the lines of a file, without blanks at their ends.
template <class See>
void for_each_line_of(const fs::path& path, const See& see) {
  static_cast<void>(for_each_line(path, 0, [&](std::string_view line) -> Result<void> {
    see(trimmed(line));
    return {};
  }));
}

/// Takes a number and the blanks behind it off the front of a line.
bool take_number(std::string_view& line, std::uint64_t& number) {
  Cursor cursor(line);
  if (!cursor.number(number)) return false;
  line = trimmed(cursor.rest());
  return true;
}

void read_values(const fs::path& path, Labels& labels) {
  bool are_types = false;
  std::vector<std::uint64_t> types;  // of the block, which have its values
  for_each_line_of(path, [&](std::string_view line) {
    std::uint64_t number = 0, type = 0;
    if (line == "STATES" || line == "EVENT_TYPE") {
      are_types = line == "EVENT_TYPE";
      types.assign(are_types ? 0 : 1, Labels::k_state);
    } else if (line == "VALUES") {
      are_types = false;
    } else if (line.empty() || !take_number(line, number)) {
      types.clear();
    } else if (are_types && take_number(line, type)) {
      if (type >= type::first_call && type <= type::last_call) types.push_back(type);
    } else if (!are_types && is_name(line)) {
      for (const std::uint64_t one : types) labels.values.emplace(std::pair(one, number), line);
    }
  });
}

void read_nodes(const fs::path& path, Labels& labels) {
  constexpr std::string_view k_level = "LEVEL ", k_nodes = "LEVEL NODE ";
  bool is_inside = false;
  for_each_line_of(path, [&](std::string_view line) {
    if (line.starts_with(k_level)) {
      is_inside = line.starts_with(k_nodes);
    } else if (is_inside && line.empty()) {
      is_inside = false;
    } else if (is_inside) {
      labels.nodes.emplace_back(is_name(line) ? line : "");
    }
  });
}

}  // namespace

std::string Labels::name(std::uint64_t type, std::uint64_t value) const {
  const auto known = values.find({type, value});
  if (known != values.end()) return known->second;
  return type == k_state ? fmt::format("state {}", value) : fmt::format("event {}:{}", type, value);
}

fs::path sidecar(const fs::path& trace, std::string_view ending) {
  const std::string name = trace.filename().string();
  return trace.parent_path() /
         fs::path(json::without_packing(name)).replace_extension(fs::path(ending));
}

Labels read_labels(const fs::path& trace) {
  Labels labels;
  read_values(sidecar(trace, ".pcf"), labels);
  read_nodes(sidecar(trace, ".row"), labels);
  return labels;
}

}  // namespace entrain::paraver
