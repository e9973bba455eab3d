// SPDX-License-Identifier: BSD-3-Clause
#include "match/named_instances.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

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
      if (calls[i].begin.location == k_none) continue;
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
  [[nodiscard]] bool named(std::uint32_t i) const { return calls_[i].partners != k_none; }
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
        confirmed_ -= std::binary_search(receivers.begin(), receivers.end(), i) ? 1 : 0;
      }
    }
  }
  Participant participant(NodeRef ref, std::uint32_t i) {
    return builder_.participant(ref, members_[i].rank);
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
            count -= std::binary_search(callers.begin(), callers.end(), other) ? 1 : 0;
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

}  // namespace

bool any_names_partners(std::span<const Call> calls) {
  return std::any_of(calls.begin(), calls.end(),
                     [](const Call& call) { return call.partners != k_none; });
}

void add_named_instance(Builder& builder, std::span<const CommProcess> members,
                        std::span<const Call> calls, const trace::Comm& comm) {
  const bool all = std::all_of(calls.begin(), calls.end(),
                               [](const Call& call) { return call.partners != k_none; });
  if (!all && !builder.options().dense_alltoallv) builder.count_skipped("alltoallv_instances");
  for (const bool to_second : {true, false}) {
    if (!to_second && !comm.inter) break;
    Direction(builder, members, calls, comm, to_second).add();
  }
}

}  // namespace entrain::match
