// SPDX-License-Identifier: BSD-3-Clause
#include "clc/curve.hpp"

#include <algorithm>

#include "base/exact.hpp"

namespace entrain::clc {

namespace {

/// Walks along a curve from left to right.
class CurveReader {
 public:
  explicit CurveReader(const Curve& curve) : curve_(curve) {}

  /// Displacement at `stamp`, rounded down; stamps must not decrease from call to call.
  std::int64_t operator()(std::uint64_t stamp) {
    while (next_ < curve_.size() && curve_[next_].stamp <= stamp) ++next_;
    if (next_ == 0) return curve_.front().displacement;
    const Bend& left = curve_[next_ - 1];
    if (next_ == curve_.size()) return left.displacement;
    const Bend& right = curve_[next_];
    const Int128 rise = Int128{right.displacement} - left.displacement;
    const Int128 run = Int128{right.stamp} - Int128{left.stamp};
    return left.displacement +
           static_cast<std::int64_t>(floor_div(rise * (Int128{stamp} - Int128{left.stamp}), run));
  }

 private:
  const Curve& curve_;
  std::size_t next_ = 0;
};

/// Appends a bend unless it does not lie to the right of the last one.
void append(Curve& curve, Bend bend) {
  if (curve.empty() || bend.stamp > curve.back().stamp) curve.push_back(bend);
}

/// Decay behind a jump: level down to 0, then flat, until `end`.
class DecayWriter {
 public:
  explicit DecayWriter(const CurveInput& input) : input_(input) {}

  [[nodiscard]] Decay behind(std::size_t node) const {
    return {input_.lower[node], input_.presync[node]};
  }

  /// The bend at which a decay from `node` reaches 0, if that lies before `end`.
  void append_foot(Curve& curve, std::size_t node, std::uint64_t end) const {
    const std::int64_t rate = k_billion - input_.gamma.billionths;
    if (rate == 0 || input_.lower[node] == 0) return;
    // Length in presync time; its rate differs from local time by parts per million.
    const Int128 length = ceil_div(Int128{input_.lower[node]} * k_billion, rate);
    const Int128 foot = Int128{input_.stamps[node]} + length;
    if (foot < Int128{end}) append(curve, {static_cast<std::uint64_t>(foot), 0});
  }

  [[nodiscard]] std::int64_t value(std::size_t node, std::uint64_t stamp) const {
    return behind(node).at(std::max((*input_.presync_map)(stamp), input_.presync[node]),
                           input_.gamma);
  }

 private:
  const CurveInput& input_;
};

std::size_t node_at(const CurveInput& input, std::uint64_t stamp) {
  const auto found = std::lower_bound(input.stamps.begin(), input.stamps.end(), stamp);
  return static_cast<std::size_t>(found - input.stamps.begin());
}

constexpr std::uint64_t k_endless = ~std::uint64_t{0};

}  // namespace

Curve curve_of_ramps(const CurveInput& input, std::span<const Ramp> ramps) {
  Curve curve;
  const DecayWriter decay(input);
  std::size_t top = input.stamps.size();  // node of the last jump written
  const auto write_decay = [&](std::uint64_t end) {
    if (top < input.stamps.size()) decay.append_foot(curve, top, end);
  };
  for (std::size_t r = ramps.size(); r-- > 0;) {
    const Ramp& ramp = ramps[r];
    write_decay(ramp.front().stamp);
    for (const Bend& bend : ramp) append(curve, bend);
    top = node_at(input, ramp.back().stamp);
  }
  write_decay(k_endless);
  return curve;
}

Curve curve_of_jumps(const CurveInput& input) {
  Curve curve;
  const DecayWriter decay(input);
  std::size_t top = input.stamps.size();
  for (std::size_t n = 0; n < input.stamps.size(); ++n) {
    if (!(*input.jump)[input.first_node + n]) continue;
    const std::uint64_t before = input.stamps[n] == 0 ? 0 : input.stamps[n] - 1;
    if (top < input.stamps.size()) {
      decay.append_foot(curve, top, before);
      append(curve, {before, decay.value(top, before)});
    } else {
      append(curve, {before, 0});
    }
    append(curve, {input.stamps[n], input.lower[n]});
    top = n;
  }
  if (top < input.stamps.size()) decay.append_foot(curve, top, k_endless);
  return curve;
}

void insert_bends(Curve& curve, std::vector<Bend> bends) {
  const auto by_stamp = [](const Bend& a, const Bend& b) { return a.stamp < b.stamp; };
  std::stable_sort(bends.begin(), bends.end(), by_stamp);
  Curve merged;
  merged.reserve(curve.size() + bends.size());
  auto old = curve.begin();
  for (const Bend& bend : bends) {
    while (old != curve.end() && old->stamp < bend.stamp) merged.push_back(*old++);
    if (old != curve.end() && old->stamp == bend.stamp) ++old;
    if (!merged.empty() && merged.back().stamp == bend.stamp) merged.pop_back();
    merged.push_back(bend);
  }
  merged.insert(merged.end(), old, curve.end());
  curve.swap(merged);
}

ClockMap make_map(const ClockMap& presync, const Curve& curve,
                  const trace::LocationSkeleton& location) {
  if (location.event_count == 0) return presync;
  std::vector<std::uint64_t> stamps{location.first, location.last};
  const auto inside = [&](std::uint64_t stamp) {
    return stamp > location.first && stamp < location.last;
  };
  for (const Bend& bend : curve) {
    if (inside(bend.stamp)) stamps.push_back(bend.stamp);
  }
  for (const ClockKnot& knot : presync.knots()) {
    if (inside(knot.local)) stamps.push_back(knot.local);
  }
  std::sort(stamps.begin(), stamps.end());
  // A reader that has seen the stop time of a flush does not go back to a segment before it.
  for (const trace::FlushInterval& flush : location.flushes) {
    const auto begin = std::upper_bound(stamps.begin(), stamps.end(), flush.begin);
    const auto end = std::lower_bound(begin, stamps.end(), flush.end);
    if (begin == end) continue;
    const bool last_too = std::find(begin, end, location.last) != end;
    const auto at = stamps.erase(begin, end);
    const std::uint64_t ends[] = {flush.begin, last_too ? std::max(flush.end, location.last) : flush.end};
    stamps.insert(at, std::begin(ends), std::end(ends));
  }
  std::sort(stamps.begin(), stamps.end());
  stamps.erase(std::unique(stamps.begin(), stamps.end()), stamps.end());
  stamps.push_back(stamps.back() + 1);

  CurveReader displacement(curve);
  std::vector<ClockKnot> knots;
  knots.reserve(stamps.size());
  for (const std::uint64_t stamp : stamps) {
    const std::int64_t offset = presync(stamp) - static_cast<std::int64_t>(stamp);
    knots.push_back({stamp, offset + displacement(stamp)});
  }
  knots.back().offset = knots[knots.size() - 2].offset;
  auto map = ClockMap::from_knots(std::move(knots));
  return map ? *std::move(map) : presync;
}

}  // namespace entrain::clc
