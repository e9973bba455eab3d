// SPDX-License-Identifier: BSD-3-Clause
#include "verify/clusters.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace entrain::verify {

namespace {

/// Ticks from a piece to the next one, which begins later; exact even where int64 is not.
std::uint64_t gap(const Interval& piece, const Interval& next) {
  return static_cast<std::uint64_t>(next.begin) - static_cast<std::uint64_t>(piece.end);
}

/// Joins the pieces that overlap or have a gap of at most `most` ticks.
void unite(std::vector<Interval>& pieces, std::uint64_t most = 0) {
  std::ranges::sort(pieces, {}, &Interval::begin);
  std::size_t kept = 0;
  for (const Interval& piece : pieces) {
    if (kept > 0 && (piece.begin <= pieces[kept - 1].end || gap(pieces[kept - 1], piece) <= most)) {
      pieces[kept - 1].end = std::max(pieces[kept - 1].end, piece.end);
    } else {
      pieces[kept++] = piece;
    }
  }
  pieces.resize(kept);
}

}  // namespace

void IntervalUnion::shrink() {
  unite(pieces_);
  if (pieces_.size() <= most_) return;
  std::vector<std::uint64_t> gaps;
  for (std::size_t i = 1; i < pieces_.size(); ++i) gaps.push_back(gap(pieces_[i - 1], pieces_[i]));
  const auto limit = gaps.begin() + static_cast<std::ptrdiff_t>(pieces_.size() - most_ - 1);
  std::nth_element(gaps.begin(), limit, gaps.end());
  unite(pieces_, *limit);
}

std::vector<Interval> IntervalUnion::take() && {
  shrink();
  return std::move(pieces_);
}

std::size_t most_clusters_per_member(const Team& team) {
  return std::max<std::size_t>((std::size_t{1} << 18) / team.size(), 64);
}

Clusters merge_clusters(Team& team, IntervalUnion&& own) {
  Clusters clusters = gather_everywhere(team, std::move(own).take());
  unite(clusters);
  return clusters;
}

std::uint32_t ClusterFinder::operator()(std::int64_t time) {
  const Clusters& pieces = *pieces_;
  const auto is_first = [&](std::size_t at) {  // that does not end before
    return at <= pieces.size() && (at == 0 || pieces[at - 1].end < time) &&
           (at == pieces.size() || pieces[at].end >= time);
  };
  if (!is_first(at_) && !is_first(++at_)) {
    const auto found = std::ranges::lower_bound(pieces, time, {}, &Interval::end);
    at_ = static_cast<std::size_t>(found - pieces.begin());
  }
  if (at_ == pieces.size() || pieces[at_].begin > time) return k_none;
  return static_cast<std::uint32_t>(at_);
}

void add_backward(const Instance& instance, IntervalUnion& to) {
  if (!instance.ordered) {
    std::int64_t latest = std::numeric_limits<std::int64_t>::min();
    std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
    for (const Moment& send : instance.sends) latest = std::max(latest, send.time);
    for (const Moment& receive : instance.receives) earliest = std::min(earliest, receive.time);
    if (earliest <= latest) to.add(earliest, latest);
    return;
  }
  // Low ranks may end long before high ones begin: only lower ranks count.
  auto send = instance.sends.begin();
  std::int64_t latest = std::numeric_limits<std::int64_t>::min();
  for (const Moment& receive : instance.receives) {
    for (; send != instance.sends.end() && send->rank < receive.rank; ++send) {
      latest = std::max(latest, send->time);
    }
    if (receive.time <= latest) to.add(receive.time, latest);
  }
}

}  // namespace entrain::verify
