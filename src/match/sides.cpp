// SPDX-License-Identifier: BSD-3-Clause
#include "match/sides.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <utility>

#include "base/flat_map.hpp"
#include "match/gaps.hpp"
#include "match/routine.hpp"

namespace entrain::match {

namespace {

constexpr std::size_t k_look_back = 64;  ///< missing operations whose place one may take
constexpr std::uint64_t k_pause = 16;    ///< times what 99 in 100 distances between operations are
constexpr std::uint32_t k_most_evidence = 60;

enum class What : std::uint32_t { send, receive, collective };

/// An operation, in the order of the process.
struct Step {
  std::uint64_t posted = 0;  ///< stamp
  EventRef event;
  std::uint32_t order = 0;  ///< of the event that posted it
  What what{};
  std::uint32_t other = 0;  ///< as in Kind
  /// A receive that was posted, too, if others are, by a record that is missing.
  bool misses_post = false;
  std::uint32_t kind = 0;  ///< number
};

/// Operations of one kind differ in their times and lengths only.
struct Kind {
  What what{};
  std::uint32_t comm = k_none;
  std::uint32_t other = 0;  ///< process, or the operation of a collective
  std::uint32_t tag = 0;
  friend bool operator==(const Kind&, const Kind&) = default;
};
/// What all operations of a kind share.
struct Shared {
  ChannelSide* side = nullptr;                   ///< null: none of them was counted yet
  std::vector<std::uint64_t>* posted = nullptr;  ///< as in ProcessSides; null: likewise
  std::uint32_t comm_counter = 0;                ///< number of the communicator's counter
  std::uint32_t peer_counter = 0;                ///< number of the other process's counter
};
struct KindHash {
  std::uint64_t operator()(const Kind& kind) const {
    return mix(mix(std::uint64_t{static_cast<std::uint32_t>(kind.what)} << 32 | kind.comm) ^
               (std::uint64_t{kind.other} << 32 | kind.tag));
  }
};

class SideFinder {
 public:
  SideFinder(const Builder& builder, std::uint32_t process)
      : builder_(builder),
        process_(process),
        gaps_(builder, process),
        clocks_(builder.trace(), builder.processes()[process]) {}

  ProcessSides run() {
    for (const LocationIndex location : builder_.processes()[process_]) list(location);
    // Operations of several threads merge in the order of their common clock.
    if (builder_.processes()[process_].size() > 1) {
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
    const auto first = static_cast<std::ptrdiff_t>(steps_.size());
    const auto add = [&](std::uint32_t posted, std::uint32_t i, What what) {
      const std::uint32_t peer = builder_.process_of_peer(events[i].comm, process_, events[i].peer);
      if (peer == k_none) return;
      const bool at_once =
          what == What::receive && posted == i && events.kind(i) == trace::EventKind::irecv;
      some_posted_ = some_posted_ || (what == What::receive && posted != i);
      steps_.push_back({events.time(posted), {location, i}, posted, what, peer, at_once});
    };
    for_operations(
        events, [&](std::uint32_t i) { add(i, i, What::send); },
        [&](std::uint32_t i, std::uint32_t posted) { add(posted, i, What::receive); }, [](bool) {});
    const auto messages_end = static_cast<std::ptrdiff_t>(steps_.size());
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const bool one_sided = events.kind(i) == trace::EventKind::rma_collective_end;
      if (!one_sided && events.kind(i) != trace::EventKind::collective_end) continue;
      if (events[i].comm == k_none) continue;
      steps_.push_back({events.time(i), {location, i}, i, What::collective, events[i].op});
    }
    // Both are in the order in which they were posted.
    std::inplace_merge(steps_.begin() + first, steps_.begin() + messages_end, steps_.end(),
                       [](const Step& a, const Step& b) { return a.order < b.order; });
  }

  [[nodiscard]] bool misses_post(const Step& step) const {
    return some_posted_ && step.misses_post;
  }

  [[nodiscard]] Kind kind_of(const Step& step) const {
    const trace::Event& event = builder_.event(step.event);
    if (step.what != What::collective) return {step.what, event.comm, step.other, event.tag};
    const bool one_sided = event.kind == trace::EventKind::rma_collective_end;
    return {.what = step.what,
            .comm = one_sided ? name_of_window(builder_.definitions(), event.comm) : event.comm,
            .other = step.other};
  }
  std::uint32_t number_of(const Step& step) {
    const Kind kind = kind_of(step);
    // Most are of the kind of one of the last few.
    std::uint32_t& recent = recent_[(static_cast<std::uint32_t>(kind.what) * 5 + kind.comm +
                                     kind.other * 3 + kind.tag) %
                                    recent_.size()];
    if (recent < kinds_.size() && kinds_[recent] == kind) return recent;
    const auto next = static_cast<std::uint32_t>(kinds_.size());
    const auto [number, is_new] = numbers_.insert(kind, next);
    if (is_new) {
      kinds_.push_back(kind);
      shared_.push_back({.comm_counter = counter(comms_, kind.comm, calls_on_)});
      if (kind.what != What::collective) {
        shared_.back().peer_counter = counter(peers_, kind.other, with_);
      }
    }
    return recent = *number;
  }
  using Numbers = FlatMap<std::uint64_t, std::uint32_t, IntegerHash>;
  /// Number of the counter of a communicator or process.
  static std::uint32_t counter(Numbers& numbers, std::uint32_t of,
                               std::vector<std::uint32_t>& counters) {
    const auto next = static_cast<std::uint32_t>(counters.size());
    const auto [number, is_new] = numbers.insert(of, next);
    if (is_new) counters.push_back(0);
    return *number;
  }

  /// Counts the operations in the order of the routine, if there is one, or as they are.
  void count_by_routine() {
    std::vector<std::uint32_t> kinds;  // of those in order
    std::vector<std::uint32_t> all;
    for (std::uint32_t s = 0; s < steps_.size(); ++s) {
      all.push_back(steps_[s].kind = number_of(steps_[s]));
      if (misses_post(steps_[s])) continue;
      kinds.push_back(all.back());
      in_order_.push_back(s);
    }
    std::vector<bool> calls;
    for (const Kind& kind : kinds_) calls.push_back(kind.what == What::collective);
    const Routine routine = find_routine(kinds, calls);
    if (!routine.is_reliable) {
      for (const Step& step : steps_) count(step);
      return;
    }
    sides_.has_routine = true;
    const std::vector<std::uint32_t> fills = fill(routine.missing, all);
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
        note_pause(time_of(at) - time_of(at - 1));
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
        side.evidence = std::min(std::min(count, k_most_evidence) * bits, k_most_evidence);
      }
    };
    rate(sides_.sends);
    rate(sides_.receives);
    rate(sides_.calls);
  }

  /// Gives receives whose post is missing the places of the missing operations that they are:
  /// steps, per missing operation, or k_none. Those without a place nearby are left out.
  [[nodiscard]] std::vector<std::uint32_t> fill(std::span<const Missing> missing,
                                                std::span<const std::uint32_t> kinds) const {
    std::vector<std::uint32_t> fills(missing.size(), k_none);
    std::uint32_t passed = 0;
    std::size_t end = 0;  // of the missing operations up to here
    for (std::uint32_t s = 0; s < steps_.size(); ++s) {
      if (!misses_post(steps_[s])) {
        ++passed;
        continue;
      }
      while (end < missing.size() && missing[end].before <= passed) ++end;
      for (std::size_t m = end; m-- > end - std::min(end, k_look_back);) {
        if (missing[m].before + kinds_.size() < passed) break;
        if (missing[m].kind != kinds[s] || fills[m] != k_none) continue;
        fills[m] = s;
        break;
      }
    }
    return fills;
  }

  [[nodiscard]] std::uint64_t time_of(std::uint32_t at) const {
    return steps_[in_order_[at]].posted;
  }
  /// The operations behind a pause, by their numbers in order.
  [[nodiscard]] std::vector<std::uint32_t> find_pauses() const {
    std::vector<std::uint64_t> distances;
    for (std::uint32_t at = 1; at < in_order_.size(); ++at) {
      distances.push_back(time_of(at) - time_of(at - 1));
    }
    std::vector<std::uint32_t> pauses;
    if (distances.empty()) return pauses;
    std::vector<std::uint64_t> sorted = distances;
    const auto place = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() * 99 / 100);
    std::nth_element(sorted.begin(), place, sorted.end());
    const std::uint64_t usual = std::max<std::uint64_t>(*place, 1);
    for (std::uint32_t at = 1; at < in_order_.size(); ++at) {
      if (distances[at - 1] / k_pause > usual ||
          gaps_.ended_by(time_of(at)) > gaps_.ended_by(time_of(at - 1))) {
        pauses.push_back(at);
      }
    }
    return pauses;
  }
  void note_pause(std::uint64_t length) {
    while (!shortest_.empty() && shortest_.back().length >= length) shortest_.pop_back();
    shortest_.push_back({pauses_++, length});
  }
  /// Gives a side that gets another end the shortest of the pauses since its last one.
  void take_pause(ChannelSide& side) {
    const std::uint32_t seen = std::exchange(side.pauses_seen, pauses_);
    if (seen == pauses_ || side.ends.empty()) return;
    const auto place =
        std::lower_bound(shortest_.begin(), shortest_.end(), seen,
                         [](const Pause& pause, std::uint32_t n) { return pause.end < n; });
    side.pauses.push_back({static_cast<std::uint32_t>(side.ends.size()), place->length});
  }

  /// The side that the operations of a kind belong to.
  ChannelSide& side_of(std::uint32_t number) {
    Shared& shared = shared_[number];
    if (shared.side == nullptr) shared.side = &find_side(kinds_[number]);
    return *shared.side;
  }
  ChannelSide& find_side(const Kind& kind) {
    if (kind.what == What::collective) return sides_.calls[kind.comm];
    const bool sent = kind.what == What::send;
    const Channel channel{kind.comm, sent ? process_ : kind.other, sent ? kind.other : process_,
                          kind.tag};
    return (sent ? sides_.sends : sides_.receives)[channel];
  }

  /// `next`: stamp of the next operation.
  void count_missing(std::uint32_t number, std::uint64_t next) {
    const Kind& kind = kinds_[number];
    ++side_of(number).total;
    if (kind.what == What::collective) {
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
    if (step.what == What::collective) {
      ++calls_on_[shared_[step.kind].comm_counter];
    } else {
      add_trait(step, before, side);
      posted_with(step.kind).push_back(step.posted);
    }
  }
  std::vector<std::uint64_t>& posted_with(std::uint32_t number) {
    Shared& shared = shared_[number];
    if (shared.posted == nullptr) shared.posted = &sides_.posted[kinds_[number].other];
    return *shared.posted;
  }
  /// `before`: ends of the side before this one.
  void add_trait(const Step& step, std::uint32_t before, ChannelSide& side) {
    const trace::Event& event = builder_.event(step.event);
    const Shared& shared = shared_[step.kind];
    const std::uint32_t position =
        with_[shared.peer_counter]++ - before + calls_on_[shared.comm_counter];
    const std::uint32_t ended = gaps_.ended_by(event.time);
    const bool after_gap = ended > std::exchange(side.gaps_seen, ended);
    side.traits.push_back({.time = event.time,
                           .position = position,
                           .symbol = trace::length_code(event),
                           .after_gap = after_gap,
                           .displaced = misses_post(step)});
  }

  void finish() {
    for (auto& [peer, stamps] : sides_.posted) {
      if (!std::is_sorted(stamps.begin(), stamps.end())) std::sort(stamps.begin(), stamps.end());
    }
    for (Sides* sides : {&sides_.sends, &sides_.receives}) {
      // Of some, all ends are missing.
      std::erase_if(*sides, [](const auto& one) { return one.second.ends.empty(); });
      for (auto& [channel, side] : *sides) {
        const std::uint32_t peer = sides == &sides_.sends ? channel.receiver : channel.sender;
        side.position = with_[*peers_.find(peer)] - static_cast<std::uint32_t>(side.ends.size()) +
                        calls_on_[*comms_.find(channel.comm)];
        side.before_gaps = gaps_.count_before(side.traits);
        side.ends_in_gap = gaps_.count() > gaps_.ended_by(side.traits.back().time);
        read_clocks(side);
      }
    }
  }

  /// Replaces stamps by the times that records of clocks make of them.
  void read_clocks(ChannelSide& side) const {
    for (std::size_t k = 0; k < side.ends.size(); ++k) {
      const trace::RecordedClock& clock = clocks_[side.ends[k].location];
      Trait& trait = side.traits[k];
      trait.doubt = clock.doubt(trait.time);
      trait.time = clock.time(trait.time);
    }
  }

  const Builder& builder_;
  const std::uint32_t process_;
  const Gaps gaps_;
  const trace::RecordedClocks clocks_;
  std::vector<Step> steps_;
  bool some_posted_ = false;             ///< by records of their own
  std::vector<std::uint32_t> in_order_;  ///< steps whose place is known
  FlatMap<Kind, std::uint32_t, KindHash> numbers_;
  std::vector<Kind> kinds_;                 ///< by number
  std::vector<Shared> shared_;              ///< per kind
  std::array<std::uint32_t, 16> recent_{};  ///< numbers of kinds, by some bits of the kind
  ProcessSides sides_;
  std::uint32_t pauses_ = 0;
  /// By number (`end`): those pauses that are shorter than all after them.
  std::vector<Pause> shortest_;
  Numbers peers_, comms_;                ///< of their counters
  std::vector<std::uint32_t> with_;      ///< messages so far, per other process
  std::vector<std::uint32_t> calls_on_;  ///< collectives so far, per communicator
};

}  // namespace

ProcessSides sides_of(const Builder& builder, std::uint32_t process) {
  return SideFinder(builder, process).run();
}

}  // namespace entrain::match
