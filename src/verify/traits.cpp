// SPDX-License-Identifier: BSD-3-Clause
#include "verify/traits.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/flat_map.hpp"
#include "verify/exchange_part.hpp"
#include "verify/post_positions.hpp"

namespace entrain::verify {

namespace {

/// Writes the traits of one process.
class Writer {
 public:
  Writer(const trace::Trace& trace, const Places& places, Outline&& outline)
      : trace_(trace),
        places_(places),
        outline_(std::move(outline)),
        rows_(outline_.channels.size()) {
    for (std::size_t c = 0; c < rows_.size(); ++c) rows_[c].resize(outline_.channels[c].count);
    list_steps();
    count_positions();
    place_ends();
    mark_gaps();
  }

  /// Calls `use(channel, head, traits)` for each side that has ends.
  template <class Use>
  void for_each(Use use) const {
    for (std::size_t c = 0; c < rows_.size(); ++c) {
      if (!rows_[c].empty()) use(outline_.channels[c], heads_[c], rows_[c]);
    }
  }

 private:
  /// A message, or a blocking collective.
  struct Step {
    std::uint64_t stamp = 0;  ///< 0 if the numbers suffice
    std::uint32_t number = 0;
    std::uint32_t post = k_none;  ///< k_none: a collective on `comm`
    std::uint32_t comm = k_none;
  };

  [[nodiscard]] std::uint64_t stamp(std::uint32_t number) const {
    const EventRef at = places_.event(outline_.process, number);
    return trace_.locations[at.location].events[at.event].time;
  }
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
          steps_.push_back({.number = number, .comm = event.comm});
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

  void count_positions() {
    FlatMap<std::uint64_t, std::uint32_t, IntegerHash> messages, calls;
    const auto counter = [](auto& counters, std::uint32_t key) -> std::uint32_t& {
      return *counters.insert(key, 0).first;
    };
    std::vector<std::uint32_t> on_side(rows_.size(), 0);
    positions_.resize(outline_.posts.size());
    for (const Step& step : steps_) {
      if (step.post == k_none) {
        ++counter(calls, step.comm);
        continue;
      }
      const std::uint32_t c = outline_.posts[step.post].channel;
      const Outline::Channel& channel = outline_.channels[c];
      positions_[step.post] =
          counter(messages, partner(channel))++ - on_side[c]++ + counter(calls, channel.key.space);
    }
    for (const Outline::Channel& channel : outline_.channels) {
      heads_.push_back({.key = channel.key,
                        .count = channel.count,
                        .position = counter(messages, partner(channel)) - channel.count +
                                    counter(calls, channel.key.space)});
    }
  }

  void place_ends() {
    PostPositions place(trace_, places_, outline_);
    for (std::size_t i = 0; i < outline_.posts.size(); ++i) {
      const Outline::Post& post = outline_.posts[i];
      if (post.channel == k_none) continue;
      Trait& trait = rows_[post.channel][place(post)];
      trait.time = stamp(post.instant);
      trait.position = positions_[i];
      trait.symbol = post.symbol;
    }
  }

  void mark_gaps() {
    const GapEnds gaps(trace_, places_.locations(outline_.process));
    for (std::size_t c = 0; c < rows_.size(); ++c) heads_[c].ends_in_gap = gaps.mark(rows_[c]);
  }

  const trace::Trace& trace_;
  const Places& places_;
  Outline outline_;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> positions_;  ///< per post
  std::vector<TraitHead> heads_;          ///< per channel of the outline
  std::vector<std::vector<Trait>> rows_;  ///< per channel of the outline
};

}  // namespace

GapEnds::GapEnds(const trace::Trace& trace, std::span<const LocationIndex> locations) {
  for (const LocationIndex l : locations) {
    for (const trace::Gap& gap : trace.locations[l].gaps) ends_.push_back(gap.end);
    if (trace.locations[l].truncated) ends_.push_back(trace::Gap::k_open);
  }
  std::sort(ends_.begin(), ends_.end());
}

bool GapEnds::mark(std::span<Trait> traits) const {
  std::ptrdiff_t before = 0;
  for (Trait& trait : traits) {
    const std::ptrdiff_t ended =
        std::upper_bound(ends_.begin(), ends_.end(), trait.time) - ends_.begin();
    trait.after_gap = ended > before;
    before = ended;
  }
  return before < std::ssize(ends_);
}

bool any_gaps(const trace::Share& share) {
  const std::vector<LocationIndex> own = share.own();
  return std::any_of(own.begin(), own.end(), [&](LocationIndex l) {
    const trace::LocationSkeleton& location = share.trace.locations[l];
    return !location.gaps.empty() || location.truncated;
  });
}

TraitRows::TraitRows(const trace::Share& share, const Places& places) : sent_(share.team.size()) {
  LeftOut counted_before;
  Outliner outliner(share.trace, places, Scope::messages, counted_before);
  for (std::uint32_t p = 0; p < places.process_count(); ++p) {
    if (places.owner(p) != share.team.rank()) continue;
    const Writer writer(share.trace, places, outliner.outline(p));
    writer.for_each([&](const Outline::Channel& channel, const TraitHead& head,
                        const std::vector<Trait>& traits) {
      TraitParcel& to = channel.send ? sent_[places.owner(head.key.receiver)] : received_;
      to.heads.push_back(head);
      to.traits.insert(to.traits.end(), traits.begin(), traits.end());
    });
  }
  exchange_part(share.team, sent_, &TraitParcel::heads);
  exchange_part(share.team, sent_, &TraitParcel::traits);
  for (const TraitParcel& parcel : sent_) append_sides(parcel, sends_);
  append_sides(received_, receives_);
  for (std::vector<Side>* sides : {&sends_, &receives_}) {
    std::sort(sides->begin(), sides->end(),
              [](const Side& a, const Side& b) { return a.head.key < b.head.key; });
  }
}

void TraitRows::append_sides(const TraitParcel& parcel, std::vector<Side>& sides) {
  const Trait* first = parcel.traits.data();
  for (const TraitHead& head : parcel.heads) {
    sides.push_back({head, first});
    first += head.count;
  }
}

Row TraitRows::find(const std::vector<Side>& sides, const ChannelKey& key) {
  const auto side =
      std::lower_bound(sides.begin(), sides.end(), key,
                       [](const Side& a, const ChannelKey& b) { return a.head.key < b; });
  if (side == sides.end() || side->head.key != key) return {};
  return {.traits = {side->first, side->head.count},
          .position = side->head.position,
          .ends_in_gap = side->head.ends_in_gap};
}

}  // namespace entrain::verify
