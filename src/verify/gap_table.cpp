// SPDX-License-Identifier: BSD-3-Clause
#include "verify/gap_table.hpp"

#include <algorithm>

#include "base/flat_map.hpp"

namespace entrain::verify {

namespace {

using trace::EventKind;

/// Stamp of the first receive that was posted and whose completion is not recorded;
/// trace::Gap::k_open: there is none.
std::uint64_t first_open_receive(const trace::EventList& events) {
  std::vector<std::uint64_t> posted;                            // stamps
  FlatMap<std::uint64_t, std::size_t, IntegerHash> by_request;  // index + 1 in `posted`
  const auto end = [&](std::uint64_t request) {
    std::size_t* const at = by_request.find(request);
    if (at != nullptr && *at > 0) posted[*at - 1] = trace::Gap::k_open;
  };
  for (const trace::Event& event : events) {
    switch (event.kind) {
      case EventKind::irecv_request:
        posted.push_back(event.time);
        *by_request.insert(event.id, 0).first = posted.size();
        break;
      case EventKind::isend:
      case EventKind::nb_request:
      case EventKind::nb_complete:  // uses the same request, so the receive cannot complete any
                                    // more
        *by_request.insert(event.id, 0).first = 0;
        break;
      case EventKind::irecv:
      case EventKind::request_cancelled:
        end(event.id);
        break;
      default:
        break;
    }
  }
  const auto first = std::min_element(posted.begin(), posted.end());
  return first == posted.end() ? trace::Gap::k_open : *first;
}

}  // namespace

ProcessGaps::ProcessGaps(const trace::Trace& trace, std::span<const LocationIndex> locations,
                         bool ends_early) {
  const auto add = [&](std::uint64_t begin, std::uint64_t end) {
    ends_.push_back(end);
    sound_until_ = std::min(sound_until_, begin);
  };
  std::uint64_t last = 0;
  for (const LocationIndex l : locations) {
    const trace::LocationSkeleton& location = trace.locations[l];
    for (const trace::Gap& gap : location.gaps) add(gap.begin, gap.end);
    if (location.event_file_missing) add(0, trace::Gap::k_open);
    if (location.truncated) add(location.last, trace::Gap::k_open);
    last = std::max(last, location.last);
  }
  if (ends_early) add(last, trace::Gap::k_open);
  std::sort(ends_.begin(), ends_.end());
  if (ends_.empty()) return;
  for (const LocationIndex l : locations) {
    sound_until_ = std::min(sound_until_, first_open_receive(trace.locations[l].events));
  }
}

std::uint32_t ProcessGaps::ended(std::uint64_t stamp) const {
  return static_cast<std::uint32_t>(std::upper_bound(ends_.begin(), ends_.end(), stamp) -
                                    ends_.begin());
}

bool ProcessGaps::mark(std::span<Trait> traits) const {
  std::ptrdiff_t before = 0;
  for (Trait& trait : traits) {
    const std::ptrdiff_t ended =
        std::upper_bound(ends_.begin(), ends_.end(), trait.time) - ends_.begin();
    trait.after_gap = ended > before;
    before = ended;
  }
  return before < std::ssize(ends_);
}

std::uint32_t ProcessGaps::ahead(std::span<const Trait> traits) const {
  std::uint32_t count = 0;
  while (count < traits.size() && traits[count].time <= sound_until_) ++count;
  return count;
}

bool any_inner_gaps(const trace::Share& share) {
  const std::vector<LocationIndex> own = share.own();
  return std::any_of(own.begin(), own.end(), [&](LocationIndex l) {
    const std::vector<trace::Gap>& gaps = share.trace.locations[l].gaps;
    return std::any_of(gaps.begin(), gaps.end(),
                       [](const trace::Gap& gap) { return gap.end != trace::Gap::k_open; });
  });
}

GapTable::GapTable(const trace::Share& share, const Places& places)
    : share_(share), places_(places), early_(places.process_count(), false) {
  for (std::uint32_t p = 0; p < places.process_count(); ++p) {
    bool begins = false, ends = false;
    for (const LocationIndex l : places.locations(p)) {
      for (const trace::Event& event : share.trace.locations[l].events) {
        begins = begins || event.kind == EventKind::init_enter;
        ends = ends || event.kind == EventKind::finalize_enter;
      }
    }
    early_[p] = begins && !ends;
  }
  std::vector<std::int64_t> has(early_.size());
  for (std::uint32_t p = 0; p < has.size(); ++p) has[p] = of(p).any() ? 1 : 0;
  share.team.reduce(Team::Reduction::max, has);
  has_.assign(has.begin(), has.end());
}

}  // namespace entrain::verify
