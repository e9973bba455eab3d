// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/try.hpp"
#include "formats/otf2/format/format.hpp"
#include "formats/otf2/read/read_definitions.hpp"

namespace entrain::otf2 {

namespace {

// OTF2_GroupType, OTF2_GroupFlag.
constexpr std::uint8_t k_group_locations = 1, k_group_comm_locations = 4, k_group_comm_group = 5,
                       k_group_comm_self = 6;
constexpr std::uint32_t k_flag_global_members = 1;

/// Reads the global definitions, type by type, so that whatever a record refers to is there before.
/// Its steps stand in the order in which they must run.
class GlobalReader {
 public:
  GlobalReader(const DefinitionFile& file, std::string path, GlobalDefinitions& out)
      : file_(file),
        path_(std::move(path)),
        out_(out),
        definitions_(out.definitions),
        first_location_(out.definitions.locations.size()) {}

  Result<void> run() {
    clock();
    strings();
    system_tree();
    locations();
    partners();
    regions();
    groups();
    comms_and_windows();
    processes_and_nodes();
    if (damaged_) {
      return input_error(
          "{} is damaged: definition record {} (type {}) is too short; restore the file or record "
          "the trace again",
          path_, *damaged_ + 1, file_.records[*damaged_].type);
    }
    if (clock_.resolution_hz == 0) {
      return input_error("{} defines no clock resolution; the archive is incomplete", path_);
    }
    TRY(join_clocks());
    if (twice_) {
      return input_error("{} defines location {} twice", path_, *twice_);
    }
    return {};
  }

 private:
  struct Group {
    std::uint32_t id = k_none;
    std::uint8_t type = 0, paradigm = 0;
    std::uint32_t flags = 0;
    std::vector<std::uint64_t> members;
  };

  /// Calls `read(in, type)` for the records of these types, in order of the file. The first record
  /// of all whose fields run past its end is noted.
  template <class Read>
  void each(std::initializer_list<std::uint8_t> types, const Read& read) {
    for (std::size_t i = 0; i < file_.records.size(); ++i) {
      const DefinitionRecord& record = file_.records[i];
      if (std::ranges::find(types, record.type) == types.end()) continue;
      FieldReader in(record.payload.data(), record.payload.size(), file_.big_endian);
      read(in, record.type);
      if (!in.ok()) damaged_ = std::min(damaged_.value_or(i), i);
    }
  }

  void clock() {
    clock_.resolution_hz = 0;
    each({def::clock_properties}, [&](FieldReader& in, std::uint8_t) {
      clock_.resolution_hz = in.c64();
      clock_.global_offset = in.c64();
      clock_.length = in.c64();
      if (in.left() > 0) clock_.realtime_ns = in.c64();
    });
  }

  /// The span of several archives is that of all of them.
  Result<void> join_clocks() {
    trace::ClockProperties& all = definitions_.clock;
    if (first_location_ == 0) {
      all = clock_;
      return {};
    }
    if (all.resolution_hz != clock_.resolution_hz) {
      return input_error(
          "{} has {} ticks per second, and the archives before it have {}: such archives cannot be "
          "read as one run",
          path_, clock_.resolution_hz, all.resolution_hz);
    }
    const auto end_of = [](const trace::ClockProperties& one) {
      std::uint64_t end = 0;
      const bool is_beyond = __builtin_add_overflow(one.global_offset, one.length, &end);
      return is_beyond ? std::numeric_limits<std::uint64_t>::max() : end;
    };
    const std::uint64_t end = std::max(end_of(all), end_of(clock_));
    if (clock_.global_offset < all.global_offset) all = clock_;
    all.length = end - all.global_offset;
    return {};
  }

  /// A text without an end is damage: readers that trust the end mark read on after it.
  void strings() {
    each({def::string}, [&](FieldReader& in, std::uint8_t) {
      const std::uint32_t id = in.c32();
      strings_[id] = in.text();
    });
  }

  void system_tree() {
    std::vector<trace::SystemTreeNode>& nodes = definitions_.tree_nodes;
    const std::size_t first = nodes.size();
    each({def::system_tree_node}, [&](FieldReader& in, std::uint8_t) {
      trace::SystemTreeNode& node = nodes.emplace_back();
      node.id = in.c32();
      node.name = name(in.c32());
      node.class_name = name(in.c32());
      node.parent = in.c32();
      tree_nodes_[node.id] = last_of(nodes);
    });
    std::unordered_set<std::uint32_t> shared;
    each({def::tree_node_domain}, [&](FieldReader& in, std::uint8_t) {
      constexpr std::uint8_t k_shared_memory = 1;
      const std::uint32_t node = in.c32();
      if (in.u8() == k_shared_memory) shared.insert(node);
    });
    for (trace::SystemTreeNode& node : std::span(nodes).subspan(first)) {
      node.parent = find(tree_nodes_, node.parent);
      node.shared_memory = shared.contains(node.id);
    }
  }

  void locations() {
    std::vector<trace::LocationGroup>& groups = definitions_.location_groups;
    const std::size_t first = groups.size();
    each({def::location_group}, [&](FieldReader& in, std::uint8_t) {
      trace::LocationGroup& group = groups.emplace_back();
      group.id = in.c32();
      group.name = name(in.c32());
      in.u8();  // type
      group.tree_node = find(tree_nodes_, in.c32());
      if (in.left() > 0) group.creating_group = in.c32();
      location_groups_[group.id] = last_of(groups);
    });
    for (trace::LocationGroup& group : std::span(groups).subspan(first)) {
      group.creating_group = find(location_groups_, group.creating_group);
    }
    each({def::location}, [&](FieldReader& in, std::uint8_t) {
      trace::Location& location = definitions_.locations.emplace_back();
      location.id = in.c64();
      location.name = name(in.c32());
      location.type = static_cast<trace::LocationType>(in.u8());
      location.event_count = in.c64();
      location.group = find(location_groups_, in.c32());
      const LocationIndex at = last_of(definitions_.locations);
      if (!locations_.emplace(location.id, at).second && !twice_) twice_ = location.id;
      if (location.type == trace::LocationType::accelerator) {
        out_.references.accelerators[location.id] = at;
      }
    });
  }

  /// Before regions(): calls among neighbours that name their partners need no other trace.
  void partners() {
    References& references = out_.references;
    each({def::attribute}, [&](FieldReader& in, std::uint8_t) {
      const std::uint32_t id = in.c32();
      const std::string text = name(in.c32());
      const std::uint8_t type = in.u8();
      const auto take = [&](const char* wanted, std::uint8_t of_type, std::uint32_t& known) {
        if (text == wanted && type == of_type && known == k_none) known = id;
      };
      take(k_partners_attribute, attribute_type::string, references.partners_attribute);
      take(k_stream_attribute, attribute_type::location, references.stream_attribute);
    });
    if (references.partners_attribute == k_none) return;
    // By id, so that the positions are the same in all processes of a run.
    const std::map<std::uint32_t, std::string_view> texts(strings_.begin(), strings_.end());
    for (const auto& [id, text] : texts) {
      const auto lists = parse_partners(text);
      if (!lists) continue;
      definitions_.partners.push_back({rank_set(lists->to), rank_set(lists->from)});
      out_.references.partners[id] = last_of(definitions_.partners);
    }
  }

  void regions() {
    References& references = out_.references;
    references.region_roles.resize(definitions_.regions.size(), RegionRole::other);
    each({def::region}, [&](FieldReader& in, std::uint8_t) {
      trace::Region& region = definitions_.regions.emplace_back();
      region.id = in.c32();
      region.name = name(in.c32());
      in.c32();                      // description
      in.u8();                       // region type of OTF2 1.0
      in.c32(), in.c32(), in.c32();  // source file, begin line, end line
      if (in.left() > 0) {
        in.c32();  // canonical name
        region.role = in.u8();
        region.paradigm = in.u8();
      }
      references.regions[region.id] = last_of(definitions_.regions);
      RegionRole role = role_of(region.name, region.role, region.paradigm);
      const bool in_records = references.partners_attribute != k_none;
      if (role == RegionRole::neighbours && in_records) role = RegionRole::other;
      references.region_roles.push_back(role);
      references.any_region_role |= role != RegionRole::other;
    });
  }

  void groups() {
    each({def::group}, [&](FieldReader& in, std::uint8_t) {
      Group& group = groups_.emplace_back();
      group.id = in.c32();
      in.c32();  // name
      in.u8();   // group type of OTF2 1.0
      const std::uint32_t count = in.c32();
      for (std::uint32_t i = 0; i < count && in.ok(); ++i) group.members.push_back(in.c64());
      if (in.left() > 0) {
        group.type = in.u8();
        group.paradigm = in.u8();
        group.flags = in.c32();
      }
    });
    for (const Group& group : groups_) {
      if (group.type == k_group_comm_locations) all_of_paradigm_[group.paradigm] = &group;
    }
    for (const Group& group : groups_) {
      definitions_.groups.push_back({group.id, members(group)});
      out_.references.groups[group.id] = last_of(definitions_.groups);
      if (group.type == k_group_comm_self) selves_.insert(group.id);
    }
  }

  void comms_and_windows() {
    References& references = out_.references;
    each({def::comm, def::inter_comm}, [&](FieldReader& in, std::uint8_t type) {
      trace::Comm& comm = definitions_.comms.emplace_back();
      comm.inter = type == def::inter_comm;
      comm.id = in.c32();
      comm.name = name(in.c32());
      const std::uint32_t group = in.c32();
      comm.self = selves_.contains(group);
      comm.group_a = members_of(group);
      if (comm.inter) comm.group_b = members_of(in.c32());
      references.comms[comm.id] = last_of(definitions_.comms);
    });
    each({def::rma_window}, [&](FieldReader& in, std::uint8_t) {
      trace::RmaWindow& window = definitions_.windows.emplace_back();
      window.id = in.c32();
      window.name = name(in.c32());
      window.comm = find(references.comms, in.c32());
      references.windows[window.id] = last_of(definitions_.windows);
    });
  }

  void processes_and_nodes() {
    References::Map process_numbers, node_numbers;
    const auto next = [](const std::vector<std::uint32_t>& numbers) {
      return numbers.empty() ? 0 : *std::ranges::max_element(numbers) + 1;
    };
    const std::uint32_t first_process = next(definitions_.process_of),
                        first_node = next(definitions_.node_of);
    const auto dense = [](References::Map& numbers, std::uint32_t key) {
      return numbers.emplace(key, static_cast<std::uint32_t>(numbers.size())).first->second;
    };
    std::uint32_t lone = k_none - 1;  // stands for locations without a group
    for (const trace::Location& location :
         std::span(definitions_.locations).subspan(first_location_)) {
      const std::uint32_t group = creator_of(location.group);
      const std::uint32_t process = group == k_none ? lone-- : group;
      definitions_.process_of.push_back(first_process + dense(process_numbers, process));
      const std::uint32_t node = group == k_none ? k_none : machine_node(group);
      // Without a system tree every process counts as a node of its own.
      const std::uint32_t key = node == k_none ? k_lone_node + process : node;
      definitions_.node_of.push_back(first_node + dense(node_numbers, key));
    }
  }

  static constexpr std::uint32_t k_lone_node = 0x40000000;

  template <class T>
  static std::uint32_t last_of(const std::vector<T>& all) {
    return static_cast<std::uint32_t>(all.size() - 1);
  }
  template <class Map, class Key>
  static std::uint32_t find(const Map& map, Key key) {
    const auto found = map.find(key);
    return found == map.end() ? k_none : found->second;
  }
  [[nodiscard]] std::string name(std::uint32_t string) const {
    const auto found = strings_.find(string);
    return found == strings_.end() ? std::string() : found->second;
  }
  [[nodiscard]] std::vector<LocationIndex> members_of(std::uint32_t group) const {
    const std::uint32_t position = find(out_.references.groups, group);
    return position == k_none ? std::vector<LocationIndex>()
                              : definitions_.groups[position].members;
  }

  /// Position of a set of ranks among Definitions::rank_sets.
  std::uint32_t rank_set(const trace::RankSet& set) {
    const auto position = static_cast<std::uint32_t>(definitions_.rank_sets.size());
    const auto [at, is_new] = rank_sets_.emplace(set, position);
    if (is_new) definitions_.rank_sets.push_back(set);
    return at->second;
  }

  /// Locations of a group, rank by rank.
  [[nodiscard]] std::vector<LocationIndex> members(const Group& group) const {
    std::vector<LocationIndex> result;
    if (group.type == k_group_locations || group.type == k_group_comm_locations) {
      for (const std::uint64_t id : group.members) result.push_back(find(locations_, id));
      return result;
    }
    const auto all = all_of_paradigm_.find(group.paradigm);
    if (group.type != k_group_comm_group || all == all_of_paradigm_.end()) return result;
    const std::vector<std::uint64_t>& ids = all->second->members;
    const bool global_ranks = (group.flags & k_flag_global_members) != 0;
    if (global_ranks) result.assign(ids.size(), k_none);
    for (const std::uint64_t rank : group.members) {
      const LocationIndex location = rank < ids.size() ? find(locations_, ids[rank]) : k_none;
      if (!global_ranks) {
        result.push_back(location);
      } else if (rank < ids.size()) {
        result[rank] = location;
      }
    }
    return result;
  }

  /// The process that an accelerator context belongs to; the group itself otherwise.
  [[nodiscard]] std::uint32_t creator_of(std::uint32_t group) const {
    const auto& groups = definitions_.location_groups;
    for (std::size_t steps = 0; group != k_none && steps < groups.size(); ++steps) {
      if (groups[group].creating_group == k_none) break;
      group = groups[group].creating_group;
    }
    return group;
  }

  /// Nearest shared-memory ancestor, else the nearest one of class "node", else the parent.
  [[nodiscard]] std::uint32_t machine_node(std::uint32_t group) const {
    const auto& nodes = definitions_.tree_nodes;
    const std::uint32_t parent = definitions_.location_groups[group].tree_node;
    std::uint32_t by_class = k_none;
    std::uint32_t at = parent;
    for (std::size_t steps = 0; at != k_none && steps <= nodes.size(); ++steps) {
      if (nodes[at].shared_memory) return at;
      if (by_class == k_none && nodes[at].class_name == "node") by_class = at;
      at = nodes[at].parent;
    }
    return by_class != k_none ? by_class : parent;
  }

  const DefinitionFile& file_;
  std::string path_;  ///< named in messages
  GlobalDefinitions& out_;
  trace::Definitions& definitions_;
  std::size_t first_location_;  ///< position of the first location of this archive
  std::unordered_map<std::uint32_t, std::string> strings_;
  std::unordered_map<std::uint64_t, LocationIndex> locations_;
  References::Map location_groups_, tree_nodes_;
  std::map<trace::RankSet, std::uint32_t> rank_sets_;
  std::vector<Group> groups_;
  std::unordered_map<std::uint8_t, const Group*> all_of_paradigm_;
  std::unordered_set<std::uint32_t> selves_;  ///< ids of groups of communicators of one process
  trace::ClockProperties clock_;
  std::optional<std::size_t> damaged_;  ///< position of a record that is too short
  std::optional<std::uint64_t> twice_;  ///< id of a location that is defined twice
};

}  // namespace

LocationIndex References::accelerator(std::uint64_t named, std::uint64_t own) const {
  constexpr int k_half = 32;
  for (const std::uint64_t id : {named, named << k_half | static_cast<std::uint32_t>(own)}) {
    if (const auto found = accelerators.find(id); found != accelerators.end()) return found->second;
  }
  return k_none;
}

Result<GlobalDefinitions> global_definitions_of(const DefinitionFile& file,
                                                const std::filesystem::path& path,
                                                trace::Definitions before) {
  GlobalDefinitions out{std::move(before), {}};
  TRY(GlobalReader(file, path.string(), out).run());
  return out;
}

}  // namespace entrain::otf2
