// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "match/calls.hpp"

namespace entrain::match {

namespace {

using trace::Event;
using trace::EventKind;
using trace::RmaGroupRole;

constexpr std::uint32_t k_level_process = 1;  ///< OTF2_RMA_SYNC_LEVEL_PROCESS
constexpr std::uint8_t k_notify_in = 1, k_notify_out = 2;

/// Synchronisation through RMA windows.
class OneSidedMatcher {
 public:
  explicit OneSidedMatcher(Builder& builder) : builder_(builder), sources_(builder.team().size()) {}

  void collect(std::uint32_t process) {
    std::vector<EventRef> refs;
    const std::size_t first = calls_.size();
    for (const LocationIndex location : builder_.processes()[process]) {
      collect_location(process, location, refs);
    }
    if (builder_.processes()[process].size() > 1) {
      std::ranges::sort(refs, {}, [&](EventRef ref) {
        return std::tuple(builder_.events(ref.location).time(ref.index), ref.location, ref.index);
      });
      std::ranges::stable_sort(calls_.begin() + static_cast<std::ptrdiff_t>(first), calls_.end(),
                               {},
                               [](const Call& call) { return std::pair(call.begun, call.time); });
    }
    for (const EventRef ref : refs) synchronise(process, ref);
  }

  void finish() {
    std::vector<Calls> lists;
    lists.push_back(std::move(calls_));
    match_calls(builder_, std::move(lists), CallSpace::windows);
    for (const auto& parcel : exchange(builder_.team(), std::move(sources_))) {
      for (const Source& s : parcel) {
        pairs_[{s.window, s.relation, s.process, s.peer}].sources.push_back(s.node);
      }
    }
    for (const auto& [key, pairs] : pairs_) {
      std::size_t both = std::min(pairs.sources.size(), pairs.targets.size());
      // Only their order pairs them, so nothing may be missing.
      if (builder_.calls_incomplete) both = 0;
      std::size_t first_target = 0;
      if (by_several_threads(pairs.sources) || by_several_threads(pairs.targets)) {
        // Sorted by time, like messages of threads on one channel.
        if (std::get<2>(key) == std::get<3>(key)) both = 0;
        first_target = pairs.targets.size() - both;
      }
      for (std::size_t k = 0; k < both; ++k) {
        builder_.add_edge(EdgeKind::rma, pairs.sources[k], pairs.targets[first_target + k]);
      }
      builder_.count_unmatched("rma_synchronisations",
                               pairs.sources.size() + pairs.targets.size() - 2 * both);
    }
    builder_.count_skipped("rma_group_sync", group_syncs_);
    builder_.count_skipped("rma_locks", locks_);
  }

 private:
  enum class Relation : std::uint8_t { post_start, complete_wait, notify };
  /// Sources and targets; the k-th ones are pairs.
  struct Pairs {
    std::vector<NodeRef> sources, targets;
  };
  /// A source on its way to the owner of the process that waits for it.
  struct Source {
    std::uint32_t window;
    Relation relation;
    std::uint32_t process, peer;
    NodeRef node;
  };
  /// Window, relation, process of the sources, process of the targets.
  using PairKey = std::tuple<std::uint32_t, Relation, std::uint32_t, std::uint32_t>;

  static bool by_several_threads(const std::vector<NodeRef>& ends) {
    return std::ranges::any_of(
        ends, [&](const NodeRef& end) { return end.location != ends[0].location; });
  }

  void collect_location(std::uint32_t process, LocationIndex location,
                        std::vector<EventRef>& refs) {
    if (!builder_.event_counts(location).one_sided) return;
    const auto& events = builder_.events(location);
    std::uint32_t begun = k_none;
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      switch (events.kind(i)) {
        case EventKind::rma_collective_begin:
          begun = i;
          break;
        case EventKind::rma_collective_end:
          add_call(process, {location, i}, begun);
          begun = k_none;
          break;
        case EventKind::rma_group_sync:
        case EventKind::rma_notify:
          refs.push_back({location, i});
          break;
        case EventKind::rma_lock:
          ++locks_;
          break;
        default:
          break;
      }
    }
  }

  void add_call(std::uint32_t process, EventRef end, std::uint32_t begun) {
    const Event& event = builder_.event(end);
    if (begun == k_none) builder_.count_unmatched("rma_ends_without_begin");
    Call call;
    call.set_ends(builder_, end, begun);
    call.synchronises = (event.tag & k_level_process) != 0;
    call.space = event.comm;
    call.process = process;
    call.root =
        event.peer == trace::k_root_self ? process : peer_of(event.comm, process, event.peer);
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
      if (event.op == k_notify_out) add_source(event.comm, Relation::notify, process, peer, ref);
      if (event.op == k_notify_in) add_target(event.comm, Relation::notify, peer, process, ref);
      return;
    }
    group_sync(process, ref);
  }

  /// Post precedes start and complete precedes wait, between every two processes that name each
  /// other.
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
    for (const std::uint32_t peer : processes_of(event.peer)) {
      if (source) {
        add_source(event.comm, relation, process, peer, ref);
      } else {
        add_target(event.comm, relation, peer, process, ref);
      }
    }
  }

  /// Processes of a group, each once, however many of its threads the group names.
  const std::vector<std::uint32_t>& processes_of(std::uint32_t group) {
    const auto [known, is_new] = processes_of_group_.try_emplace(group);
    std::vector<std::uint32_t>& processes = known->second;
    if (!is_new) return processes;
    for (const LocationIndex member : builder_.definitions().groups[group].members) {
      if (member != k_none) processes.push_back(builder_.process_of(member));
    }
    std::ranges::sort(processes);
    processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
    return processes;
  }

  void add_source(std::uint32_t window, Relation relation, std::uint32_t process,
                  std::uint32_t peer, EventRef ref) {
    sources_[builder_.owner_of_process(peer)].push_back(
        {window, relation, process, peer, builder_.ref(ref)});
  }
  void add_target(std::uint32_t window, Relation relation, std::uint32_t peer,
                  std::uint32_t process, EventRef ref) {
    pairs_[{window, relation, peer, process}].targets.push_back(builder_.ref(ref));
  }

  Builder& builder_;
  Calls calls_;
  std::vector<std::vector<Source>> sources_;  ///< sources to send, one list per member
  std::map<PairKey, Pairs> pairs_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> processes_of_group_;
  std::uint64_t group_syncs_ = 0, locks_ = 0;
};

}  // namespace

void match_one_sided(Builder& builder) {
  OneSidedMatcher matcher(builder);
  for (std::uint32_t p = 0; p < builder.processes().size() && !builder.cancel().asked(); ++p) {
    matcher.collect(p);
  }
  matcher.finish();
}

}  // namespace entrain::match
