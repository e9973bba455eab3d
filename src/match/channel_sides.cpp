// SPDX-License-Identifier: BSD-3-Clause
#include "match/channel_sides.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

#include "base/flat_map.hpp"
#include "match/gaps.hpp"
#include "match/routine.hpp"

namespace entrain::match {

namespace {

/// Thresholds of the sides; chosen, not measured.
struct SideLimits {
  static constexpr std::size_t look_back = 64;   ///< missing operations that a receive may replace
  static constexpr std::uint64_t pause = 16;     ///< least pause, in usual distances of operations
  static constexpr std::size_t percentile = 99;  ///< percentile of the distances: the usual one
  static constexpr std::uint32_t most_evidence = 60;  ///< bits
};

enum class OperationType : std::uint32_t { send, receive, collective };

struct Step {
  std::uint64_t posted = 0;  ///< stamp
  EventRef event;
  std::uint32_t kind = 0;   ///< number of its kind
  std::uint32_t place = 0;  ///< number among those of its kind, in order of posting
  /// True for a receive whose posting has no record; it counts if other receives have one.
  bool has_no_post = false;
};

/// Kind of operations: they differ only in times and lengths.
struct Kind {
  OperationType type{};
  std::uint32_t comm = k_none;
  std::uint32_t other = 0;  ///< process, or the operation of a collective
  std::uint32_t tag = 0;
  friend bool operator==(const Kind&, const Kind&) = default;
};
struct Shared {
  ChannelSide* side = nullptr;                   ///< null: none counted yet
  std::vector<std::uint64_t>* posted = nullptr;  ///< see ProcessSides; null: none counted yet
  std::uint32_t comm_counter = 0;                ///< number of the communicator's counter
  std::uint32_t peer_counter = 0;                ///< number of the other process's counter
  std::uint32_t operations = 0;                  ///< number so far
};
struct KindHash {
  std::uint64_t operator()(const Kind& kind) const {
    return mix(mix(std::uint64_t{static_cast<std::uint32_t>(kind.type)} << 32 | kind.comm) ^
               (std::uint64_t{kind.other} << 32 | kind.tag));
  }
};

/// The value at index `n` if the values were sorted. Looks only at those of its binary magnitude
/// more than once.
std::uint64_t nth_smallest(std::span<const std::uint64_t> values, std::size_t n) {
  const auto width_of = [](std::uint64_t value) {
    return static_cast<std::size_t>(std::bit_width(value));
  };
  std::array<std::size_t, 65> counts{};  // per width
  for (const std::uint64_t value : values) ++counts[width_of(value)];
  std::size_t width = 0;
  for (; n >= counts[width]; ++width) n -= counts[width];
  std::vector<std::uint64_t> near;
  std::ranges::copy_if(values, std::back_inserter(near),
                       [&](std::uint64_t value) { return width_of(value) == width; });
  std::ranges::nth_element(near, near.begin() + static_cast<std::ptrdiff_t>(n));
  return near[n];
}

class SideFinder {
 public:
  SideFinder(const Builder& builder, std::uint32_t process)
      : builder_(builder),
        process_(process),
        gaps_(builder, process),
        clocks_(builder.trace(), builder.processes()[process]) {}

  ProcessSides run() {
    std::size_t messages = 0;
    for (const LocationIndex location : builder_.processes()[process_]) {
      messages += builder_.event_counts(location).sends + builder_.event_counts(location).receives;
    }
    steps_.reserve(messages + messages / 4);  // growth would touch twice the memory
    for (const LocationIndex location : builder_.processes()[process_]) list(location);
    // Operations of several threads merge in the order of their common clock.
    if (builder_.is_threaded(process_)) {
      std::stable_sort(steps_.begin(), steps_.end(),
                       [](const Step& a, const Step& b) { return a.posted < b.posted; });
    }
    if (!steps_.empty()) count_by_routine();
    finish();
    return std::move(sides_);
  }

 private:
  void list(LocationIndex location) {
    const trace::EventList& events = builder_.events(location);
    std::vector<std::uint32_t> kind_of_form(events.form_count(), k_unseen);
    const auto add = [&](std::uint32_t posted, std::uint32_t i, OperationType type) {
      std::uint32_t& kind = kind_of_form[events.form(i)];
      if (kind == k_unseen) kind = number_of(events[i], type);
      if (kind == k_none) return;
      const bool is_receive = type == OperationType::receive;
      const bool at_once = is_receive && posted == i && events.kind(i) == trace::EventKind::irecv;
      some_posted_ = some_posted_ || (is_receive && posted != i);
      steps_.push_back({.posted = events.time(posted),
                        .event = {location, i},
                        .kind = kind,
                        .has_no_post = at_once});
    };
    for_operations(
        events, [&](std::uint32_t i) { add(i, i, OperationType::send); },
        [&](std::uint32_t i, std::uint32_t posted) { add(posted, i, OperationType::receive); },
        [](bool) {}, [&](std::uint32_t i) { add(i, i, OperationType::collective); });
  }

  [[nodiscard]] bool has_no_post(const Step& step) const {
    return some_posted_ && step.has_no_post;
  }

  /// Kind of an operation; `other` is k_none if it names an undefined process or no communicator.
  [[nodiscard]] Kind kind_of(const trace::Event& event, OperationType type) const {
    if (type != OperationType::collective) {
      return {type, event.comm, builder_.process_of_peer(event.comm, process_, event.peer),
              event.tag};
    }
    const bool one_sided = event.kind == trace::EventKind::rma_collective_end;
    return {.type = type,
            .comm = one_sided ? name_of_window(builder_.definitions(), event.comm) : event.comm,
            .other = event.comm == k_none ? k_none : event.op};
  }
  /// Number of a kind; k_none: undefined.
  std::uint32_t number_of(const trace::Event& event, OperationType type) {
    const Kind kind = kind_of(event, type);
    if (kind.other == k_none) return k_none;
    const auto next = static_cast<std::uint32_t>(kinds_.size());
    const auto [number, is_new] = numbers_.insert(kind, next);
    if (is_new) {
      kinds_.push_back(kind);
      shared_.push_back({.comm_counter = counter(comms_, kind.comm, call_counts_)});
      if (kind.type != OperationType::collective) {
        shared_.back().peer_counter = counter(peers_, kind.other, message_counts_);
      }
    }
    return *number;
  }
  using Numbers = FlatMap<std::uint64_t, std::uint32_t, IntegerHash>;
  /// Returns the number of the counter of a communicator or process.
  static std::uint32_t counter(Numbers& numbers, std::uint32_t owner,
                               std::vector<std::uint32_t>& counters) {
    const auto next = static_cast<std::uint32_t>(counters.size());
    const auto [number, is_new] = numbers.insert(owner, next);
    if (is_new) counters.push_back(0);
    return *number;
  }

  /// Counts the operations in the order of the routine, or as listed without one.
  void count_by_routine() {
    std::vector<std::uint32_t> kinds;  // of in_order_
    kinds.reserve(steps_.size());
    in_order_.reserve(steps_.size());
    for (std::uint32_t s = 0; s < steps_.size(); ++s) {
      steps_[s].place = shared_[steps_[s].kind].operations++;
      if (has_no_post(steps_[s])) continue;
      kinds.push_back(steps_[s].kind);
      in_order_.push_back(s);
    }
    std::vector<bool> calls;
    for (const Kind& kind : kinds_) calls.push_back(kind.type == OperationType::collective);
    const Routine routine = find_routine(kinds, calls);
    if (!routine.is_reliable) {
      for (const Step& step : steps_) count(step);
      return;
    }
    sides_.has_routine = true;
    const std::vector<std::uint32_t> fills = fill(routine.missing);
    const std::vector<std::uint32_t> pauses = find_pauses();
    auto pause = pauses.begin();
    std::size_t m = 0;
    for (std::uint32_t at = 0; at < in_order_.size(); ++at) {
      for (; m < routine.missing.size() && routine.missing[m].before == at; ++m) {
        if (fills[m] != k_none) {
          steps_[fills[m]].posted = time_of(at);
          count(steps_[fills[m]]);
        } else {
          count_missing(routine.missing[m].kind, time_of(at));
        }
      }
      if (pause != pauses.end() && *pause == at) {
        add_pause(time_of(at) - time_of(at - 1));
        ++pause;
      }
      count(steps_[in_order_[at]]);
    }
    const std::uint64_t rare = steps_.size() / (routine.missing.size() + 1);
    const auto bits = static_cast<std::uint32_t>(std::bit_width(rare) - (rare > 0 ? 1 : 0));
    const auto count = static_cast<std::uint32_t>(kinds_.size());
    const auto rate = [&](auto& sides) {
      for (auto& [name, side] : sides) {
        side.kinds = count;
        side.evidence =
            std::min(std::min(count, SideLimits::most_evidence) * bits, SideLimits::most_evidence);
      }
    };
    rate(sides_.sends);
    rate(sides_.receives);
    rate(sides_.calls);
  }

  /// Assigns receives without a post to missing operations of their kind. Returns, per missing
  /// operation, a step or k_none. Receives without one nearby are ignored.
  [[nodiscard]] std::vector<std::uint32_t> fill(std::span<const Missing> missing) const {
    std::vector<std::uint32_t> fills(missing.size(), k_none);
    std::uint32_t passed = 0;
    std::size_t end = 0;  // missing operations up to here
    for (std::uint32_t s = 0; s < steps_.size(); ++s) {
      if (!has_no_post(steps_[s])) {
        ++passed;
        continue;
      }
      while (end < missing.size() && missing[end].before <= passed) ++end;
      for (std::size_t m = end; m-- > end - std::min(end, SideLimits::look_back);) {
        if (missing[m].before + kinds_.size() < passed) break;
        if (missing[m].kind != steps_[s].kind || fills[m] != k_none) continue;
        fills[m] = s;
        break;
      }
    }
    return fills;
  }

  [[nodiscard]] std::uint64_t time_of(std::uint32_t at) const {
    return steps_[in_order_[at]].posted;
  }
  /// Returns the operations after a pause, as indices of in_order_.
  [[nodiscard]] std::vector<std::uint32_t> find_pauses() const {
    std::vector<std::uint64_t> distances;
    for (std::uint32_t at = 1; at < in_order_.size(); ++at) {
      distances.push_back(time_of(at) - time_of(at - 1));
    }
    std::vector<std::uint32_t> pauses;
    if (distances.empty()) return pauses;
    const std::size_t place = distances.size() * SideLimits::percentile / 100;
    const std::uint64_t usual = std::max<std::uint64_t>(nth_smallest(distances, place), 1);
    for (std::uint32_t at = 1; at < in_order_.size(); ++at) {
      if (distances[at - 1] / SideLimits::pause > usual ||
          gaps_.ended_by(time_of(at)) > gaps_.ended_by(time_of(at - 1))) {
        pauses.push_back(at);
      }
    }
    return pauses;
  }
  void add_pause(std::uint64_t length) {
    while (!shortest_.empty() && shortest_.back().length >= length) shortest_.pop_back();
    shortest_.push_back({pauses_++, length});
  }
  /// Adds the shortest of the pauses since the last end of a side, which gets another end.
  void take_pause(ChannelSide& side) {
    const std::uint32_t seen = std::exchange(side.pauses_seen, pauses_);
    if (seen == pauses_ || side.ends.empty()) return;
    const auto place =
        std::lower_bound(shortest_.begin(), shortest_.end(), seen,
                         [](const Pause& pause, std::uint32_t n) { return pause.end < n; });
    side.pauses.push_back({static_cast<std::uint32_t>(side.ends.size()), place->length});
  }

  ChannelSide& side_of(std::uint32_t number) {
    Shared& shared = shared_[number];
    if (shared.side == nullptr) {
      shared.side = &find_side(kinds_[number]);
      make_room(*shared.side, shared.operations, kinds_[number].type);
    }
    return *shared.side;
  }
  /// Reserves memory for the operations of a kind: growth would touch twice the memory.
  static void make_room(ChannelSide& side, std::uint32_t operations, OperationType type) {
    const std::size_t ends = side.ends.size() + operations;
    side.ends.reserve(ends);
    side.numbers.reserve(ends);
    side.places.reserve(ends);
    if (type != OperationType::collective) side.records.reserve(ends);
  }
  ChannelSide& find_side(const Kind& kind) {
    if (kind.type == OperationType::collective) return sides_.calls[kind.comm];
    const bool sent = kind.type == OperationType::send;
    const Channel channel{kind.comm, sent ? process_ : kind.other, sent ? kind.other : process_,
                          kind.tag};
    return (sent ? sides_.sends : sides_.receives)[channel];
  }

  /// Counts a missing operation; `next`: stamp of the operation after it.
  void count_missing(std::uint32_t number, std::uint64_t next) {
    const Kind& kind = kinds_[number];
    ++side_of(number).total;
    if (kind.type == OperationType::collective) {
      sides_.missing_calls[kind.comm].push_back(next);
    } else {
      posted_with(number).push_back(next);
    }
  }
  void count(const Step& step) {
    ChannelSide& side = side_of(step.kind);
    take_pause(side);
    const auto before = static_cast<std::uint32_t>(side.ends.size());
    side.ends.push_back(builder_.ref(step.event));
    side.numbers.push_back(side.total++);
    side.places.push_back(step.place);
    if (kinds_[step.kind].type == OperationType::collective) {
      ++call_counts_[shared_[step.kind].comm_counter];
    } else {
      add_record(step, before, side);
      posted_with(step.kind).push_back(step.posted);
    }
  }
  std::vector<std::uint64_t>& posted_with(std::uint32_t number) {
    Shared& shared = shared_[number];
    if (shared.posted == nullptr) shared.posted = &sides_.posted[kinds_[number].other];
    return *shared.posted;
  }
  /// Adds the record of an end; `before`: number of earlier ends of the side.
  void add_record(const Step& step, std::uint32_t before, ChannelSide& side) {
    const trace::Event& event = builder_.event(step.event);
    const Shared& shared = shared_[step.kind];
    const std::uint32_t position =
        message_counts_[shared.peer_counter]++ - before + call_counts_[shared.comm_counter];
    const std::uint32_t ended = gaps_.ended_by(event.time);
    const bool after_gap = ended > std::exchange(side.gaps_seen, ended);
    side.records.push_back({.time = event.time,
                            .position = position,
                            .symbol = trace::length_code(event),
                            .after_gap = after_gap,
                            .displaced = has_no_post(step)});
  }

  void finish() {
    for (auto& [peer, stamps] : sides_.posted) {
      if (!std::is_sorted(stamps.begin(), stamps.end())) std::sort(stamps.begin(), stamps.end());
    }
    for (const Shared& shared : shared_) {
      if (shared.side != nullptr) shared.side->posted = shared.operations;
    }
    for (ChannelSides* sides : {&sides_.sends, &sides_.receives}) {
      // All ends of some sides are missing.
      std::erase_if(*sides, [](const auto& one) { return one.second.ends.empty(); });
      for (auto& [channel, side] : *sides) {
        const std::uint32_t peer = sides == &sides_.sends ? channel.receiver : channel.sender;
        side.position = message_counts_[*peers_.find(peer)] -
                        static_cast<std::uint32_t>(side.ends.size()) +
                        call_counts_[*comms_.find(channel.comm)];
        side.before_gaps = gaps_.count_before(side.records);
        side.ends_in_gap = gaps_.count() > gaps_.ended_by(side.records.back().time);
        read_clocks(side);
      }
    }
  }

  /// Corrects stamps by clock records.
  void read_clocks(ChannelSide& side) const {
    for (std::size_t k = 0; k < side.ends.size(); ++k) {
      const trace::RecordedClock& clock = clocks_[side.ends[k].location];
      EndRecord& record = side.records[k];
      record.doubt = clock.doubt(record.time);
      record.time = clock.time(record.time);
    }
  }

  const Builder& builder_;
  const std::uint32_t process_;
  const Gaps gaps_;
  const trace::RecordedClocks clocks_;
  std::vector<Step> steps_;
  bool some_posted_ = false;             ///< receives were posted by separate records
  std::vector<std::uint32_t> in_order_;  ///< steps whose position is known
  static constexpr std::uint32_t k_unseen = k_none - 1;
  FlatMap<Kind, std::uint32_t, KindHash> numbers_;
  std::vector<Kind> kinds_;     ///< sorted by number
  std::vector<Shared> shared_;  ///< one per kind
  ProcessSides sides_;
  std::uint32_t pauses_ = 0;
  /// Pauses that are shorter than all later ones, sorted by number (`end`).
  std::vector<Pause> shortest_;
  Numbers peers_, comms_;                      ///< numbers of their counters
  std::vector<std::uint32_t> message_counts_;  ///< one per other process, so far
  std::vector<std::uint32_t> call_counts_;     ///< collectives per communicator, so far
};

}  // namespace

ProcessSides channel_sides(const Builder& builder, std::uint32_t process) {
  return SideFinder(builder, process).run();
}

}  // namespace entrain::match
