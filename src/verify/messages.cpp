// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <tuple>

#include "verify/records.hpp"

namespace entrain::verify {

using trace::Event;
using trace::EventKind;

namespace {

/// What the two ends of a message have in common.
auto key(const Post& post) { return std::tuple(post.sender, post.receiver, post.comm, post.tag); }

bool posted_before(const Post& a, const Post& b) {
  return std::tuple_cat(key(a), std::tuple(a.order)) < std::tuple_cat(key(b), std::tuple(b.order));
}

}  // namespace

Leftover pair_posts(std::vector<Post>& sends, std::vector<Post>& receives, EdgeKind kind,
                    Pairing& out) {
  std::sort(sends.begin(), sends.end(), posted_before);
  std::sort(receives.begin(), receives.end(), posted_before);
  Leftover left;
  auto send = sends.begin();
  auto receive = receives.begin();
  // Both lists hold runs of equal keys; inside a run the k-th meets the k-th, so advancing both
  // by one on equality pairs them, and whichever run is longer drops out as smaller key.
  while (send != sends.end() && receive != receives.end()) {
    if (key(*send) < key(*receive)) {
      ++left.sends;
      ++send;
    } else if (key(*receive) < key(*send)) {
      ++left.receives;
      ++receive;
    } else {
      out.add_pair((send++)->event, (receive++)->event, kind);
    }
  }
  left.sends += static_cast<std::uint64_t>(sends.end() - send);
  left.receives += static_cast<std::uint64_t>(receives.end() - receive);
  return left;
}

MessagePairing::MessagePairing(const trace::Trace& trace)
    : trace_(&trace), inter_(trace.definitions.comms.size()) {}

std::uint32_t MessagePairing::peer_process(std::uint32_t comm, std::uint32_t own,
                                           std::uint32_t rank) {
  const trace::Definitions& definitions = trace_->definitions;
  if (comm >= definitions.comms.size()) return k_none;
  const trace::Comm& named = definitions.comms[comm];
  if (named.self) return own;
  if (!named.inter) {
    const LocationIndex peer = rank < named.group_a.size() ? named.group_a[rank] : k_none;
    return peer < definitions.process_of.size() ? definitions.process_of[peer] : k_none;
  }
  auto& members = inter_[comm];
  if (!members) members.emplace(definitions, named);
  const auto seat = members->seat_of(own);
  return seat ? members->process_at(1 - seat->group, rank) : k_none;
}

void MessagePairing::collect(LocationIndex location, const Requests& requests,
                             const ProcessOrder& order, Pairing& out) {
  const auto& events = trace_->locations[location].events;
  const std::uint32_t own = trace_->definitions.process_of[location];
  out.skipped.cancelled_sends += requests.cancelled_sends;
  out.skipped.cancelled_receives += requests.cancelled_receives;
  for (std::uint32_t e = 0; e < events.size(); ++e) {
    const Event& event = events[e];
    const bool send = event.kind == EventKind::send || event.kind == EventKind::isend;
    if (!send && event.kind != EventKind::recv && event.kind != EventKind::irecv) continue;
    const std::uint32_t origin = requests.origin[e];
    if (origin == k_none) continue;  // cancelled
    const std::uint32_t peer = peer_process(event.comm, own, event.peer);
    if (peer == k_none) {
      ++(send ? out.unmatched.sends : out.unmatched.receives);
    } else if (send) {
      sends_.push_back({own, peer, event.comm, event.tag, order(location, e), {location, e}});
    } else {
      receives_.push_back(
          {peer, own, event.comm, event.tag, order(location, origin), {location, e}});
    }
  }
}

void MessagePairing::pair(Pairing& out) {
  const Leftover left = pair_posts(sends_, receives_, EdgeKind::p2p, out);
  out.unmatched.sends += left.sends;
  out.unmatched.receives += left.receives;
}

}  // namespace entrain::verify
