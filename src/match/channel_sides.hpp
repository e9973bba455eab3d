// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/big_vector.hpp"
#include "match/align_records.hpp"
#include "match/builder.hpp"
#include "match/operations.hpp"
#include "match/routine.hpp"

namespace entrain::match {

/// Side of a channel, with the evidence for its pairing where records may be missing.
struct ChannelSide {
  SideFacts facts;
  std::uint32_t posted = 0;      ///< number of operations, those without a place here too
  BigVector<EndRecord> records;  ///< one per end whose place is known

  [[nodiscard]] Side side() const { return {records, facts}; }
};
using ChannelSides = std::map<Channel, ChannelSide>;

/// The operations of a process, and those that its routine misses.
class Sequence {
 public:
  explicit Sequence(Operations&& operations);

  [[nodiscard]] const Operations& operations() const { return operations_; }
  [[nodiscard]] bool has_routine() const { return has_routine_; }
  /// Number of kinds of the routine, and evidence against the loss of a whole round, bits; 0
  /// without a routine.
  [[nodiscard]] std::uint32_t kinds() const { return kinds_; }
  [[nodiscard]] std::uint32_t evidence() const { return evidence_; }

  /// Calls `known(operation)` and `missing(kind, stamp of the next operation)` in order, and
  /// `unplaced(operation)` for receives of a routine whose place is unknown.
  template <class Known, class Missed, class Unplaced>
  void for_each(Known known, Missed missing, Unplaced unplaced) const {
    auto next = missing_.begin();
    std::uint32_t at = 0;
    for (const Operation& one : operations_.list()) {
      if (has_routine_ && operations_.has_no_post(one)) {
        unplaced(one);
        continue;
      }
      for (; next != missing_.end() && next->before == at; ++next) {
        missing(next->kind, operations_.time(one));
      }
      ++at;
      known(one);
    }
  }

 private:
  Operations operations_;
  std::vector<Missing> missing_;
  bool has_routine_ = false;
  std::uint32_t kinds_ = 0, evidence_ = 0;
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

/// Adds the sides of a process's channels (docs/method.md, section 2.1). O(n) for n operations.
void add_sides(const Builder& builder, const Sequence& sequence, ChannelSides& sends,
               ChannelSides& receives);

}  // namespace entrain::match
