// SPDX-License-Identifier: BSD-3-Clause
#include "verify/clusters.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace entrain::verify {

namespace {

void unite(std::vector<Interval>& pieces) {
  std::sort(pieces.begin(), pieces.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const Interval& piece : pieces) {
    if (kept > 0 && piece.begin <= pieces[kept - 1].end) {
      pieces[kept - 1].end = std::max(pieces[kept - 1].end, piece.end);
    } else {
      pieces[kept++] = piece;
    }
  }
  pieces.resize(kept);
}

/// Closes the smallest gaps until at most `most` pieces are left.
void close_gaps(std::vector<Interval>& pieces, std::size_t most) {
  if (pieces.size() <= most) return;
  const auto gap = [&](std::size_t i) {  // before piece i > 0; exact even where int64 is not
    return static_cast<std::uint64_t>(pieces[i].begin) -
           static_cast<std::uint64_t>(pieces[i - 1].end);
  };
  std::vector<std::uint64_t> gaps;
  for (std::size_t i = 1; i < pieces.size(); ++i) gaps.push_back(gap(i));
  const auto limit = gaps.begin() + static_cast<std::ptrdiff_t>(pieces.size() - most - 1);
  std::nth_element(gaps.begin(), limit, gaps.end());
  std::size_t kept = 0;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    // pieces[kept] ends where piece i - 1 ended.
    const auto between =
        static_cast<std::uint64_t>(pieces[i].begin) - static_cast<std::uint64_t>(pieces[kept].end);
    if (between <= *limit) {
      pieces[kept].end = pieces[i].end;
    } else {
      pieces[++kept] = pieces[i];
    }
  }
  pieces.resize(kept + 1);
}

}  // namespace

void IntervalUnion::shrink() {
  unite(pieces_);
  close_gaps(pieces_, most_);
}

std::vector<Interval> IntervalUnion::take() && {
  shrink();
  return std::move(pieces_);
}

std::size_t Clusters::most_per_member(const Team& team) {
  return std::max<std::size_t>((std::size_t{1} << 18) / team.size(), 64);
}

Clusters Clusters::merge(Team& team, IntervalUnion&& own) {
  Clusters clusters;
  clusters.pieces_ = gather_everywhere(team, std::move(own).take());
  unite(clusters.pieces_);
  return clusters;
}

std::uint32_t Clusters::Finder::operator()(std::int64_t time) {
  const auto& pieces = *pieces_;
  const auto ends_before = [](const Interval& piece, std::int64_t t) { return piece.end < t; };
  if (at_ > 0 && pieces[at_ - 1].end >= time) {  // went back
    at_ = static_cast<std::size_t>(
        std::lower_bound(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(at_), time,
                         ends_before) -
        pieces.begin());
  } else {
    for (int steps = 0; at_ < pieces.size() && pieces[at_].end < time; ++at_) {
      if (++steps < 8) continue;
      at_ = static_cast<std::size_t>(
          std::lower_bound(pieces.begin() + static_cast<std::ptrdiff_t>(at_), pieces.end(), time,
                           ends_before) -
          pieces.begin());
      break;
    }
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
