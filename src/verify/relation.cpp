// SPDX-License-Identifier: BSD-3-Clause
#include "verify/relation.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "base/try.hpp"
#include "verify/call_alignment.hpp"
#include "verify/parcels.hpp"

namespace entrain::verify {

namespace {

/// Call of MPI_Init or MPI_Finalize of a process, as sent between members.
struct WorldCall {
  std::int64_t enter_time = 0, leave_time = 0;
  EventRef enter, leave;
  std::uint32_t process = k_none;
  std::uint32_t what = 0;  ///< index in Outline::world
};

}  // namespace

Result<Relation> Relation::build(const trace::Share& share, std::span<const ClockMap> maps,
                                 AlltoallvRule alltoallv, Scope scope, const Cancel& cancel) {
  TRY_ASSIGN(Places places, Places::agree(share));
  Relation relation(share.trace, maps, std::move(places));
  std::vector<Outline> outlines = relation.outline(share, scope, cancel);
  TRY(cancel.agree(share.team));
  std::size_t most_posts = 0;
  for (const Outline& outline : outlines) most_posts = std::max(most_posts, outline.posts.size());
  TRY(share.team.agree(require_countable(most_posts, share.trace.path)));
  if (scope == Scope::everything) relation.gather_world(share.team, outlines);
  relation.meet(share, alltoallv, std::move(outlines), cancel);
  TRY(cancel.agree(share.team));
  sum_over_members(share.team, relation.left_out_);
  return relation;
}

std::vector<Outline> Relation::outline(const trace::Share& share, Scope scope,
                                       const Cancel& cancel) {
  std::vector<Outline> outlines;
  Outliner outliner(*trace_, *places_, scope, left_out_);
  for (std::uint32_t p = 0; p < places_->process_count(); ++p) {
    if (places_->owner(p) != share.team.rank()) continue;
    if (cancel.asked()) break;
    outlines.push_back(outliner.outline(p));
    if (outlines.back().has_threads && scope == Scope::everything) {
      threads_.add_process(p, left_out_.unmatched);
    }
    stamps_decrease_ = stamps_decrease_ || outlines.back().decreasing;
  }
  note_order(share);
  return outlines;
}

/// Sets decreasing_: times decrease along a stream by the present maps.
void Relation::note_order(const trace::Share& share) {
  decreasing_ = stamps_decrease_;
  for (std::uint32_t p = 0; p < places_->process_count(); ++p) {
    if (places_->owner(p) != share.team.rank()) continue;
    for (const LocationIndex l : places_->locations(p))
      decreasing_ = decreasing_ || !maps_[l].is_monotone();
  }
}

/// Sends all operations to the members that pair them, and pairs them.
void Relation::meet(const trace::Share& share, AlltoallvRule alltoallv,
                    std::vector<Outline>&& outlines, const Cancel& cancel) {
  EndParcels ends = write_ends(share, *places_, maps_, outlines);
  exchange_parcels(share.team, ends.sends);
  channels_ = Channels(std::move(ends.sends), std::move(ends.receives));
  const bool missing = share.team.any(any_inner_gaps(share) || !channels_.complete());
  SpaceCounts spaces(share.team, trace_->definitions, outlines);
  const auto comms = static_cast<SpaceIndex>(trace_->definitions.comms.size());
  const bool calls_missing = missing || spaces.unequal(share.team, 0, comms);
  const bool any_missing = calls_missing || spaces.unequal(share.team, comms, k_none);
  std::optional<GapTable> gaps;
  std::optional<TraitRows> rows;
  if (missing) rows.emplace(gaps.emplace(share, *places_));
  channels_.pair({.places = *places_, .rows = rows ? &*rows : nullptr, .any = any_missing},
                 left_out_, cancel);
  const bool only_gaps = !rows || rows->only_gaps();
  std::map<std::uint32_t, Conduct> conducts;
  if (rows) conducts = rows->take_conducts();
  Deliveries deliveries = channels_.take_deliveries();
  rows.reset();
  if (any_missing) {
    if (!gaps) gaps.emplace(share, *places_);
    CallAlignment calls{.gaps = *gaps,
                        .only_gaps = only_gaps,
                        .only_windows = !calls_missing,
                        .spaces = spaces,
                        .conducts = conducts,
                        .deliveries = deliveries};
    align_calls(calls, outlines, left_out_.unmatched);
  }
  meet_calls(share, alltoallv, std::move(outlines), spaces);
  timeless_ = !any_missing && !share.team.any(channels_.depend_on_times() || !threads_.empty());
}

void Relation::set_maps(const trace::Share& share, std::span<const ClockMap> maps) {
  maps_ = maps;
  note_order(share);
  const TimeSource source{*trace_, *places_, maps};
  channels_.set_times(source);
  calls_->set_times(source);
  for (Instance& instance : world_) {
    for (std::vector<Moment>* const side : {&instance.sends, &instance.receives}) {
      for (Moment& moment : *side) {
        const auto [l, event] = moment.event;
        moment.time = maps[l](trace_->locations[l].events.time(event));
      }
    }
  }
}

void Relation::meet_calls(const trace::Share& share, AlltoallvRule alltoallv,
                          std::vector<Outline>&& outlines, SpaceCounts& spaces) {
  std::vector<CallParcel> calls =
      write_calls(share, *places_, maps_, spaces.limits(), std::move(outlines));
  exchange_parcels(share.team, calls);
  calls_.emplace(*trace_, *places_, alltoallv, std::move(calls));
  limits_.assign(spaces.limits().begin(), spaces.limits().end());
  const LeftOut before = left_out_;
  LeftOut counted = before;
  spaces.cut(share.team, calls_->disagreements(limits_, counted), left_out_.unmatched);
  if (!std::equal(limits_.begin(), limits_.end(), spaces.limits().begin())) {
    // Instances beyond the new limits do not count either.
    limits_.assign(spaces.limits().begin(), spaces.limits().end());
    counted = before;
    static_cast<void>(calls_->disagreements(limits_, counted));
  }
  left_out_.skipped = counted.skipped;
  left_out_.coverage = counted.coverage;
  left_out_.unmatched.collectives_incomplete +=
      counted.unmatched.collectives_incomplete - before.unmatched.collectives_incomplete;
}

void Relation::gather_world(Team& team, std::span<const Outline> outlines) {
  std::vector<std::vector<WorldCall>> to_first(team.size());
  for (const Outline& outline : outlines) {
    for (std::uint32_t what = 0; what < outline.world.size(); ++what) {
      if (!outline.world[what].complete()) continue;
      const EventRef enter = places_->event(outline.process, outline.world[what].enter);
      const EventRef leave = places_->event(outline.process, outline.world[what].leave);
      const auto& events = trace_->locations[enter.location].events;
      const ClockMap& map = maps_[enter.location];
      to_first[0].push_back({.enter_time = map(events.time(enter.event)),
                             .leave_time = map(events.time(leave.event)),
                             .enter = enter,
                             .leave = leave,
                             .process = outline.process,
                             .what = what});
    }
  }
  std::array<Instance, 2> world;
  for (const auto& part : exchange(team, std::move(to_first))) {
    for (const WorldCall& call : part) {
      Moment moment;
      moment.process = call.process;
      moment.machine = trace_->definitions.node_of[call.enter.location];
      moment.time = call.enter_time;
      moment.event = call.enter;
      world[call.what].sends.push_back(moment);
      moment.time = call.leave_time;
      moment.event = call.leave;
      world[call.what].receives.push_back(moment);
    }
  }
  for (std::size_t i = 0; i < world.size(); ++i) {
    if (world[i].sends.empty()) continue;
    world[i].kind = EdgeKind::init_finalize;
    world[i].order = {std::uint64_t{1} << 32, i, 0, 0};
    sort_sides(world[i]);
    world_.push_back(std::move(world[i]));
  }
}

bool Relation::pair(const MatchedChannel& channel, std::uint32_t k, Pair& out) const {
  const ChannelKey& key = channel.key;
  out.send = places_->event(key.sender, channel.sends.instants[k]);
  out.receive = places_->event(key.receiver, channel.receives.instants[k]);
  if (out.send.location == out.receive.location) return false;
  out.kind = channel.kind();
  out.order = channel.order(k);
  out.send_time = channel.send_time(k);
  out.receive_time = channel.receive_time(k);
  return true;
}

void Relation::for_each_instance(const std::function<void(Instance&)>& use) const {
  if (calls_) calls_->for_each(limits_, use);
  threads_.for_each_instance(use);
  for (const Instance& instance : world_) {
    Instance copy = instance;
    use(copy);
  }
}

}  // namespace entrain::verify
