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

#include "base/cancel.hpp"
#include "trace/share.hpp"
#include "verify/channels.hpp"
#include "verify/claims.hpp"
#include "verify/edges.hpp"
#include "verify/gathered_calls.hpp"
#include "verify/named_edges.hpp"
#include "verify/outline.hpp"
#include "verify/places.hpp"
#include "verify/spaces.hpp"
#include "verify/threads.hpp"

namespace entrain::verify {

/// The happened-before relation of a trace as the checker builds it (docs/method.md, section 2);
/// every member holds a part of it.
///
/// Every member makes the outlines of the processes it owns. Sends then go to the owner of the
/// receiving process, which pairs them (Channels); calls go to the members that form their
/// instances (GatheredCalls); edges between threads stay (ThreadRelation). Where records are
/// missing, it verifies the claims of a witness about which belong together. Memory: 12 bytes per
/// end of a message and 32 per call, plus the working memory for one process; 24 more per end of a
/// message where messages are missing (EndFacts).
///
/// Example: location 0 (process 0) sends at 1000 and 1200, location 1 (process 1) receives at 500
/// and 1300; both use tag 7 of the world. The two sends and the two receives name the channel
/// {message, 0 -> 1, world, tag 7}. So the first edge is 1000 -> 500, violated by 500 ticks, and
/// the second is 1200 -> 1300, which holds. A send with tag 8 would count as unmatched.
///
/// It shares no code with match/, which the corrector uses, on purpose: it pairs complete records
/// itself. Operations that cannot be paired are counted; a claim that does not hold is an error.
/// The relation depends neither on the partition nor on the times; only the distribution of its
/// parts over the members depends on the partition.
class Relation {
 public:
  /// Collective. The trace and `maps` (per location: stored stamp -> time) must outlive it; so must
  /// `named`, which may be null. O(n log n), in most traces O(n). Errors, the same at every member:
  /// ErrorKind::interrupted; ErrorKind::input as Places::agree and require_countable;
  /// ErrorKind::internal for a claim that does not hold; those of Claims::find.
  static Result<Relation> build(const trace::Share& share, std::span<const ClockMap> maps,
                                AlltoallvRule alltoallv, const Claims& claims, const Cancel& cancel,
                                const NamedEdges* named = nullptr);

  /// Replaces the maps. Requires all locations, as threads of one process have them; `share`: same
  /// as for build(). O(n).
  void set_maps(const trace::Share& share, std::span<const ClockMap> maps);

  /// Excludes these pairs, in increasing order. They must outlive the relation.
  void leave_out(std::span<const trace::WrongPair> pairs) { wrong_pairs_ = pairs; }
  [[nodiscard]] bool is_whole() const { return wrong_pairs_.empty(); }

  [[nodiscard]] const Places& places() const { return *places_; }
  /// Sums over all members.
  [[nodiscard]] const Unmatched& unmatched() const { return left_out_.unmatched; }
  [[nodiscard]] const Skipped& skipped() const { return left_out_.skipped; }
  [[nodiscard]] const Coverage& coverage() const { return left_out_.coverage; }
  /// The same per process: a pair counts for both of its processes.
  [[nodiscard]] std::span<const ProcessCoverage> process_coverage() const {
    return process_coverage_;
  }

  /// True if the times of some location of this member decrease in the order of its stream.
  [[nodiscard]] bool decreasing() const { return decreasing_; }

  [[nodiscard]] std::span<const MatchedChannel> channels() const { return channels_.all(); }
  /// The k-th pair of a channel. False if it is no edge: both ends are on one location, or it was
  /// left out.
  [[nodiscard]] bool pair(const MatchedChannel& channel, std::uint32_t k, Pair& out) const;

  /// Calls `use` with each edge of this member that belongs to no instance.
  template <class Use>
  void for_each_pair(Use use) const {
    Pair found;
    for (const MatchedChannel& channel : channels()) {
      for (std::uint32_t k = 0; k < channel.pairs; ++k) {
        if (pair(channel, k, found)) use(found);
      }
    }
    for_each_single_pair(use);
  }
  /// Calls `use` with each edge of this member that belongs to no channel and no instance.
  template <class Use>
  void for_each_single_pair(Use use) const {
    std::uint64_t sequence = 0;
    for (const ThreadPair& p : threads_.pairs()) {
      use(Pair{.kind = EdgeKind::thread,
               .order = {static_cast<std::uint64_t>(p.stage), p.process, sequence++, 0},
               .send_time = time_of(p.send),
               .receive_time = time_of(p.receive),
               .send = p.send,
               .receive = p.receive});
    }
    if (named_ != nullptr) for_each_named_pair(use);
  }
  /// Calls `use` with each instance of this member; both its sides have at least one moment.
  void for_each_instance(const std::function<void(Instance&)>& take) const;

 private:
  Relation(const trace::Trace& trace, std::span<const ClockMap> maps, Places&& places)
      : trace_(&trace),
        maps_(maps),
        places_(std::make_unique<const Places>(std::move(places))),
        threads_(trace, *places_) {}

  std::vector<Outline> outline(const trace::Share& share, const Cancel& cancel);
  Result<void> meet(const trace::Share& share, AlltoallvRule alltoallv, const Claims& claims,
                    std::vector<Outline>&& outlines, const Cancel& cancel);
  Result<void> meet_calls(const trace::Share& share, AlltoallvRule alltoallv,
                          std::vector<Outline>&& outlines, Spaces& spaces, bool claimed);
  void note_order(const trace::Share& share);
  void count_named();
  /// Counts what is paired, and sums process_coverage_ over all members. Collective.
  void count_paired(Team& team, std::span<const std::int64_t> in_instances);
  void for_each_named_pair(const std::function<void(const Pair&)>& use) const;
  void for_each_named_instance(const std::function<void(Instance&)>& use) const;
  [[nodiscard]] Moment moment(EventRef event, std::uint32_t rank = 0) const {
    return {.time = time_of(event),
            .event = event,
            .process = places_->process_of(event.location),
            .machine = places_->machine_of(event.location),
            .rank = rank};
  }
  [[nodiscard]] std::int64_t time_of(EventRef event) const {
    return maps_[event.location](trace_->locations[event.location].events.time(event.event));
  }
  [[nodiscard]] std::uint64_t stamp_of(EventRef event) const {
    return trace_->locations[event.location].events.time(event.event);
  }
  [[nodiscard]] bool is_left_out(const Pair& pair) const;
  [[nodiscard]] bool is_left_out(const Instance& instance) const;
  [[nodiscard]] bool owns(LocationIndex l) const {
    return places_->owner(places_->process_of(l)) == rank_;
  }

  const trace::Trace* trace_;
  std::span<const ClockMap> maps_;
  std::unique_ptr<const Places> places_;  ///< owned here, as others point to it
  LeftOut left_out_;
  std::vector<ProcessCoverage> process_coverage_;
  bool stamps_decrease_ = false;  ///< stamps of some location of this member decrease
  bool decreasing_ = false;
  Channels channels_;
  ThreadRelation threads_;
  std::optional<GatheredCalls> calls_;
  std::span<const trace::WrongPair> wrong_pairs_;
  const NamedEdges* named_ = nullptr;
  std::uint32_t rank_ = 0;  ///< rank of this member
};

}  // namespace entrain::verify
