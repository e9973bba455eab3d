// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "record/archive/local_plan.hpp"
#include "record/base/process_record.hpp"
#include "record/clocks/clock_points.hpp"

namespace entrain::record {

/// The journals of all processes brought together. Each process has numbered its regions,
/// communicators, RMA windows and groups by itself; here all of them get global numbers. Two
/// entries are the same if their keys are: a region's role and name, a communicator's or a window's
/// key, a group's ranks.
class Merged {
 public:
  /// Global numbers of groups: of all locations, of MPI_COMM_SELF, and of the first other one.
  static constexpr std::uint32_t k_world_group = 0, k_self_group = 1, k_first_group = 2;
  /// Global number of the string that is the first list of partners; 0 is the empty string.
  static constexpr std::uint32_t k_first_partners = 1;

  /// `processes` in the order of their ranks, at least one.
  explicit Merged(std::vector<ProcessRecord> processes);

  [[nodiscard]] const std::vector<ProcessRecord>& processes() const { return processes_; }
  [[nodiscard]] const std::vector<std::vector<ClockPoint>>& points() const { return points_; }
  /// Sorted by global number.
  [[nodiscard]] const std::vector<JournalRegion>& regions() const { return regions_; }
  /// Sorted by global number, as is `parent`; parents come first.
  [[nodiscard]] const std::vector<JournalComm>& comms() const { return comms_; }
  /// Sorted by global number; `comm` is one too.
  [[nodiscard]] const std::vector<JournalWindow>& windows() const { return windows_; }
  /// World ranks, as of join_ranks, from group k_first_group on; "" is the empty group.
  [[nodiscard]] const std::vector<std::string>& groups() const { return groups_; }
  /// Global number of the group of these ranks, which must be one of groups().
  [[nodiscard]] std::uint32_t group_number(const std::string& ranks) const {
    return group_numbers_.at(ranks);
  }
  /// Lists of partners (partners_text), each once. The first one is the string with the number
  /// k_first_partners, and so on.
  [[nodiscard]] const std::vector<std::string>& partners() const { return partners_; }
  [[nodiscard]] LocalPlan local_plan(std::size_t process) const;

  struct Range {
    std::uint64_t first = 0, last = 0;
  };
  /// First and last time of all events as a reader of the archive computes them: in the master's
  /// time, or true times with `truth`.
  [[nodiscard]] Range range(bool truth) const;

 private:
  void merge_comms();
  void place_parents_first();
  void merge_regions();
  void merge_windows();
  void merge_groups();
  void merge_partners();

  std::vector<ProcessRecord> processes_;
  std::vector<std::vector<ClockPoint>> points_;
  std::vector<JournalRegion> regions_;
  std::vector<JournalComm> comms_;
  std::vector<JournalWindow> windows_;
  std::vector<std::string> groups_, partners_;
  std::map<std::string, std::uint32_t> region_numbers_, comm_numbers_, window_numbers_,
      group_numbers_, partners_numbers_;
};

}  // namespace entrain::record
