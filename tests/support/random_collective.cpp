// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "support/random_world.hpp"

namespace entrain::test {

using trace::Event;
using trace::EventKind;
using trace::k_received;
using trace::k_sent;
namespace op = trace::op;

namespace {

bool one_to_n(std::uint8_t o) { return o == op::bcast || o == op::scatter || o == op::scatterv; }
bool n_to_one(std::uint8_t o) { return o == op::reduce || o == op::gather || o == op::gatherv; }
bool is_scan(std::uint8_t o) { return o == op::scan || o == op::exscan; }
bool totals_only(std::uint8_t o) { return o == op::alltoallv || o == op::alltoallw; }
bool may_be_zero(std::uint8_t o) {
  return o == op::gatherv || o == op::scatterv || o == op::allgatherv || totals_only(o) ||
         o == op::reduce_scatter;
}

}  // namespace

Collectives::Call Collectives::choose() {
  Rng& rng = world_.rng;
  Call call;
  if (!world_.inter_comms.empty() && rng.chance(0.3)) {
    call.comm = rng.pick(world_.inter_comms);
    call.inter = true;
  } else if (rng.chance(0.05)) {
    call.comm = world_.self_comm;
    call.members = {rng.pick(world_.master)};
  } else {
    call.comm = rng.pick(world_.mpi_comms);
  }
  const trace::Comm& comm = world_.definitions.comms[call.comm];
  if (!comm.self) {
    call.members = comm.group_a;
    call.first_b = call.members.size();
    call.members.insert(call.members.end(), comm.group_b.begin(), comm.group_b.end());
  }
  static constexpr std::uint8_t k_ops[] = {
      op::barrier,   op::bcast,     op::gather,     op::gatherv,        op::scatter,
      op::scatterv,  op::allgather, op::allgatherv, op::alltoall,       op::alltoallv,
      op::alltoallw, op::allreduce, op::reduce,     op::reduce_scatter, op::reduce_scatter_block,
      op::scan,      op::exscan};
  call.op = k_ops[rng.below(std::size(k_ops) - (call.inter ? 2 : 0))];
  call.root = rng.below(call.members.size());
  choose_flags(call);
  if (totals_only(call.op) && rng.chance(world_.plan.named_partners)) choose_partners(call);
  return call;
}

/// Who exchanges data with whom: everybody, blocks, a ring, or some. Now and then a call says
/// another thing than its partner, or nothing.
void Collectives::choose_partners(Call& call) {
  Rng& rng = world_.rng;
  const std::size_t size = call.members.size();
  const std::size_t pattern = rng.below(4), block = 1 + rng.below(4);
  const auto exchanges = [&](std::size_t s, std::size_t r) {
    if (call.inter && call.in_b(s) == call.in_b(r)) return false;
    if (pattern == 0) return true;
    if (pattern == 1) return s / block == r / block;
    return pattern == 2 ? (s + 1) % size == r : rng.chance(0.4);
  };
  call.names.assign(size, true);
  call.to.assign(size, std::vector<bool>(size));
  call.from = call.to;
  for (std::size_t s = 0; s < size; ++s) {
    for (std::size_t r = 0; r < size; ++r) call.to[s][r] = call.from[r][s] = exchanges(s, r);
    if (rng.chance(0.05)) call.names[s] = false;
  }
  while (rng.chance(0.1)) {
    const std::size_t liar = rng.below(size), other = rng.below(size);
    auto& lie = (rng.chance(0.5) ? call.to : call.from)[liar];
    if (!call.inter || call.in_b(liar) != call.in_b(other)) lie[other] = !lie[other];
  }
  for (std::size_t i = 0; i < size; ++i) {
    const auto any = [](const std::vector<bool>& row) {
      return std::find(row.begin(), row.end(), true) != row.end();
    };
    call.flags[i] = static_cast<std::uint8_t>((any(call.to[i]) ? k_sent : 0) |
                                              (any(call.from[i]) ? k_received : 0));
  }
}

/// Notes what the instance adds to the counters of the result.
void Collectives::count(const Call& call) {
  if (!totals_only(call.op) || call.members.size() < 2) return;
  const bool all = std::count(call.names.begin(), call.names.end(), true) ==
                   static_cast<std::ptrdiff_t>(call.members.size());
  if (!all) ++world_.result.alltoallv;
  for (std::size_t s = 0; s < call.names.size(); ++s) {
    for (std::size_t r = 0; r < call.names.size(); ++r) {
      if (s == r || !call.names[s] || !call.names[r]) continue;
      world_.result.contradicting += call.to[s][r] != call.from[r][s] ? 1 : 0;
    }
  }
}

void Collectives::choose_flags(Call& call) {
  Rng& rng = world_.rng;
  call.flags.assign(call.members.size(), 0);
  if (call.op == op::barrier || (rng.chance(0.03) && !may_be_zero(call.op))) return;
  const double zero = may_be_zero(call.op) ? 0.3 : 0;
  for (std::size_t i = 0; i < call.members.size(); ++i) {
    const bool rooted_here = i == call.root;
    const bool other_group = call.inter && call.in_b(i) != call.in_b(call.root);
    bool sends = true, receives = true;
    if (one_to_n(call.op)) {
      sends = rooted_here;
      receives = call.inter ? other_group : !rooted_here || rng.chance(0.5);
    } else if (n_to_one(call.op)) {
      receives = rooted_here;
      sends = call.inter ? other_group : true;
    }
    if (sends && !rng.chance(zero)) call.flags[i] |= k_sent;
    if (receives && !rng.chance(zero)) call.flags[i] |= k_received;
  }
}

EdgeKind Collectives::kind(const Call& call) const {
  if (one_to_n(call.op)) return EdgeKind::one_to_n;
  if (n_to_one(call.op)) return EdgeKind::n_to_one;
  return is_scan(call.op) ? EdgeKind::scan : EdgeKind::n_to_n;
}

/// All pairs (sender, receiver) of an instance, straight from the table of docs/method.md,
/// section 2.
std::vector<std::pair<std::size_t, std::size_t>> Collectives::pairs(const Call& call) const {
  std::vector<std::pair<std::size_t, std::size_t>> result;
  const bool dense = world_.plan.dense_alltoallv;
  if (totals_only(call.op) && call.names.empty() && !dense) return result;
  const auto sends = [&](std::size_t s, std::size_t r) {
    if (call.op == op::barrier) return true;
    const bool some = (call.flags[s] & k_sent) != 0;
    if (call.names.empty()) return some;
    return call.names[s] ? call.to[s][r] : dense && some;
  };
  const auto receives = [&](std::size_t r, std::size_t s) {
    if (call.op == op::barrier) return true;
    const bool some = (call.flags[r] & k_received) != 0;
    if (call.names.empty()) return some;
    return call.names[r] ? call.from[r][s] : dense && some;
  };
  for (std::size_t s = 0; s < call.members.size(); ++s) {
    for (std::size_t r = 0; r < call.members.size(); ++r) {
      if (s == r || (call.inter && call.in_b(s) == call.in_b(r))) continue;
      if (!sends(s, r) || !receives(r, s)) continue;
      if (one_to_n(call.op) && s != call.root) continue;
      if (n_to_one(call.op) && r != call.root) continue;
      if (is_scan(call.op) && s > r) continue;
      result.emplace_back(s, r);
    }
  }
  return result;
}

/// The position of the partners of a call in the definitions.
std::uint32_t Collectives::partners_of(const Call& call, std::size_t member) const {
  trace::Definitions& definitions = world_.definitions;
  const auto position = [&](const std::vector<bool>& row) {
    trace::RankSet set;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto rank = static_cast<std::uint32_t>(i - (call.in_b(i) ? call.first_b : 0));
      if (row[i]) set.add(rank, rank);
    }
    auto& sets = definitions.rank_sets;
    const auto known = std::find(sets.begin(), sets.end(), set);
    if (known == sets.end()) sets.push_back(set);
    return static_cast<std::uint32_t>(std::find(sets.begin(), sets.end(), set) - sets.begin());
  };
  const std::uint32_t to = position(call.to[member]), from = position(call.from[member]);
  definitions.partners.push_back({to, from});
  return static_cast<std::uint32_t>(definitions.partners.size() - 1);
}

Event Collectives::end_event(const Call& call, std::size_t member, bool blocking) const {
  Event event;
  event.kind = blocking ? EventKind::collective_end : EventKind::nb_complete;
  event.op = call.op;
  event.comm = call.comm;
  event.flags = call.flags[member];
  event.peer = trace::k_root_none;
  if (!call.names.empty() && call.names[member]) {
    event.flags |= trace::k_partners;
    event.peer = partners_of(call, member);
  }
  if (one_to_n(call.op) || n_to_one(call.op)) {
    if (!call.inter) {
      event.peer = static_cast<std::uint32_t>(call.root);
    } else if (call.in_b(member) != call.in_b(call.root)) {
      event.peer =
          static_cast<std::uint32_t>(call.root - (call.in_b(call.root) ? call.first_b : 0));
    } else {
      event.peer = member == call.root ? trace::k_root_self : trace::k_root_this_group;
    }
  }
  return event;
}

std::vector<TrueTime> Collectives::earliest_ends(const Instance& instance) {
  std::vector<TrueTime> earliest(instance.call.members.size(), 0);
  for (const auto& [s, r] : pairs(instance.call)) {
    const TrueTime arrival = world_.time(instance.begin[s]) +
                             world_.latency(instance.call.members[s], instance.call.members[r]);
    earliest[r] = std::max(earliest[r], arrival);
  }
  return earliest;
}

void Collectives::add_edges(Instance& instance) {
  for (const auto& [s, r] : pairs(instance.call)) {
    instance.edges.push_back(world_.edges.size());
    world_.edge(instance.begin[s], instance.end[r], kind(instance.call));
  }
}

void Collectives::blocking() {
  Instance instance{choose(), {}, {}, {}};
  const Call& call = instance.call;
  count(call);
  Event begin;
  begin.kind = EventKind::collective_begin;
  for (const LocationIndex member : call.members) {
    instance.begin.push_back(world_.append(member, begin));
  }
  const std::vector<TrueTime> earliest = earliest_ends(instance);
  for (std::size_t i = 0; i < call.members.size(); ++i) {
    instance.end.push_back(world_.append(call.members[i], end_event(call, i, true), earliest[i]));
  }
  add_edges(instance);
  instances_.push_back(std::move(instance));
}

void Collectives::nonblocking() {
  const LocationIndex some = world_.rng.pick(world_.master);
  if (!pending_[some].empty() && world_.rng.chance(0.7)) {
    complete(some, world_.rng.below(pending_[some].size()));
    return;
  }
  Instance instance{choose(), {}, {}, {}};
  const Call& call = instance.call;
  count(call);
  const std::size_t position = instances_.size();
  std::vector<std::uint64_t> ids;
  for (const LocationIndex member : call.members) {
    Event request;
    request.kind = EventKind::nb_request;
    request.id = next_id_++;
    ids.push_back(request.id);
    instance.begin.push_back(world_.append(member, request));
  }
  instance.end.resize(call.members.size());
  const std::vector<TrueTime> earliest = earliest_ends(instance);
  for (std::size_t i = 0; i < call.members.size(); ++i) {
    pending_[call.members[i]].push_back({position, i, ids[i], earliest[i]});
  }
  instances_.push_back(std::move(instance));
}

void Collectives::complete(LocationIndex location, std::size_t position) {
  const Pending pending = pending_[location][position];
  pending_[location].erase(pending_[location].begin() + static_cast<std::ptrdiff_t>(position));
  Instance& instance = instances_[pending.instance];
  Event event = end_event(instance.call, pending.member, false);
  event.id = pending.id;
  instance.end[pending.member] = world_.append(location, event, pending.earliest);
}

void Collectives::init_finalize(EventKind enter, EventKind leave) {
  std::vector<Ref> begin, end;
  Event event;
  event.kind = enter;
  for (const LocationIndex location : world_.master) {
    begin.push_back(world_.append(location, event));
  }
  event.kind = leave;
  for (const LocationIndex location : world_.master) {
    TrueTime earliest = 0;
    for (const Ref& ref : begin) {
      const TrueTime lag = ref.location == location ? 0 : world_.latency(ref.location, location);
      earliest = std::max(earliest, world_.time(ref) + lag);
    }
    end.push_back(world_.append(location, event, earliest));
  }
  for (const Ref& s : begin) {
    for (const Ref& r : end) world_.edge(s, r, EdgeKind::init_finalize);
  }
}

void Collectives::finish() {
  for (LocationIndex location = 0; location < pending_.size(); ++location) {
    while (!pending_[location].empty()) {
      complete(location, world_.rng.below(pending_[location].size()));
    }
  }
  for (Instance& instance : instances_) {
    if (instance.edges.empty()) add_edges(instance);
  }
  if (world_.plan.mismatched_collective) lose_record();
}

/// Deletes a member's record of an instance whose successor on the communicator differs, so that
/// the disagreement shows there; from there on the communicator has no edges.
void Collectives::lose_record() {
  std::map<CommIndex, std::vector<Instance*>> per_comm;
  for (Instance& instance : instances_) {
    if (world_.definitions.comms[instance.call.comm].self) continue;
    per_comm[instance.call.comm].push_back(&instance);
  }
  for (auto& [comm, list] : per_comm) {
    for (std::size_t k = 0; k + 1 < list.size(); ++k) {
      if (list[k]->call.op == list[k + 1]->call.op || list[k]->call.members.size() < 2) continue;
      const std::size_t member = world_.rng.below(list[k]->call.members.size());
      world_.erase(list[k]->begin[member]);
      world_.erase(list[k]->end[member]);
      for (std::size_t i = k; i < list.size(); ++i) {
        for (const std::size_t edge : list[i]->edges) world_.edges[edge].deleted = true;
      }
      world_.result.collectives_dropped = true;
      return;
    }
  }
}

void Collectives::rma() {
  switch (world_.rng.below(3)) {
    case 0:
      fence();
      break;
    case 1:
      post_start_complete_wait();
      break;
    default:
      notify();
  }
}

void Collectives::fence() {
  constexpr std::uint32_t k_process = 1, k_memory = 2;
  const auto window =
      static_cast<std::uint32_t>(world_.rng.below(world_.definitions.windows.size()));
  const auto& ranks = world_.definitions.comms[world_.definitions.windows[window].comm].group_a;
  const bool synchronises = world_.rng.chance(0.7);
  std::vector<Ref> begin, end;
  Event event;
  event.kind = EventKind::rma_collective_begin;
  for (const LocationIndex location : ranks) begin.push_back(world_.append(location, event));
  event.kind = EventKind::rma_collective_end;
  event.op = op::barrier;
  event.comm = window;
  event.peer = trace::k_root_none;
  event.tag = synchronises ? k_process | k_memory : k_memory;
  for (const LocationIndex location : ranks) {
    TrueTime earliest = 0;
    for (const Ref& ref : begin) {
      if (!synchronises || ref.location == location) continue;
      earliest = std::max(earliest, world_.time(ref) + world_.latency(ref.location, location));
    }
    end.push_back(world_.append(location, event, earliest));
  }
  if (!synchronises) return;
  for (const Ref& s : begin) {
    for (const Ref& r : end) world_.edge(s, r, EdgeKind::rma);
  }
}

/// One target, some origins: post -> every start, every complete -> wait.
void Collectives::post_start_complete_wait() {
  if (world_.master.size() < 2) return;
  std::vector<LocationIndex> origins = world_.master;
  world_.rng.shuffle(origins);
  const LocationIndex target = origins.back();
  origins.pop_back();
  origins.resize(1 + world_.rng.below(origins.size()));
  auto& groups = world_.definitions.groups;
  const auto group_of = [&](std::vector<LocationIndex> members) {
    groups.push_back({static_cast<std::uint32_t>(groups.size() + 50), std::move(members)});
    return static_cast<std::uint32_t>(groups.size() - 1);
  };
  const std::uint32_t of_origins = group_of(origins), of_target = group_of({target});

  Event event;
  event.kind = EventKind::rma_group_sync;
  event.comm = 0;
  event.tag = 1;  // synchronises processes, as Score-P writes it
  const auto sync = [&](LocationIndex location, trace::RmaGroupRole role, TrueTime earliest) {
    event.op = static_cast<std::uint8_t>(role);
    event.peer = location == target ? of_origins : of_target;
    return world_.append(location, event, earliest);
  };
  const Ref post = sync(target, trace::RmaGroupRole::post, 0);
  TrueTime all_complete = 0;
  std::vector<Ref> completes;
  for (const LocationIndex origin : origins) {
    const Ref start = sync(origin, trace::RmaGroupRole::start,
                           world_.time(post) + world_.latency(target, origin));
    world_.edge(post, start, EdgeKind::rma);
    completes.push_back(sync(origin, trace::RmaGroupRole::complete, 0));
    all_complete =
        std::max(all_complete, world_.time(completes.back()) + world_.latency(origin, target));
  }
  const Ref wait = sync(target, trace::RmaGroupRole::wait, all_complete);
  for (const Ref& complete : completes) world_.edge(complete, wait, EdgeKind::rma);
}

void Collectives::notify() {
  if (world_.master.size() < 2) return;
  constexpr std::uint8_t k_notify_in = 1, k_notify_out = 2;
  const auto from = static_cast<std::uint32_t>(world_.rng.below(world_.master.size()));
  auto to = static_cast<std::uint32_t>(world_.rng.below(world_.master.size()));
  if (to == from) to = (to + 1) % static_cast<std::uint32_t>(world_.master.size());
  const LocationIndex s = world_.master[from], r = world_.master[to];
  Event event;
  event.kind = EventKind::rma_notify;
  event.comm = 0;
  event.op = k_notify_out;
  event.peer = to;
  const Ref out = world_.append(s, event);
  event.op = k_notify_in;
  event.peer = from;
  world_.edge(out, world_.append(r, event, world_.time(out) + world_.latency(s, r)), EdgeKind::rma);
}

}  // namespace entrain::test
