// SPDX-License-Identifier: BSD-3-Clause
#include "formats/rows.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/name_table.hpp"
#include "base/try.hpp"

namespace entrain::formats {

namespace {

constexpr std::size_t k_most_lanes = 64;  ///< limit of lanes of a row

}  // namespace

Result<std::shared_ptr<const Rows>> Rows::read(const Recording& recording,
                                               const trace::Trace& clocks,
                                               const WorkFilter& is_wanted) {
  auto work = std::make_shared<Rows>();
  trace::Trace& trace = work->trace_;
  trace.path = clocks.path;
  trace.definitions = clocks.definitions;
  for (const trace::LocationSkeleton& clock : clocks.locations) {
    trace::LocationSkeleton& skeleton = trace.locations.emplace_back();
    skeleton.event_count = clock.event_count;
    skeleton.first = clock.first;
    skeleton.last = clock.last;
  }
  for (const trace::Location& location : trace.definitions.locations) {
    work->last_id_ = std::max(work->last_id_, location.id);
  }
  NameTable rows, regions;
  std::map<std::pair<LocationIndex, std::uint32_t>, std::vector<Call>> calls;
  TRY(recording.for_each_work([&](const Work& one) -> Result<void> {
    if (is_wanted && !is_wanted(one.clock, one.begin, one.end)) return {};
    calls[{one.clock, rows.number(one.row)}].push_back(
        {one.begin, one.end, regions.number(one.name)});
    return {};
  }));
  for (std::uint32_t region = 0; region < regions.all().size(); ++region) {
    trace.definitions.regions.push_back({.id = region, .name = regions.all()[region]});
  }
  for (auto& [place, own] : calls) {
    work->add_row(place.first, rows.all()[place.second], std::move(own));
  }
  return work;
}

void Rows::add_row(LocationIndex clock, const std::string& name, std::vector<Call> calls) {
  std::sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
    return std::tuple(a.begin, b.end, a.region) < std::tuple(b.begin, a.end, b.region);
  });
  const std::size_t first = lanes_.size();
  std::vector<std::vector<std::uint64_t>> open;  // per lane, the ends of its calls
  for (const Call& call : calls) {
    std::size_t lane = 0;
    for (; lane < open.size(); ++lane) {
      std::vector<std::uint64_t>& ends = open[lane];
      while (!ends.empty() && ends.back() <= call.begin) ends.pop_back();
      if (ends.empty() || call.end <= ends.back()) break;
    }
    if (lane == k_most_lanes) {
      ++left_out_;
      continue;
    }
    if (lane == open.size()) {
      open.emplace_back();
      lanes_.emplace_back();
    }
    open[lane].push_back(call.end);
    lanes_[first + lane].push_back(call);
  }
  trace::Definitions& definitions = trace_.definitions;
  const std::string shown = name.empty() ? "spans" : "thread " + name;
  for (std::size_t lane = first; lane < lanes_.size(); ++lane) {
    trace::LocationSkeleton& skeleton = trace_.locations.emplace_back();
    skeleton.event_count = 2 * lanes_[lane].size();
    skeleton.first = lanes_[lane].front().begin;
    skeleton.last = lanes_[lane].front().end;
    for (const Call& call : lanes_[lane]) skeleton.last = std::max(skeleton.last, call.end);
    clock_of_.push_back(clock);
    definitions.locations.push_back(
        {.id = ++last_id_,
         .name = lane == first ? shown : fmt::format("{} ({})", shown, lane - first + 1),
         .type = trace::LocationType::cpu_thread,
         .group = definitions.locations[clock].group});
    definitions.process_of.push_back(definitions.process_of[clock]);
    definitions.node_of.push_back(definitions.node_of[clock]);
  }
}

std::span<const Rows::Call> Rows::calls_of(LocationIndex location) const {
  const std::size_t clocks = trace_.locations.size() - lanes_.size();
  if (location < clocks) return {};
  return lanes_[location - clocks];
}

std::uint64_t Rows::event_bytes(std::span<const LocationIndex> locations) const {
  std::uint64_t bytes = 0;
  for (const LocationIndex location : locations) bytes += calls_of(location).size_bytes();
  return bytes;
}

Result<std::vector<trace::RegionRecord>> Rows::regions_around(LocationIndex location,
                                                              std::uint64_t time,
                                                              std::size_t most) const {
  std::vector<trace::RegionRecord> around;
  const auto is_there = [&](const Call& call) { return call.begin == time || call.end == time; };
  for (std::size_t lane = 0; lane < lanes_.size() && around.empty(); ++lane) {
    if (clock_of_[lane] != location || std::ranges::none_of(lanes_[lane], is_there)) continue;
    const auto row = static_cast<LocationIndex>(trace_.locations.size() - lanes_.size() + lane);
    TRY(visit_regions(row, nullptr,
                      [&](const trace::RegionRecord& record) { around.push_back(record); }));
  }
  const auto first = std::ranges::lower_bound(around, time, {}, &trace::RegionRecord::time);
  const auto before = static_cast<std::size_t>(first - around.begin());
  const std::size_t end = std::min(around.size(), before + most);
  around.erase(around.begin() + static_cast<std::ptrdiff_t>(end), around.end());
  if (before > most) around.erase(around.begin(), first - static_cast<std::ptrdiff_t>(most));
  return around;
}

Result<void> Rows::visit_regions(LocationIndex location, Progress* progress,
                                 const trace::RegionVisitor& visit) const {
  std::vector<Call> open;
  const auto leave_until = [&](std::uint64_t time) {
    while (!open.empty() && open.back().end <= time) {
      visit({.time = open.back().end, .region = open.back().region, .enter = false});
      open.pop_back();
    }
  };
  for (const Call& call : calls_of(location)) {
    leave_until(call.begin);
    visit({.time = call.begin, .region = call.region, .enter = true});
    open.push_back(call);
  }
  leave_until(~std::uint64_t{0});
  if (progress != nullptr) progress->advance(calls_of(location).size_bytes());
  return {};
}

}  // namespace entrain::formats
