// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/ids.hpp"
#include "formats/otf2/read/read_definitions.hpp"
#include "trace/partners.hpp"

namespace entrain::otf2 {

/// Global definitions as stored: references are OTF2 ids, not yet looked up.
struct RawDefinitions {
  struct TreeNode {
    std::uint32_t id = k_none, name = k_none, class_name = k_none, parent = k_none;
  };
  struct LocationGroup {
    std::uint32_t id = k_none, name = k_none, parent = k_none, creator = k_none;
  };
  struct Location {
    std::uint64_t id = 0;
    std::uint32_t name = k_none;
    std::uint8_t type = 0;
    std::uint64_t events = 0;
    std::uint32_t group = k_none;
  };
  struct Region {
    std::uint32_t id = k_none, name = k_none;
    std::uint8_t role = 0, paradigm = 0;
  };
  struct Group {
    std::uint32_t id = k_none;
    std::uint8_t type = 0, paradigm = 0;
    std::uint32_t flags = 0;
    std::vector<std::uint64_t> members;
  };
  struct Comm {
    std::uint32_t id = k_none, name = k_none, group_a = k_none, group_b = k_none;
    bool inter = false;
  };
  struct Attribute {
    std::uint32_t id = k_none, name = k_none;
    std::uint8_t type = 0;
  };
  struct Window {
    std::uint32_t id = k_none, name = k_none, comm = k_none;
  };

  trace::ClockProperties clock;
  bool has_clock = false;
  std::unordered_map<std::uint32_t, std::string> strings;
  std::vector<TreeNode> tree_nodes;
  std::vector<LocationGroup> location_groups;
  std::vector<Location> locations;
  std::vector<Region> regions;
  std::vector<Group> groups;
  std::vector<Comm> comms;
  std::vector<Window> windows;
  std::vector<Attribute> attributes;
  std::unordered_set<std::uint32_t> shared_memory_nodes;
};

/// Looks up every reference: names, members of communicators, processes and machines of locations.
/// `path` is for messages. Errors: ErrorKind::input for a location that is defined twice, or for a
/// clock resolution of 0.
Result<GlobalDefinitions> resolve(const RawDefinitions& raw, const std::string& path);

/// The two sets of ranks of a text like "to 0-3,7 from 2" (k_partners_attribute).
struct NamedPartners {
  trace::RankSet to, from;
};

/// Nothing if the text has another form.
std::optional<NamedPartners> parse_partners(std::string_view text);

}  // namespace entrain::otf2
