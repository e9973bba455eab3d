// SPDX-License-Identifier: BSD-3-Clause
#include "support/oracle_definitions.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace entrain::test {

OracleDefinitions::OracleDefinitions(LibraryReader& reader) {
  const GlobalCallbacks callbacks;
  register_callbacks(callbacks.get());
  reader.read_global_definitions(callbacks.get(), this);
  index_ids();
  read_properties(reader);
}

void OracleDefinitions::register_callbacks(OTF2_GlobalDefReaderCallbacks* callbacks) {
  using Self = OracleDefinitions;
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
#define SET(name, ...) \
  require(OTF2_GlobalDefReaderCallbacks_Set##name##Callback(callbacks, __VA_ARGS__), #name)
  SET(ClockProperties, [](void* data, U64 resolution, U64 offset, U64 length, U64 realtime) {
    static_cast<Self*>(data)->clock_ = {resolution, offset, length, realtime};
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(String, [](void* data, U32 self, const char* string) {
    static_cast<Self*>(data)->strings_[self] = string;
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(SystemTreeNode, [](void* data, U32 self, U32 name, U32 class_name, U32 parent) {
    static_cast<Self*>(data)->nodes_.push_back({self, name, class_name, parent, false});
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(SystemTreeNodeDomain, [](void* data, U32 node, OTF2_SystemTreeDomain domain) {
    for (auto& candidate : static_cast<Self*>(data)->nodes_) {
      if (candidate.id == node && domain == OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY) {
        candidate.shared_memory = true;
      }
    }
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(LocationGroup,
      [](void* data, U32 self, U32 name, OTF2_LocationGroupType type, U32 parent, U32 creator) {
        static_cast<Self*>(data)->location_groups_.push_back({self, name, parent, creator, type});
        return OTF2_CALLBACK_SUCCESS;
      });
  SET(Location, [](void* data, U64 self, U32 name, OTF2_LocationType type, U64 events, U32 group) {
    static_cast<Self*>(data)->locations_.push_back({self, events, name, group, type});
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(Region, [](void* data, U32 self, U32 name, U32, U32, OTF2_RegionRole role,
                 OTF2_Paradigm paradigm, OTF2_RegionFlag, U32, U32, U32) {
    auto& me = *static_cast<Self*>(data);
    me.regions_.push_back({self, "", role, paradigm});
    me.region_names_.push_back(name);
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(Group, [](void* data, U32 self, U32, OTF2_GroupType type, OTF2_Paradigm paradigm,
                OTF2_GroupFlag flags, U32 count, const U64* members) {
    static_cast<Self*>(data)->groups_.push_back({self, type, paradigm,
                                                 (flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0,
                                                 std::vector<U64>(members, members + count)});
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(Comm, [](void* data, U32 self, U32 name, U32 group, U32, OTF2_CommFlag) {
    static_cast<Self*>(data)->comms_.push_back({self, name, group, k_none, false});
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(InterComm, [](void* data, U32 self, U32 name, U32 a, U32 b, U32, OTF2_CommFlag) {
    static_cast<Self*>(data)->comms_.push_back({self, name, a, b, true});
    return OTF2_CALLBACK_SUCCESS;
  });
  SET(RmaWin, [](void* data, U32 self, U32 name, U32 comm, OTF2_RmaWinFlag) {
    static_cast<Self*>(data)->windows_.push_back({self, name, comm});
    return OTF2_CALLBACK_SUCCESS;
  });
#undef SET
}

void OracleDefinitions::index_ids() {
  const auto index = [](const auto& records, Positions& positions) {
    for (std::uint32_t i = 0; i < records.size(); ++i) positions[records[i].id] = i;
  };
  index(comms_, comm_position_);
  index(windows_, window_position_);
  index(groups_, group_position_);
  index(location_groups_, location_group_position_);
  index(nodes_, node_position_);
  index(regions_, region_position_);
  for (std::size_t i = 0; i < regions_.size(); ++i) regions_[i].name = text(region_names_[i]);
}

void OracleDefinitions::read_properties(LibraryReader& reader) {
  std::uint32_t count = 0;
  char** names = nullptr;
  require(OTF2_Reader_GetPropertyNames(reader.get(), &count, &names), "properties");
  for (std::uint32_t i = 0; i < count; ++i) {
    char* value = nullptr;
    require(OTF2_Reader_GetProperty(reader.get(), names[i], &value), "properties");
    properties_.push_back({names[i], value});
    std::free(value);
  }
  std::free(names);
}

std::uint32_t OracleDefinitions::find(const Positions& positions, std::uint32_t id) {
  const auto found = positions.find(id);
  return found == positions.end() ? k_none : found->second;
}

const trace::Region* OracleDefinitions::region(std::uint32_t id) const {
  const auto position = find(region_position_, id);
  return position == k_none ? nullptr : &regions_[position];
}

std::string OracleDefinitions::text(std::uint32_t id) const {
  const auto found = strings_.find(id);
  return found == strings_.end() ? "" : found->second;
}

const OracleDefinitions::RawGroup* OracleDefinitions::raw_group(std::uint32_t id) const {
  const auto position = find(group_position_, id);
  return position == k_none ? nullptr : &groups_[position];
}

std::uint32_t OracleDefinitions::location(std::uint64_t id) const {
  for (std::uint32_t i = 0; i < locations_.size(); ++i) {
    if (locations_[i].id == id) return i;
  }
  return k_none;
}

/// Locations of a group's members. Members of COMM_GROUP count the entries of the paradigm's
/// COMM_LOCATIONS group; members of the location groups are location ids.
std::vector<std::uint32_t> OracleDefinitions::members(const RawGroup& group) const {
  std::vector<std::uint32_t> result;
  if (group.type == OTF2_GROUP_TYPE_LOCATIONS || group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
    for (const auto id : group.members) result.push_back(location(id));
  }
  // The last list of a paradigm counts, as the last definition of every id does.
  const auto all = std::find_if(groups_.rbegin(), groups_.rend(), [&](const RawGroup& other) {
    return other.type == OTF2_GROUP_TYPE_COMM_LOCATIONS && other.paradigm == group.paradigm;
  });
  if (group.type != OTF2_GROUP_TYPE_COMM_GROUP || all == groups_.rend()) return result;
  if (group.global_members) result.assign(all->members.size(), k_none);
  for (const auto rank : group.members) {
    const bool known = rank < all->members.size();
    const auto member = known ? location(all->members[rank]) : k_none;
    if (!group.global_members) {
      result.push_back(member);
    } else if (known) {
      result[rank] = member;
    }
  }
  return result;
}

trace::Comm OracleDefinitions::resolve(const RawComm& raw) const {
  trace::Comm comm;
  comm.id = raw.id;
  comm.name = text(raw.name);
  comm.inter = raw.inter;
  if (const auto* group = raw_group(raw.group_a)) {
    comm.group_a = members(*group);
    comm.self = group->type == OTF2_GROUP_TYPE_COMM_SELF;
  }
  if (const auto* group = raw.inter ? raw_group(raw.group_b) : nullptr) {
    comm.group_b = members(*group);
  }
  return comm;
}

namespace {

/// The process of a location group: who created it, as far as that goes on.
std::uint32_t process_of(const trace::Definitions& definitions, std::uint32_t group) {
  const auto& groups = definitions.location_groups;
  for (std::size_t steps = 0; group != k_none && steps < groups.size(); ++steps) {
    if (groups[group].creating_group == k_none) return group;
    group = groups[group].creating_group;
  }
  return group;
}

/// The machine node of a place in the system tree: where memory is shared, else what is called a
/// node, else the place itself.
std::uint32_t node_of(const trace::Definitions& definitions, std::uint32_t place) {
  const auto& nodes = definitions.tree_nodes;
  std::vector<std::uint32_t> above;  // no longer than the tree, which damage may make a circle
  for (auto at = place; at != k_none && above.size() <= nodes.size(); at = nodes[at].parent) {
    above.push_back(at);
  }
  const auto shared = std::find_if(above.begin(), above.end(),
                                   [&](std::uint32_t at) { return nodes[at].shared_memory; });
  if (shared != above.end()) return *shared;
  const auto called = std::find_if(
      above.begin(), above.end(), [&](std::uint32_t at) { return nodes[at].class_name == "node"; });
  return called != above.end() ? *called : place;
}

}  // namespace

/// Processes and machine nodes, numbered in the order of their first location. What belongs to
/// nothing is one of its own.
void OracleDefinitions::resolve_places(trace::Definitions& definitions) const {
  using Key = std::pair<bool, std::uint32_t>;  // false: a number of a process or of a location
  std::map<Key, std::uint32_t> processes, nodes;
  const auto dense = [](auto& numbers, Key key) {
    return numbers.emplace(key, static_cast<std::uint32_t>(numbers.size())).first->second;
  };
  for (std::uint32_t l = 0; l < definitions.locations.size(); ++l) {
    const std::uint32_t group = process_of(definitions, definitions.locations[l].group);
    const auto process = dense(processes, group == k_none ? Key{false, l} : Key{true, group});
    const std::uint32_t node =
        group == k_none ? k_none
                        : node_of(definitions, definitions.location_groups[group].tree_node);
    definitions.process_of.push_back(process);
    definitions.node_of.push_back(
        dense(nodes, node == k_none ? Key{false, process} : Key{true, node}));
  }
}

trace::Definitions OracleDefinitions::resolve() const {
  trace::Definitions result;
  result.clock = clock_;
  result.properties = properties_;
  result.regions = regions_;
  for (const auto& raw : locations_) {
    result.locations.push_back({raw.id, text(raw.name), static_cast<trace::LocationType>(raw.type),
                                raw.events, find(location_group_position_, raw.group)});
  }
  for (const auto& raw : location_groups_) {
    result.location_groups.push_back({raw.id, text(raw.name),
                                      find(location_group_position_, raw.creator),
                                      find(node_position_, raw.node)});
  }
  for (const auto& raw : nodes_) {
    result.tree_nodes.push_back({raw.id, text(raw.name), text(raw.class_name),
                                 find(node_position_, raw.parent), raw.shared_memory});
  }
  for (const auto& raw : comms_) result.comms.push_back(resolve(raw));
  for (const auto& raw : windows_) {
    result.windows.push_back({raw.id, text(raw.name), comm(raw.comm)});
  }
  for (const auto& raw : groups_) result.groups.push_back({raw.id, members(raw)});
  resolve_places(result);
  return result;
}

}  // namespace entrain::test
