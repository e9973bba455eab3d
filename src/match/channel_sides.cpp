// SPDX-License-Identifier: BSD-3-Clause
#include "match/channel_sides.hpp"

#include <algorithm>
#include <bit>

#include "match/gaps.hpp"
#include "trace/recorded_clock.hpp"

namespace entrain::match {

namespace {

/// Most evidence of a routine, bits; chosen, not measured.
constexpr std::uint32_t k_most_evidence = 60;

class SideFinder {
 public:
  SideFinder(const Builder& builder, const Sequence& sequence)
      : builder_(builder),
        sequence_(sequence),
        process_(sequence.operations().process()),
        threads_(builder.is_threaded(process_) ? builder.processes()[process_].size() : 1),
        gaps_(builder, sequence.operations()),
        clocks_(builder.trace(), builder.processes()[process_]),
        sides_(sequence.operations().kinds().size()),
        places_(sides_.size(), 0),
        users_(sides_.size()) {
    for (const Kind& kind : sequence.operations().kinds()) {
      counters_.push_back({.comm = counter(comms_, kind.comm, calls_),
                           .peer = kind.is_call() ? 0 : counter(peers_, kind.other, messages_)});
    }
    for (std::size_t k = 0; k < sides_.size(); ++k) {
      sides_[k].posted = sequence.operations().count(k);
      if (!kind(k).is_call()) sides_[k].records.reserve(sides_[k].posted);
    }
    messages_.resize(messages_.size() * threads_);
    calls_.resize(calls_.size() * threads_);
    if (threads_ == 1) users_.assign(sides_.size(), {0});
    for (const Operation& one : sequence.operations().list()) {
      if (threads_ == 1) break;
      std::vector<std::size_t>& users = users_[one.kind];
      const std::size_t thread = thread_of(one);
      if (std::ranges::find(users, thread) == users.end()) users.push_back(thread);
    }
  }

  void run(ChannelSides& sends, ChannelSides& receives) {
    sequence_.for_each([&](const Operation& one) { count(one); },
                       [&](std::uint32_t kind, std::uint64_t) { miss(kind); },
                       [&](const Operation& one) { ++places_[one.kind]; });
    for (std::uint32_t k = 0; k < sides_.size(); ++k) {
      ChannelSide& side = sides_[k];
      if (kind(k).is_call()) continue;
      finish(k, side);
      const bool sent = kind(k).type == OperationType::send;
      (sent ? sends : receives).emplace(kind(k).channel(process_), std::move(side));
    }
  }

 private:
  /// Numbers of the counters of a kind's communicator and other process.
  struct Counters {
    std::uint32_t comm = 0, peer = 0;
  };
  using Numbers = FlatMap<std::uint64_t, std::uint32_t, IntegerHash>;
  static std::uint32_t counter(Numbers& numbers, std::uint32_t owner,
                               std::vector<std::uint32_t>& counters) {
    const auto next = static_cast<std::uint32_t>(counters.size());
    const auto [number, is_new] = numbers.insert(owner, next);
    if (is_new) counters.push_back(0);
    return *number;
  }
  /// Position of the location of an operation among those of its process.
  [[nodiscard]] std::size_t thread_of(const Operation& one) const {
    if (threads_ == 1) return 0;
    const auto& own = builder_.processes()[process_];
    return static_cast<std::size_t>(std::ranges::lower_bound(own, one.event.location) -
                                    own.begin());
  }
  [[nodiscard]] const Kind& kind(std::size_t k) const { return sequence_.operations().kinds()[k]; }

  /// Operations of one kind, one after the other.
  struct Row {
    std::uint32_t kind = k_none;
    std::size_t first = 0;     ///< position among the records of the kind
    bool misses_some = false;  ///< any of them may be the one that is missing
  };

  void miss(std::uint32_t kind) {
    const std::size_t count = sides_[kind].records.size();
    ++sides_[kind].facts.total;
    if (kind != row_.kind) row_ = {kind, count};
    row_.misses_some = true;
    for (std::size_t k = row_.first; k < count; ++k) sides_[kind].records[k].unclear = true;
  }

  void count(const Operation& one) {
    ChannelSide& side = sides_[one.kind];
    if (one.kind != row_.kind) row_ = {one.kind, side.records.size()};
    const Counters& of_kind = counters_[one.kind];
    const std::size_t thread = thread_of(one);
    const std::uint32_t number = side.facts.total++, place = places_[one.kind]++;
    if (kind(one.kind).is_call()) {
      ++calls_[of_kind.comm * threads_ + thread];
      return;
    }
    const trace::Event event = builder_.event(one.event);
    side.records.push_back({.time = event.time,
                            .position = position(one.kind),
                            .number = number,
                            .symbol = trace::length_code(event),
                            .place = place,
                            .end = builder_.ref(one.event),
                            .unclear = row_.misses_some});
    ++messages_[of_kind.peer * threads_ + thread];
    std::uint32_t& after = side.facts.after_gaps;
    after = gaps_.all_ended_by(sequence_.operations().time(one)) ? after + 1 : 0;
  }
  /// Number of other operations that involve the other process of a channel, so far: those of the
  /// threads that use the channel. How many of other threads came before depends on clocks.
  [[nodiscard]] std::uint32_t position(std::uint32_t kind) const {
    const auto [comm, peer] = counters_[kind];
    auto count = static_cast<std::uint32_t>(0 - sides_[kind].records.size());
    for (const std::size_t thread : users_[kind]) {
      count += messages_[peer * threads_ + thread] + calls_[comm * threads_ + thread];
    }
    return count;
  }

  void finish(std::uint32_t kind, ChannelSide& side) {
    side.facts.position = position(kind);
    side.facts.kinds = sequence_.kinds();
    side.facts.evidence = sequence_.evidence();
    gaps_.mark(side.records, side.facts);
    const trace::RecordedClock* clock = nullptr;
    LocationIndex of_clock = k_none;
    for (EndRecord& record : side.records) {
      if (record.end.location != of_clock) clock = &clocks_[record.end.location];
      of_clock = record.end.location;
      record.doubt = clock->doubt(record.time);
      record.time = clock->time(record.time);
    }
  }

  const Builder& builder_;
  const Sequence& sequence_;
  const std::uint32_t process_;
  const std::size_t threads_;  ///< locations whose operations are counted apart
  const Gaps gaps_;
  const trace::RecordedClocks clocks_;
  std::vector<ChannelSide> sides_;               ///< one per kind
  std::vector<std::uint32_t> places_;            ///< operations of each kind so far
  std::vector<Counters> counters_;               ///< one per kind
  std::vector<std::vector<std::size_t>> users_;  ///< threads that have operations of each kind
  Row row_;                                      ///< the last operations
  Numbers peers_, comms_;                        ///< numbers of their counters
  /// Counts for each other process or communicator, per thread.
  std::vector<std::uint32_t> messages_, calls_;
};

}  // namespace

Sequence::Sequence(Operations&& operations) : operations_(std::move(operations)) {
  if (operations_.list().empty()) return;
  std::vector<std::uint32_t> kinds;
  kinds.reserve(operations_.list().size());
  for (const Operation& one : operations_.list()) {
    if (!operations_.has_no_post(one)) kinds.push_back(one.kind);
  }
  std::vector<bool> calls;
  for (const Kind& kind : operations_.kinds()) calls.push_back(kind.is_call());
  Routine routine = find_routine(kinds, calls);
  has_routine_ = routine.is_reliable;
  if (!has_routine_) return;
  missing_ = std::move(routine.missing);
  kinds_ = static_cast<std::uint32_t>(calls.size());
  const std::uint64_t rare = operations_.list().size() / (missing_.size() + 1);
  const auto bits = static_cast<std::uint32_t>(std::bit_width(rare) - (rare > 0 ? 1 : 0));
  evidence_ = std::min(std::min(kinds_, k_most_evidence) * bits, k_most_evidence);
}

void add_sides(const Builder& builder, const Sequence& sequence, ChannelSides& sends,
               ChannelSides& receives) {
  SideFinder(builder, sequence).run(sends, receives);
}

}  // namespace entrain::match
