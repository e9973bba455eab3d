// SPDX-License-Identifier: BSD-3-Clause
#include "clc/schedule.hpp"

#include <algorithm>
#include <cassert>
#include <deque>
#include <utility>

#include "base/flat_map.hpp"
#include "clc/components.hpp"

namespace entrain::clc {

namespace {

/// Follows the locations through the graph as a data-flow.
class Scheduler {
 public:
  Scheduler(const match::Graph& graph, const Incidence& incidence, std::vector<TiedNodes> tied,
            std::vector<std::uint32_t> tied_of)
      : graph_(graph), incidence_(incidence) {
    schedule_.tied = std::move(tied);
    schedule_.tied_of = std::move(tied_of);
  }

  /// False if nodes are left that depend on themselves, or if the user wants to stop.
  bool run(const Progress* progress) {
    constexpr std::uint32_t k_poll = 1 << 10;  // turns of a location
    start();
    for (std::uint32_t turn = 0; !runnable_.empty(); ++turn) {
      if (turn % k_poll == 0 && progress != nullptr && progress->cancelled()) return false;
      const LocationIndex location = runnable_.front();
      runnable_.pop_front();
      queued_[location] = false;
      advance(location);
    }
    return finished();
  }

  Schedule take() { return std::move(schedule_); }
  /// Per location: its first node that is left.
  [[nodiscard]] const std::vector<NodeIndex>& cursor() const { return cursor_; }

 private:
  struct ExchangeState {
    std::uint32_t pending = 0;   ///< send members not done
    NodeIndex last = k_none;     ///< the pending one's node, if there is one only
    std::uint32_t leading = 0;   ///< ordered: send members done from the front
    std::uint32_t released = 0;  ///< ordered: receive members whose demand is known
  };
  static constexpr std::uint64_t k_exchange_key = std::uint64_t{1} << 32;

  void start() {
    done_.assign(graph_.node_count(), false);
    std::fill(done_.begin() + static_cast<std::ptrdiff_t>(graph_.own_count()), done_.end(), true);
    cursor_.assign(graph_.first_node.begin(), graph_.first_node.end() - 1);
    waits_next_.assign(graph_.location_count(), k_none);
    queued_.assign(graph_.location_count(), false);
    exchanges_.assign(graph_.exchanges.size(), {});
    for (std::uint32_t x = 0; x < exchanges_.size(); ++x) {
      for (const match::Member& send : graph_.sends(graph_.exchanges[x])) {
        if (!done_[send.node]) ++exchanges_[x].pending;
      }
      release(x);
    }
    for (LocationIndex l = 0; l < graph_.location_count(); ++l) enqueue(l);
  }

  void enqueue(LocationIndex location) {
    if (queued_[location]) return;
    queued_[location] = true;
    runnable_.push_back(location);
  }

  [[nodiscard]] bool finished() const {
    for (LocationIndex l = 0; l < graph_.location_count(); ++l) {
      if (cursor_[l] < graph_.first_node[l + 1]) return false;
    }
    return true;
  }

  void advance(LocationIndex location) {
    const NodeIndex end = graph_.first_node[location + 1];
    NodeIndex begin = cursor_[location];
    const auto flush = [&] {
      if (begin < cursor_[location]) {
        schedule_.steps.push_back({Step::Kind::run, location, begin, cursor_[location]});
      }
      begin = cursor_[location];
    };
    while (cursor_[location] < end) {
      const NodeIndex node = cursor_[location];
      const std::uint32_t tied = schedule_.tied_of.empty() ? k_none : schedule_.tied_of[node];
      if (tied != k_none) {
        flush();
        if (!try_tied(tied, location)) return;
        begin = cursor_[location];
        continue;
      }
      if (!ready(node, location)) break;
      ++cursor_[location];
      // Steps that this node releases must come after it.
      if (!incidence_.sends.of(node).empty()) flush();
      complete(node);
    }
    flush();
  }

  /// True if everything that `node` waits for is done, but for nodes of component `within`.
  /// Otherwise `location` waits for the first thing that is not.
  bool ready(NodeIndex node, LocationIndex location, std::uint32_t within = k_none) {
    for (const std::uint32_t e : incidence_.in_edges.of(node)) {
      const NodeIndex send = graph_.edges[e].send;
      if (!done_[send] && !inside(send, within)) return wait(send, location);
    }
    for (const std::uint32_t m : incidence_.receives.of(node)) {
      const std::uint32_t x = incidence_.exchange_of[m];
      const ExchangeState& state = exchanges_[x];
      if (state.pending == 0) continue;
      if (!graph_.exchanges[x].ordered && within == k_none) {
        // The receiver's own begin is no edge: it may share the node with the end.
        if (state.pending > 1 || state.last != node) return wait(k_exchange_key | x, location);
        continue;
      }
      const NodeIndex missing = missing_send(x, graph_.members[m], within);
      if (missing != k_none) return wait(missing, location);
    }
    return true;
  }

  [[nodiscard]] bool inside(NodeIndex node, std::uint32_t within) const {
    return within != k_none && schedule_.tied_of[node] == within;
  }

  /// A send that `receive` still waits for; the last one in rank order, or k_none.
  [[nodiscard]] NodeIndex missing_send(std::uint32_t x, const match::Member& receive,
                                       std::uint32_t within) const {
    const match::Exchange& exchange = graph_.exchanges[x];
    const auto sends = graph_.sends(exchange);
    std::size_t end = sends.size();
    if (exchange.ordered) end = first_not_below(sends, receive.order);
    for (std::size_t i = end; i-- > (exchange.ordered ? exchanges_[x].leading : 0);) {
      const bool counts = sends[i].location != receive.location;
      if (counts && !done_[sends[i].node] && !inside(sends[i].node, within)) return sends[i].node;
    }
    return k_none;
  }

  bool wait(std::uint64_t key, LocationIndex location) {
    std::uint32_t* head = waiters_.insert(key, k_none).first;
    waits_next_[location] = *head;
    *head = location;
    return false;
  }
  void wake(std::uint64_t key) {
    const std::uint32_t* head = waiters_.find(key);
    if (head == nullptr) return;
    std::uint32_t location = *head;
    waiters_.erase(key);
    while (location != k_none) {
      enqueue(location);
      location = std::exchange(waits_next_[location], k_none);
    }
  }

  void complete(NodeIndex node) {
    done_[node] = true;
    wake(node);
    for (const std::uint32_t m : incidence_.sends.of(node)) {
      const std::uint32_t x = incidence_.exchange_of[m];
      --exchanges_[x].pending;
      release(x);
    }
  }

  /// Emits the steps that a completed send member allows.
  void release(std::uint32_t x) {
    const match::Exchange& exchange = graph_.exchanges[x];
    ExchangeState& state = exchanges_[x];
    const std::uint32_t first = exchange.first_receive;
    if (!exchange.ordered) {
      if (state.pending > 1) return;
      if (state.pending == 0) {
        schedule_.steps.push_back({Step::Kind::exchange, x, first, first + exchange.receive_count});
      } else {
        release_self(x);
      }
      wake(k_exchange_key | x);
      return;
    }
    const auto sends = graph_.sends(exchange);
    const auto receives = graph_.receives(exchange);
    const std::uint32_t old = state.leading;
    while (state.leading < sends.size() && done_[sends[state.leading].node]) ++state.leading;
    if (state.leading == old) return;
    std::uint32_t ready = state.released;
    while (ready < receives.size() && (state.leading == sends.size() ||
                                       receives[ready].order <= sends[state.leading].order)) {
      ++ready;
    }
    if (ready > state.released) {
      schedule_.steps.push_back(
          {Step::Kind::exchange, x, first + state.released, first + ready});
      state.released = ready;
    }
  }

  /// The one send member that is pending may share its node with its own end.
  void release_self(std::uint32_t x) {
    const match::Exchange& exchange = graph_.exchanges[x];
    for (const match::Member& send : graph_.sends(exchange)) {
      if (done_[send.node]) continue;
      exchanges_[x].last = send.node;
      for (const std::uint32_t m : incidence_.receives.of(send.node)) {
        if (incidence_.exchange_of[m] == x) {
          schedule_.steps.push_back({Step::Kind::exchange, x, m, m + 1});
        }
      }
    }
  }

  /// Handles a component when all its locations have come to it and nothing outside is missing.
  bool try_tied(std::uint32_t c, LocationIndex location) {
    const std::vector<NodeIndex>& nodes = schedule_.tied[c].nodes;
    LocationIndex previous = k_none;
    for (const NodeIndex n : nodes) {
      const LocationIndex l = graph_.location_of(n);
      // A location that is not there yet calls again when it arrives.
      if (l != previous && cursor_[l] != n) return false;
      previous = l;
      if (!ready(n, location, c)) return false;
    }
    schedule_.steps.push_back({Step::Kind::tied, c, 0, 0});
    for (const NodeIndex n : nodes) cursor_[graph_.location_of(n)] = n + 1;
    for (const NodeIndex n : nodes) complete(n);
    for (const NodeIndex n : nodes) {
      const LocationIndex l = graph_.location_of(n);
      if (l != location && cursor_[l] == n + 1) enqueue(l);
    }
    return true;
  }

  const match::Graph& graph_;
  const Incidence& incidence_;
  Schedule schedule_;
  std::vector<bool> done_;
  std::vector<NodeIndex> cursor_;
  std::vector<ExchangeState> exchanges_;
  std::deque<LocationIndex> runnable_;
  std::vector<bool> queued_;
  FlatMap<std::uint64_t, std::uint32_t, IntegerHash> waiters_;  ///< first waiting location
  std::vector<std::uint32_t> waits_next_;
};

}  // namespace

std::optional<Schedule> order_nodes(const match::Graph& graph, const Incidence& incidence,
                                    std::vector<TiedNodes> tied,
                                    std::vector<std::uint32_t> tied_of,
                                    const Progress* progress) {
  Scheduler scheduler(graph, incidence, std::move(tied), std::move(tied_of));
  if (!scheduler.run(progress)) return std::nullopt;
  return scheduler.take();
}

Schedule make_schedule(match::Graph& graph, Incidence& incidence, const Progress* progress) {
  Components components;
  {
    Scheduler scheduler(graph, incidence, {}, {});
    if (scheduler.run(progress)) return scheduler.take();
    if (progress != nullptr && progress->cancelled()) return {};
    // What is left depends on itself. Tie or cut the cycles, then begin anew.
    components = find_components(graph, incidence, scheduler.cursor());
  }
  std::uint64_t dropped = 0;
  if (!components.errors.empty()) {
    dropped = drop_inner_edges(graph, components.errors);
    incidence = Incidence(graph);
  }
  std::vector<std::uint32_t> tied_of;
  if (!components.tied.empty()) {
    tied_of.assign(graph.node_count(), k_none);
    for (std::uint32_t c = 0; c < components.tied.size(); ++c) {
      for (const NodeIndex n : components.tied[c].nodes) tied_of[n] = c;
    }
  }
  std::optional<Schedule> schedule =
      order_nodes(graph, incidence, std::move(components.tied), std::move(tied_of));
  assert(schedule);
  schedule->dropped_components = components.errors.size();
  schedule->dropped_edges = dropped;
  return std::move(*schedule);
}

}  // namespace entrain::clc
