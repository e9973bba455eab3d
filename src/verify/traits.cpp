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
  Writer(const GapTable& gaps, Outline&& outline)
      : trace_(gaps.share().trace),
        places_(gaps.places()),
        outline_(std::move(outline)),
        rows_(outline_.channels.size()) {
    for (std::size_t c = 0; c < rows_.size(); ++c) rows_[c].resize(outline_.channels[c].count);
    list_steps();
    count_positions();
    place_ends();
    mark(gaps.of(outline_.process));
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

  void mark(const ProcessGaps& gaps) {
    for (std::size_t c = 0; c < rows_.size(); ++c) {
      heads_[c].ends_in_gap = gaps.mark(rows_[c]);
      heads_[c].ahead_of_gaps = gaps.ahead(rows_[c]);
    }
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

TraitRows::TraitRows(const GapTable& gaps) : sent_(gaps.share().team.size()) {
  const trace::Share& share = gaps.share();
  const Places& places = gaps.places();
  LeftOut counted_before;
  Outliner outliner(share.trace, places, Scope::messages, counted_before);
  for (std::uint32_t p = 0; p < places.process_count(); ++p) {
    if (places.owner(p) != share.team.rank()) continue;
    const Writer writer(gaps, outliner.outline(p));
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
  const Trait* first = parcel.traits.data();
  for (const TraitHead& head : parcel.heads) {
    sides.push_back({head, first});
    first += head.count;
  }
}

Row TraitRows::find(const std::vector<Side>& sides, const ChannelKey& key) const {
  const auto side =
      std::lower_bound(sides.begin(), sides.end(), key,
                       [](const Side& a, const ChannelKey& b) { return a.head.key < b; });
  if (side == sides.end() || side->head.key != key) return {};
  return {.traits = {side->first, side->head.count},
          .position = side->head.position,
          .ends_in_gap = side->head.ends_in_gap,
          .whole = only_gaps_ ? side->head.ahead_of_gaps : 0};
}

}  // namespace entrain::verify
