// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "verify/records.hpp"

namespace entrain::verify {

using trace::Event;
using trace::EventKind;
using trace::RmaGroupRole;

namespace {

constexpr std::uint32_t k_process_sync = 1;  // OTF2_RMA_SYNC_LEVEL_PROCESS
constexpr std::uint8_t k_notify_in = 1;      // OTF2_RMA_SYNC_TYPE_NOTIFY_IN
constexpr std::uint8_t k_notify_out = 2;     // OTF2_RMA_SYNC_TYPE_NOTIFY_OUT

// The two synchronisations of an epoch must not be mixed up: they get tags of their own.
constexpr std::uint32_t k_tag_open = 0;   // post -> start
constexpr std::uint32_t k_tag_close = 1;  // complete -> wait

struct Posts {
  std::vector<Post> sends, receives;

  void add(bool send, std::uint32_t own, std::uint32_t peer, std::uint32_t window,
           std::uint32_t tag, std::uint32_t order, EventRef event) {
    if (send) {
      sends.push_back({own, peer, window, tag, order, event});
    } else {
      receives.push_back({peer, own, window, tag, order, event});
    }
  }
};

/// Processes of a group, each once: a process with several locations is one partner.
std::vector<std::uint32_t> processes_of(const trace::Definitions& definitions,
                                        std::uint32_t group) {
  std::vector<std::uint32_t> processes;
  if (group >= definitions.groups.size()) return processes;
  for (const LocationIndex member : definitions.groups[group].members) {
    if (member < definitions.process_of.size()) {
      processes.push_back(definitions.process_of[member]);
    }
  }
  std::sort(processes.begin(), processes.end());
  processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
  return processes;
}

void collect_group_sync(const trace::Definitions& definitions, const Event& event, EventRef ref,
                        std::uint32_t order, Posts& posts, Skipped& skipped) {
  const auto role = static_cast<RmaGroupRole>(event.op);
  const bool known = role >= RmaGroupRole::post && role <= RmaGroupRole::wait;
  if (!known || (event.tag & k_process_sync) == 0) {
    ++skipped.rma_group_sync;
    return;
  }
  const bool send = role == RmaGroupRole::post || role == RmaGroupRole::complete;
  const bool open = role == RmaGroupRole::post || role == RmaGroupRole::start;
  const std::uint32_t own = definitions.process_of[ref.location];
  for (const std::uint32_t peer : processes_of(definitions, event.peer)) {
    posts.add(send, own, peer, event.comm, open ? k_tag_open : k_tag_close, order, ref);
  }
}

void collect_notify(const trace::Definitions& definitions, const Event& event, EventRef ref,
                    std::uint32_t order, Posts& posts, Unmatched& unmatched) {
  if (event.op != k_notify_in && event.op != k_notify_out) return;
  const std::uint32_t own = definitions.process_of[ref.location];
  const std::uint32_t comm =
      event.comm < definitions.windows.size() ? definitions.windows[event.comm].comm : k_none;
  std::uint32_t peer = k_none;
  if (comm < definitions.comms.size()) {
    const auto& members = definitions.comms[comm].group_a;
    const LocationIndex location = event.peer < members.size() ? members[event.peer] : k_none;
    if (location < definitions.process_of.size()) peer = definitions.process_of[location];
  }
  if (peer == k_none) {
    ++unmatched.rma_notify;
  } else {
    posts.add(event.op == k_notify_out, own, peer, event.comm, 0, order, ref);
  }
}

}  // namespace

void pair_rma_syncs(const trace::Trace& trace, const ProcessOrder& order, Pairing& out) {
  Posts groups, notifications;
  for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
    const auto& events = trace.locations[l].events;
    for (std::uint32_t e = 0; e < events.size(); ++e) {
      if (events[e].kind == EventKind::rma_group_sync) {
        collect_group_sync(trace.definitions, events[e], {l, e}, order(l, e), groups, out.skipped);
      } else if (events[e].kind == EventKind::rma_notify) {
        collect_notify(trace.definitions, events[e], {l, e}, order(l, e), notifications,
                       out.unmatched);
      } else if (events[e].kind == EventKind::rma_lock) {
        ++out.skipped.rma_locks;
      }
    }
  }
  const Leftover of_groups = pair_posts(groups.sends, groups.receives, EdgeKind::rma, out);
  out.unmatched.rma_group_sync += of_groups.sends + of_groups.receives;
  const Leftover of_notifications =
      pair_posts(notifications.sends, notifications.receives, EdgeKind::rma, out);
  out.unmatched.rma_notify += of_notifications.sends + of_notifications.receives;
}

}  // namespace entrain::verify
