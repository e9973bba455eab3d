// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>

#include "base/team.hpp"
#include "trace/partition.hpp"
#include "trace/trace.hpp"
#include "verify/calls.hpp"
#include "verify/counts.hpp"
#include "verify/instance.hpp"
#include "verify/parcels.hpp"
#include "verify/places.hpp"
#include "verify/threads.hpp"

namespace entrain::verify {

/// Both sides of a channel: the k-th send belongs to the k-th receive, for k < pairs. Where threads
/// share a side of synchronisations both are sorted by time, except those left over.
struct MatchedChannel {
  ChannelKey key;
  std::uint32_t pairs = 0;
  ChannelEnds sends, receives;

  [[nodiscard]] EdgeKind kind() const {
    return key.stage == Stage::message ? EdgeKind::p2p : EdgeKind::rma;
  }
  [[nodiscard]] EdgeOrder order(std::uint64_t k) const {
    return {static_cast<std::uint64_t>(key.stage), std::uint64_t{key.sender} << 32 | key.receiver,
            std::uint64_t{key.space} << 32 | key.tag, k};
  }
};

/// A single edge.
struct Pair {
  EdgeKind kind{};
  EdgeOrder order{};
  std::int64_t send_time = 0, receive_time = 0;  ///< corrected, ticks
  EventRef send, receive;                        ///< of different locations
};

/// What is paired.
enum class Scope {
  everything,
  messages,  ///< only point-to-point messages
};

/// The happened-before relation of a trace as the checker sees it (docs/method.md, section 2):
/// every member holds a part of it.
///
/// Every member walks through the processes it owns and writes down their ends of messages by
/// channel, and their collective calls by communicator or window. Sends travel to the owner of the
/// receiving process and meet the receives there; calls travel to homes, by communicator and block
/// of ordinals; what happens between threads stays. 12 bytes per end of a message and 32 per call
/// are held, besides what a process needs while it is looked at.
///
/// Deliberately shares nothing with match/, which the corrector uses. What cannot be paired is
/// counted, never an error. The relation does not depend on the partition; who holds which part of
/// it does.
class Relation {
 public:
  /// A common call of the team. `trace`, `maps` and what `partition` names must outlive it.
  /// Errors, the same at every member: ErrorKind::interrupted; ErrorKind::input as Places::agree.
  static Result<Relation> build(Team& team, const trace::Partition& partition,
                                const trace::Trace& trace, std::span<const ClockMap> maps,
                                AlltoallvRule alltoallv, Scope scope, const Progress* progress);

  [[nodiscard]] const Places& places() const { return *places_; }
  /// Sums over all members.
  [[nodiscard]] const Unmatched& unmatched() const { return unmatched_; }
  [[nodiscard]] const Skipped& skipped() const { return skipped_; }

  /// True if the times of some location of this member decrease in the order of its stream.
  [[nodiscard]] bool decreasing() const { return decreasing_; }

  /// The channels of this member.
  [[nodiscard]] std::span<const MatchedChannel> channels() const { return channels_; }
  /// The k-th pair of a channel; false if both ends are on one location, which is no edge.
  [[nodiscard]] bool pair(const MatchedChannel& channel, std::uint32_t k, Pair& out) const;

  /// Calls `use` with each edge of this member that belongs to no instance.
  template <class Use>
  void for_each_pair(Use use) const {
    Pair found;
    for (const MatchedChannel& channel : channels_) {
      for (std::uint32_t k = 0; k < channel.pairs; ++k) {
        if (pair(channel, k, found)) use(found);
      }
    }
    for_each_thread_pair(use);
  }
  template <class Use>
  void for_each_thread_pair(Use use) const {
    std::uint64_t sequence = 0;
    for (const ThreadPair& p : threads_.pairs()) {
      use(Pair{EdgeKind::thread,
               {p.stage, p.process, sequence++, 0},
               p.send_time,
               p.receive_time,
               p.send,
               p.receive});
    }
  }
  /// Calls `use` with each instance of this member; both its sides hold something.
  void for_each_instance(const std::function<void(Instance&)>& use) const;

 private:
  Relation(const trace::Trace& trace, std::span<const ClockMap> maps, Places&& places)
      : trace_(&trace),
        maps_(maps),
        places_(std::make_unique<const Places>(std::move(places))),
        threads_(trace, *places_, maps) {}

  std::vector<Outline> outline(const Team& team, Scope scope, const Progress* progress);
  void send_everything(Team& team, std::vector<Outline>&& outlines, AlltoallvRule alltoallv);
  void join();
  [[nodiscard]] MatchedChannel pair_up(std::byte* send, std::byte* receive) const;
  void count_left(Stage stage, std::uint32_t sends, std::uint32_t receives);
  void gather_world(Team& team, std::span<const Outline> outlines);
  void sum_counters(Team& team);

  const trace::Trace* trace_;
  std::span<const ClockMap> maps_;
  std::unique_ptr<const Places> places_;  ///< others point to it
  Unmatched unmatched_;
  Skipped skipped_;
  bool decreasing_ = false;
  std::vector<Team::Bytes> sends_;
  Team::Bytes receives_;
  std::vector<MatchedChannel> channels_;
  ThreadRelation threads_;
  std::optional<CallBlocks> calls_;
  std::vector<std::uint32_t> limits_;
  std::vector<Instance> world_;  ///< MPI_Init, MPI_Finalize
};

/// ErrorKind::interrupted if the user wants to stop.
Result<void> stop_if_cancelled(const Progress* progress);

}  // namespace entrain::verify
