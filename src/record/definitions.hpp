// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "record/clocks.hpp"
#include "record/journal.hpp"

namespace entrain::record {

/// What the local definitions of one process say: how its own numbers translate, and its clock
/// records.
struct LocalPlan {
  std::map<std::uint32_t, std::uint32_t> regions, comms, windows, groups;  ///< local -> global
  std::vector<ClockPoint> points;
};

/// The strings of an archive: each text once, the empty one first.
class Strings {
 public:
  explicit Strings(OTF2_GlobalDefWriter* writer) : writer_(writer) { (*this)(""); }
  OTF2_StringRef operator()(const std::string& text);

 private:
  OTF2_GlobalDefWriter* writer_;
  std::map<std::string, std::uint32_t> numbers_;
};

/// The journals of all processes brought together; processes are in the order of their ranks.
class Merged {
 public:
  explicit Merged(std::vector<ProcessRecord> processes);

  [[nodiscard]] const std::vector<ProcessRecord>& processes() const { return processes_; }
  [[nodiscard]] const std::vector<std::vector<ClockPoint>>& points() const { return points_; }
  [[nodiscard]] LocalPlan local_plan(std::size_t process) const;
  /// Writes the global definitions; `truth`: those of the archive with true times.
  void write(OTF2_GlobalDefWriter* writer, bool truth) const;

 private:
  struct Range {
    std::uint64_t first = 0, last = 0;
  };
  void merge_comms();
  void place_parents_first();
  void merge_regions();
  void merge_windows();
  void merge_groups();
  void write_comms(OTF2_GlobalDefWriter* writer, Strings& strings) const;
  void write_groups(OTF2_GlobalDefWriter* writer, Strings& strings) const;
  void write_windows(OTF2_GlobalDefWriter* writer, Strings& strings) const;
  [[nodiscard]] Range range(bool truth) const;
  void write_clock(OTF2_GlobalDefWriter* writer, bool truth) const;

  std::vector<ProcessRecord> processes_;
  std::vector<std::vector<ClockPoint>> points_;
  std::vector<JournalRegion> regions_;
  std::vector<JournalComm> comms_;      ///< parents first, and with their global numbers
  std::vector<JournalWindow> windows_;  ///< with global numbers of communicators
  std::vector<std::string> groups_;     ///< world ranks; "" is the empty group
  std::map<std::string, std::uint32_t> region_numbers_, comm_numbers_, window_numbers_,
      group_numbers_;
};

/// A plan as text, and back, for the way from rank 0 to its process.
std::string to_text(const LocalPlan& plan);
LocalPlan parse_plan(const std::string& text);

/// Writes local definitions; `with_clock` is off in the archive with true times.
void write_local(OTF2_DefWriter* writer, const LocalPlan& plan, bool with_clock);

}  // namespace entrain::record
