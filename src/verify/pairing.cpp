// SPDX-License-Identifier: BSD-3-Clause
#include "verify/pairing.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "verify/records.hpp"

namespace entrain::verify {

using trace::EventKind;

namespace {

/// The first event of a kind in every process: MPI is initialised and finalized once.
std::vector<Participant> first_per_process(const trace::Trace& trace, const ProcessOrder& order,
                                           EventKind kind) {
  struct Candidate {
    std::uint32_t process;
    std::uint32_t order;
    EventRef event;
  };
  std::vector<Candidate> found;
  for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
    const auto& events = trace.locations[l].events;
    for (std::uint32_t e = 0; e < events.size(); ++e) {
      if (events[e].kind != kind) continue;
      found.push_back({trace.definitions.process_of[l], order(l, e), {l, e}});
      break;
    }
  }
  std::sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return std::tuple(a.process, a.order) < std::tuple(b.process, b.order);
  });
  std::vector<Participant> first;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i == 0 || found[i].process != found[i - 1].process) first.push_back({found[i].event, 0});
  }
  return first;
}

void pair_world(const trace::Trace& trace, const ProcessOrder& order, Pairing& out) {
  for (const auto& [enter, leave] :
       {std::pair(EventKind::init_enter, EventKind::init_leave),
        std::pair(EventKind::finalize_enter, EventKind::finalize_leave)}) {
    auto enters = first_per_process(trace, order, enter);
    auto leaves = first_per_process(trace, order, leave);
    out.add_instance(EdgeKind::init_finalize, false, enters, leaves);
  }
}

}  // namespace

void Pairing::add_pair(EventRef send, EventRef receive, EdgeKind kind) {
  if (send.location != receive.location) pairs.push_back({send, receive, kind});
}

void Pairing::add_instance(EdgeKind kind, bool ordered, std::vector<Participant>& sends,
                           std::vector<Participant>& receives) {
  if (sends.empty() || receives.empty()) return;
  const auto before = [ordered](const Participant& a, const Participant& b) {
    return ordered ? a.rank < b.rank : a.event.location < b.event.location;
  };
  const std::size_t first = participants.size();
  for (auto* side : {&sends, &receives}) {
    if (!std::is_sorted(side->begin(), side->end(), before)) {
      std::stable_sort(side->begin(), side->end(), before);
    }
    participants.insert(participants.end(), side->begin(), side->end());
  }
  instances.push_back({kind, ordered, static_cast<std::uint32_t>(sends.size()),
                       static_cast<std::uint32_t>(receives.size()), first});
}

Pairing pair_events(const trace::Trace& trace, AlltoallvRule alltoallv, PairingScope scope) {
  Pairing out;
  const ProcessOrder order(trace);
  const bool everything = scope == PairingScope::everything;
  std::vector<Call> calls, rma_calls;
  {
    MessagePairing messages(trace);
    for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
      const Requests requests = link_requests(trace.locations[l].events);
      messages.collect(l, requests, order, out);
      if (!everything) continue;
      collect_calls(trace, l, requests, order, CallFamily::mpi, calls, out.unmatched);
      collect_calls(trace, l, requests, order, CallFamily::rma, rma_calls, out.unmatched);
    }
    messages.pair(out);
  }
  if (!everything) return out;
  pair_calls(trace, std::move(calls), CallFamily::mpi, alltoallv, out);
  pair_calls(trace, std::move(rma_calls), CallFamily::rma, alltoallv, out);
  pair_rma_syncs(trace, order, out);
  pair_threads(trace, order, out);
  pair_world(trace, order, out);
  return out;
}

}  // namespace entrain::verify
