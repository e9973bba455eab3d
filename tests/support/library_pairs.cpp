// SPDX-License-Identifier: BSD-3-Clause
#include "support/library_pairs.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace entrain::test {

using trace::Event;
using trace::EventKind;
using trace::RmaGroupRole;
namespace op = trace::op;

namespace {

constexpr std::uint32_t k_process_level = 1;

/// Group (0 or 1) of a process in a communicator, and its rank there.
std::optional<std::pair<int, std::uint32_t>> seat(const std::vector<std::uint32_t>& a,
                                                  const std::vector<std::uint32_t>& b,
                                                  std::uint32_t process) {
  const auto in_a = std::find(a.begin(), a.end(), process);
  if (in_a != a.end()) return std::pair(0, static_cast<std::uint32_t>(in_a - a.begin()));
  const auto in_b = std::find(b.begin(), b.end(), process);
  if (in_b != b.end()) return std::pair(1, static_cast<std::uint32_t>(in_b - b.begin()));
  return std::nullopt;
}

bool from_root(std::uint8_t o) { return o == op::bcast || o == op::scatter || o == op::scatterv; }
bool to_root(std::uint8_t o) { return o == op::gather || o == op::gatherv || o == op::reduce; }
bool is_scan(std::uint8_t o) { return o == op::scan || o == op::exscan; }

}  // namespace

LibraryPairs::LibraryPairs(trace::Trace trace, bool dense_alltoallv)
    : stored(std::move(trace)), dense_(dense_alltoallv) {
  messages_and_calls();
  one_sided();
  world();
  teams();
  thread_operations();
}

std::vector<std::uint32_t> LibraryPairs::processes(const std::vector<LocationIndex>& l) const {
  std::vector<std::uint32_t> result;
  for (const LocationIndex location : l) result.push_back(process(location));
  return result;
}

void LibraryPairs::add(LibraryEvent send, LibraryEvent receive, EdgeKind kind) {
  if (send.location != receive.location) pairs.push_back({send, receive, kind});
}

/// The k-th of the one side and the k-th of the other belong together.
void LibraryPairs::match(const std::map<Key, Ends>& sends, const std::map<Key, Ends>& receives,
                         EdgeKind kind) {
  for (const auto& [key, sent] : sends) {
    const auto received = receives.find(key);
    if (received == receives.end()) continue;
    auto r = received->second.begin();
    for (auto s = sent.begin(); s != sent.end() && r != received->second.end(); ++s, ++r) {
      add(s->second, r->second, kind);
    }
  }
}

/// The process at the other side of a message; k_none: nobody.
std::uint32_t LibraryPairs::peer(LibraryEvent e) const {
  const Event& event = at(e);
  if (event.comm >= stored.definitions.comms.size()) return k_none;
  const trace::Comm& comm = stored.definitions.comms[event.comm];
  const std::uint32_t own = process(e.location);
  if (comm.self) return own;
  const auto a = processes(comm.group_a), b = processes(comm.group_b);
  if (!comm.inter) return event.peer < a.size() ? a[event.peer] : k_none;
  const auto own_seat = seat(a, b, own);
  if (!own_seat) return k_none;
  const auto& others = own_seat->first == 0 ? b : a;
  return event.peer < others.size() ? others[event.peer] : k_none;
}

/// Follows the requests of every location; messages go by posting order, calls by their begins.
void LibraryPairs::messages_and_calls() {
  std::map<Key, Ends> sends, receives;
  Calls calls, rma_calls;
  for (LocationIndex l = 0; l < stored.locations.size(); ++l) {
    std::map<std::uint64_t, LibraryEvent> open;  // by request
    LibraryEvent begin, rma_begin;
    const std::uint32_t own = process(l);
    const auto opened = [&](std::uint64_t id, EventKind kind) {
      const auto found = open.find(id);
      return found != open.end() && at(found->second).kind == kind;
    };
    const auto message = [&](LibraryEvent e, LibraryEvent posted, bool send) {
      const std::uint32_t other = peer(e);
      if (other == k_none) return;
      const Event& event = at(e);
      if (send) {
        sends[{own, other, event.comm, event.tag, 0}][order(posted)] = e;
      } else {
        receives[{other, own, event.comm, event.tag, 0}][order(posted)] = e;
      }
    };
    const auto call = [&](Calls& to, LibraryEvent from, LibraryEvent e) {
      const Order place = order(from.location == k_none ? e : from);
      to[at(e).comm][own][place] = {from, e};
    };
    for (std::uint32_t e = 0; e < stored.locations[l].events.size(); ++e) {
      const LibraryEvent here{l, e};
      const Event& event = at(here);
      switch (event.kind) {
        case EventKind::send:
          message(here, here, true);
          break;
        case EventKind::isend:
          message(here, here, true);
          open[event.id] = here;
          break;
        case EventKind::recv:
          message(here, here, false);
          break;
        case EventKind::irecv_request:
        case EventKind::nb_request:
          open[event.id] = here;
          break;
        case EventKind::irecv:
          if (opened(event.id, EventKind::irecv_request)) {
            message(here, open[event.id], false);
            open.erase(event.id);
          } else {
            message(here, here, false);
          }
          break;
        case EventKind::request_cancelled:
          if (opened(event.id, EventKind::isend)) {
            const LibraryEvent sent = open[event.id];
            for (auto& [key, ends] : sends) ends.erase(order(sent));
          }
          open.erase(event.id);
          break;
        case EventKind::nb_complete:
          call(calls, opened(event.id, EventKind::nb_request) ? open[event.id] : LibraryEvent{},
               here);
          open.erase(event.id);
          break;
        case EventKind::collective_begin:
          begin = here;
          break;
        case EventKind::collective_end:
          call(calls, std::exchange(begin, {}), here);
          break;
        case EventKind::rma_collective_begin:
          rma_begin = here;
          break;
        case EventKind::rma_collective_end:
          call(rma_calls, std::exchange(rma_begin, {}), here);
          break;
        default:
          break;
      }
    }
  }
  match(sends, receives, EdgeKind::p2p);
  instances(calls, false);
  instances(rma_calls, true);
}

void LibraryPairs::instances(const Calls& calls, bool rma) {
  const trace::Definitions& definitions = stored.definitions;
  for (const auto& [space, by_process] : calls) {
    std::uint32_t id = space;
    if (rma) id = space < definitions.windows.size() ? definitions.windows[space].comm : k_none;
    if (id >= definitions.comms.size() || definitions.comms[id].self) continue;
    const trace::Comm& comm = definitions.comms[id];
    const auto a = processes(comm.group_a), b = processes(comm.group_b);
    std::map<std::uint32_t, std::vector<Call>> columns;
    std::size_t shortest = ~std::size_t{0};
    for (const auto& [caller, ordered] : by_process) {
      if (!seat(a, b, caller)) continue;
      for (const auto& [place, call] : ordered) columns[caller].push_back(call);
      shortest = std::min(shortest, ordered.size());
    }
    if (columns.empty()) continue;
    for (std::size_t k = 0; k < shortest; ++k) {
      std::vector<std::pair<std::uint32_t, Call>> row;
      for (const auto& [caller, column] : columns) row.emplace_back(caller, column[k]);
      if (!agree(row, comm, rma)) break;
      instance(row, comm, rma);
    }
  }
}

/// The root that a call names: group, and process or k_none for "somebody there".
bool LibraryPairs::agree(const std::vector<std::pair<std::uint32_t, Call>>& calls,
                         const trace::Comm& comm, bool /*rma*/) const {
  const auto a = processes(comm.group_a), b = processes(comm.group_b);
  std::set<std::pair<std::uint8_t, EventKind>> operations;
  std::set<int> root_groups;
  std::set<std::uint32_t> roots;
  for (const auto& [caller, call] : calls) {
    const Event& end = at(call.end);
    operations.insert({end.op, end.kind});
    if (!from_root(end.op) && !to_root(end.op)) continue;
    const auto [group, rank] = *seat(a, b, caller);
    if (end.peer == trace::k_root_self) {
      root_groups.insert(group);
      roots.insert(caller);
    } else if (!comm.inter) {
      root_groups.insert(0);
      roots.insert(end.peer < a.size() ? a[end.peer] : k_none);
    } else if (end.peer == trace::k_root_this_group) {
      root_groups.insert(group);
    } else {
      const auto& others = group == 0 ? b : a;
      root_groups.insert(1 - group);
      roots.insert(end.peer < others.size() ? others[end.peer] : k_none);
    }
  }
  return operations.size() == 1 && root_groups.size() <= 1 && roots.size() <= 1;
}

/// Every pair of one instance.
void LibraryPairs::instance(const std::vector<std::pair<std::uint32_t, Call>>& calls,
                            const trace::Comm& comm, bool rma) {
  const auto a = processes(comm.group_a), b = processes(comm.group_b);
  const std::uint8_t operation = at(calls.front().second.end).op;
  if (operation >= op::create_handle && !rma) return;
  if ((operation == op::alltoallv || operation == op::alltoallw) && !dense_) return;
  if (is_scan(operation) && comm.inter) return;
  std::set<std::uint32_t> roots;
  for (const auto& [caller, call] : calls) {
    const Event& end = at(call.end);
    if (rma && (end.tag & k_process_level) == 0) return;
    const auto& others = !comm.inter || seat(a, b, caller)->first == 1 ? a : b;
    if (end.peer == trace::k_root_self) roots.insert(caller);
    if (end.peer < others.size()) roots.insert(others[end.peer]);
  }
  const bool everybody = operation == op::barrier || operation >= op::create_handle;
  const EdgeKind kind = rma                    ? EdgeKind::rma
                        : from_root(operation) ? EdgeKind::one_to_n
                        : to_root(operation)   ? EdgeKind::n_to_one
                        : is_scan(operation)   ? EdgeKind::scan
                                               : EdgeKind::n_to_n;
  for (const auto& [sender, sent] : calls) {
    for (const auto& [receiver, received] : calls) {
      if (sent.begin.location == k_none || received.begin.location == k_none) continue;
      const auto [from_group, from_rank] = *seat(a, b, sender);
      const auto [to_group, to_rank] = *seat(a, b, receiver);
      if (comm.inter && from_group == to_group) continue;
      if (!everybody && (at(sent.end).flags & trace::k_sent) == 0) continue;
      if (!everybody && (at(received.end).flags & trace::k_received) == 0) continue;
      if (from_root(operation) && !roots.contains(sender)) continue;
      if (to_root(operation) && !roots.contains(receiver)) continue;
      if (is_scan(operation) && from_rank >= to_rank) continue;
      add(sent.begin, received.end, kind);
    }
  }
}

/// Post-start-complete-wait, and notifications.
void LibraryPairs::one_sided() {
  const trace::Definitions& definitions = stored.definitions;
  std::map<Key, Ends> sends, receives;
  for (LocationIndex l = 0; l < stored.locations.size(); ++l) {
    const std::uint32_t own = process(l);
    for (std::uint32_t e = 0; e < stored.locations[l].events.size(); ++e) {
      const LibraryEvent here{l, e};
      const Event& event = at(here);
      const auto note = [&](std::uint32_t other, bool send, std::uint32_t what) {
        auto& side = send ? sends : receives;
        side[{send ? own : other, send ? other : own, event.comm, what, 0}][order(here)] = here;
      };
      if (event.kind == EventKind::rma_group_sync && (event.tag & k_process_level) != 0) {
        const auto role = static_cast<RmaGroupRole>(event.op);
        if (role == RmaGroupRole::unknown || event.peer >= definitions.groups.size()) continue;
        const auto partners = processes(definitions.groups[event.peer].members);
        for (const std::uint32_t other : std::set(partners.begin(), partners.end())) {
          if (other == k_none) continue;
          note(other, role == RmaGroupRole::post || role == RmaGroupRole::complete,
               role == RmaGroupRole::post || role == RmaGroupRole::start ? 1 : 2);
        }
      } else if (event.kind == EventKind::rma_notify && (event.op == 1 || event.op == 2) &&
                 event.comm < definitions.windows.size()) {
        const std::uint32_t comm = definitions.windows[event.comm].comm;
        if (comm >= definitions.comms.size()) continue;
        const auto& members = definitions.comms[comm].group_a;
        if (event.peer < members.size()) note(process(members[event.peer]), event.op == 2, 3);
      }
    }
  }
  match(sends, receives, EdgeKind::rma);
}

/// The first MPI_Init and MPI_Finalize of every process.
void LibraryPairs::world() {
  for (const auto& [enter, leave] :
       {std::pair(EventKind::init_enter, EventKind::init_leave),
        std::pair(EventKind::finalize_enter, EventKind::finalize_leave)}) {
    std::map<std::uint32_t, Ends> enters, leaves;  // by process
    for (LocationIndex l = 0; l < stored.locations.size(); ++l) {
      for (std::uint32_t e = 0; e < stored.locations[l].events.size(); ++e) {
        const LibraryEvent here{l, e};
        if (at(here).kind == enter) enters[process(l)][order(here)] = here;
        if (at(here).kind == leave) leaves[process(l)][order(here)] = here;
      }
    }
    for (const auto& [p, in] : enters) {
      for (const auto& [q, out] : leaves) {
        add(in.begin()->second, out.begin()->second, EdgeKind::init_finalize);
      }
    }
  }
}

}  // namespace entrain::test
