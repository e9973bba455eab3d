// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/merged.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace entrain::record {

Merged::Merged(std::vector<ProcessRecord> processes)
    : processes_(std::move(processes)), points_(clock_points(processes_)) {
  merge_comms();
  merge_regions();
  merge_windows();
  merge_groups();
  merge_partners();
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
  // In one process's journal a parent comes before its children. But only leaders know the bridge
  // between two groups, and the journals of other members may come first.
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

void Merged::merge_partners() {
  for (const ProcessRecord& process : processes_) {
    for (const auto& [local, text] : process.partners) {
      const auto number = static_cast<std::uint32_t>(k_first_partners + partners_.size());
      if (partners_numbers_.try_emplace(text, number).second) partners_.push_back(text);
    }
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
  for (const auto& [local, text] : processes_[process].partners) {
    plan.strings[local] = partners_numbers_.at(text);
  }
  plan.points = points_[process];
  return plan;
}

Merged::Range Merged::range(bool truth) const {
  Range range{std::numeric_limits<std::uint64_t>::max(), 0};
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    // Readers ignore a single clock record.
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

}  // namespace entrain::record
