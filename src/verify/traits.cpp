// SPDX-License-Identifier: BSD-3-Clause
#include "verify/traits.hpp"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "base/flat_map.hpp"
#include "verify/exchange_part.hpp"
#include "verify/habit.hpp"
#include "verify/post_positions.hpp"

namespace entrain::verify {

namespace {

constexpr std::uint64_t k_stop = 16;  ///< times the 99th percentile of distances between deeds
constexpr std::uint32_t k_most_trust = 60;

/// One side of a channel of a process.
struct Written {
  TraitHead head;
  std::vector<std::uint32_t> posts;  ///< in order
  std::vector<Trait> traits;         ///< per post
  std::vector<std::uint32_t> places;
  std::vector<std::uint32_t> ordinals;
  std::vector<Stop> stops;
  std::uint32_t stops_before = 0;  ///< of the process, up to the last end
};

/// Writes the traits of one process.
class Writer {
 public:
  Writer(const GapTable& gaps, Outline&& outline)
      : trace_(gaps.share().trace),
        places_(gaps.places()),
        outline_(std::move(outline)),
        sides_(outline_.channels.size()),
        gaps_(gaps.of(outline_.process)) {
    list_steps();
    name_deeds();
    count_in_order();
    write_traits();
  }

  /// Calls `use(channel, side)` for each side that has ends.
  template <class Use>
  void for_each(Use use) const {
    for (std::size_t c = 0; c < sides_.size(); ++c) {
      if (!sides_[c].posts.empty()) use(outline_.channels[c], sides_[c]);
    }
  }
  [[nodiscard]] Conduct conduct() && {
    for (auto& [partner, stamps] : conduct_.messages) {
      if (!std::is_sorted(stamps.begin(), stamps.end())) std::sort(stamps.begin(), stamps.end());
    }
    return std::move(conduct_);
  }
  [[nodiscard]] bool any_calls() const { return !conduct_.calls.empty(); }

 private:
  /// A message, or a blocking collective.
  struct Step {
    std::uint64_t stamp = 0;
    std::uint32_t number = 0;
    std::uint32_t post = k_none;  ///< k_none: a collective on `comm`
    std::uint32_t comm = k_none;
    std::uint32_t op = 0;
    std::uint32_t kind = k_none;  ///< Deed::kind
  };
  /// What deeds of one kind have in common.
  struct Kind {
    std::uint32_t channel = k_none;                ///< of the outline; k_none: calls
    std::uint32_t messages = 0;                    ///< number of the counter of its partner
    std::uint32_t calls = 0;                       ///< number of the counter of its communicator
    std::vector<std::uint64_t>* stamps = nullptr;  ///< messages with the partner; null: none yet
    Conduct::Calls* conduct = nullptr;             ///< calls on the communicator; null: none yet
  };

  [[nodiscard]] trace::Event event(std::uint32_t number) const {
    const EventRef at = places_.event(outline_.process, number);
    return trace_.locations[at.location].events[at.event];
  }
  [[nodiscard]] std::uint64_t stamp(std::uint32_t number) const { return event(number).time; }
  [[nodiscard]] std::uint32_t partner(const Outline::Channel& channel) const {
    return channel.send ? channel.key.receiver : channel.key.sender;
  }

  void list_steps() {
    for (std::uint32_t i = 0; i < outline_.posts.size(); ++i) {
      const Outline::Post& post = outline_.posts[i];
      if (post.channel != k_none) {
        steps_.push_back({.stamp = stamp(post.order), .number = post.order, .post = i});
      }
    }
    const auto posts = std::ssize(steps_);
    for (const LocationIndex l : places_.locations(outline_.process)) {
      std::uint32_t number = places_.first_number(l);
      for (const trace::Event& event : trace_.locations[l].events) {
        const bool on_window = event.kind == trace::EventKind::rma_collective_end;
        if ((on_window || event.kind == trace::EventKind::collective_end) && event.comm != k_none) {
          // Windows follow communicators, as in SpaceIndex.
          const auto comms = static_cast<SpaceIndex>(trace_.definitions.comms.size());
          steps_.push_back({.stamp = event.time,
                            .number = number,
                            .comm = on_window ? comms + event.comm : event.comm,
                            .op = event.op});
        }
        ++number;
      }
    }
    const bool single = places_.is_single(outline_.process);
    const auto before = [single](const Step& a, const Step& b) {
      return single || a.stamp == b.stamp ? a.number < b.number : a.stamp < b.stamp;
    };
    const auto middle = steps_.begin() + posts;
    // Most programs are in order already.
    if (!std::is_sorted(steps_.begin(), middle, before)) std::sort(steps_.begin(), middle, before);
    if (!std::is_sorted(middle, steps_.end(), before)) std::sort(middle, steps_.end(), before);
    std::inplace_merge(steps_.begin(), middle, steps_.end(), before);
  }

  /// Kinds are the channels, then the operations on each communicator. A receive is displaced if it
  /// is listed where it completed, while others are listed where they were posted.
  void name_deeds() {
    std::vector<std::uint32_t> kind_of_channel(outline_.channels.size(), k_none);
    FlatMap<std::uint64_t, std::uint32_t, IntegerHash> kinds_of_calls;
    bool some_posted = false;
    deeds_.reserve(steps_.size());
    for (Step& step : steps_) {
      trace::EventKind listed{};
      std::uint32_t* kind = nullptr;
      if (step.post == k_none) {
        const std::uint64_t name = std::uint64_t{step.comm} << 32 | step.op;
        kind = kinds_of_calls.insert(name, k_none).first;
      } else {
        listed = event(step.number).kind;
        kind = &kind_of_channel[outline_.posts[step.post].channel];
      }
      if (*kind == k_none) {
        *kind = static_cast<std::uint32_t>(first_steps_.size());
        first_steps_.push_back(step);
      }
      step.kind = *kind;
      some_posted |= listed == trace::EventKind::irecv_request;
      deeds_.push_back({.kind = *kind,
                        .displaced = listed == trace::EventKind::irecv,
                        .call = step.post == k_none});
    }
    for (std::size_t kind = 0; kind < first_steps_.size(); ++kind) {
      first_steps_[kind].kind = static_cast<std::uint32_t>(kind);
    }
    name_counters();
    displaced_.resize(outline_.posts.size(), false);
    for (std::size_t d = 0; d < deeds_.size(); ++d) {
      deeds_[d].displaced = deeds_[d].displaced && some_posted;
      if (deeds_[d].displaced) displaced_[steps_[d].post] = true;
    }
  }
  /// Gives all kinds that count the same messages or calls the same counters.
  void name_counters() {
    for (const Step& step : first_steps_) {
      Kind kind;
      std::uint32_t comm = step.comm;
      if (step.post != k_none) {
        kind.channel = outline_.posts[step.post].channel;
        const Outline::Channel& channel = outline_.channels[kind.channel];
        comm = channel.key.space;
        kind.messages = counter_of(partners_, partner(channel), messages_);
      }
      kind.calls = counter_of(comms_, comm, calls_);
      kinds_.push_back(kind);
    }
  }
  using Numbers = FlatMap<std::uint64_t, std::uint32_t, IntegerHash>;
  /// Number of the counter of a partner or communicator.
  static std::uint32_t counter_of(Numbers& numbers, std::uint32_t name,
                                  std::vector<std::uint32_t>& counters) {
    const auto next = static_cast<std::uint32_t>(counters.size());
    const auto [number, is_new] = numbers.insert(name, next);
    if (is_new) counters.push_back(0);
    return *number;
  }

  /// Puts the posts of every side in order, and counts what their process did before them.
  void count_in_order() {
    const Habit habit = find_habit(deeds_);
    std::vector<bool> stops = find_stops();
    positions_.resize(outline_.posts.size());
    conduct_.firm = habit.firm;
    if (habit.firm) {
      const std::vector<std::uint64_t> next = next_listed(habit.turns);
      std::uint32_t before = k_none;
      for (std::size_t t = 0; t < habit.turns.size(); ++t) {
        const Turn& turn = habit.turns[t];
        if (turn.deed == k_none) {
          count_unlisted(turn.kind, next[t]);
          continue;
        }
        if (!deeds_[turn.deed].displaced) {
          if (stops[turn.deed]) note_stop(posted(turn.deed) - posted(before));
          before = turn.deed;
        }
        count(steps_[turn.deed], next[t]);
      }
    } else {
      for (const Step& step : steps_) count(step, step.stamp);
    }
    const std::uint64_t seldom = steps_.size() / (habit.unlisted + 1);
    const auto bits = static_cast<std::uint32_t>(seldom == 0 ? 0 : std::bit_width(seldom) - 1);
    const auto kinds = static_cast<std::uint32_t>(first_steps_.size());
    const std::uint32_t trust = std::min(std::min(kinds, k_most_trust) * bits, k_most_trust);
    if (habit.firm) {
      conduct_.kinds = kinds;
      conduct_.trust = trust;
    }
    for (std::size_t c = 0; c < sides_.size(); ++c) {
      const Outline::Channel& channel = outline_.channels[c];
      TraitHead& head = sides_[c].head;
      head.key = channel.key;
      if (sides_[c].posts.empty()) continue;
      head.count = static_cast<std::uint32_t>(sides_[c].posts.size());
      head.position = messages_[*partners_.find(partner(channel))] - head.count +
                      calls_[*comms_.find(channel.key.space)];
      head.stops = static_cast<std::uint32_t>(sides_[c].stops.size());
      if (!habit.firm) continue;
      head.kinds = kinds;
      head.trust = trust;
    }
  }
  /// Per turn: the stamp of the first listed deed from there on that is not displaced.
  [[nodiscard]] std::vector<std::uint64_t> next_listed(std::span<const Turn> turns) const {
    std::vector<std::uint64_t> stamps(turns.size(), 0);
    for (std::size_t t = turns.size(); t-- > 0;) {
      const std::uint32_t deed = turns[t].deed;
      const bool listed = deed != k_none && !deeds_[deed].displaced;
      stamps[t] = listed ? posted(deed) : t + 1 < turns.size() ? stamps[t + 1] : 0;
    }
    return stamps;
  }
  [[nodiscard]] std::uint64_t posted(std::uint32_t deed) const { return steps_[deed].stamp; }

  /// Per deed: whether its process stopped before it, or a gap ended there.
  [[nodiscard]] std::vector<bool> find_stops() const {
    std::vector<std::uint32_t> listed;
    for (std::uint32_t d = 0; d < deeds_.size(); ++d) {
      if (!deeds_[d].displaced) listed.push_back(d);
    }
    std::vector<std::uint64_t> distances;
    for (std::size_t k = 1; k < listed.size(); ++k) {
      distances.push_back(posted(listed[k]) - posted(listed[k - 1]));
    }
    std::vector<bool> stops(deeds_.size(), false);
    if (distances.empty()) return stops;
    std::vector<std::uint64_t> ordered = distances;
    const auto high = ordered.begin() + std::ssize(ordered) * 99 / 100;
    std::nth_element(ordered.begin(), high, ordered.end());
    const std::uint64_t usual = std::max<std::uint64_t>(*high, 1);
    for (std::size_t k = 1; k < listed.size(); ++k) {
      stops[listed[k]] = distances[k - 1] / k_stop > usual ||
                         gaps_.ended(posted(listed[k])) > gaps_.ended(posted(listed[k - 1]));
    }
    return stops;
  }
  void note_stop(std::uint64_t ticks) {
    const auto longer = [&](const Stop& stop) { return stop.ticks >= ticks; };
    while (!stops_.empty() && longer(stops_.back())) stops_.pop_back();
    stops_.push_back({stop_count_++, ticks});
  }
  /// The shortest stop since the last end of a side lies before its next end; `count`: of its ends.
  template <class OneSide>
  void add_stop(OneSide& side, std::size_t count) {
    const auto since = std::partition_point(
        stops_.begin(), stops_.end(), [&](const Stop& s) { return s.end < side.stops_before; });
    if (count > 0 && since != stops_.end()) {
      side.stops.push_back({static_cast<std::uint32_t>(count), since->ticks});
    }
    side.stops_before = stop_count_;
  }
  /// `next`: the stamp of the next listed deed.
  void count_unlisted(std::uint32_t kind, std::uint64_t next) {
    const Step& like = first_steps_[kind];
    if (like.post == k_none) {
      calls_on(like).unlisted.push_back(next);
      return;
    }
    ++sides_[kinds_[kind].channel].head.ordinals;
    messages_with(like).push_back(next);
  }
  /// `listed`: its stamp, or of a displaced one that of the next listed deed.
  void count(const Step& step, std::uint64_t listed) {
    const Kind& kind = kinds_[step.kind];
    if (step.post == k_none) {
      Conduct::Calls& calls = calls_on(step);
      add_stop(calls, calls.ends.size());
      calls.ends.emplace_back(places_.event(outline_.process, step.number).location, listed);
      ++calls_[kind.calls];
      return;
    }
    Written& side = sides_[kind.channel];
    add_stop(side, side.posts.size());
    positions_[step.post] = messages_[kind.messages]++ -
                            static_cast<std::uint32_t>(side.posts.size()) + calls_[kind.calls];
    side.posts.push_back(step.post);
    side.ordinals.push_back(side.head.ordinals++);
    messages_with(step).push_back(listed);
  }
  Conduct::Calls& calls_on(const Step& step) {
    Kind& kind = kinds_[step.kind];
    if (kind.conduct == nullptr) kind.conduct = &conduct_.calls[step.comm];
    return *kind.conduct;
  }
  std::vector<std::uint64_t>& messages_with(const Step& step) {
    Kind& kind = kinds_[step.kind];
    if (kind.stamps == nullptr) {
      kind.stamps = &conduct_.messages[partner(outline_.channels[kind.channel])];
    }
    return *kind.stamps;
  }

  void write_traits() {
    std::vector<std::uint32_t> places(outline_.posts.size(), 0);
    PostPositions place(trace_, places_, outline_);
    const trace::RecordedClocks clocks(trace_, places_.locations(outline_.process));
    for (std::size_t i = 0; i < outline_.posts.size(); ++i) {
      if (outline_.posts[i].channel != k_none) places[i] = place(outline_.posts[i]);
    }
    for (Written& side : sides_) {
      for (const std::uint32_t i : side.posts) {
        const Outline::Post& post = outline_.posts[i];
        side.traits.push_back({.time = stamp(post.instant),
                               .position = positions_[i],
                               .symbol = post.symbol,
                               .displaced = displaced_[i]});
        side.places.push_back(places[i]);
      }
      if (side.traits.empty()) continue;
      side.head.ends_in_gap = gaps_.mark(side.traits);
      side.head.ahead_of_gaps = gaps_.ahead(side.traits);
      for (std::size_t k = 0; k < side.posts.size(); ++k) {
        const std::uint32_t instant = outline_.posts[side.posts[k]].instant;
        const LocationIndex l = places_.event(outline_.process, instant).location;
        side.traits[k].doubt = clocks[l].doubt(stamp(instant));
        side.traits[k].time = clocks[l].time(stamp(instant));
      }
    }
  }

  const trace::Trace& trace_;
  const Places& places_;
  Outline outline_;
  std::vector<Step> steps_;
  std::vector<bool> displaced_;           ///< per post
  std::vector<Deed> deeds_;               ///< per step
  std::vector<Step> first_steps_;         ///< per kind
  std::vector<Kind> kinds_;               ///< the same
  Numbers partners_, comms_;              ///< of the counters of messages and calls
  std::vector<std::uint32_t> messages_;   ///< so far, per partner
  std::vector<std::uint32_t> calls_;      ///< so far, per communicator
  std::vector<std::uint32_t> positions_;  ///< per post
  std::vector<Written> sides_;            ///< per channel of the outline
  ProcessGaps gaps_;
  Conduct conduct_;
  std::uint32_t stop_count_ = 0;
  /// Stop::end is their number. Without those that a later one is not longer than.
  std::vector<Stop> stops_;
};

}  // namespace

Conduct conduct_of(const GapTable& gaps, Outline&& outline) {
  return Writer(gaps, std::move(outline)).conduct();
}

TraitRows::TraitRows(const GapTable& gaps) : sent_(gaps.share().team.size()) {
  const trace::Share& share = gaps.share();
  const Places& places = gaps.places();
  LeftOut counted_before;
  Outliner outliner(share.trace, places, Scope::messages, counted_before);
  for (std::uint32_t p = 0; p < places.process_count(); ++p) {
    if (places.owner(p) != share.team.rank()) continue;
    Writer writer(gaps, outliner.outline(p));
    writer.for_each([&](const Outline::Channel& channel, const Written& side) {
      TraitParcel& to = channel.send ? sent_[places.owner(side.head.key.receiver)] : received_;
      const auto append = [](auto& all, const auto& more) {
        all.insert(all.end(), more.begin(), more.end());
      };
      to.heads.push_back(side.head);
      append(to.traits, side.traits);
      append(to.places, side.places);
      append(to.ordinals, side.ordinals);
      append(to.stops, side.stops);
    });
    if (writer.any_calls()) conducts_.emplace(p, std::move(writer).conduct());
  }
  exchange_part(share.team, sent_, &TraitParcel::heads);
  exchange_part(share.team, sent_, &TraitParcel::traits);
  exchange_part(share.team, sent_, &TraitParcel::places);
  exchange_part(share.team, sent_, &TraitParcel::ordinals);
  exchange_part(share.team, sent_, &TraitParcel::stops);
  for (const TraitParcel& parcel : sent_) append_sides(parcel, sends_);
  append_sides(received_, receives_);
  for (std::vector<Side>* sides : {&sends_, &receives_}) {
    std::sort(sides->begin(), sides->end(),
              [](const Side& a, const Side& b) { return a.head.key < b.head.key; });
  }
  only_gaps_ = !share.team.any(!gaps_suffice(gaps));
}

bool TraitRows::gaps_suffice(const GapTable& gaps) const {
  return std::all_of(receives_.begin(), receives_.end(), [&](const Side& receives) {
    const ChannelKey& key = receives.head.key;
    const auto sends =
        std::lower_bound(sends_.begin(), sends_.end(), key,
                         [](const Side& a, const ChannelKey& b) { return a.head.key < b; });
    const bool met = sends != sends_.end() && sends->head.key == key;
    if (!gaps.has(key.sender) && !gaps.has(key.receiver) &&
        (!met || sends->head.count != receives.head.count)) {
      return false;
    }
    const std::uint32_t ahead =
        met ? std::min(sends->head.ahead_of_gaps, receives.head.ahead_of_gaps) : 0;
    return std::equal(receives.first, receives.first + ahead, met ? sends->first : nullptr,
                      [](const Trait& a, const Trait& b) { return a.symbol == b.symbol; });
  });
}

void TraitRows::append_sides(const TraitParcel& parcel, std::vector<Side>& sides) {
  Side side{.head = {},
            .first = parcel.traits.data(),
            .places = parcel.places.data(),
            .ordinals = parcel.ordinals.data(),
            .stops = parcel.stops.data()};
  for (const TraitHead& head : parcel.heads) {
    side.head = head;
    sides.push_back(side);
    side.first += head.count;
    side.places += head.count;
    side.ordinals += head.count;
    side.stops += head.stops;
  }
}

Row TraitRows::find(const std::vector<Side>& sides, const ChannelKey& key) const {
  const auto side =
      std::lower_bound(sides.begin(), sides.end(), key,
                       [](const Side& a, const ChannelKey& b) { return a.head.key < b; });
  if (side == sides.end() || side->head.key != key) return {};
  const TraitHead& head = side->head;
  return {.traits = {side->first, head.count},
          .position = head.position,
          .ends_in_gap = head.ends_in_gap,
          .whole = only_gaps_ ? head.ahead_of_gaps : 0,
          .ordinals = {.of = {side->ordinals, head.count},
                       .count = head.ordinals,
                       .stops = {side->stops, head.stops},
                       .kinds = head.kinds,
                       .trust = head.trust},
          .places = {side->places, head.count}};
}

}  // namespace entrain::verify
