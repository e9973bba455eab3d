// SPDX-License-Identifier: BSD-3-Clause
#include "clc/paper_ramps.hpp"

#include <algorithm>
#include <vector>

#include "base/exact.hpp"
#include "base/order.hpp"
#include "clc/forward.hpp"

namespace entrain::clc {

namespace {

/// A vertex of a ramp. The first one may lie before the trace.
struct RampVertex {
  Int128 stamp = 0;
  std::int64_t height = 0;
};

/// True if `b` lies on or above the line from a to c; stamps differ.
bool is_above(const RampVertex& a, const RampVertex& b, const RampVertex& c) {
  return (Int128{b.height} - a.height) * (c.stamp - a.stamp) >=
         (Int128{c.height} - a.height) * (b.stamp - a.stamp);
}

/// A single ramp: its vertices from right to left. At the top the jump itself takes over.
class PaperRamp {
 public:
  explicit PaperRamp(RampVertex top) : vertices_{top} {}

  /// A limit, or the start, to the left of all others.
  void add(const RampVertex& point) {
    while (vertices_.size() > 1 && is_above(point, vertices_.back(), *(vertices_.end() - 2))) {
      vertices_.pop_back();
    }
    vertices_.push_back(point);
  }

  [[nodiscard]] Int128 begin() const { return vertices_.back().stamp; }
  [[nodiscard]] Int128 end() const { return vertices_.front().stamp; }
  [[nodiscard]] const std::vector<RampVertex>& vertices() const { return vertices_; }

  /// Height at a stamp from begin() to end(), rounded down.
  [[nodiscard]] std::int64_t at(Int128 stamp) const {
    const auto left = std::ranges::find_if(
        vertices_, [&](const RampVertex& vertex) { return vertex.stamp <= stamp; });
    if (left == vertices_.begin() || left->stamp == stamp) return left->height;
    const RampVertex& right = *std::prev(left);
    const Int128 rise = (Int128{right.height} - left->height) * (stamp - left->stamp);
    return left->height + static_cast<std::int64_t>(floor_div(rise, right.stamp - left->stamp));
  }

 private:
  std::vector<RampVertex> vertices_;
};

/// Builds the ramps of a location, one jump after the other.
class PaperRamps {
 public:
  PaperRamps(const DisplacedLocation& input, std::span<std::int64_t> displacement)
      : input_(input), displacement_(displacement) {}

  std::vector<PaperRamp> build(const Cancel& cancel) {
    std::int64_t base = 0;  // d as the jumps before have left it
    Decay decay;
    bool decays = false;
    ClockMap::Cursor presync(*input_.presync_map);
    for (std::size_t n = 0; n < input_.stamps.size() && !cancel.asked(); ++n) {
      const std::int64_t c = presync(input_.stamps[n]);
      base = decays ? decay.at(c, input_.gamma) : 0;
      if (input_.jumps_at(n)) add(n, input_.lower[n] - base);
      // The later nodes of a tied component fall faster than the decay.
      if (!decays || input_.lower[n] != base) decay = {input_.lower[n], c};
      decays = true;
    }
    return std::move(ramps_);
  }

 private:
  void add(std::size_t node, std::int64_t jump) {
    if (jump <= 0) return;
    const Int128 top = input_.stamps[node];
    const Int128 start = top - ceil_div(Int128{jump} * k_billion, input_.max_slope.billionths);
    PaperRamp ramp({top, jump});
    std::size_t first = node;
    while (first > 0 && Int128{input_.stamps[first - 1]} > start) {
      --first;
      if (input_.limit[first] < k_no_limit)
        ramp.add({input_.stamps[first], input_.limit[first] - displacement_[first]});
    }
    ramp.add({start, 0});
    for (std::size_t n = first; n < node; ++n) displacement_[n] += ramp.at(input_.stamps[n]);
    ramps_.push_back(std::move(ramp));
  }

  const DisplacedLocation& input_;
  std::span<std::int64_t> displacement_;
  std::vector<PaperRamp> ramps_;
};

/// True for the bend that curve_of_jumps() puts a tick before a jump: a ramp leads on to the top.
bool is_foot_of_step(const DisplacedLocation& input, std::uint64_t stamp) {
  const auto node = std::lower_bound(input.stamps.begin(), input.stamps.end(), stamp);
  if (node == input.stamps.end() || *node != stamp + 1) return false;
  return input.jumps_at(static_cast<std::size_t>(node - input.stamps.begin()));
}

/// The stamps at which d or a ramp bends.
std::vector<std::uint64_t> bends_of(const DisplacedLocation& input, const Curve& jumps,
                                    const std::vector<PaperRamp>& ramps) {
  std::vector<std::uint64_t> stamps;
  for (const Bend& bend : jumps)
    if (!is_foot_of_step(input, bend.stamp)) stamps.push_back(bend.stamp);
  for (const PaperRamp& ramp : ramps) {
    for (const RampVertex& vertex : ramp.vertices())
      stamps.push_back(
          static_cast<std::uint64_t>(std::max(vertex.stamp, Int128{input.first_stamp})));
  }
  sort_unique(stamps);
  return stamps;
}

}  // namespace

Curve curve_of_paper_ramps(const DisplacedLocation& input, std::span<std::int64_t> displacement,
                           const Cancel& cancel) {
  std::vector<PaperRamp> ramps = PaperRamps(input, displacement).build(cancel);
  const Curve jumps = curve_of_jumps(input);
  const std::vector<std::uint64_t> stamps = bends_of(input, jumps, ramps);
  std::ranges::sort(ramps,
                    [](const PaperRamp& a, const PaperRamp& b) { return a.begin() < b.begin(); });
  CurveReader base(jumps);
  Curve result;
  result.reserve(stamps.size());
  std::vector<const PaperRamp*> active;
  auto next = ramps.begin();
  for (const std::uint64_t stamp : stamps) {
    for (; next != ramps.end() && next->begin() <= Int128{stamp}; ++next) active.push_back(&*next);
    std::erase_if(active, [&](const PaperRamp* ramp) { return ramp->end() <= Int128{stamp}; });
    std::int64_t height = base(stamp);
    for (const PaperRamp* ramp : active) height += ramp->at(stamp);
    result.push_back({stamp, height});
    if (cancel.asked()) break;
  }
  return result;
}

}  // namespace entrain::clc
