// SPDX-License-Identifier: BSD-3-Clause
#include "verify/edge_walk.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

namespace entrain::verify {

namespace {

// Edges and instances between two polls for cancellation; chosen, not measured.
constexpr std::uint32_t k_poll_edges = 1 << 16, k_poll_instances = 64;

/// Copies the moments that lie in components, one component after the other.
void by_component(const std::vector<Moment>& side, std::vector<Moment>& inside) {
  inside.clear();
  std::ranges::copy_if(side, std::back_inserter(inside),
                       [](const Moment& moment) { return moment.component != k_none; });
  std::ranges::stable_sort(inside, {}, &Moment::component);
}

class EdgeWalk {
 public:
  EdgeWalk(const Relation& relation, const Cycles& cycles, const TimesToCheck& times,
           bool init_finalize, IntervalUnion* backward, const Cancel& cancel)
      : relation_(relation),
        cycles_(cycles),
        times_(times),
        init_finalize_(init_finalize),
        backward_(backward),
        cancel_(cancel) {}

  EdgeSums run() && {
    if (times_.observer != nullptr) times_.observer->restart();
    for (const MatchedChannel& channel : relation_.channels()) {
      if (cancel_.asked()) return std::move(sums_);
      add(channel);
    }
    relation_.for_each_single_pair([&](const Pair& pair) { add(pair); });
    std::uint32_t instances = 0;
    bool stopped = false;
    relation_.for_each_instance([&](Instance& instance) {
      if (++instances % k_poll_instances == 0) stopped = stopped || cancel_.asked();
      if (!stopped) add(instance);
    });
    return std::move(sums_);
  }

 private:
  [[nodiscard]] bool in_force(EdgeKind kind) const {
    return kind != EdgeKind::init_finalize || init_finalize_;
  }
  [[nodiscard]] bool one_clock(LocationIndex a, LocationIndex b) const {
    return !times_.clock_of.empty() && times_.clock_of[a] == times_.clock_of[b];
  }
  /// mu of an edge that is no pair of a collective.
  [[nodiscard]] std::int64_t mu(EdgeKind kind, LocationIndex from, LocationIndex to) const {
    const Places& places = relation_.places();
    const LatencyClass latency_class = places.latency_class(from, to);
    const std::int64_t least = times_.mu[static_cast<std::size_t>(latency_class)];
    if (times_.pair_mu == nullptr || kind != EdgeKind::p2p ||
        latency_class == LatencyClass::same_process) {
      return least;
    }
    return times_.pair_mu->of(places.machine_of(from), places.machine_of(to), least);
  }
  PairCounts& counts(EdgeKind kind) { return sums_.edges[static_cast<std::size_t>(kind)]; }

  void add(const MatchedChannel& channel) {
    const Places& places = relation_.places();
    const ChannelKey& key = channel.key;
    if (channel.pairs > 0 && !cycles_.any() && relation_.is_whole() &&
        places.is_single(key.sender) && places.is_single(key.receiver)) {
      const LocationIndex from = places.event(key.sender, 0).location;
      const LocationIndex to = places.event(key.receiver, 0).location;
      if (from == to) return;
      add_simple(channel, mu(channel.kind(), from, to));
      if (times_.observer != nullptr) times_.observer->channel(relation_, channel, from, to);
      return;
    }
    Pair pair;
    for (std::uint32_t k = 0; k < channel.pairs; ++k) {
      if (k % k_poll_edges == 0 && cancel_.asked()) return;
      if (relation_.pair(channel, k, pair)) add(pair);
    }
  }

  /// Adds a channel whose pairs all lead from one location to one other, if there are no cycles.
  void add_simple(const MatchedChannel& channel, std::int64_t mu) {
    PairCounts sum;
    std::int64_t worst = std::numeric_limits<std::int64_t>::max();
    std::uint32_t worst_at = k_none;
    for (std::uint32_t k = 0; k < channel.pairs; ++k) {
      if (k % k_poll_edges == 0 && cancel_.asked()) return;
      const std::int64_t sent = channel.send_time(k), received = channel.receive_time(k);
      const std::int64_t ticks = margin(received, sent);
      sum.violations += ticks < 0 ? 1 : 0;
      sum.below_latency += ticks < mu ? 1 : 0;
      sum.equal += ticks == 0 ? 1 : 0;
      if (ticks < worst || worst_at == k_none) {
        worst = ticks;
        worst_at = k;
      }
      if (ticks <= 0 && backward_ != nullptr) backward_->add(received, sent);
    }
    sum.count += channel.pairs;
    counts(channel.kind()) += sum;
    Pair pair;
    const bool found = relation_.pair(channel, worst_at, pair);
    if (found && one_clock(pair.send.location, pair.receive.location)) sums_.inside_clocks += sum;
    if (worst > sums_.worst.limit(channel.kind()) || !found) return;
    sums_.worst.note(pair.kind, worst, pair.order, pair.send, pair.receive);
  }

  void add(const Pair& pair) {
    const std::uint32_t component = cycles_.any() ? cycles_.of(pair.send) : k_none;
    const bool inside = component != k_none && component == cycles_.of(pair.receive);
    if (inside && cycles_.dropped()[component]) {
      ++sums_.dropped;
      return;
    }
    const std::int64_t ticks = margin(pair.receive_time, pair.send_time);
    PairCounts sum{.count = 1};
    if (ticks < 0) ++sum.violations;
    if (ticks == 0) ++sum.equal;
    const std::int64_t least =
        inside ? 0 : mu(pair.kind, pair.send.location, pair.receive.location) + pair.extra_mu;
    if (ticks < least) ++sum.below_latency;
    counts(pair.kind) += sum;
    if (in_force(pair.kind) && one_clock(pair.send.location, pair.receive.location)) {
      sums_.inside_clocks += sum;
    }
    sums_.worst.note(pair.kind, ticks, pair.order, pair.send, pair.receive);
    if (times_.observer != nullptr) times_.observer->pair(pair);
    if (ticks <= 0 && backward_ != nullptr) backward_->add(pair.receive_time, pair.send_time);
  }

  void add(Instance& instance) {
    PairCounts sum = count_pairs(instance.sends, instance.receives, instance.ordered, times_.mu);
    if (cycles_.any()) treat_components(instance, sum);
    counts(instance.kind) += sum;
    if (!times_.clock_of.empty() && in_force(instance.kind)) add_inside_clocks(instance);
    if (backward_ != nullptr && in_force(instance.kind)) add_backward(instance, *backward_);
    if (times_.observer != nullptr && in_force(instance.kind)) {
      deciding_pairs(instance.sends, instance.receives, instance.ordered, cycles_.dropped(),
                     deciding_);
      times_.observer->instance(instance, deciding_);
    }
    const auto worst = worst_pair(instance.sends, instance.receives, instance.ordered,
                                  cycles_.dropped(), sums_.worst.limit(instance.kind));
    if (!worst) return;
    EdgeOrder order = instance.order;
    order.back() = std::uint64_t{worst->receive} << 32 | worst->send;
    sums_.worst.note(instance.kind, worst->margin_ticks, order, instance.sends[worst->send].event,
                     instance.receives[worst->receive].event);
  }

  void add_inside_clocks(const Instance& instance) {
    sends_.assign(instance.sends.begin(), instance.sends.end());
    receives_.assign(instance.receives.begin(), instance.receives.end());
    for (auto* side : {&sends_, &receives_}) {
      std::erase_if(*side, [&](const Moment& m) {
        return m.component != k_none && cycles_.dropped()[m.component];
      });
    }
    sums_.inside_clocks +=
        count_pairs_of_one_clock(sends_, receives_, instance.ordered, times_.mu, times_.clock_of);
  }

  /// Corrects the counts of an instance: pairs inside a cycle carry no latency, and those inside a
  /// dropped one do not count at all.
  void treat_components(Instance& instance, PairCounts& sum) {
    for (auto* side : {&instance.sends, &instance.receives}) {
      for (Moment& moment : *side) moment.component = cycles_.of(moment.event);
    }
    by_component(instance.sends, sends_);
    by_component(instance.receives, receives_);
    auto receive = receives_.begin();
    for (auto send = sends_.begin(); send != sends_.end();) {
      const std::uint32_t component = send->component;
      const auto is_other = [component](const Moment& m) { return m.component != component; };
      while (receive != receives_.end() && receive->component < component) ++receive;
      const auto send_end = std::find_if(send, sends_.end(), is_other);
      const auto receive_end = std::find_if(receive, receives_.end(), is_other);
      const PairCounts part =
          count_pairs({send, send_end}, {receive, receive_end}, instance.ordered, times_.mu);
      if (cycles_.dropped()[component]) {
        sum -= part;
        if (in_force(instance.kind)) sums_.dropped += part.count;
      } else {
        sum.below_latency -= part.below_latency - part.violations;
      }
      send = send_end;
      receive = receive_end;
    }
  }

  const Relation& relation_;
  const Cycles& cycles_;
  const TimesToCheck& times_;
  const bool init_finalize_;
  IntervalUnion* backward_;
  const Cancel& cancel_;
  EdgeSums sums_;
  std::vector<Moment> sends_, receives_;  ///< some moments of the current instance
  std::vector<WorstPair> deciding_;       ///< deciding pairs of the current instance
};

}  // namespace

EdgeSums walk_edges(const Relation& relation, const Cycles& cycles, const TimesToCheck& times,
                    bool init_finalize, IntervalUnion* backward, const Cancel& cancel) {
  return EdgeWalk(relation, cycles, times, init_finalize, backward, cancel).run();
}

}  // namespace entrain::verify
