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
  [[nodiscard]] Conduct conduct() && { return std::move(conduct_); }

 private:
  /// A message, or a blocking collective.
  struct Step {
    std::uint64_t stamp = 0;  ///< 0 if the numbers suffice
    std::uint32_t number = 0;
    std::uint32_t post = k_none;  ///< k_none: a collective on `comm`
    std::uint32_t comm = k_none;
    std::uint32_t op = 0;
  };

  [[nodiscard]] const trace::Event& event(std::uint32_t number) const {
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
      if (post.channel != k_none) steps_.push_back({.number = post.order, .post = i});
    }
    for (const LocationIndex l : places_.locations(outline_.process)) {
      std::uint32_t number = places_.first_number(l);
      for (const trace::Event& event : trace_.locations[l].events) {
        if (event.kind == trace::EventKind::collective_end && event.comm != k_none) {
          steps_.push_back({.number = number, .comm = event.comm, .op = event.op});
        }
        ++number;
      }
    }
    if (!places_.is_single(outline_.process)) {
      for (Step& step : steps_) step.stamp = stamp(step.number);
    }
    std::sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
      return std::tie(a.stamp, a.number) < std::tie(b.stamp, b.number);
    });
  }

  /// Kinds are the channels, then the operations on each communicator. A receive is displaced if it
  /// is listed where it completed, while others are listed where they were posted.
  void name_deeds() {
    FlatMap<std::uint64_t, std::uint32_t, IntegerHash> kinds;
    bool some_posted = false;
    for (const Step& step : steps_) {
      const std::uint64_t name = step.post == k_none
                                     ? std::uint64_t{step.comm} << 32 | 1u << 31 | step.op
                                     : outline_.posts[step.post].channel;
      const std::uint32_t kind =
          *kinds.insert(name, static_cast<std::uint32_t>(kinds.size())).first;
      const trace::EventKind listed = event(step.number).kind;
      some_posted |= step.post != k_none && listed == trace::EventKind::irecv_request;
      deeds_.push_back({.kind = kind,
                        .displaced = step.post != k_none && listed == trace::EventKind::irecv,
                        .call = step.post == k_none});
      if (kind == first_steps_.size()) first_steps_.push_back(step);
    }
    displaced_.resize(outline_.posts.size(), false);
    for (std::size_t d = 0; d < deeds_.size(); ++d) {
      deeds_[d].displaced = deeds_[d].displaced && some_posted;
      if (deeds_[d].displaced) displaced_[steps_[d].post] = true;
    }
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
          count_unlisted(first_steps_[turn.kind], next[t]);
          continue;
        }
        if (!deeds_[turn.deed].displaced) {
          if (stops[turn.deed]) note_stop(posted(turn.deed) - posted(before));
          before = turn.deed;
        }
        count(steps_[turn.deed], next[t]);
      }
    } else {
      for (const Step& step : steps_) count(step, stamp(step.number));
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
      head.count = static_cast<std::uint32_t>(sides_[c].posts.size());
      head.position =
          *messages_.insert(partner(channel), 0).first - head.count + calls_on(channel.key.space);
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
  [[nodiscard]] std::uint64_t posted(std::uint32_t deed) const {
    return stamp(steps_[deed].number);
  }

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
  [[nodiscard]] std::uint32_t calls_on(std::uint32_t comm) const {
    const auto calls = conduct_.calls.find(comm);
    return calls == conduct_.calls.end() ? 0
                                         : static_cast<std::uint32_t>(calls->second.ends.size());
  }

  /// `next`: the stamp of the next listed deed.
  void count_unlisted(const Step& like, std::uint64_t next) {
    if (like.post == k_none) {
      conduct_.calls[like.comm].unlisted.push_back(next);
      return;
    }
    const std::uint32_t c = outline_.posts[like.post].channel;
    ++sides_[c].head.ordinals;
    conduct_.messages.push_back({partner(outline_.channels[c]), next});
  }
  /// `listed`: its stamp, or of a displaced one that of the next listed deed.
  void count(const Step& step, std::uint64_t listed) {
    if (step.post == k_none) {
      Conduct::Calls& calls = conduct_.calls[step.comm];
      add_stop(calls, calls.ends.size());
      calls.ends.emplace_back(places_.event(outline_.process, step.number).location, listed);
      return;
    }
    const std::uint32_t c = outline_.posts[step.post].channel;
    const Outline::Channel& channel = outline_.channels[c];
    Written& side = sides_[c];
    add_stop(side, side.posts.size());
    positions_[step.post] = (*messages_.insert(partner(channel), 0).first)++ -
                            static_cast<std::uint32_t>(side.posts.size()) +
                            calls_on(channel.key.space);
    side.posts.push_back(step.post);
    side.ordinals.push_back(side.head.ordinals++);
    conduct_.messages.push_back({partner(channel), listed});
  }

  void write_traits() {
    std::vector<std::uint32_t> places(outline_.posts.size(), 0);
    PostPositions place(trace_, places_, outline_);
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
    }
  }

  const trace::Trace& trace_;
  const Places& places_;
  Outline outline_;
  std::vector<Step> steps_;
  std::vector<bool> displaced_;                                  ///< per post
  std::vector<Deed> deeds_;                                      ///< per step
  std::vector<Step> first_steps_;                                ///< per kind
  std::vector<std::uint32_t> positions_;                         ///< per post
  FlatMap<std::uint64_t, std::uint32_t, IntegerHash> messages_;  ///< so far, per other process
  std::vector<Written> sides_;                                   ///< per channel of the outline
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
    const Writer writer(gaps, outliner.outline(p));
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
