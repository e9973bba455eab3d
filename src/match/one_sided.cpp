// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <tuple>

#include "match/calls.hpp"

namespace entrain::match {

namespace {

using trace::Event;
using trace::EventKind;
using trace::RmaGroupRole;

constexpr std::uint32_t k_level_process = 1;  ///< OTF2_RMA_SYNC_LEVEL_PROCESS
constexpr std::uint8_t k_notify_in = 1, k_notify_out = 2;

/// Synchronisation through windows.
class OneSidedMatcher {
 public:
  explicit OneSidedMatcher(Builder& builder) : builder_(builder) {}

  void collect(std::uint32_t process) {
    std::vector<EventRef> refs;
    const std::size_t first_call = calls_.size();
    for (const LocationIndex location : builder_.processes()[process]) {
      collect_location(process, location, refs);
    }
    if (builder_.processes()[process].size() > 1) {
      builder_.sort_as_process(refs);
      std::stable_sort(calls_.begin() + static_cast<std::ptrdiff_t>(first_call), calls_.end(),
                       [&](const Call& a, const Call& b) {
                         return builder_.event(a.place()).time < builder_.event(b.place()).time;
                       });
    }
    for (const EventRef ref : refs) synchronise(process, ref);
  }

  void finish() {
    const auto& windows = builder_.definitions().windows;
    const CallTable table(std::move(calls_), windows.size());
    for (std::uint32_t w = 0; w < windows.size(); ++w) {
      if (windows[w].comm == k_none) continue;
      match_instances(builder_, table, w, builder_.definitions().comms[windows[w].comm], true);
    }
    for (const auto& [key, pairs] : pairs_) {
      const std::size_t both = std::min(pairs.sources.size(), pairs.targets.size());
      for (std::size_t k = 0; k < both; ++k) {
        builder_.add_edge(EdgeKind::rma, pairs.sources[k], pairs.targets[k]);
      }
      builder_.count_unmatched("rma_synchronisations",
                               pairs.sources.size() + pairs.targets.size() - 2 * both);
    }
    builder_.count_skipped("rma_group_sync", group_syncs_);
    builder_.count_skipped("rma_locks", locks_);
  }

 private:
  enum class Relation : std::uint8_t { post_start, complete_wait, notify };
  /// k-th source belongs to k-th target.
  struct Pairs {
    std::vector<EventRef> sources, targets;
  };
  using PairKey = std::tuple<std::uint32_t, Relation, std::uint32_t, std::uint32_t>;

  void collect_location(std::uint32_t process, LocationIndex location,
                        std::vector<EventRef>& refs) {
    const auto events = builder_.events(location);
    std::uint32_t begun = k_none;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      switch (events[i].kind) {
        case EventKind::rma_collective_begin: begun = i; break;
        case EventKind::rma_collective_end:
          add_call(process, begun == k_none ? EventRef() : EventRef{location, begun}, {location, i});
          begun = k_none;
          break;
        case EventKind::rma_group_sync:
        case EventKind::rma_notify: refs.push_back({location, i}); break;
        case EventKind::rma_lock: ++locks_; break;
        default: break;
      }
    }
  }

  void add_call(std::uint32_t process, EventRef begin, EventRef end) {
    const Event& event = builder_.event(end);
    if (begin.location == k_none) builder_.count_unmatched("rma_ends_without_begin");
    Call call;
    call.synchronises = (event.tag & k_level_process) != 0;
    call.begin = begin;
    call.end = end;
    call.team = event.comm;
    call.process = process;
    call.root = event.peer == trace::k_root_none ? k_none : peer_of(event.comm, process, event.peer);
    call.op = event.op;
    call.sent = (event.flags & trace::k_sent) != 0;
    call.received = (event.flags & trace::k_received) != 0;
    calls_.push_back(call);
  }

  [[nodiscard]] std::uint32_t peer_of(std::uint32_t window, std::uint32_t process,
                                      std::uint32_t rank) const {
    if (window == k_none) return k_none;
    return builder_.process_of_peer(builder_.definitions().windows[window].comm, process, rank);
  }

  void synchronise(std::uint32_t process, EventRef ref) {
    const Event& event = builder_.event(ref);
    if (event.kind == EventKind::rma_notify) {
      const std::uint32_t peer = peer_of(event.comm, process, event.peer);
      if (peer == k_none) return;
      if (event.op == k_notify_out) {
        pairs_[{event.comm, Relation::notify, process, peer}].sources.push_back(ref);
      } else if (event.op == k_notify_in) {
        pairs_[{event.comm, Relation::notify, peer, process}].targets.push_back(ref);
      }
      return;
    }
    group_sync(process, ref);
  }

  /// Post precedes start, complete precedes wait, between every two members that name each other.
  void group_sync(std::uint32_t process, EventRef ref) {
    const Event& event = builder_.event(ref);
    const auto role = static_cast<RmaGroupRole>(event.op);
    if (role == RmaGroupRole::unknown || event.peer == k_none ||
        (event.tag & k_level_process) == 0) {
      ++group_syncs_;
      return;
    }
    const bool source = role == RmaGroupRole::post || role == RmaGroupRole::complete;
    const Relation relation = role == RmaGroupRole::post || role == RmaGroupRole::start
                                  ? Relation::post_start
                                  : Relation::complete_wait;
    for (const LocationIndex member : builder_.definitions().groups[event.peer].members) {
      if (member == k_none) continue;
      const std::uint32_t peer = builder_.process_of(member);
      if (source) {
        pairs_[{event.comm, relation, process, peer}].sources.push_back(ref);
      } else {
        pairs_[{event.comm, relation, peer, process}].targets.push_back(ref);
      }
    }
  }

  Builder& builder_;
  std::vector<Call> calls_;
  std::map<PairKey, Pairs> pairs_;
  std::uint64_t group_syncs_ = 0, locks_ = 0;
};

}  // namespace

void match_one_sided(Builder& builder) {
  OneSidedMatcher matcher(builder);
  for (std::uint32_t p = 0; p < builder.processes().size(); ++p) matcher.collect(p);
  matcher.finish();
}

}  // namespace entrain::match
