// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/big_vector.hpp"
#include "match/align_records.hpp"
#include "match/gaps.hpp"
#include "match/operations.hpp"
#include "trace/recorded_clock.hpp"

namespace entrain::match {

/// Side of a channel, with the evidence for its pairing where records may be missing.
struct ChannelSide {
  SideFacts facts;
  BigVector<EndRecord> records;  ///< one per end whose place is known

  [[nodiscard]] Side side() const { return {records, facts}; }
};
using ChannelSides = std::map<Channel, ChannelSide>;

/// Evidence of the operations of a process about its calls.
struct CallContext {
  bool has_routine = false;
  std::uint32_t evidence = 0;  ///< SideFacts::evidence
  /// Per other process: sorted stamps at which messages with it were posted, missing ones with that
  /// of the next operation.
  std::map<std::uint32_t, std::vector<std::uint64_t>> posted;
  /// Per communicator or window: number of calls, and stamps of the operations after missing ones.
  std::map<std::uint32_t, std::uint32_t> calls;
  std::map<std::uint32_t, std::vector<std::uint64_t>> missing;
};

/// The operations of a process where records may be missing, numbered together with those that its
/// routine misses (docs/method.md, section 2.1). Sides of channels are made when they are needed:
/// those of all channels at once take three times the memory.
class Sequence {
 public:
  /// Both must outlive it. O(n) for n operations.
  Sequence(const Builder& builder, const Operations& operations);

  [[nodiscard]] const Operations& operations() const { return *operations_; }
  /// Number of messages of a kind, missing ones included.
  [[nodiscard]] std::uint32_t total(std::uint32_t kind) const { return facts_[kind].total; }
  /// Makes the side of a channel. O(its ends).
  [[nodiscard]] ChannelSide side(std::uint32_t kind) const;
  /// Per end of a side, its number among all operations of the kind, those without a place too.
  [[nodiscard]] std::vector<std::uint32_t> places(std::uint32_t kind) const;

  CallContext context;

 private:
  class Walk;
  struct End {
    EventRef event;
    std::uint32_t number = k_none;  ///< EndRecord::number; k_none: its place is unknown
    std::uint32_t position = 0;     ///< EndRecord::position
  };

  const Builder* builder_;
  const Operations* operations_;
  Gaps gaps_;
  trace::RecordedClocks clocks_;
  std::vector<SideFacts> facts_;    ///< one per kind, without what Gaps::mark() sets
  std::vector<std::size_t> first_;  ///< first end per kind of messages, and the end
  BigVector<End> ends_;             ///< sorted by kind
  std::vector<bool> unclear_;       ///< EndRecord::unclear, one per end
};

/// Sends sides to members of a team.
class SideParcels {
 public:
  explicit SideParcels(Team& team) : team_(team), heads_(team.size()), records_(team.size()) {}

  void add(std::uint32_t member, const Channel& name, const ChannelSide& side) {
    heads_[member].push_back({name, side.facts, static_cast<std::uint32_t>(side.records.size())});
    records_[member].insert(records_[member].end(), side.records.begin(), side.records.end());
  }
  /// Adds the sides for this member to `sides`, by name. Collective; call it once.
  void exchange_into(ChannelSides& sides) {
    const auto heads = exchange(team_, std::move(heads_));
    const auto records = exchange(team_, std::move(records_));
    for (std::size_t r = 0; r < heads.size(); ++r) {
      auto next = records[r].begin();
      for (const Head& head : heads[r]) {
        sides[head.name] = {.facts = head.facts, .records = {next, next + head.count}};
        next += head.count;
      }
    }
  }

 private:
  struct Head {
    Channel name;
    SideFacts facts;
    std::uint32_t count = 0;
  };
  Team& team_;
  std::vector<std::vector<Head>> heads_;  ///< one list per member, and their records
  std::vector<std::vector<EndRecord>> records_;
};

}  // namespace entrain::match
