// SPDX-License-Identifier: BSD-3-Clause
#include "clc/scheduler.hpp"

#include <algorithm>

#include "clc/components.hpp"

namespace entrain::clc {

namespace {

/// A location that has gone on by so many nodes lets others go on.
constexpr NodeIndex k_most_nodes = 1 << 12;

}  // namespace

void Scheduler::start() {
  if (!cycles_.tied_of.empty()) {
    for (auto n = static_cast<NodeIndex>(graph_.own_count()); n < graph_.node_count(); ++n) {
      if (cycles_.tied_of[n] != k_none && incidence_.receives.has(n)) tied_ghosts_.push_back(n);
    }
  }
  const std::size_t waiters = graph_.location_count() + tied_ghosts_.size();
  done_.assign(graph_.node_count(), false);
  awaited_.assign(graph_.node_count(), false);
  cursor_.assign(graph_.first_node.begin(), graph_.first_node.end() - 1);
  waits_next_.assign(waiters, k_none);
  queued_.assign(waiters, false);
  exchanges_.assign(graph_.exchanges.size(), {});
  for (std::uint32_t x = 0; x < exchanges_.size(); ++x) {
    exchanges_[x].pending = graph_.exchanges[x].send_count;
    release(x);
  }
  for (LocationIndex l = 0; l < graph_.location_count(); ++l) {
    if (cursor_[l] < graph_.first_node[l + 1]) enqueue(l);
  }
  for (std::size_t g = graph_.location_count(); g < waiters; ++g) {
    enqueue(static_cast<std::uint32_t>(g));
  }
}

bool Scheduler::work(std::uint32_t turns) {
  for (; turns > 0 && !runnable_.empty(); --turns) {
    const std::uint32_t waiter = runnable_.front();
    runnable_.pop_front();
    queued_[waiter] = false;
    if (waiter < graph_.location_count()) {
      advance(waiter);
    } else {
      try_tied_ghost(waiter);
    }
  }
  return !runnable_.empty();
}

bool Scheduler::finished() const {
  for (LocationIndex l = 0; l < graph_.location_count(); ++l) {
    if (cursor_[l] < graph_.first_node[l + 1]) return false;
  }
  return true;
}

void Scheduler::enqueue(std::uint32_t waiter) {
  if (queued_[waiter]) return;
  queued_[waiter] = true;
  runnable_.push_back(waiter);
}

void Scheduler::advance(LocationIndex location) {
  NodeIndex begin = cursor_[location];
  const NodeIndex last = graph_.first_node[location + 1];
  const NodeIndex end = begin + std::min(last - begin, k_most_nodes);
  const auto flush = [&] {
    if (begin < cursor_[location]) {
      on_step_({Step::Kind::run, location, begin, cursor_[location]});
    }
    begin = cursor_[location];
  };
  while (cursor_[location] < end) {
    const NodeIndex node = cursor_[location];
    const std::uint32_t tied = cycles_.component_of(node);
    if (tied != k_none) {
      flush();
      if (!try_tied(tied, location)) return;
      begin = cursor_[location];
      continue;
    }
    if (!ready(node, location)) break;
    ++cursor_[location];
    // Steps that this node releases must come after it.
    if (incidence_.sends.has(node)) flush();
    complete(node);
  }
  flush();
  if (cursor_[location] >= end && end < last) enqueue(location);
}

/// True if everything that `node` waits for is done, except nodes of component `within`.
/// Otherwise `waiter` waits for the first thing that is not.
bool Scheduler::ready(NodeIndex node, std::uint32_t waiter, std::uint32_t within) {
  for (const match::Edge& edge : incidence_.in_edges.of(node)) {
    if (!done_[edge.send] && !inside(edge.send, within)) return wait(edge.send, waiter);
  }
  for (const std::uint32_t m : incidence_.receives.of(node)) {
    const std::uint32_t x = incidence_.exchange_of[m];
    const ExchangeState& state = exchanges_[x];
    if (state.pending == 0) continue;
    if (!graph_.exchanges[x].ordered && within == k_none) {
      // The receiver's own begin is no edge: it may share the node with the end.
      if (state.pending > 1 || state.last != node) return wait(k_exchange_key | x, waiter);
      continue;
    }
    const NodeIndex missing = missing_send(x, graph_.participants[m], within);
    if (missing != k_none) return wait(missing, waiter);
  }
  if (!graph_.is_ghost(node) && others_.owe_demand(node)) {
    return wait(k_demand_key | node, waiter);
  }
  return true;
}

/// A send that `receive` still waits for; the last one in rank order, or k_none.
NodeIndex Scheduler::missing_send(std::uint32_t x, const match::Participant& receive,
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

bool Scheduler::wait(std::uint64_t key, std::uint32_t waiter) {
  if (key < k_exchange_key) awaited_[key] = true;
  std::uint32_t* head = waiters_.insert(key, k_none).first;
  waits_next_[waiter] = *head;
  *head = waiter;
  return false;
}

void Scheduler::wake(std::uint64_t key) {
  const std::uint32_t* head = waiters_.find(key);
  if (head == nullptr) return;
  std::uint32_t waiter = *head;
  waiters_.erase(key);
  while (waiter != k_none) {
    enqueue(waiter);
    waiter = std::exchange(waits_next_[waiter], k_none);
  }
}

void Scheduler::complete(NodeIndex node) {
  done_[node] = true;
  if (awaited_[node]) wake(node);
  for (const std::uint32_t m : incidence_.sends.of(node)) {
    const std::uint32_t x = incidence_.exchange_of[m];
    --exchanges_[x].pending;
    release(x);
  }
}

/// Emits the steps that a completed send participant allows.
void Scheduler::release(std::uint32_t x) {
  const match::Exchange& exchange = graph_.exchanges[x];
  if (exchange.ordered) return release_ordered(x);
  const std::uint32_t pending = exchanges_[x].pending;
  if (pending > 1) return;
  if (pending == 0) {
    const std::uint32_t first = exchange.first_receive;
    on_step_({Step::Kind::exchange, x, first, first + exchange.receive_count});
  } else {
    release_self(x);
  }
  wake(k_exchange_key | x);
}

void Scheduler::release_ordered(std::uint32_t x) {
  const match::Exchange& exchange = graph_.exchanges[x];
  ExchangeState& state = exchanges_[x];
  const auto sends = graph_.sends(exchange);
  const auto receives = graph_.receives(exchange);
  while (state.leading < sends.size() && done_[sends[state.leading].node]) ++state.leading;
  std::uint32_t ready = state.released;
  while (ready < receives.size() &&
         (state.leading == sends.size() || receives[ready].order <= sends[state.leading].order)) {
    ++ready;
  }
  if (ready == state.released) return;
  const std::uint32_t first = exchange.first_receive;
  on_step_({Step::Kind::exchange, x, first + state.released, first + ready});
  state.released = ready;
}

/// The last pending send participant may share its node with its own end.
void Scheduler::release_self(std::uint32_t x) {
  const match::Exchange& exchange = graph_.exchanges[x];
  for (const match::Participant& send : graph_.sends(exchange)) {
    if (done_[send.node]) continue;
    exchanges_[x].last = send.node;
    for (const std::uint32_t m : incidence_.receives.of(send.node)) {
      if (incidence_.exchange_of[m] == x) {
        on_step_({Step::Kind::exchange, x, m, m + 1});
      }
    }
  }
}

/// Handles a component when all its locations have come to it and nothing outside is missing.
bool Scheduler::try_tied(std::uint32_t c, LocationIndex location) {
  const std::vector<NodeIndex>& nodes = cycles_.tied[c].nodes;
  LocationIndex previous = k_none;
  for (const NodeIndex n : nodes) {
    const LocationIndex l = graph_.location_of(n);
    // A location that is not there yet calls again when it arrives.
    if (l != previous && cursor_[l] != n) return false;
    previous = l;
    if (!ready(n, location, c)) return false;
  }
  if (others_.owe_proposals(c)) return wait(k_proposal_key | c, location);
  on_step_({Step::Kind::tied, c, 0, 0});
  for (const NodeIndex n : nodes) cursor_[graph_.location_of(n)] = n + 1;
  for (const NodeIndex n : nodes) complete(n);
  for (const NodeIndex n : nodes) {
    const LocationIndex l = graph_.location_of(n);
    if (l != location && cursor_[l] == n + 1) enqueue(l);
  }
  return true;
}

/// Informs the owner of a tied ghost once nothing outside of its component is missing.
void Scheduler::try_tied_ghost(std::uint32_t waiter) {
  const NodeIndex ghost = tied_ghosts_[waiter - graph_.location_count()];
  if (ready(ghost, waiter, cycles_.tied_of[ghost])) others_.answer_tied(ghost);
}

}  // namespace entrain::clc
