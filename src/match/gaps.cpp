// SPDX-License-Identifier: BSD-3-Clause
#include "match/gaps.hpp"

#include <algorithm>
#include <utility>

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

}  // namespace

Gaps::Gaps(const Builder& builder, std::uint32_t process, Of of) {
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
  std::ranges::sort(ends_);
  if (!ends_.empty()) last_ = ends_.back();
  if (of == Of::messages) find_half_receives(builder, process);
}

/// Moves the limits before and after receives that have a request or a completion only.
void Gaps::find_half_receives(const Builder& builder, std::uint32_t process) {
  bool some_posted = false;  // see Operations::has_no_post()
  std::uint64_t after_unposted = 0;
  for (const LocationIndex location : builder.processes()[process]) {
    const trace::EventList& events = builder.events(location);
    const Requests requests(events);
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      if (events.kind(i) == trace::EventKind::irecv) {
        some_posted |= requests.was_posted(i);
        if (!requests.was_posted(i)) after_unposted = std::max(after_unposted, events.time(i) + 1);
      }
      if (events.kind(i) != trace::EventKind::irecv_request || requests.cancelled(i) ||
          requests.completion(i) != k_none) {
        continue;
      }
      first_ = std::min(first_, events.time(i));
      last_ = std::max(last_, events.time(i) + 1);
    }
  }
  if (some_posted) last_ = std::max(last_, after_unposted);
}

void Gaps::mark(std::span<EndRecord> ends, SideFacts& facts) const {
  const auto after = std::ranges::find_if(ends, [&](const auto& e) { return e.time > first_; });
  facts.before_gaps = static_cast<std::uint32_t>(after - ends.begin());
  if (ends_.empty()) return;
  std::ptrdiff_t before = 0;  // gaps that have ended
  for (EndRecord& end : ends) {
    const auto ended = std::ranges::upper_bound(ends_, end.time) - ends_.begin();
    end.after_gap = ended > std::exchange(before, ended);
  }
  facts.ends_in_gap = std::cmp_greater(ends_.size(), before);
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
  for (std::uint32_t p = 0; p < count; ++p) {
    gaps[p] = Gaps(builder, p, Gaps::Of::calls).count() > 0 ? 1 : 0;
  }
  builder.team().reduce(Team::Reduction::max, gaps);
  builder.has_gaps.assign(gaps.begin(), gaps.end());
}

}  // namespace entrain::match
