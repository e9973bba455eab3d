// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/resolve.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>

#include <fmt/core.h>

#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {

namespace {

/// Takes `word` from the begin of `text`; false if it does not begin so.
bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

bool take_rank(std::string_view& text, std::uint32_t& rank) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

/// Takes a blank and ranges with commas between them, or nothing.
bool take_ranks(std::string_view& text, trace::RankSet& ranks) {
  if (text.size() < 2 || text[0] != ' ' || text[1] < '0' || text[1] > '9') return true;
  do {
    text.remove_prefix(1);  // the blank or the comma
    std::uint32_t first = 0;
    if (!take_rank(text, first)) return false;
    std::uint32_t last = first;
    if (take(text, "-") && !take_rank(text, last)) return false;
    if (!ranks.add(first, last)) return false;
  } while (text.starts_with(','));
  return true;
}

}  // namespace

std::optional<NamedPartners> parse_partners(std::string_view text) {
  NamedPartners partners;
  const bool good = take(text, "to") && take_ranks(text, partners.to) && take(text, " from") &&
                    take_ranks(text, partners.from) && text.empty();
  if (!good) return std::nullopt;
  return partners;
}

namespace {

// OTF2_GroupType, OTF2_GroupFlag, OTF2_RegionRole, OTF2_Paradigm.
constexpr std::uint8_t k_group_locations = 1, k_group_comm_locations = 4, k_group_comm_group = 5,
                       k_group_comm_self = 6;
constexpr std::uint32_t k_flag_global_members = 1;
constexpr std::uint8_t k_role_barrier = 15, k_role_implicit_barrier = 16;
constexpr std::uint8_t k_paradigm_openmp = 3, k_paradigm_pthread = 7;

/// True for the collective calls among neighbours, but not for those that only prepare one.
bool is_call_among_neighbours(std::string_view name) {
  if (!name.starts_with("mpi_neighbor_") && !name.starts_with("mpi_ineighbor_")) return false;
  return name.find("_init") == std::string_view::npos;
}

RegionRole role_of(const std::string& name, const RawDefinitions::Region& region) {
  // Fortran wrappers of some tracers name the regions in other letters.
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  while (!lower.empty() && lower.back() == '_') lower.pop_back();
  static constexpr std::array<std::pair<std::string_view, RegionRole>, 8> k_names{{
      {"mpi_init", RegionRole::mpi_init},
      {"mpi_init_thread", RegionRole::mpi_init},
      {"mpi_finalize", RegionRole::mpi_finalize},
      {"mpi_win_post", RegionRole::win_post},
      {"mpi_win_start", RegionRole::win_start},
      {"mpi_win_complete", RegionRole::win_complete},
      {"mpi_win_wait", RegionRole::win_wait},
      {"mpi_win_test", RegionRole::win_wait},
  }};
  for (const auto& [known, role] : k_names) {
    if (lower == known) return role;
  }
  if (is_call_among_neighbours(lower)) return RegionRole::neighbours;
  const bool barrier = region.role == k_role_barrier || region.role == k_role_implicit_barrier;
  const bool threads =
      region.paradigm == k_paradigm_openmp || region.paradigm == k_paradigm_pthread;
  return barrier && threads ? RegionRole::thread_barrier : RegionRole::other;
}

/// A run of the resolution. Its methods stand in the order in which they must run.
class DefinitionResolver {
 public:
  DefinitionResolver(const RawDefinitions& raw, GlobalDefinitions& out) : raw_(raw), out_(out) {}

  /// Location id that is defined twice, if any.
  const std::uint64_t* locations() {
    for (std::size_t i = 0; i < raw_.location_groups.size(); ++i) {
      location_groups_[raw_.location_groups[i].id] = static_cast<std::uint32_t>(i);
    }
    for (const auto& location : raw_.locations) {
      const auto position = static_cast<LocationIndex>(out_.definitions.locations.size());
      if (!locations_.emplace(location.id, position).second) return &location.id;
      out_.definitions.locations.push_back(
          {location.id, name(location.name), static_cast<trace::LocationType>(location.type),
           location.events, find(location_groups_, location.group)});
    }
    return nullptr;
  }

  void system_tree() {
    for (std::size_t i = 0; i < raw_.tree_nodes.size(); ++i) {
      tree_nodes_[raw_.tree_nodes[i].id] = static_cast<std::uint32_t>(i);
    }
    for (const auto& node : raw_.tree_nodes) {
      out_.definitions.tree_nodes.push_back({node.id, name(node.name), name(node.class_name),
                                             find(tree_nodes_, node.parent),
                                             raw_.shared_memory_nodes.contains(node.id)});
    }
    for (const auto& group : raw_.location_groups) {
      out_.definitions.location_groups.push_back({group.id, name(group.name),
                                                  find(location_groups_, group.creator),
                                                  find(tree_nodes_, group.parent)});
    }
  }

  /// Before regions(): calls among neighbours that name their partners need no other trace.
  void partners() {
    const auto named =
        std::find_if(raw_.attributes.begin(), raw_.attributes.end(), [&](const auto& attribute) {
          return attribute.type == attribute_type::string && attribute.id != k_none &&
                 name(attribute.name) == k_partners_attribute;
        });
    if (named == raw_.attributes.end()) return;
    out_.references.partners_attribute = named->id;
    // By id, so that the positions are the same in all processes of a run.
    const std::map<std::uint32_t, std::string_view> texts(raw_.strings.begin(), raw_.strings.end());
    for (const auto& [id, text] : texts) {
      const auto lists = parse_partners(text);
      if (!lists) continue;
      out_.references.partners[id] = static_cast<std::uint32_t>(out_.definitions.partners.size());
      out_.definitions.partners.push_back({rank_set(lists->to), rank_set(lists->from)});
    }
  }

  void regions() {
    for (const auto& region : raw_.regions) {
      out_.references.regions[region.id] =
          static_cast<std::uint32_t>(out_.definitions.regions.size());
      out_.definitions.regions.push_back(
          {region.id, name(region.name), region.role, region.paradigm});
      RegionRole role = role_of(out_.definitions.regions.back().name, region);
      const bool in_records = out_.references.partners_attribute != k_none;
      if (role == RegionRole::neighbours && in_records) role = RegionRole::other;
      out_.references.region_roles.push_back(role);
      out_.references.any_region_role |= role != RegionRole::other;
    }
  }

  void groups_and_comms() {
    for (const auto& group : raw_.groups) {
      if (group.type == k_group_comm_locations) all_of_paradigm_[group.paradigm] = &group;
    }
    for (const auto& group : raw_.groups) {
      out_.references.groups[group.id] = static_cast<std::uint32_t>(out_.definitions.groups.size());
      raw_groups_[group.id] = &group;
      out_.definitions.groups.push_back({group.id, members(group)});
    }
    for (const auto& comm : raw_.comms) {
      out_.references.comms[comm.id] = static_cast<std::uint32_t>(out_.definitions.comms.size());
      out_.definitions.comms.push_back({comm.id, name(comm.name), comm.inter, is_self(comm.group_a),
                                        members_of(comm.group_a), members_of(comm.group_b)});
    }
    for (const auto& window : raw_.windows) {
      out_.references.windows[window.id] =
          static_cast<std::uint32_t>(out_.definitions.windows.size());
      out_.definitions.windows.push_back(
          {window.id, name(window.name), find(out_.references.comms, window.comm)});
    }
  }

  void processes_and_nodes() {
    References::Map process_numbers, node_numbers;
    const auto dense = [](References::Map& numbers, std::uint32_t key) {
      return numbers.emplace(key, static_cast<std::uint32_t>(numbers.size())).first->second;
    };
    std::uint32_t lone = k_none - 1;  // stands for locations without a group
    for (const trace::Location& location : out_.definitions.locations) {
      const std::uint32_t group = creator_of(location.group);
      const std::uint32_t process = group == k_none ? lone-- : group;
      out_.definitions.process_of.push_back(dense(process_numbers, process));
      const std::uint32_t node = group == k_none ? k_none : machine_node(group);
      // Without a system tree every process counts as a node of its own.
      const std::uint32_t key = node == k_none ? k_lone_node + process : node;
      out_.definitions.node_of.push_back(dense(node_numbers, key));
    }
  }

 private:
  static constexpr std::uint32_t k_lone_node = 0x40000000;

  template <class Map, class Key>
  static std::uint32_t find(const Map& map, Key key) {
    const auto found = map.find(key);
    return found == map.end() ? k_none : found->second;
  }
  [[nodiscard]] std::string name(std::uint32_t string) const {
    const auto found = raw_.strings.find(string);
    return found == raw_.strings.end() ? std::string() : found->second;
  }
  [[nodiscard]] bool is_self(std::uint32_t group) const {
    const auto found = raw_groups_.find(group);
    return found != raw_groups_.end() && found->second->type == k_group_comm_self;
  }
  [[nodiscard]] std::vector<LocationIndex> members_of(std::uint32_t group) const {
    const std::uint32_t position = find(out_.references.groups, group);
    return position == k_none ? std::vector<LocationIndex>()
                              : out_.definitions.groups[position].members;
  }

  /// Position of a set of ranks among Definitions::rank_sets.
  std::uint32_t rank_set(const trace::RankSet& set) {
    const auto position = static_cast<std::uint32_t>(out_.definitions.rank_sets.size());
    const auto [at, is_new] = rank_sets_.emplace(set, position);
    if (is_new) out_.definitions.rank_sets.push_back(set);
    return at->second;
  }

  /// Locations of a group, rank by rank.
  [[nodiscard]] std::vector<LocationIndex> members(const RawDefinitions::Group& group) const {
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
    const auto& groups = out_.definitions.location_groups;
    for (std::size_t steps = 0; group != k_none && steps < groups.size(); ++steps) {
      if (groups[group].creating_group == k_none) break;
      group = groups[group].creating_group;
    }
    return group;
  }

  /// Nearest shared-memory ancestor, else the nearest one of class "node", else the parent.
  [[nodiscard]] std::uint32_t machine_node(std::uint32_t group) const {
    const auto& nodes = out_.definitions.tree_nodes;
    const std::uint32_t parent = out_.definitions.location_groups[group].tree_node;
    std::uint32_t by_class = k_none;
    std::uint32_t at = parent;
    for (std::size_t steps = 0; at != k_none && steps <= nodes.size(); ++steps) {
      if (nodes[at].shared_memory) return at;
      if (by_class == k_none && nodes[at].class_name == "node") by_class = at;
      at = nodes[at].parent;
    }
    return by_class != k_none ? by_class : parent;
  }

  const RawDefinitions& raw_;
  GlobalDefinitions& out_;
  std::unordered_map<std::uint64_t, LocationIndex> locations_;
  References::Map location_groups_, tree_nodes_;
  std::map<trace::RankSet, std::uint32_t> rank_sets_;
  std::unordered_map<std::uint32_t, const RawDefinitions::Group*> raw_groups_;
  std::unordered_map<std::uint8_t, const RawDefinitions::Group*> all_of_paradigm_;
};

}  // namespace

Result<GlobalDefinitions> resolve(const RawDefinitions& raw, const std::string& path) {
  GlobalDefinitions out;
  if (!raw.has_clock || raw.clock.resolution_hz == 0) {
    return fail(ErrorKind::input,
                fmt::format("{} defines no clock resolution; the archive is incomplete", path));
  }
  out.definitions.clock = raw.clock;
  DefinitionResolver resolver(raw, out);
  if (const std::uint64_t* twice = resolver.locations()) {
    return fail(ErrorKind::input, fmt::format("{} defines location {} twice", path, *twice));
  }
  resolver.system_tree();
  resolver.partners();
  resolver.regions();
  resolver.groups_and_comms();
  resolver.processes_and_nodes();
  return out;
}

}  // namespace entrain::otf2
