// SPDX-License-Identifier: BSD-3-Clause
#include "match/calls.hpp"

#include <algorithm>
#include <map>

#include "trace/event.hpp"

namespace entrain::match {

namespace {

using trace::RankSet;

/// Edges of an instance in one direction: from the processes of one group to those of another or,
/// without groups, to each other.
class Direction {
 public:
  Direction(Builder& builder, std::span<const CommProcess> members, std::span<const Call> calls,
            const trace::Comm& comm, bool to_second)
      : builder_(builder), members_(members), calls_(calls) {
    const bool from_second = comm.inter && !to_second;
    const auto& senders = from_second ? comm.group_b : comm.group_a;
    const auto& receivers = comm.inter && to_second ? comm.group_b : comm.group_a;
    sender_of_rank_.assign(senders.size(), k_none);
    receiver_of_rank_.assign(receivers.size(), k_none);
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      // Only a call with a begin takes part, as in every collective.
      if (calls[i].begin == k_none) continue;
      if (!comm.inter || members[i].second_group == from_second) {
        sender_of_rank_[members[i].rank] = i;
        senders_.push_back(i);
      }
      if (!comm.inter || members[i].second_group == to_second) {
        receiver_of_rank_[members[i].rank] = i;
        receivers_[from(i)].push_back(i);
      }
    }
  }

  void add() {
    for (const auto& [set, receivers] : receivers_) add_to(set, receivers);
    const std::uint64_t asserted = named_by_senders() + named_by_receivers();
    if (asserted > 2 * confirmed_) {
      builder_.count_skipped("partners_contradicting", asserted - 2 * confirmed_);
    }
  }

 private:
  using Places = std::vector<std::uint32_t>;  ///< increasing indices of `calls`
  // Partner sets of calls that name none.
  static constexpr std::uint32_t k_all = k_none - 1, k_nobody = k_none;

  [[nodiscard]] const trace::Definitions& definitions() const { return builder_.definitions(); }
  [[nodiscard]] bool named(std::uint32_t i) const { return calls_[i].names_partners(); }
  [[nodiscard]] std::uint32_t unnamed(bool any_bytes) const {
    return builder_.options().dense_alltoallv && any_bytes ? k_all : k_nobody;
  }
  /// Set of ranks that a call sent to: position among the definitions, or k_all or k_nobody.
  [[nodiscard]] std::uint32_t to(std::uint32_t i) const {
    return named(i) ? definitions().partners[calls_[i].partners].to : unnamed(calls_[i].sent);
  }
  [[nodiscard]] std::uint32_t from(std::uint32_t i) const {
    return named(i) ? definitions().partners[calls_[i].partners].from : unnamed(calls_[i].received);
  }
  [[nodiscard]] bool contains(std::uint32_t set, std::uint32_t i) const {
    if (set == k_all) return true;
    return set != k_nobody && definitions().rank_sets[set].contains(members_[i].rank);
  }

  /// Adds the edges to all receivers that name the set `from`.
  void add_to(std::uint32_t from, const Places& receivers) {
    std::map<std::uint32_t, Places> reached;  // key: the set that a sender names
    std::map<Places, Places> senders;         // key: the receivers that they reach
    const auto add_sender = [&](std::uint32_t i) {
      const auto [at, is_new] = reached.try_emplace(to(i));
      const auto known = at;  // lambdas of clang 14 cannot hold a part of a binding
      if (is_new) {
        std::copy_if(receivers.begin(), receivers.end(), std::back_inserter(known->second),
                     [&](std::uint32_t r) { return contains(known->first, r); });
      }
      if (!known->second.empty()) senders[known->second].push_back(i);
    };
    if (from == k_all) {
      std::for_each(senders_.begin(), senders_.end(), add_sender);
    } else if (from != k_nobody) {
      definitions().rank_sets[from].for_each_below(sender_of_rank_.size(), [&](std::uint32_t rank) {
        if (sender_of_rank_[rank] != k_none) add_sender(sender_of_rank_[rank]);
      });
    }
    for (const auto& [to, of] : senders) add_exchange(of, to);
  }

  void add_exchange(const Places& senders, const Places& receivers) {
    sends_.clear();
    receives_.clear();
    const bool alone = receivers.size() == 1;
    for (const std::uint32_t i : senders) {
      // A process does not wait for itself.
      if (!alone || i != receivers[0]) sends_.push_back(participant(calls_[i].begin, i));
    }
    for (const std::uint32_t i : receivers) receives_.push_back(participant(calls_[i].end, i));
    builder_.add_exchange(EdgeKind::n_to_n, false, sends_, receives_);
    if (named(receivers[0])) {
      for (const std::uint32_t i : senders) {
        if (!named(i)) continue;
        confirmed_ += receivers.size();
        confirmed_ -= std::ranges::binary_search(receivers, i) ? 1 : 0;
      }
    }
  }
  [[nodiscard]] Participant participant(NodeIndex node, std::uint32_t i) const {
    return {node, calls_[i].location, members_[i].rank};
  }

  /// Number of pairs of calls with named partners in which the sender names the receiver.
  [[nodiscard]] std::uint64_t named_by_senders() const {
    std::map<std::uint32_t, Places> by_set;
    for (const std::uint32_t i : senders_) {
      if (named(i)) by_set[to(i)].push_back(i);
    }
    return pairs(by_set, receiver_of_rank_);
  }
  [[nodiscard]] std::uint64_t named_by_receivers() const {
    std::map<std::uint32_t, Places> by_set;
    for (const auto& [set, receivers] : receivers_) {
      for (const std::uint32_t i : receivers) {
        if (named(i)) by_set[set].push_back(i);
      }
    }
    return pairs(by_set, sender_of_rank_);
  }
  /// Number of pairs of a call and another one that it names.
  [[nodiscard]] std::uint64_t pairs(const std::map<std::uint32_t, Places>& by_set,
                                    const Places& call_of_rank) const {
    std::uint64_t count = 0;
    for (const auto& one : by_set) {
      const Places& callers = one.second;  // lambdas of clang 14 cannot hold a part of a binding
      definitions().rank_sets[one.first].for_each_below(
          call_of_rank.size(), [&](std::uint32_t rank) {
            const std::uint32_t other = call_of_rank[rank];
            if (other == k_none || !named(other)) return;
            count += callers.size();
            count -= std::ranges::binary_search(callers, other) ? 1 : 0;
          });
    }
    return count;
  }

  Builder& builder_;
  std::span<const CommProcess> members_;
  std::span<const Call> calls_;
  Places sender_of_rank_, receiver_of_rank_;  ///< places by rank; k_none: not involved
  Places senders_;
  std::map<std::uint32_t, Places> receivers_;  ///< keyed by the set that they name
  std::uint64_t confirmed_ = 0;                ///< pairs that both name
  std::vector<Participant> sends_, receives_;  ///< reused to save allocations
};

/// Puts the calls of one instance, some of which name their partners, into exchanges. The begin of
/// a precedes the end of b if a names b as a target of its data and b names a as a source. A pair
/// that only one of the two names is no edge; it counts as "partners_contradicting". A call that
/// names no partners has all others as partners if Options::dense_alltoallv is set; else it has
/// none and the instance counts as skipped.
///
/// `members` and `calls` as for add_instance(). O(partners) in regular patterns, that is if
/// processes either have few partners or the same ones as many others.
///
/// Example: ranks 0 to 3 exchange in pairs, each with the next even or odd one: 0 and 1 name {1}
/// and {0}, 2 and 3 name {3} and {2}. There are the edges 0 -> 1, 1 -> 0, 2 -> 3 and 3 -> 2.
void add_named_instance(Builder& builder, std::span<const CommProcess> members,
                        std::span<const Call> calls, const trace::Comm& comm) {
  if (!builder.options().dense_alltoallv && !std::ranges::all_of(calls, &Call::names_partners)) {
    builder.count_skipped("alltoallv_instances");
  }
  for (const bool to_second : {true, false}) {
    if (!to_second && !comm.inter) break;
    Direction(builder, members, calls, comm, to_second).add();
  }
}

namespace op = trace::op;

/// Senders and receivers of an instance.
enum class Shape { none, everybody, all_to_all, from_root, to_root, prefix, totals_only };

Shape shape_of(std::uint8_t code, bool one_sided) {
  switch (code) {
    case op::barrier:
      return Shape::everybody;
    case op::bcast:
    case op::scatter:
    case op::scatterv:
      return Shape::from_root;
    case op::gather:
    case op::gatherv:
    case op::reduce:
      return Shape::to_root;
    case op::allgather:
    case op::allgatherv:
    case op::alltoall:
    case op::allreduce:
    case op::reduce_scatter:
    case op::reduce_scatter_block:
      return Shape::all_to_all;
    case op::alltoallv:
    case op::alltoallw:
      return Shape::totals_only;
    case op::scan:
    case op::exscan:
      return Shape::prefix;
    default:
      // Creating or freeing a window synchronises its processes; a communicator need not.
      return one_sided ? Shape::everybody : Shape::none;
  }
}

bool roots_agree(std::uint32_t a, std::uint32_t b) {
  return a == b || a == k_root_elsewhere || b == k_root_elsewhere;
}

EdgeKind kind_of(Shape shape, bool one_sided) {
  if (one_sided) return EdgeKind::rma;
  switch (shape) {
    case Shape::from_root:
      return EdgeKind::one_to_n;
    case Shape::to_root:
      return EdgeKind::n_to_one;
    case Shape::prefix:
      return EdgeKind::scan;
    default:
      return EdgeKind::n_to_n;
  }
}

/// Adds the collective of the calls that were added from `first` on.
void note_collective(Builder& builder, const Call& call, std::size_t first) {
  const auto members = static_cast<std::uint32_t>(builder.collective_calls.size() - first);
  const trace::Comm& comm = builder.definitions().comms[call.space];
  const auto expected = static_cast<std::uint32_t>(processes_of(builder, comm).size());
  builder.collectives.push_back({{.first = first,
                                  .members = members,
                                  .expected = expected,
                                  .operation = call.op,
                                  .group = call.space},
                                 call.number});
}

/// Root of an instance, from any call that knows it.
std::uint32_t common_root(std::span<const Call> calls) {
  for (const Call& call : calls) {
    if (call.root != k_root_elsewhere) return call.root;
  }
  return k_none;
}

}  // namespace

void Call::set_ends(const Builder& builder, EventRef ended, std::uint32_t began) {
  const trace::EventList& events = builder.events(ended.location);
  time = begun = events.time(ended.index);
  location = ended.location;
  end = builder.ref(ended).node;
  if (began == k_none) return;
  begun = events.time(began);
  begin = builder.ref({location, began}).node;
}

bool has_root(std::uint8_t code) {
  const Shape shape = shape_of(code, false);
  return shape == Shape::from_root || shape == Shape::to_root;
}

bool agree(std::span<const Call> calls) {
  const std::uint32_t root = common_root(calls);
  return std::ranges::all_of(calls, [&](const Call& call) {
    return call.op == calls[0].op && call.non_blocking == calls[0].non_blocking &&
           (!has_root(call.op) || roots_agree(call.root, root));
  });
}

std::vector<CommProcess> processes_of(const Builder& builder, const trace::Comm& comm) {
  std::vector<CommProcess> result;
  std::vector<bool> known(builder.processes().size(), false);
  const auto add = [&](const std::vector<LocationIndex>& group, bool second) {
    for (std::uint32_t rank = 0; rank < group.size(); ++rank) {
      if (group[rank] == k_none) continue;
      // A group that names several threads of a process counts the process once.
      const std::uint32_t process = builder.process_of(group[rank]);
      if (!known[process]) result.push_back({process, rank, second});
      known[process] = true;
    }
  };
  add(comm.group_a, false);
  if (comm.inter) add(comm.group_b, true);
  return result;
}

void add_instance(Builder& builder, std::span<const CommProcess> members,
                  std::span<const Call> calls, const trace::Comm& comm, bool one_sided) {
  Shape shape = shape_of(calls[0].op, one_sided);
  const bool lists = builder.options().collectives;
  if (shape == Shape::totals_only) {
    const bool dense = builder.options().dense_alltoallv;
    if (lists && !dense) return void(++builder.left_out.alltoallv);
    if (!lists && std::ranges::any_of(calls, &Call::names_partners)) {
      return add_named_instance(builder, members, calls, comm);
    }
    if (!dense) return builder.count_skipped("alltoallv_instances");
    shape = Shape::all_to_all;
  }
  if (shape == Shape::none) return;
  const std::uint32_t root = common_root(calls);
  if (lists) {
    if (shape == Shape::prefix) return void(++builder.left_out.scans);
    // Its begin is the request, and nobody waits before the call that completes it.
    if (calls[0].non_blocking) return void(++builder.left_out.non_blocking);
  }
  // An inter-communicator exchanges only between its groups: once in each direction.
  for (const bool to_second : {true, false}) {
    if (!to_second && !comm.inter) break;
    std::vector<Participant> sends, receives;
    sends.reserve(shape == Shape::from_root ? 1 : members.size());
    receives.reserve(shape == Shape::to_root ? 1 : members.size());
    const std::size_t first = builder.collective_calls.size();
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto& [process, rank, in_second] = members[i];
      const Call& call = calls[i];
      if (call.begin == k_none) continue;  // only a call with a begin takes part
      const bool gives = (!comm.inter || in_second != to_second) &&
                         (shape == Shape::everybody || call.sent) &&
                         (shape != Shape::from_root || process == root);
      const bool takes = (!comm.inter || in_second == to_second) &&
                         (shape == Shape::everybody || call.received) &&
                         (shape != Shape::to_root || process == root);
      if (lists) {
        builder.collective_calls.push_back({.begin = call.begun,
                                            .end = call.time,
                                            .location = call.location,
                                            .gives = gives,
                                            .takes = takes});
        continue;
      }
      if (gives) sends.push_back({call.begin, call.location, rank});
      if (takes) receives.push_back({call.end, call.location, rank});
    }
    if (lists) {
      note_collective(builder, calls[0], first);
    } else {
      builder.add_exchange(kind_of(shape, one_sided), shape == Shape::prefix, sends, receives);
    }
  }
}

}  // namespace entrain::match
