// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "base/executor.hpp"
#include "base/flat_map.hpp"
#include "match/gaps.hpp"
#include "match/operations.hpp"

namespace entrain::match {

std::vector<Operations> operations_of(const Builder& builder) {
  std::vector<std::uint32_t> processes;  // of this member
  for (std::uint32_t p = 0; p < builder.processes().size(); ++p) {
    if (!builder.processes()[p].empty()) processes.push_back(p);
  }
  std::vector<std::optional<Operations>> found(processes.size());
  for_each_in_parallel(builder.options().threads, processes.size(), [&](std::size_t i) {
    if (!builder.cancel().asked()) found[i].emplace(builder, processes[i]);
  });
  std::vector<Operations> operations;
  for (std::optional<Operations>& one : found) {
    if (one) operations.push_back(*std::move(one));
  }
  return operations;
}

namespace {

/// Pairs messages channel by channel.
class MessageMatcher {
 public:
  explicit MessageMatcher(Builder& builder)
      : builder_(builder),
        threads_(builder.options().threads),
        operations_(operations_of(builder)) {}

  void run() {
    for (const Operations& one : operations_) {
      add(one.sends, sends_);
      add(one.receives, receives_);
    }
    exchange_heads();
    const bool countable = builder_.countable(sent_count());
    if (builder_.team().any(!countable)) return;
    builder_.incomplete = !complete();
    if (builder_.incomplete) match_incomplete_messages(builder_, operations_);
    if (!builder_.options().edges) return;
    for_each_in_parallel(threads_, operations_.size(),
                         [&](std::size_t i) { operations_[i].sort_by_kind(); });
    ship();
    std::vector<std::uint64_t> pairs(operations_.size(), 0);
    // Nodes of other members get local numbers, so this is serial.
    if (builder_.team().size() > 1) {
      for (std::size_t i = 0; i < operations_.size(); ++i) pairs[i] = pair(operations_[i], true);
    }
    for_each_in_parallel(threads_, operations_.size(), [&](std::size_t i) {
      if (!builder_.cancel().asked()) pairs[i] += pair(operations_[i], false);
    });
    count(std::accumulate(pairs.begin(), pairs.end(), std::uint64_t{0}));
    std::uint64_t ambiguous = 0, in_gaps = 0;
    for (const trace::ClaimedChannel& claim : builder_.witness().channels) {
      ambiguous += claim.ambiguous;
      in_gaps += std::uint64_t{claim.sends_in_gaps} + claim.receives_in_gaps;
    }
    builder_.count_unmatched("ambiguous_receives", ambiguous);
    builder_.count_unmatched("messages_in_gaps", in_gaps);
  }

 private:
  /// The sends of a channel.
  struct Head {
    Channel channel;
    std::uint32_t count = 0;
    std::uint64_t lengths = 0;  ///< hash of their lengths
  };
  struct Sent {
    Head head;
    std::span<const NodeRef> ends;
  };

  static void add(const Operations::Counts& of_process, Operations::Counts& sum) {
    sum.known += of_process.known;
    sum.lost += of_process.lost;
    sum.cancelled += of_process.cancelled;
  }

  /// Calls body(channel, kind, operations) for the channels of this member's sends or receives.
  template <class Body>
  void for_channels(OperationType type, Body body) const {
    for (const Operations& one : operations_) {
      for (std::size_t k = 0; k < one.kinds().size(); ++k) {
        if (one.kinds()[k].type == type) body(one.kinds()[k].channel(one.process()), k, one);
      }
    }
  }

  /// Tells the owners of receivers what is sent to them.
  void exchange_heads() {
    std::vector<std::vector<Head>> heads(builder_.team().size());
    for_channels(OperationType::send, [&](const Channel& channel, auto k, const Operations& of) {
      heads[builder_.owner_of_process(channel.receiver)].push_back(
          {channel, of.count(k), of.lengths(k)});
    });
    heads_ = exchange(builder_.team(), std::move(heads));
    for (const std::vector<Head>& of_member : heads_) {
      for (const Head& head : of_member) sent_.insert(head.channel, {head, {}});
    }
  }

  /// True if every channel with receives has as many sends, of the same lengths in order, and no
  /// process has a gap that ends: then the k-th send belongs to the k-th receive. Channels without
  /// receives may have sends.
  bool complete() {
    bool all = !any_inner_gaps(builder_);
    for_channels(OperationType::receive, [&](const Channel& channel, auto k, const Operations& of) {
      const Sent* const sent = sent_.find(channel);
      all = all && sent != nullptr && sent->head.count == of.count(k) &&
            sent->head.lengths == of.lengths(k);
    });
    return !builder_.team().any(!all);
  }

  /// Moves sends to the member that owns the receiver.
  void ship() {
    Team& team = builder_.team();
    std::vector<std::vector<NodeRef>> parcels(team.size());
    for_channels(OperationType::send, [&](const Channel& channel, auto k, const Operations& of) {
      const std::uint32_t owner = builder_.owner_of_process(channel.receiver);
      if (owner == team.rank()) {
        sent_.find(channel)->ends = of.ends(k);
      } else {
        parcels[owner].insert(parcels[owner].end(), of.ends(k).begin(), of.ends(k).end());
      }
    });
    if (team.size() == 1) return;
    shipped_ = exchange(team, std::move(parcels));
    for (std::size_t r = 0; r < shipped_.size(); ++r) {
      if (r == team.rank()) continue;
      std::span<const NodeRef> rest = shipped_[r];
      for (const Head& head : heads_[r]) {
        sent_.find(head.channel)->ends = rest.first(head.count);
        rest = rest.subspan(head.count);
      }
    }
  }

  /// Pairs the messages that a process received from this member's processes or (`of_others`) from
  /// those of others: as claimed, or else the k-th send with the k-th receive. Returns the number
  /// of pairs.
  std::uint64_t pair(const Operations& of, bool of_others) {
    std::uint64_t pairs = 0;
    for (std::size_t c = 0; c < of.kinds().size(); ++c) {
      if (of.kinds()[c].type != OperationType::receive) continue;
      const Channel channel = of.kinds()[c].channel(of.process());
      const bool other = builder_.owner_of_process(channel.sender) != builder_.team().rank();
      if (other != of_others) continue;
      const Sent* const sent = sent_.find(channel);
      if (sent == nullptr) continue;
      const std::span<const NodeRef> received = of.ends(c);
      const trace::ClaimedRun all{
          0, 0, static_cast<std::uint32_t>(std::min(sent->ends.size(), received.size()))};
      std::span<const trace::ClaimedRun> runs(&all, 1);
      const auto* const claim = trace::find_claim(
          builder_.witness().channels,
          std::tuple(channel.sender, channel.receiver, channel.comm, channel.tag));
      if (claim != nullptr) runs = claim->pairs;
      for (const trace::ClaimedRun& run : runs) {
        for (std::uint32_t k = 0; k < run.count; ++k) {
          builder_.add_edge(EdgeKind::p2p, sent->ends[run.first + k], received[run.second + k]);
        }
        pairs += run.count;
      }
    }
    return pairs;
  }

  /// Number of sends to this member.
  [[nodiscard]] std::uint64_t sent_count() const {
    std::uint64_t sent = 0;
    for (const std::vector<Head>& of_member : heads_) {
      for (const Head& head : of_member) sent += head.count;
    }
    return sent;
  }

  void count(std::uint64_t pairs) {
    builder_.count_unmatched("sends", sends_.lost + sent_count() - pairs);
    builder_.count_unmatched("receives", receives_.lost + receives_.known - pairs);
    builder_.count_skipped("cancelled_sends", sends_.cancelled);
    builder_.count_skipped("cancelled_receives", receives_.cancelled);
  }

  Builder& builder_;
  unsigned threads_;
  std::vector<Operations> operations_;        ///< operations of this member's processes
  Operations::Counts sends_, receives_;       ///< sums over these
  std::vector<std::vector<Head>> heads_;      ///< sends to this member of each sending member
  FlatMap<Channel, Sent, ChannelHash> sent_;  ///< the same by channel
  std::vector<std::vector<NodeRef>> shipped_;
};

}  // namespace

void match_messages(Builder& builder) { MessageMatcher(builder).run(); }

}  // namespace entrain::match
