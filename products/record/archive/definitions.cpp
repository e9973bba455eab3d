// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/definitions.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "formats/otf2/format/format.hpp"
#include "record/base/partner_list.hpp"
#include "record/base/rank_list.hpp"

namespace entrain::record {
namespace {

constexpr std::uint64_t k_ticks_per_second = 1'000'000'000;

/// The strings of an archive: each text once, the empty one first.
class Strings {
 public:
  explicit Strings(OTF2_GlobalDefWriter* writer) : writer_(writer) { (*this)(""); }
  OTF2_StringRef operator()(const std::string& text) {
    const auto [place, is_new] =
        numbers_.try_emplace(text, static_cast<std::uint32_t>(numbers_.size()));
    if (is_new) OTF2_GlobalDefWriter_WriteString(writer_, place->second, text.c_str());
    return place->second;
  }

 private:
  OTF2_GlobalDefWriter* writer_;
  std::map<std::string, std::uint32_t> numbers_;
};

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
  if (contains(name, "eighbor_")) return OTF2_REGION_ROLE_COLL_OTHER;
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

/// The system tree: the cluster, its hosts, processes and their locations.
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

void write_clock(OTF2_GlobalDefWriter* writer, const Merged& merged, bool truth) {
  // Readers round corrected times in floating point, so the range gets a margin.
  constexpr std::uint64_t k_room = 1000;
  const Merged::Range all = merged.range(truth);
  const std::uint64_t first = all.first - std::min(all.first, k_room);
  const ProcessRecord& master = merged.processes().front();
  OTF2_GlobalDefWriter_WriteClockProperties(writer, k_ticks_per_second, first,
                                            all.last - first + k_room,
                                            master.realtime_ns + (first - master.realtime_at));
}

void write_groups(OTF2_GlobalDefWriter* writer, Strings& strings, const Merged& merged) {
  const auto write = [&](OTF2_GroupRef number, const char* name, OTF2_GroupType type,
                         const std::vector<std::uint64_t>& members) {
    OTF2_GlobalDefWriter_WriteGroup(writer, number, strings(name), type, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE,
                                    static_cast<std::uint32_t>(members.size()), members.data());
  };
  std::vector<std::uint64_t> members(merged.processes().size());
  for (std::size_t i = 0; i < members.size(); ++i) members[i] = i;
  write(Merged::k_world_group, "MPI", OTF2_GROUP_TYPE_COMM_LOCATIONS, members);
  write(Merged::k_self_group, "MPI_COMM_SELF", OTF2_GROUP_TYPE_COMM_SELF, {});
  for (std::uint32_t i = 0; i < merged.groups().size(); ++i) {
    members.clear();
    for (const std::uint32_t rank : split_ranks(merged.groups()[i])) members.push_back(rank);
    write(Merged::k_first_group + i, "", OTF2_GROUP_TYPE_COMM_GROUP, members);
  }
}

void write_comms(OTF2_GlobalDefWriter* writer, Strings& strings, const Merged& merged) {
  for (std::uint32_t number = 0; number < merged.comms().size(); ++number) {
    const JournalComm& comm = merged.comms()[number];
    const OTF2_StringRef name = strings(comm.name);
    const OTF2_CommRef parent = comm.parent.value_or(OTF2_UNDEFINED_COMM);
    const OTF2_CommFlag flags =
        number < 2 ? OTF2_COMM_FLAG_NONE : OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS;
    if (comm.kind == 'i') {
      OTF2_GlobalDefWriter_WriteInterComm(writer, number, name, merged.group_number(comm.group_a),
                                          merged.group_number(comm.group_b), parent, flags);
    } else {
      const OTF2_GroupRef group =
          comm.kind == 's' ? Merged::k_self_group : merged.group_number(comm.group_a);
      OTF2_GlobalDefWriter_WriteComm(writer, number, name, group, parent, flags);
    }
  }
}

void write_windows(OTF2_GlobalDefWriter* writer, Strings& strings, const Merged& merged) {
  for (std::uint32_t number = 0; number < merged.windows().size(); ++number) {
    OTF2_GlobalDefWriter_WriteRmaWin(writer, number, strings(merged.windows()[number].name),
                                     merged.windows()[number].comm,
                                     OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS);
  }
}

/// Must come before all other strings but the empty one: the local definitions name their numbers.
void write_partners(OTF2_GlobalDefWriter* writer, Strings& strings, const Merged& merged) {
  if (merged.partners().empty()) return;
  for (const std::string& text : merged.partners()) strings(text);
  OTF2_GlobalDefWriter_WriteAttribute(
      writer, k_partners_attribute_number, strings(otf2::k_partners_attribute),
      strings("ranks that the process sent data to and received data from"), OTF2_TYPE_STRING);
}

}  // namespace

void write_global(OTF2_GlobalDefWriter* writer, const Merged& merged, bool truth) {
  write_clock(writer, merged, truth);
  Strings strings(writer);
  write_partners(writer, strings, merged);
  OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_MPI, strings("MPI"),
                                     OTF2_PARADIGM_CLASS_PROCESS);
  write_system(writer, strings, merged.processes());
  for (std::uint32_t number = 0; number < merged.regions().size(); ++number) {
    write_region(writer, strings, number, merged.regions()[number]);
  }
  write_groups(writer, strings, merged);
  write_comms(writer, strings, merged);
  write_windows(writer, strings, merged);
}

}  // namespace entrain::record
