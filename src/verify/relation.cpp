// SPDX-License-Identifier: BSD-3-Clause
#include "verify/relation.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/try.hpp"

namespace entrain::verify {

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
  TRY(relation.meet(share, alltoallv, claims, std::move(outlines), cancel));
  if (named != nullptr) relation.count_named();
  TRY(cancel.agree(share.team));
  sum_over_members(share.team, relation.left_out_);
  return relation;
}

std::vector<Outline> Relation::outline(const trace::Share& share, const Cancel& cancel) {
  std::vector<Outline> outlines;
  process_coverage_.resize(places_->process_count());
  Outliner outliner(*trace_, *places_, left_out_);
  for (std::uint32_t p = 0; p < places_->process_count(); ++p) {
    if (places_->owner(p) != share.team.rank()) continue;
    if (cancel.asked()) break;
    const Coverage before = left_out_.coverage;
    outlines.push_back(outliner.outline(p));
    const Coverage& now = left_out_.coverage;
    process_coverage_[p].operations +=
        now.receives + now.collective_calls - before.receives - before.collective_calls;
    if (outlines.back().has_threads) threads_.add_process(p, left_out_.unmatched);
    stamps_decrease_ = stamps_decrease_ || outlines.back().decreasing;
  }
  note_order(share);
  return outlines;
}

/// Sets decreasing_: times decrease along a stream by the present maps.
void Relation::note_order(const trace::Share& share) {
  decreasing_ = stamps_decrease_;
  for (const LocationIndex l : share.own()) decreasing_ = decreasing_ || !maps_[l].is_monotone();
}

/// Sends all operations to the members that pair them, and pairs them.
Result<void> Relation::meet(const trace::Share& share, AlltoallvRule alltoallv,
                            const Claims& claims, std::vector<Outline>&& outlines,
                            const Cancel& cancel) {
  channels_ = Channels(share.team, *places_, outlines);
  Spaces spaces(share.team, trace_->definitions, outlines);
  const auto comms = static_cast<SpaceIndex>(trace_->definitions.comms.size());
  const bool missing = share.team.any(any_inner_gaps(share) || !channels_.complete());
  const bool calls_missing = missing || spaces.unequal(0, comms);
  const bool any_missing = calls_missing || spaces.unequal(comms, k_none);
  trace::Witness found;
  if (any_missing && claims.witness == nullptr && claims.find) {
    TRY_ASSIGN(found, claims.find(share, missing));
  }
  const TimeSource source{*trace_, *places_, maps_};
  channels_.exchange_ends(share.team, source, outlines, missing);
  const trace::Witness& witness = claims.witness == nullptr ? found : *claims.witness;
  Records records{.share = share,
                  .places = *places_,
                  .witness = witness,
                  .messages_missing = missing,
                  .any_missing = any_missing,
                  .by_clock_records = witness.respects_clock_records && claims.same_clock_records};
  if (missing) records.with_gaps = processes_with_gaps(share, *places_, outlines);
  TRY(share.team.agree(channels_.pair(records, left_out_, cancel)));
  const SpaceIndex first_aligned = calls_missing ? 0 : any_missing ? comms : k_none;
  TRY(spaces.align(records, first_aligned, outlines, left_out_.unmatched));
  const bool claimed = claims.witness != nullptr || claims.find != nullptr;
  return share.team.agree(meet_calls(share, alltoallv, std::move(outlines), spaces, claimed));
}

void Relation::count_paired(Team& team, std::span<const std::int64_t> in_instances) {
  for (const MatchedChannel& channel : channels()) {
    const ChannelKey& key = channel.key;
    if (key.stage != Stage::message || is_within_location(key, *places_)) continue;
    process_coverage_[key.receiver].paired += channel.pairs;
    if (key.sender == key.receiver) continue;
    process_coverage_[key.sender].operations += channel.both;
    process_coverage_[key.sender].paired += channel.pairs;
  }
  std::vector<std::int64_t> counts;
  for (std::size_t p = 0; p < process_coverage_.size(); ++p) {
    counts.push_back(static_cast<std::int64_t>(process_coverage_[p].operations));
    counts.push_back(static_cast<std::int64_t>(process_coverage_[p].paired) + in_instances[p]);
  }
  team.reduce(Team::Reduction::sum, counts);
  for (std::size_t p = 0; p < process_coverage_.size(); ++p) {
    process_coverage_[p] = {static_cast<std::uint64_t>(counts[2 * p]),
                            static_cast<std::uint64_t>(counts[2 * p + 1])};
  }
}

void Relation::set_maps(const trace::Share& share, std::span<const ClockMap> maps) {
  maps_ = maps;
  note_order(share);
  const TimeSource source{*trace_, *places_, maps};
  channels_.set_times(source);
  calls_->set_times(source);
}

Result<void> Relation::meet_calls(const trace::Share& share, AlltoallvRule alltoallv,
                                  std::vector<Outline>&& outlines, Spaces& spaces, bool claimed) {
  calls_.emplace(*trace_, *places_, alltoallv);
  calls_->gather(share.team, {*trace_, *places_, maps_}, spaces.limits(), std::move(outlines));
  GatheredCalls::Counts counts = calls_->count();
  const std::vector<Disagreement> found = std::move(counts.disagreements);
  if (spaces.cut(share.team, found, left_out_.unmatched)) {
    calls_->cut(spaces.limits());
    counts = calls_->count();
  }
  left_out_ = combined(left_out_, counts.left_out, std::plus<>());
  count_paired(share.team, counts.in_instances);
  const auto against_claims = std::ranges::find_if(found, [&](const Disagreement& d) {
    // The groups of an inter-communicator name roots in different ways.
    return claimed && spaces.is_aligned(d.space) && !comm_of(trace_->definitions, d.space).inter;
  });
  if (against_claims == found.end()) return {};
  return refuted(
      share.trace.path,
      fmt::format("instance {} in space {}", against_claims->ordinal, against_claims->space),
      "its calls have different operations or roots");
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
  Coverage& counts = left_out_.coverage;
  named_->for_each_edge([&](LocationIndex l) { return owns(l); },
                        [&](const NamedEdge&) { ++counts.receives; });
  counts.paired = counts.receives;
  named_->for_each_instance([&](const NamedInstance& named) {
    if (!owns(named.begins.front().event.location)) return;
    counts.collective_calls += std::max(named.begins.size(), named.ends.size());
  });
  counts.in_instances = counts.collective_calls;
}

/// Stamps of sends lie apart in memory: those of some edges are read before the first is used, so
/// that the processor waits for them together.
void Relation::for_each_named_pair(const std::function<void(const Pair&)>& use) const {
  constexpr std::size_t k_together = 64;  // chosen, not measured
  std::vector<std::pair<NamedEdge, std::uint64_t>> edges;
  edges.reserve(k_together);
  const auto use_all = [&] {
    for (const auto& [edge, sent] : edges) {
      use({.kind = edge.kind,
           .order = {edge.number},
           .send_time = maps_[edge.send.location](sent),
           .receive_time = time_of(edge.receive),
           .send = edge.send,
           .receive = edge.receive,
           .extra_mu = edge.extra_mu});
    }
    edges.clear();
  };
  named_->for_each_edge([&](LocationIndex l) { return owns(l); },
                        [&](const NamedEdge& edge) {
                          edges.emplace_back(edge, stamp_of(edge.send));
                          if (edges.size() == k_together) use_all();
                        });
  use_all();
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
  if (calls_) calls_->for_each(use);
  threads_.for_each_instance([&](EventRef event) { return moment(event); }, use);
  if (named_ != nullptr) for_each_named_instance(use);
}

}  // namespace entrain::verify
