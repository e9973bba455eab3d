// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/local_plan.hpp"

#include <sstream>

namespace entrain::record {

std::string to_text(const LocalPlan& plan) {
  std::ostringstream text;
  for (const auto& [local, global] : plan.regions) text << "r " << local << ' ' << global << '\n';
  for (const auto& [local, global] : plan.comms) text << "c " << local << ' ' << global << '\n';
  for (const auto& [local, global] : plan.windows) text << "w " << local << ' ' << global << '\n';
  for (const auto& [local, global] : plan.groups) text << "g " << local << ' ' << global << '\n';
  for (const auto& [local, global] : plan.strings) text << "s " << local << ' ' << global << '\n';
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
                      : what == "g" ? plan.groups
                                    : plan.strings;
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
  write_map(writer, OTF2_MAPPING_STRING, plan.strings);
  for (const ClockPoint& point : plan.points) {
    if (!with_clock) break;
    OTF2_DefWriter_WriteClockOffset(writer, point.local, point.offset,
                                    static_cast<double>(point.half_width));
  }
}

}  // namespace entrain::record
