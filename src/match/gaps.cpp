// SPDX-License-Identifier: BSD-3-Clause
#include "match/gaps.hpp"

#include <algorithm>

#include "match/operations.hpp"

namespace entrain::match {

namespace {

/// True if MPI_Init is on a location of a process and MPI_Finalize on none.
bool ends_early(const Builder& builder, std::uint32_t process) {
  bool initialises = false, finalizes = false;
  for (const LocationIndex location : builder.processes()[process]) {
    initialises |= builder.event_counts(location).initialises;
    finalizes |= builder.event_counts(location).finalizes;
  }
  return initialises && !finalizes;
}

/// Stamp of the first receive that was posted and neither completed nor cancelled.
std::uint64_t first_open_receive(const trace::EventList& events) {
  const Requests requests(events);
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    if (events.kind(i) == trace::EventKind::irecv_request && !requests.cancelled(i) &&
        requests.completion(i) == k_none) {
      return events.time(i);
    }
  }
  return trace::Gap::k_open;
}

}  // namespace

Gaps::Gaps(const Builder& builder, std::uint32_t process) {
  std::uint64_t last = 0;
  for (const LocationIndex location : builder.processes()[process]) {
    const trace::LocationSkeleton& skeleton = builder.skeleton(location);
    last = std::max(last, skeleton.last);
    for (const trace::Gap& gap : skeleton.gaps) {
      ends_.push_back(gap.end);
      first_ = std::min(first_, gap.begin);
    }
    if (!skeleton.truncated && !skeleton.event_file_missing) continue;
    ends_.push_back(trace::Gap::k_open);
    first_ = std::min(first_, skeleton.last);  // 0 without a file
  }
  if (process < builder.ends_early.size() && builder.ends_early[process]) {
    ends_.push_back(trace::Gap::k_open);
    first_ = std::min(first_, last);
  }
  std::sort(ends_.begin(), ends_.end());
  if (ends_.empty()) return;
  for (const LocationIndex location : builder.processes()[process]) {
    first_ = std::min(first_, first_open_receive(builder.events(location)));
  }
}

std::uint32_t Gaps::ended_by(std::uint64_t time) const {
  return static_cast<std::uint32_t>(std::upper_bound(ends_.begin(), ends_.end(), time) -
                                    ends_.begin());
}

bool any_inner_gaps(const Builder& builder) {
  for (const std::vector<LocationIndex>& process : builder.processes()) {
    for (const LocationIndex location : process) {
      const std::vector<trace::Gap>& gaps = builder.skeleton(location).gaps;
      if (!gaps.empty() && gaps.front().end != trace::Gap::k_open) return true;
    }
  }
  return false;
}

void find_gaps(Builder& builder) {
  const auto count = static_cast<std::uint32_t>(builder.processes().size());
  if (builder.has_gaps.size() == count) return;
  builder.ends_early.assign(count, false);
  for (std::uint32_t p = 0; p < count; ++p) builder.ends_early[p] = ends_early(builder, p);
  std::vector<std::int64_t> gaps(count, 0);
  for (std::uint32_t p = 0; p < count; ++p) gaps[p] = Gaps(builder, p).count() > 0 ? 1 : 0;
  builder.team().reduce(Team::Reduction::max, gaps);
  builder.has_gaps.assign(gaps.begin(), gaps.end());
}

}  // namespace entrain::match
