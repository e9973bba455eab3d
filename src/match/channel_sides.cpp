// SPDX-License-Identifier: BSD-3-Clause
#include "match/channel_sides.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "match/routine.hpp"

namespace entrain::match {

namespace {

/// Most evidence of a routine, bits; chosen, not measured.
constexpr std::uint32_t k_most_evidence = 60;

}  // namespace

/// Numbers the operations, one after the other.
class Sequence::Walk {
 public:
  explicit Walk(Sequence& to)
      : to_(to),
        all_(*to.operations_),
        threads_(to.builder_->is_threaded(all_.process()) ? locations().size() : 1),
        next_(to.first_.begin(), to.first_.end() - 1),
        counted_(next_.size(), 0),
        users_(next_.size()) {
    for (const Kind& kind : all_.kinds()) {
      counters_.push_back({.comm = counter(comms_, kind.comm, calls_),
                           .peer = kind.is_call() ? 0 : counter(peers_, kind.other, messages_)});
    }
    posted_.resize(messages_.size());
    std::vector<std::size_t> messages(posted_.size(), 0);
    for (std::uint32_t k = 0; k < next_.size(); ++k) {
      if (!kind(k).is_call()) messages[counters_[k].peer] += all_.count(k);
    }
    for (std::size_t p = 0; p < messages.size(); ++p) posted_[p].reserve(messages[p]);
    messages_.resize(messages_.size() * threads_);
    calls_.resize(calls_.size() * threads_);
    if (threads_ == 1) users_.assign(next_.size(), {0});
    for (const Operation& one : all_.list()) {
      if (threads_ == 1) break;
      std::vector<std::size_t>& users = users_[one.kind];
      const std::size_t thread = thread_of(one);
      if (std::ranges::find(users, thread) == users.end()) users.push_back(thread);
    }
  }

  void run() {
    const Routine routine = this->routine();
    auto missing = routine.missing.begin();
    std::uint32_t at = 0;
    for (const Operation& one : all_.list()) {
      if (routine.is_reliable && all_.has_no_post(one)) {
        ++next_[one.kind];
        continue;
      }
      for (; missing != routine.missing.end() && missing->before == at; ++missing) {
        miss(missing->kind, all_.time(one));
      }
      ++at;
      count(one);
    }
    for (std::uint32_t k = 0; k < next_.size(); ++k) finish(k, routine);
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
  [[nodiscard]] const std::vector<LocationIndex>& locations() const {
    return to_.builder_->processes()[all_.process()];
  }
  /// Position of the location of an operation among those of its process.
  [[nodiscard]] std::size_t thread_of(const Operation& one) const {
    if (threads_ == 1) return 0;
    return static_cast<std::size_t>(std::ranges::lower_bound(locations(), one.event.location) -
                                    locations().begin());
  }
  [[nodiscard]] const Kind& kind(std::uint32_t k) const { return all_.kinds()[k]; }

  [[nodiscard]] Routine routine() const {
    std::vector<std::uint32_t> kinds;
    kinds.reserve(all_.list().size());
    for (const Operation& one : all_.list()) {
      if (!all_.has_no_post(one)) kinds.push_back(one.kind);
    }
    std::vector<bool> calls;
    for (const Kind& kind : all_.kinds()) calls.push_back(kind.is_call());
    return find_routine(kinds, calls);
  }

  /// Operations of one kind, one after the other.
  struct Row {
    std::uint32_t kind = k_none;
    std::size_t first = 0;     ///< position among the ends
    bool misses_some = false;  ///< any of them may be the one that is missing
  };

  void miss(std::uint32_t k, std::uint64_t next_stamp) {
    ++to_.facts_[k].total;
    if (k != row_.kind) row_ = {k, next_[k]};
    row_.misses_some = true;
    for (std::size_t end = row_.first; end < next_[k]; ++end) to_.unclear_[end] = true;
    (kind(k).is_call() ? to_.context.missing[kind(k).comm] : posted_[counters_[k].peer])
        .push_back(next_stamp);
  }

  void count(const Operation& one) {
    const std::uint32_t k = one.kind;
    if (k != row_.kind) row_ = {k, next_[k]};
    const std::size_t thread = thread_of(one);
    const std::uint32_t number = to_.facts_[k].total++;
    if (kind(k).is_call()) {
      ++calls_[counters_[k].comm * threads_ + thread];
      return;
    }
    const std::size_t end = next_[k]++;
    to_.ends_[end] = {one.event, number, position(k)};
    to_.unclear_[end] = row_.misses_some;
    ++counted_[k];
    ++messages_[counters_[k].peer * threads_ + thread];
    const std::uint64_t stamp = all_.time(one);
    std::uint32_t& after = to_.facts_[k].after_gaps;
    after = to_.gaps_.all_ended_by(stamp) ? after + 1 : 0;
    posted_[counters_[k].peer].push_back(stamp);
  }
  /// Number of other operations that involve the other process of a channel, so far: those of the
  /// threads that use the channel. How many of other threads came before depends on clocks.
  [[nodiscard]] std::uint32_t position(std::uint32_t k) const {
    const auto [comm, peer] = counters_[k];
    std::uint32_t count = 0U - counted_[k];
    for (const std::size_t thread : users_[k]) {
      count += messages_[peer * threads_ + thread] + calls_[comm * threads_ + thread];
    }
    return count;
  }

  void finish(std::uint32_t k, const Routine& routine) {
    SideFacts& facts = to_.facts_[k];
    CallContext& context = to_.context;
    if (routine.is_reliable) {
      facts.kinds = static_cast<std::uint32_t>(next_.size());
      const std::uint64_t rare = all_.list().size() / (routine.missing.size() + 1);
      const auto bits = static_cast<std::uint32_t>(std::bit_width(rare) - (rare > 0 ? 1 : 0));
      facts.evidence = std::min(std::min(facts.kinds, k_most_evidence) * bits, k_most_evidence);
    }
    context.has_routine = routine.is_reliable;
    context.evidence = facts.evidence;
    if (kind(k).is_call()) {
      context.calls[kind(k).comm] += all_.count(k);
      return;
    }
    facts.position = position(k);
    std::vector<std::uint64_t>& posted = posted_[counters_[k].peer];
    if (posted.empty()) return;  // moved, or none has a place
    if (!std::ranges::is_sorted(posted)) std::ranges::sort(posted);
    context.posted.emplace(kind(k).other, std::move(posted));
  }

  Sequence& to_;
  const Operations& all_;
  const std::size_t threads_;                    ///< locations whose operations are counted apart
  std::vector<std::size_t> next_;                ///< position of the next end of each kind
  std::vector<std::uint32_t> counted_;           ///< ends of each kind with a place so far
  std::vector<Counters> counters_;               ///< one per kind
  std::vector<std::vector<std::size_t>> users_;  ///< threads that have operations of each kind
  Row row_;                                      ///< the last operations
  Numbers peers_, comms_;                        ///< numbers of their counters
  /// Counts for each other process or communicator, per thread.
  std::vector<std::uint32_t> messages_, calls_;
  std::vector<std::vector<std::uint64_t>> posted_;  ///< see CallContext, by counter
};

Sequence::Sequence(const Builder& builder, const Operations& operations)
    : builder_(&builder),
      operations_(&operations),
      gaps_(builder, operations),
      clocks_(builder.trace(), builder.processes()[operations.process()]),
      facts_(operations.kinds().size()),
      first_(1, 0) {
  for (std::uint32_t k = 0; k < facts_.size(); ++k) {
    first_.push_back(first_.back() + (operations.kinds()[k].is_call() ? 0 : operations.count(k)));
  }
  ends_.resize(first_.back());
  unclear_.resize(first_.back());
  Walk(*this).run();
}

ChannelSide Sequence::side(std::uint32_t kind) const {
  ChannelSide side{.facts = facts_[kind], .records = {}};
  const auto ends = std::span(ends_).first(first_[kind + 1]).subspan(first_[kind]);
  side.records.reserve(ends.size());
  for (const End& end : ends) {
    if (end.number == k_none) continue;
    const trace::Event event = builder_->event(end.event);
    side.records.push_back({.time = event.time,
                            .position = end.position,
                            .number = end.number,
                            .symbol = trace::length_code(event)});
  }
  gaps_.mark(side.records, side.facts);
  const trace::RecordedClock* clock = nullptr;
  LocationIndex of_clock = k_none;
  auto record = side.records.begin();
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].number == k_none) continue;
    const LocationIndex location = ends[i].event.location;
    if (location != of_clock) clock = &clocks_[location];
    of_clock = location;
    record->unclear = unclear_[first_[kind] + i];
    record->doubt = clock->doubt(record->time);
    record->time = clock->time(record->time);
    ++record;
  }
  return side;
}

std::vector<std::uint32_t> Sequence::places(std::uint32_t kind) const {
  std::vector<std::uint32_t> places;
  for (std::size_t i = first_[kind]; i < first_[kind + 1]; ++i) {
    if (ends_[i].number != k_none) places.push_back(static_cast<std::uint32_t>(i - first_[kind]));
  }
  return places;
}

}  // namespace entrain::match
