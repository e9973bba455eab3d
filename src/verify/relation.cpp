// SPDX-License-Identifier: BSD-3-Clause
#include "verify/relation.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "base/try.hpp"
#include "verify/call_numbers.hpp"
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
                                 AlltoallvRule alltoallv, const Claims& claims,
                                 const Cancel& cancel, const NamedEdges* named) {
  TRY_ASSIGN(Places places, Places::agree(share));
  Relation relation(share.trace, maps, std::move(places));
  relation.named_ = named;
  relation.rank_ = share.team.rank();
  std::vector<Outline> outlines = relation.outline(share, cancel);
  TRY(cancel.agree(share.team));
  std::size_t most_posts = 0;
  for (const Outline& outline : outlines) most_posts = std::max(most_posts, outline.posts.size());
  TRY(share.team.agree(require_countable(most_posts, share.trace.path)));
  relation.gather_world(share.team, outlines);
  TRY(relation.meet(share, alltoallv, claims, std::move(outlines), cancel));
  if (named != nullptr) relation.count_named();
  TRY(cancel.agree(share.team));
  sum_over_members(share.team, relation.left_out_);
  return relation;
}

std::vector<Outline> Relation::outline(const trace::Share& share, const Cancel& cancel) {
  std::vector<Outline> outlines;
  Outliner outliner(*trace_, *places_, left_out_);
  for (std::uint32_t p = 0; p < places_->process_count(); ++p) {
    if (places_->owner(p) != share.team.rank()) continue;
    if (cancel.asked()) break;
    outlines.push_back(outliner.outline(p));
    if (outlines.back().has_threads) threads_.add_process(p, left_out_.unmatched);
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
Result<void> Relation::meet(const trace::Share& share, AlltoallvRule alltoallv,
                            const Claims& claims, std::vector<Outline>&& outlines,
                            const Cancel& cancel) {
  {
    const EndHeads heads = list_channels(share, *places_, outlines);
    channels_ = Channels(heads.sends, heads.receives);
  }
  SpaceCounts spaces(share.team, trace_->definitions, outlines);
  const auto comms = static_cast<SpaceIndex>(trace_->definitions.comms.size());
  const bool missing = share.team.any(any_inner_gaps(share) || !channels_.complete());
  const bool calls_missing = missing || spaces.unequal(share.team, 0, comms);
  const bool any_missing = calls_missing || spaces.unequal(share.team, comms, k_none);
  trace::Witness found;
  if (any_missing && claims.witness == nullptr && claims.find) {
    TRY_ASSIGN(found, claims.find(share, missing));
  }
  EndParcels ends = exchange_ends(share, *places_, maps_, outlines, missing);
  channels_.take_ends(std::move(ends.sends), std::move(ends.receives));
  const trace::Witness& witness = claims.witness == nullptr ? found : *claims.witness;
  Records records{.share = share,
                  .places = *places_,
                  .witness = witness,
                  .messages_missing = missing,
                  .any_missing = any_missing,
                  .by_clock_records = witness.respects_clock_records && claims.same_clock_records};
  if (missing) records.with_gaps = processes_with_gaps(share, *places_);
  TRY(share.team.agree(channels_.pair(records, left_out_, cancel)));
  TRY(share.team.agree(number(records, calls_missing ? 0 : comms, outlines, spaces)));
  const bool claimed = claims.witness != nullptr || claims.find != nullptr;
  return share.team.agree(meet_calls(share, alltoallv, std::move(outlines), spaces, claimed));
}

/// Numbers the calls in spaces from `first` on if calls may be missing.
Result<void> Relation::number(const Records& records, SpaceIndex first, std::span<Outline> outlines,
                              SpaceCounts& spaces) {
  NumberedCalls numbered;
  if (records.any_missing) {
    numbered =
        number_calls(records.share, records.witness, first, outlines, spaces, left_out_.unmatched);
  }
  const std::string& path = records.share.trace.path;
  if (numbered.why != nullptr) return refuted(path, numbered.refuted, numbered.why);
  const auto& calls = records.witness.calls;
  const auto about = std::count_if(calls.begin(), calls.end(), [&](const auto& claim) {
    return claim.process >= places_->process_count() ||
           places_->owner(claim.process) == records.share.team.rank();
  });
  if (static_cast<std::size_t>(about) == numbered.claims) return {};
  return refuted(path, "calls", "of claimed calls there are none, or none is missing");
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

Result<void> Relation::meet_calls(const trace::Share& share, AlltoallvRule alltoallv,
                                  std::vector<Outline>&& outlines, SpaceCounts& spaces,
                                  bool claimed) {
  std::vector<CallParcel> calls =
      write_calls(share, *places_, maps_, spaces.limits(), std::move(outlines));
  exchange_parcels(share.team, calls);
  calls_.emplace(*trace_, *places_, alltoallv, std::move(calls));
  limits_.assign(spaces.limits().begin(), spaces.limits().end());
  const LeftOut before = left_out_;
  LeftOut counted = before;
  const std::vector<SpaceCounts::Disagreement> found = calls_->disagreements(limits_, counted);
  spaces.cut(share.team, found, left_out_.unmatched);
  const auto against_claims = std::find_if(found.begin(), found.end(), [&](const auto& d) {
    // The groups of an inter-communicator name roots in different ways.
    return claimed && spaces.is_aligned(d.space) && !comm_of(trace_->definitions, d.space).inter;
  });
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
  if (against_claims == found.end()) return {};
  return refuted(
      share.trace.path,
      fmt::format("instance {} in space {}", against_claims->ordinal, against_claims->space),
      "its calls have different operations or roots");
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
  return wrong_pairs_.empty() || !is_left_out(out);
}

bool Relation::is_left_out(const Pair& pair) const {
  const trace::LocationSkeleton& sender = trace_->locations[pair.send.location];
  if (pair.send.event >= sender.events.size()) return false;  // of another process
  return std::ranges::binary_search(
      wrong_pairs_, trace::WrongPair{pair.send.location, pair.receive.location, stamp_of(pair.send),
                                     stamp_of(pair.receive)});
}

bool Relation::is_left_out(const Instance& instance) const {
  return std::ranges::any_of(instance.sends, [&](const Moment& send) {
    const LocationIndex l = send.event.location;
    if (send.event.event >= trace_->locations[l].events.size()) return false;  // another process's
    const std::uint64_t stamp = stamp_of(send.event);
    return std::ranges::binary_search(wrong_pairs_, trace::WrongPair{l, l, stamp, stamp});
  });
}

/// All edges and members of instances count as paired.
void Relation::count_named() {
  CoverageCounts& counts = left_out_.coverage;
  named_->for_each_edge([&](const NamedEdge& edge) {
    if (owns(edge.receive.location)) ++counts.receives;
  });
  counts.paired = counts.receives;
  named_->for_each_instance([&](const NamedInstance& named) {
    if (!owns(named.begins.front().event.location)) return;
    counts.collective_calls +=
        static_cast<std::int64_t>(std::max(named.begins.size(), named.ends.size()));
  });
  counts.in_instances = counts.collective_calls;
}

void Relation::for_each_named_pair(const std::function<void(const Pair&)>& use) const {
  std::uint64_t number = 0;
  named_->for_each_edge([&](const NamedEdge& edge) {
    const std::uint64_t order = number++;
    if (!owns(edge.receive.location)) return;
    use({.kind = edge.kind,
         .order = {order},
         .send_time = time_of(edge.send),
         .receive_time = time_of(edge.receive),
         .send = edge.send,
         .receive = edge.receive,
         .extra_mu = edge.extra_mu});
  });
}

void Relation::for_each_named_instance(const std::function<void(Instance&)>& use) const {
  std::uint64_t number = 0;
  named_->for_each_instance([&](const NamedInstance& named) {
    const std::uint64_t order = number++;
    if (!owns(named.begins.front().event.location)) return;
    Instance instance;
    instance.kind = named.kind;
    instance.ordered = named.ordered;
    instance.order = {order};
    const auto fill = [&](const std::vector<NamedEnd>& ends, std::vector<Moment>& side) {
      for (const NamedEnd& end : ends) side.push_back(moment(end.event, end.rank));
    };
    fill(named.begins, instance.sends);
    fill(named.ends, instance.receives);
    sort_sides(instance);
    use(instance);
  });
}

void Relation::for_each_instance(const std::function<void(Instance&)>& take) const {
  const std::function<void(Instance&)> use = [&](Instance& instance) {
    if (wrong_pairs_.empty() || !is_left_out(instance)) take(instance);
  };
  if (calls_) calls_->for_each(limits_, use);
  threads_.for_each_instance([&](EventRef event) { return moment(event); }, use);
  if (named_ != nullptr) for_each_named_instance(use);
  for (const Instance& instance : world_) {
    Instance copy = instance;
    use(copy);
  }
}

}  // namespace entrain::verify
