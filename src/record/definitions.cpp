// SPDX-License-Identifier: BSD-3-Clause
#include "record/definitions.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <sstream>

namespace entrain::record {
namespace {

constexpr std::uint64_t k_ticks_per_second = 1'000'000'000;

/// Global numbers of groups: that of all locations, that of MPI_COMM_SELF, and others.
constexpr OTF2_GroupRef k_world_group = 0, k_self_group = 1, k_first_group = 2;

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

OTF2_RegionRole mpi_role(const std::string& name) {
  if (name == "MPI_Barrier" || name == "MPI_Ibarrier") return OTF2_REGION_ROLE_BARRIER;
  if (contains(name, "MPI_File")) return OTF2_REGION_ROLE_FILE_IO;
  for (const char* part : {"ccumulate", "Fetch_and_op", "Compare_and_swap"}) {
    if (contains(name, part)) return OTF2_REGION_ROLE_ATOMIC;
  }
  if (contains(name, "MPI_Win")) return OTF2_REGION_ROLE_RMA;
  for (const char* call : {"MPI_Put", "MPI_Rput", "MPI_Get", "MPI_Rget"}) {
    if (name == call) return OTF2_REGION_ROLE_RMA;
  }
  for (const char* part : {"cast", "catter"}) {
    if (contains(name, part) && !contains(name, "educe")) return OTF2_REGION_ROLE_COLL_ONE2ALL;
  }
  for (const char* part : {"llgather", "lltoall", "llreduce", "educe_scatter"}) {
    if (contains(name, part)) return OTF2_REGION_ROLE_COLL_ALL2ALL;
  }
  if (contains(name, "ather") || name == "MPI_Reduce" || name == "MPI_Ireduce") {
    return OTF2_REGION_ROLE_COLL_ALL2ONE;
  }
  if (contains(name, "scan")) return OTF2_REGION_ROLE_COLL_OTHER;
  for (const char* part : {"end", "ecv", "robe", "Wait", "Test", "Start"}) {
    if (contains(name, part)) return OTF2_REGION_ROLE_POINT2POINT;
  }
  return OTF2_REGION_ROLE_FUNCTION;
}

void write_region(OTF2_GlobalDefWriter* writer, Strings& strings, std::uint32_t number,
                  const JournalRegion& region) {
  const OTF2_StringRef name = strings(region.name);
  OTF2_RegionRole role = OTF2_REGION_ROLE_CODE;
  OTF2_Paradigm paradigm = OTF2_PARADIGM_USER;
  if (region.role == 'm') {
    role = mpi_role(region.name);
    paradigm = OTF2_PARADIGM_MPI;
  } else if (region.role == 'r') {
    role = OTF2_REGION_ROLE_ARTIFICIAL;
    paradigm = OTF2_PARADIGM_MEASUREMENT_SYSTEM;
  }
  OTF2_GlobalDefWriter_WriteRegion(writer, number, name, name, strings(""), role, paradigm,
                                   OTF2_REGION_FLAG_NONE, strings(""), 0, 0);
}

/// Machine, nodes, processes and their locations.
void write_system(OTF2_GlobalDefWriter* writer, Strings& strings,
                  const std::vector<ProcessRecord>& processes) {
  OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, strings("cluster"), strings("machine"),
                                           OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  std::map<std::string, std::uint32_t> nodes;
  for (const ProcessRecord& process : processes) {
    const auto [node, is_new] =
        nodes.try_emplace(process.host, static_cast<std::uint32_t>(nodes.size() + 1));
    if (is_new) {
      OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, node->second, strings(process.host),
                                               strings("node"), 0);
      OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer, node->second,
                                                     OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
    }
    OTF2_GlobalDefWriter_WriteLocationGroup(
        writer, process.rank, strings("MPI Rank " + std::to_string(process.rank)),
        OTF2_LOCATION_GROUP_TYPE_PROCESS, node->second, OTF2_UNDEFINED_LOCATION_GROUP);
  }
  for (const ProcessRecord& process : processes) {
    for (const auto& [id, location] : process.locations) {
      OTF2_GlobalDefWriter_WriteLocation(writer, id, strings(location.name),
                                         OTF2_LOCATION_TYPE_CPU_THREAD, location.events,
                                         process.rank);
    }
  }
}

}  // namespace

OTF2_StringRef Strings::operator()(const std::string& text) {
  const auto [place, is_new] =
      numbers_.try_emplace(text, static_cast<std::uint32_t>(numbers_.size()));
  if (is_new) OTF2_GlobalDefWriter_WriteString(writer_, place->second, text.c_str());
  return place->second;
}

Merged::Merged(std::vector<ProcessRecord> processes)
    : processes_(std::move(processes)), points_(clock_points(processes_)) {
  merge_comms();
  merge_regions();
  merge_windows();
  merge_groups();
}

void Merged::merge_comms() {
  for (const ProcessRecord& process : processes_) {
    for (const auto& [local, comm] : process.comms) {
      const auto [place, is_new] =
          comm_numbers_.try_emplace(comm.key, static_cast<std::uint32_t>(comms_.size()));
      if (is_new) comms_.push_back(comm);
      JournalComm& common = comms_[place->second];
      if (is_new) common.parent.reset();
      if (common.group_a.empty()) common.group_a = comm.group_a, common.group_b = comm.group_b;
      if (common.name.empty()) common.name = comm.name;
    }
  }
  for (const ProcessRecord& process : processes_) {
    for (const auto& [local, comm] : process.comms) {
      const auto parent = process.comms.find(comm.parent.value_or(local));
      if (!comm.parent || parent == process.comms.end()) continue;
      comms_[comm_numbers_.at(comm.key)].parent = comm_numbers_.at(parent->second.key);
    }
  }
  place_parents_first();
}

void Merged::place_parents_first() {
  // A process knows a communicator's parent before it. But of a bridge between two groups only
  // their leaders know, who need not be the first to be asked.
  constexpr std::uint32_t k_not_yet = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> places(comms_.size(), k_not_yet), line;
  std::vector<JournalComm> placed;
  for (std::uint32_t number = 0; number < comms_.size(); ++number) {
    line.clear();
    for (std::optional<std::uint32_t> next = number; next && places[*next] == k_not_yet;) {
      places[*next] = 0;  // broken journals may lead in a circle
      line.push_back(*next);
      next = comms_[*next].parent;
    }
    for (auto one = line.rbegin(); one != line.rend(); ++one) {
      places[*one] = static_cast<std::uint32_t>(placed.size());
      placed.push_back(comms_[*one]);
    }
  }
  for (JournalComm& comm : placed) {
    if (comm.parent) comm.parent = places[*comm.parent];
  }
  for (auto& [key, number] : comm_numbers_) number = places[number];
  comms_ = std::move(placed);
}

void Merged::merge_regions() {
  for (const ProcessRecord& process : processes_) {
    for (const auto& [local, region] : process.regions) {
      const bool is_new =
          region_numbers_
              .try_emplace(region.role + region.name, static_cast<std::uint32_t>(regions_.size()))
              .second;
      if (is_new) regions_.push_back(region);
    }
  }
}

void Merged::merge_windows() {
  for (const ProcessRecord& process : processes_) {
    for (const auto& [local, window] : process.windows) {
      const auto comm = process.comms.find(window.comm);
      if (comm == process.comms.end()) continue;
      const auto [place, is_new] =
          window_numbers_.try_emplace(window.key, static_cast<std::uint32_t>(windows_.size()));
      if (is_new) windows_.push_back(window);
      JournalWindow& common = windows_[place->second];
      common.comm = comm_numbers_.at(comm->second.key);
      if (common.name.empty()) common.name = window.name;
    }
  }
}

void Merged::merge_groups() {
  const auto add = [this](const std::string& ranks) {
    const auto number = static_cast<std::uint32_t>(k_first_group + groups_.size());
    if (group_numbers_.try_emplace(ranks, number).second) groups_.push_back(ranks);
  };
  for (const JournalComm& comm : comms_) {
    if (comm.kind != 's') add(comm.group_a);
    if (comm.kind == 'i') add(comm.group_b);
  }
  for (const ProcessRecord& process : processes_) {
    for (const auto& [local, ranks] : process.groups) add(ranks);
  }
}

LocalPlan Merged::local_plan(std::size_t process) const {
  LocalPlan plan;
  for (const auto& [local, region] : processes_[process].regions) {
    plan.regions[local] = region_numbers_.at(region.role + region.name);
  }
  for (const auto& [local, comm] : processes_[process].comms) {
    plan.comms[local] = comm_numbers_.at(comm.key);
  }
  for (const auto& [local, window] : processes_[process].windows) {
    const auto known = window_numbers_.find(window.key);
    if (known != window_numbers_.end()) plan.windows[local] = known->second;
  }
  for (const auto& [local, ranks] : processes_[process].groups) {
    plan.groups[local] = group_numbers_.at(ranks);
  }
  plan.points = points_[process];
  return plan;
}

Merged::Range Merged::range(bool truth) const {
  Range range{std::numeric_limits<std::uint64_t>::max(), 0};
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    // A single record has no effect on readers.
    const bool moved = points_[p].size() > 1 && !truth;
    for (const auto& [id, location] : processes_[p].locations) {
      if (location.events == 0) continue;
      const std::uint64_t first = truth ? location.truth_first : location.first;
      const std::uint64_t last = truth ? location.truth_last : location.last;
      range.first = std::min(range.first, moved ? master_time(points_[p], first) : first);
      range.last = std::max(range.last, moved ? master_time(points_[p], last) : last);
    }
  }
  if (range.first > range.last) range.first = range.last;
  return range;
}

void Merged::write_clock(OTF2_GlobalDefWriter* writer, bool truth) const {
  // Readers round corrected times in floating point: leave them a little room.
  constexpr std::uint64_t k_room = 1000;
  const Range all = range(truth);
  const std::uint64_t first = all.first - std::min(all.first, k_room);
  const ProcessRecord& master = processes_.front();
  OTF2_GlobalDefWriter_WriteClockProperties(writer, k_ticks_per_second, first,
                                            all.last - first + k_room,
                                            master.realtime_ns + (first - master.realtime_at));
}

void Merged::write_groups(OTF2_GlobalDefWriter* writer, Strings& strings) const {
  const auto write = [&](OTF2_GroupRef number, const char* name, OTF2_GroupType type,
                         const std::vector<std::uint64_t>& members) {
    OTF2_GlobalDefWriter_WriteGroup(writer, number, strings(name), type, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE,
                                    static_cast<std::uint32_t>(members.size()), members.data());
  };
  std::vector<std::uint64_t> members(processes_.size());
  for (std::size_t i = 0; i < members.size(); ++i) members[i] = i;
  write(k_world_group, "MPI", OTF2_GROUP_TYPE_COMM_LOCATIONS, members);
  write(k_self_group, "MPI_COMM_SELF", OTF2_GROUP_TYPE_COMM_SELF, {});
  for (std::uint32_t i = 0; i < groups_.size(); ++i) {
    members.clear();
    for (const std::uint32_t rank : split_ranks(groups_[i])) members.push_back(rank);
    write(k_first_group + i, "", OTF2_GROUP_TYPE_COMM_GROUP, members);
  }
}

void Merged::write_comms(OTF2_GlobalDefWriter* writer, Strings& strings) const {
  for (std::uint32_t number = 0; number < comms_.size(); ++number) {
    const JournalComm& comm = comms_[number];
    const OTF2_StringRef name = strings(comm.name);
    const OTF2_CommRef parent = comm.parent.value_or(OTF2_UNDEFINED_COMM);
    const OTF2_CommFlag flags =
        number < 2 ? OTF2_COMM_FLAG_NONE : OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS;
    if (comm.kind == 'i') {
      OTF2_GlobalDefWriter_WriteInterComm(writer, number, name, group_numbers_.at(comm.group_a),
                                          group_numbers_.at(comm.group_b), parent, flags);
    } else {
      const OTF2_GroupRef group = comm.kind == 's' ? k_self_group : group_numbers_.at(comm.group_a);
      OTF2_GlobalDefWriter_WriteComm(writer, number, name, group, parent, flags);
    }
  }
}

void Merged::write_windows(OTF2_GlobalDefWriter* writer, Strings& strings) const {
  for (std::uint32_t number = 0; number < windows_.size(); ++number) {
    OTF2_GlobalDefWriter_WriteRmaWin(writer, number, strings(windows_[number].name),
                                     windows_[number].comm,
                                     OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS);
  }
}

void Merged::write(OTF2_GlobalDefWriter* writer, bool truth) const {
  write_clock(writer, truth);
  Strings strings(writer);
  OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_MPI, strings("MPI"),
                                     OTF2_PARADIGM_CLASS_PROCESS);
  write_system(writer, strings, processes_);
  for (std::uint32_t number = 0; number < regions_.size(); ++number) {
    write_region(writer, strings, number, regions_[number]);
  }
  write_groups(writer, strings);
  write_comms(writer, strings);
  write_windows(writer, strings);
}

std::string to_text(const LocalPlan& plan) {
  std::ostringstream text;
  for (const auto& [local, global] : plan.regions) text << "r " << local << ' ' << global << '\n';
  for (const auto& [local, global] : plan.comms) text << "c " << local << ' ' << global << '\n';
  for (const auto& [local, global] : plan.windows) text << "w " << local << ' ' << global << '\n';
  for (const auto& [local, global] : plan.groups) text << "g " << local << ' ' << global << '\n';
  for (const ClockPoint& point : plan.points) {
    text << "p " << point.session << ' ' << point.local << ' ' << point.offset << ' '
         << point.half_width << '\n';
  }
  return text.str();
}

LocalPlan parse_plan(const std::string& text) {
  LocalPlan plan;
  std::istringstream in(text);
  std::string what;
  while (in >> what) {
    std::uint32_t local = 0, global = 0;
    if (what == "p") {
      ClockPoint point;
      in >> point.session >> point.local >> point.offset >> point.half_width;
      plan.points.push_back(point);
    } else {
      in >> local >> global;
      auto& numbers = what == "r"   ? plan.regions
                      : what == "c" ? plan.comms
                      : what == "w" ? plan.windows
                                    : plan.groups;
      numbers[local] = global;
    }
  }
  return plan;
}

namespace {

void write_map(OTF2_DefWriter* writer, OTF2_MappingType type,
               const std::map<std::uint32_t, std::uint32_t>& numbers) {
  OTF2_IdMap* const map = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, numbers.size() + 1);
  for (const auto& [local, global] : numbers) OTF2_IdMap_AddIdPair(map, local, global);
  if (!numbers.empty()) OTF2_DefWriter_WriteMappingTable(writer, type, map);
  OTF2_IdMap_Free(map);
}

}  // namespace

void write_local(OTF2_DefWriter* writer, const LocalPlan& plan, bool with_clock) {
  write_map(writer, OTF2_MAPPING_REGION, plan.regions);
  write_map(writer, OTF2_MAPPING_COMM, plan.comms);
  write_map(writer, OTF2_MAPPING_RMA_WIN, plan.windows);
  write_map(writer, OTF2_MAPPING_GROUP, plan.groups);
  for (const ClockPoint& point : plan.points) {
    if (!with_clock) break;
    OTF2_DefWriter_WriteClockOffset(writer, point.local, point.offset,
                                    static_cast<double>(point.half_width));
  }
}

}  // namespace entrain::record
