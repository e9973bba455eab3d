// SPDX-License-Identifier: BSD-3-Clause
#include "clc/curve.hpp"

#include <algorithm>

#include "base/exact.hpp"
#include "base/order.hpp"

namespace entrain::clc {

namespace {

/// Appends a bend unless it does not lie to the right of the last one.
void append(Curve& curve, Bend bend) {
  if (curve.empty() || bend.stamp > curve.back().stamp) curve.push_back(bend);
}

constexpr std::uint64_t k_endless = ~std::uint64_t{0};

/// The first node at or after a stamp.
std::size_t node_at(const DisplacedLocation& input, std::uint64_t stamp) {
  const auto found = std::ranges::lower_bound(input.stamps, stamp);
  return static_cast<std::size_t>(found - input.stamps.begin());
}

/// Decays after jumps: down to 0 with slope 1 - gamma in presynchronised time, then flat.
class DecayWriter {
 public:
  explicit DecayWriter(const DisplacedLocation& input) : input_(input) {}

  /// Appends the bends of the decay that begins at `node`, strictly before `end`. A node that does
  /// not lie on it (the later ones of a tied component fall faster) begins a decay of its own;
  /// returns the node where the last one began.
  std::size_t append_to(Curve& curve, std::size_t node, std::uint64_t end) const {
    const std::size_t count = input_.stamps.size();
    ClockMap::Cursor presync(*input_.presync_map);
    Decay decay = decay_from(node);
    for (std::size_t n = node + 1; n < count && input_.stamps[n] < end; ++n) {
      if (input_.lower[n] == decay.at(presync(input_.stamps[n]), input_.gamma)) continue;
      append_piece(curve, node, input_.stamps[n]);
      append(curve, {input_.stamps[n], input_.lower[n]});
      node = n;
      decay = decay_from(node);
    }
    append_piece(curve, node, end);
    return node;
  }

  /// Displacement at `stamp` of the decay that begins at `node`; never so much that time would run
  /// backwards until the next node.
  [[nodiscard]] std::int64_t value(std::size_t node, std::uint64_t stamp) const {
    const std::int64_t c = std::max((*input_.presync_map)(stamp), presync_at(node));
    const std::size_t next = node_at(input_, stamp);
    const std::int64_t own = decay_from(node).at(c, input_.gamma);
    if (next == input_.stamps.size()) return own;
    return std::min(own, presync_at(next) + input_.lower[next] - c);
  }

 private:
  /// C of a node.
  [[nodiscard]] std::int64_t presync_at(std::size_t node) const {
    return (*input_.presync_map)(input_.stamps[node]);
  }
  [[nodiscard]] Decay decay_from(std::size_t node) const {
    return {input_.lower[node], presync_at(node)};
  }

  /// Presync knots, at which the decay bends in local time, and the foot.
  void append_piece(Curve& curve, std::size_t node, std::uint64_t end) const {
    const std::int64_t rate = k_billion - input_.gamma.billionths;
    if (rate == 0 || input_.lower[node] == 0) return;
    const Int128 foot_time =
        presync_at(node) + ceil_div(Int128{input_.lower[node]} * k_billion, rate);
    const auto knots = input_.presync_map->knots();
    auto knot = std::ranges::upper_bound(knots, input_.stamps[node], {}, &ClockKnot::local);
    for (; knot != knots.end() && knot->local < end; ++knot) {
      if ((*input_.presync_map)(knot->local) >= foot_time) break;
      append(curve, {knot->local, value(node, knot->local)});
    }
    const std::uint64_t foot = first_stamp_at(foot_time, input_.stamps[node], end);
    if (foot < end) append(curve, {foot, 0});
  }

  /// First stamp after `begin` whose presynchronised time is at least `time`; `end` if there is
  /// none before it.
  [[nodiscard]] std::uint64_t first_stamp_at(Int128 time, std::uint64_t begin,
                                             std::uint64_t end) const {
    constexpr std::uint64_t k_longest = std::uint64_t{1} << 61;
    const auto reached = [&](std::uint64_t stamp) { return (*input_.presync_map)(stamp) >= time; };
    std::uint64_t step = 1;
    while (step < k_longest && step < end - begin && !reached(begin + step)) step *= 2;
    std::uint64_t high = begin + std::min(step, end - begin);
    if (high == end || !reached(high)) {
      if (end == k_endless || !reached(end)) return end;
      high = end;
    }
    std::uint64_t low = begin;  // not reached, high is
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      (reached(middle) ? high : low) = middle;
    }
    return high;
  }

  const DisplacedLocation& input_;
};

/// Rounding may turn time back by a tick from knot to knot. The bends of the curve are right; the
/// other knots give way.
void keep_order(std::vector<ClockKnot>& knots, const Curve& curve) {
  const auto is_bend = [&](const ClockKnot& knot) {
    return std::ranges::binary_search(curve, knot.local, {}, &Bend::stamp);
  };
  const auto excess = [&](std::size_t i) {  // of knot i over knot i + 1
    return knots[i].offset - knots[i + 1].offset -
           static_cast<std::int64_t>(knots[i + 1].local - knots[i].local);
  };
  for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
    const std::int64_t e = excess(i);
    if (e > 0 && !is_bend(knots[i + 1])) knots[i + 1].offset += e;
  }
  for (std::size_t i = knots.size() - 1; i-- > 0;) {
    const std::int64_t e = excess(i);
    if (e > 0 && !is_bend(knots[i])) knots[i].offset -= e;
  }
}

}  // namespace

std::int64_t CurveReader::operator()(std::uint64_t stamp) {
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

Curve curve_of_ramps(const DisplacedLocation& input, std::span<const Ramp> ramps) {
  Curve curve;
  const DecayWriter decay(input);
  const std::size_t nobody = input.stamps.size();
  std::size_t top = nobody;  // node where the last decay written began
  for (std::size_t r = ramps.size(); r-- > 0;) {
    const Ramp& ramp = ramps[r];
    Bend foot = ramp.front();
    if (top != nobody) {
      top = decay.append_to(curve, top, foot.stamp);
      foot.displacement = std::max(foot.displacement, decay.value(top, foot.stamp));
    }
    append(curve, foot);
    for (const Bend& bend : ramp) append(curve, bend);
    top = node_at(input, ramp.back().stamp);
  }
  if (top != nobody) decay.append_to(curve, top, k_endless);
  return curve;
}

Curve curve_of_jumps(const DisplacedLocation& input) {
  Curve curve;
  const DecayWriter decay(input);
  const std::size_t nobody = input.stamps.size();
  std::size_t top = nobody;
  for (std::size_t n = 0; n < input.stamps.size(); ++n) {
    if (!input.jumps_at(n)) continue;
    const std::uint64_t before = input.stamps[n] - 1;
    if (input.stamps[n] == 0) {
      // Nothing is before it.
    } else if (top != nobody) {
      top = decay.append_to(curve, top, before);
      append(curve, {before, decay.value(top, before)});
    } else {
      append(curve, {before, 0});
    }
    append(curve, {input.stamps[n], input.lower[n]});
    top = n;
  }
  if (top != nobody) decay.append_to(curve, top, k_endless);
  return curve;
}

void insert_bends(Curve& curve, std::vector<Bend> bends) {
  std::ranges::stable_sort(bends, {}, &Bend::stamp);
  const auto old = static_cast<std::ptrdiff_t>(curve.size());
  curve.insert(curve.end(), bends.begin(), bends.end());
  std::ranges::inplace_merge(curve, curve.begin() + old, {}, &Bend::stamp);
  // Of several bends at a stamp the last one stays.
  const auto same = [](const Bend& a, const Bend& b) { return a.stamp == b.stamp; };
  curve.erase(curve.begin(), std::unique(curve.rbegin(), curve.rend(), same).base());
}

ClockMap make_map(const ClockMap& presync, const Curve& curve,
                  const trace::LocationSkeleton& location, bool split_flushes) {
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
  std::ranges::sort(stamps);
  // A reader that has seen the stop time of a flush does not go back to a segment before it.
  for (const trace::FlushInterval& flush : location.flushes) {
    const auto begin = std::upper_bound(stamps.begin(), stamps.end(), flush.begin);
    const auto end = std::lower_bound(begin, stamps.end(), flush.end);
    if (begin == end || (split_flushes && trace::events_inside(location, flush) > 0)) continue;
    const bool last_too = std::find(begin, end, location.last) != end;
    const auto at = stamps.erase(begin, end);
    const std::uint64_t ends[] = {flush.begin,
                                  last_too ? std::max(flush.end, location.last) : flush.end};
    stamps.insert(at, std::begin(ends), std::end(ends));
  }
  sort_unique(stamps);
  stamps.push_back(stamps.back() + 1);

  CurveReader displacement(curve);
  std::vector<ClockKnot> knots;
  knots.reserve(stamps.size());
  for (const std::uint64_t stamp : stamps) {
    const std::int64_t offset = presync(stamp) - static_cast<std::int64_t>(stamp);
    knots.push_back({stamp, offset + displacement(stamp)});
  }
  keep_order(knots, curve);
  knots.back().offset = knots[knots.size() - 2].offset;
  auto map = ClockMap::from_knots(std::move(knots));
  return map ? *std::move(map) : presync;
}

}  // namespace entrain::clc
