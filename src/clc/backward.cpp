// SPDX-License-Identifier: BSD-3-Clause
#include "clc/backward.hpp"

#include <algorithm>
#include <atomic>
#include <deque>

#include "base/exact.hpp"
#include "match/parts.hpp"

namespace entrain::clc {

namespace {

/// A vertex of the funnel. `node` is its index in the location.
struct Vertex {
  std::uint64_t stamp = 0;
  std::int64_t height = 0;
  std::size_t node = 0;
};

/// Descent from `from` to the left to `to`, as an exact fraction drop / run with run > 0.
struct Slope {
  Int128 drop = 0;
  Int128 run = 1;
  friend bool operator<(const Slope& a, const Slope& b) { return a.drop * b.run < b.drop * a.run; }
};

Slope slope(const Vertex& from, const Vertex& to) {
  return {Int128{from.height} - to.height, Int128{from.stamp} - Int128{to.stamp}};
}

/// A ramp under construction: its settled bends from the top on, and the funnel to the left of the
/// last one (the apex). `upper_` are limits, `lower_` points of d; both lead away from the apex.
class Funnel {
 public:
  Funnel(Vertex top, Decimal9 max_slope) : max_slope_{max_slope.billionths, k_billion} {
    settled_.push_back(top);
  }

  /// A limit at a node to the left of everything so far.
  void add_limit(const Vertex& limit) {
    const Vertex& end = upper_.empty() ? apex() : upper_.back();
    if (!(max_slope_ < slope(end, limit))) return;  // the ramp passes under it anyway
    while (!upper_.empty() &&
           slope(before_end(upper_), upper_.back()) < slope(before_end(upper_), limit)) {
      upper_.pop_back();
    }
    if (upper_.empty()) {
      // Pressed under earlier tops: the ramp rests on them.
      while (!lower_.empty() && slope(apex(), lower_.front()) < slope(apex(), limit)) {
        settle(lower_);
      }
    }
    upper_.push_back(limit);
  }

  /// A point of d at a node to the left. False if the ramp meets it: the ramp ends there.
  bool add_lower(const Vertex& point) {
    while (!lower_.empty() &&
           slope(before_end(lower_), point) < slope(before_end(lower_), lower_.back())) {
      lower_.pop_back();
    }
    if (lower_.empty()) {
      while (!upper_.empty() && slope(apex(), point) < slope(apex(), upper_.front())) {
        settle(upper_);
      }
      if (upper_.empty() && slope(apex(), point) < max_slope_) return false;
    }
    lower_.push_back(point);
    return true;
  }

  /// No more nodes: the ramp takes all limits that are left. Returns the bends, top first.
  std::vector<Vertex> finish() {
    while (!upper_.empty()) settle(upper_);
    return std::move(settled_);
  }

 private:
  [[nodiscard]] const Vertex& apex() const { return settled_.back(); }
  /// The vertex before the end of a chain, which begins at the apex.
  [[nodiscard]] const Vertex& before_end(const std::deque<Vertex>& chain) const {
    return chain.size() >= 2 ? chain[chain.size() - 2] : apex();
  }
  void settle(std::deque<Vertex>& chain) {
    settled_.push_back(chain.front());
    chain.pop_front();
  }

  Slope max_slope_;
  std::vector<Vertex> settled_;
  std::deque<Vertex> upper_, lower_;
};

/// Height at `stamp` of the straight line through a (left) and b (right), rounded down.
std::int64_t on_line(const Vertex& a, const Vertex& b, std::uint64_t stamp) {
  const Int128 rise = Int128{b.height} - a.height;
  const Int128 at = rise * (Int128{stamp} - Int128{a.stamp});
  return a.height + static_cast<std::int64_t>(floor_div(at, Int128{b.stamp} - Int128{a.stamp}));
}

/// Height of the free end of a ramp: `max_slope` to the left of vertex p, rounded down.
std::int64_t on_ray(const Vertex& p, std::uint64_t stamp, Decimal9 max_slope) {
  const Int128 fallen =
      ceil_div(Int128{max_slope.billionths} * (Int128{p.stamp} - Int128{stamp}), k_billion);
  return static_cast<std::int64_t>(std::max<Int128>(Int128{p.height} - fallen, -1));
}

/// Raises the nodes under a finished ramp and turns it into bends, left to right. `end`: index of
/// the node that the free end has met, or -1 if it passed the first one.
class RampWriter {
 public:
  RampWriter(const DisplacedLocation& input, std::span<std::int64_t> displacement)
      : input_(input), displacement_(displacement) {}

  Ramp write(const std::vector<Vertex>& vertices, std::ptrdiff_t end) {
    for (std::size_t v = 0; v + 1 < vertices.size(); ++v) {
      const Vertex &right = vertices[v], &left = vertices[v + 1];
      for (std::size_t n = left.node; n < right.node; ++n) {
        raise(n, on_line(left, right, input_.stamps[n]));
      }
    }
    const Vertex& last = vertices.back();
    for (auto n = static_cast<std::ptrdiff_t>(last.node) - 1; n > end; --n) {
      const auto i = static_cast<std::size_t>(n);
      raise(i, on_ray(last, input_.stamps[i], input_.max_slope));
    }
    Ramp ramp{free_end(last, end)};
    for (std::size_t v = vertices.size(); v-- > 0;) {
      const Bend bend{vertices[v].stamp, vertices[v].height};
      if (bend.stamp > ramp.back().stamp) ramp.push_back(bend);
    }
    return ramp;
  }

 private:
  void raise(std::size_t n, std::int64_t height) {
    displacement_[n] = std::max(displacement_[n], height);
  }

  /// Where the free end meets d, or the location's first event.
  [[nodiscard]] Bend free_end(const Vertex& last, std::ptrdiff_t end) const {
    const bool met = end >= 0;
    const std::uint64_t bound =
        met ? input_.stamps[static_cast<std::size_t>(end)] : input_.first_stamp;
    if (last.stamp <= bound) return {last.stamp, last.height};
    const Int128 room = Int128{last.stamp} - Int128{bound};
    const Int128 slope = input_.max_slope.billionths;
    Int128 run = ceil_div(Int128{last.height} * k_billion, slope);
    if (met) {
      // d falls from the node that was met with slope 1 - gamma, to 0 at most.
      const Int128 decay = k_billion - input_.gamma.billionths;
      const Int128 above =
          (Int128{last.height} - input_.lower[static_cast<std::size_t>(end)]) * k_billion +
          decay * room;
      run = std::min(run, ceil_div(above, slope + decay));
    }
    const auto way = static_cast<std::uint64_t>(std::clamp<Int128>(run, 0, room));
    const std::uint64_t stamp = last.stamp - way;
    return {stamp, std::max<std::int64_t>(0, on_ray(last, stamp, input_.max_slope))};
  }

  const DisplacedLocation& input_;
  std::span<std::int64_t> displacement_;
};

}  // namespace

std::vector<Ramp> build_ramps(const DisplacedLocation& input,
                              std::span<std::int64_t> displacement) {
  std::vector<Ramp> ramps;
  RampWriter writer(input, displacement);
  const auto point = [&](std::size_t n) { return Vertex{input.stamps[n], input.lower[n], n}; };
  std::size_t n = input.stamps.size();
  while (n-- > 0) {
    if (!input.jumps_at(n)) continue;
    Funnel funnel(point(n), input.max_slope);
    auto left = static_cast<std::ptrdiff_t>(n) - 1;
    for (; left >= 0; --left) {
      const auto i = static_cast<std::size_t>(left);
      if (!funnel.add_lower(point(i))) break;
      if (input.limit[i] < k_no_limit) funnel.add_limit({input.stamps[i], input.limit[i], i});
    }
    ramps.push_back(writer.write(funnel.finish(), left));
    n = static_cast<std::size_t>(left + 1);  // a jump where the ramp ended begins the next one
  }
  return ramps;
}

namespace {

/// Lowers a limit while other threads may do so: the smallest demand stays, whoever is first.
void lower(std::int64_t& limit, std::int64_t to) {
  const std::atomic_ref<std::int64_t> atomic(limit);
  std::int64_t known = atomic.load(std::memory_order_relaxed);
  while (to < known && !atomic.compare_exchange_weak(known, to, std::memory_order_relaxed)) {
  }
}

void lower_by_edges(const match::Graph& graph, std::span<const match::Edge> edges,
                    std::span<const std::int64_t> forward, const MuTicks& mu,
                    std::span<std::int64_t> limits) {
  constexpr std::size_t k_ahead = 24;  // sends lie apart from each other: asked for in time
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (i + k_ahead < edges.size()) __builtin_prefetch(&limits[edges[i + k_ahead].send], 1);
    lower(limits[edges[i].send], forward[edges[i].receive] - graph.mu_of(edges[i], mu));
  }
}

void lower_by_exchanges(const match::Graph& graph, std::span<const match::Exchange> exchanges,
                        std::span<const std::int64_t> forward, const MuTicks& mu,
                        std::span<std::int64_t> limits) {
  match::Extremes extremes(graph, mu);
  for (const match::Exchange& exchange : exchanges) {
    const auto sends = graph.sends(exchange);
    const auto receives = graph.receives(exchange);
    extremes.clear();
    std::size_t added = receives.size();
    const auto add = [&](const match::Participant& receive) {
      extremes.add(receive.location, -forward[receive.node]);
    };
    if (!exchange.ordered) std::for_each(receives.begin(), receives.end(), add);
    for (std::size_t i = sends.size(); i-- > 0;) {
      const match::Participant& send = sends[i];
      while (exchange.ordered && added > 0 && receives[added - 1].order > send.order) {
        add(receives[--added]);
      }
      const std::int64_t latest = -extremes.demand(send.location);
      if (latest < k_no_limit) lower(limits[send.node], latest);
    }
  }
}

}  // namespace

BigVector<std::int64_t> send_limits(match::HaloExchange& halo, const Cycles& cycles,
                                    std::span<const std::int64_t> forward, const MuTicks& mu,
                                    unsigned threads) {
  const match::Graph& graph = halo.graph();
  BigVector<std::int64_t> limit(graph.node_count(), k_no_limit);
  match::for_parts(match::parts_of(graph, threads), [&](const match::Part& part, std::size_t) {
    lower_by_edges(graph, part.edges, forward, mu, limit);
    lower_by_exchanges(graph, part.exchanges, forward, mu, limit);
  });
  halo.collect_smallest(limit);
  limit.resize(graph.own_count());
  // Inside a tied component mu is 0 and nothing may move.
  for (const TiedNodes& component : cycles.tied) {
    for (const NodeIndex n : component.nodes) limit[n] = forward[n];
  }
  for (std::size_t n = 0; n < limit.size(); ++n) limit[n] = std::max(limit[n], forward[n]);
  return limit;
}

}  // namespace entrain::clc
