// SPDX-License-Identifier: BSD-3-Clause
#include "verify/relation.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "base/try.hpp"

namespace entrain::verify {

namespace {

/// The call of MPI_Init or MPI_Finalize of a process, as it travels.
struct Candidate {
  std::int64_t enter_time = 0, leave_time = 0;
  EventRef enter, leave;
  std::uint32_t process = k_none;
  std::uint32_t what = 0;  ///< as in Outline::world
};

/// Both sides of one channel, or one of them.
std::vector<std::byte*> channels_in(Team::Bytes& parcel) {
  std::vector<std::byte*> found;
  for (std::byte *at = parcel.data(), *end = at + parcel.size(); at != end;) {
    found.push_back(at);
    at += ChannelEnds::size(ChannelEnds(at).count());
  }
  return found;
}

void sort_by_key(std::vector<std::byte*>& channels) {
  std::sort(channels.begin(), channels.end(), [](const std::byte* a, const std::byte* b) {
    return ChannelEnds(a).key() < ChannelEnds(b).key();
  });
}

}  // namespace

Result<void> stop_if_cancelled(const Progress* progress) {
  if (progress != nullptr && progress->cancelled()) {
    return fail(ErrorKind::interrupted, "interrupted while checking");
  }
  return {};
}

Result<Relation> Relation::build(Team& team, const trace::Partition& partition,
                                 const trace::Trace& trace, std::span<const ClockMap> maps,
                                 AlltoallvRule alltoallv, Scope scope, const Progress* progress) {
  TRY_ASSIGN(Places places, Places::agree(team, partition, trace));
  Relation relation(trace, maps, std::move(places));
  std::vector<Outline> outlines = relation.outline(team, scope, progress);
  TRY(team.agree(stop_if_cancelled(progress)));
  std::size_t most_posts = 0;
  for (const Outline& outline : outlines) most_posts = std::max(most_posts, outline.posts.size());
  TRY(team.agree(require_countable(most_posts, trace.path)));
  if (scope == Scope::everything) relation.gather_world(team, outlines);
  relation.send_everything(team, std::move(outlines), alltoallv);
  TRY(team.agree(stop_if_cancelled(progress)));
  relation.join();
  relation.sum_counters(team);
  return relation;
}

std::vector<Outline> Relation::outline(const Team& team, Scope scope, const Progress* progress) {
  std::vector<Outline> outlines;
  Memberships memberships(trace_->definitions);
  for (std::uint32_t p = 0; p < places_->process_count(); ++p) {
    if (places_->owner(p) != team.rank()) continue;
    if (!stop_if_cancelled(progress)) break;
    outlines.push_back(outline_process(*trace_, *places_, p, scope == Scope::messages, memberships,
                                       unmatched_, skipped_));
    if (outlines.back().has_threads && scope == Scope::everything) {
      threads_.add_process(p, unmatched_);
    }
    decreasing_ = decreasing_ || outlines.back().decreasing;
    for (const LocationIndex l : places_->locations(p)) {
      decreasing_ = decreasing_ || !maps_[l].is_monotone();
    }
  }
  return outlines;
}

void Relation::send_everything(Team& team, std::vector<Outline>&& outlines,
                               AlltoallvRule alltoallv) {
  SpaceCounts spaces(team, trace_->definitions, outlines);
  Parcels parcels(team, *trace_, *places_, maps_, spaces.limits());
  parcels.write(std::move(outlines));
  receives_ = std::move(parcels.receives());
  sends_ = team.exchange(std::move(parcels.sends()));
  calls_.emplace(*trace_, *places_, alltoallv, team.exchange(std::move(parcels.calls())));
  limits_.assign(spaces.limits().begin(), spaces.limits().end());
  Skipped skipped = skipped_;
  spaces.cut(team, calls_->disagreements(limits_, skipped), unmatched_);
  if (std::equal(limits_.begin(), limits_.end(), spaces.limits().begin())) {
    skipped_ = skipped;
    return;
  }
  limits_.assign(spaces.limits().begin(), spaces.limits().end());
  calls_->disagreements(limits_, skipped_);  // what is left out is not skipped as well
}

void Relation::join() {
  std::vector<std::byte*> sends, receives = channels_in(receives_);
  for (Team::Bytes& parcel : sends_) {
    const auto more = channels_in(parcel);
    sends.insert(sends.end(), more.begin(), more.end());
  }
  sort_by_key(sends);
  sort_by_key(receives);
  auto send = sends.begin();
  auto receive = receives.begin();
  while (send != sends.end() || receive != receives.end()) {
    const bool sent = send != sends.end(), received = receive != receives.end();
    const ChannelKey from = sent ? ChannelEnds(*send).key() : ChannelKey{};
    const ChannelKey to = received ? ChannelEnds(*receive).key() : ChannelKey{};
    if (sent && received && from == to) {
      channels_.push_back(pair_up(*send++, *receive++));
      const MatchedChannel& found = channels_.back();
      count_left(from.stage, found.sends.count() - found.pairs,
                 found.receives.count() - found.pairs);
    } else if (sent && (!received || from < to)) {
      count_left(from.stage, ChannelEnds(*send++).count(), 0);
    } else {
      count_left(to.stage, 0, ChannelEnds(*receive++).count());
    }
  }
}

/// Messages pair in posting order. Of synchronisations nothing is posted: where threads share a
/// side nobody recorded whose came first. But if each took effect after its cause, then so did the
/// k-th of both sides, sorted by time; and of too many targets it is the first ones for which that
/// is not certain.
MatchedChannel Relation::pair_up(std::byte* send, std::byte* receive) const {
  const ChannelEnds s(send), r(receive);
  const ChannelKey key = s.key();
  std::uint32_t pairs = std::min(s.count(), r.count());
  if (key.stage == Stage::message) return {key, pairs, s, r};
  const auto shared = [&](const ChannelEnds& ends, std::uint32_t process) {
    if (places_->is_single(process)) return false;
    const LocationIndex first = places_->event(process, ends.node(0)).location;
    for (std::uint32_t k = 1; k < ends.count(); ++k) {
      if (places_->event(process, ends.node(k)).location != first) return true;
    }
    return false;
  };
  if (shared(s, key.sender) || shared(r, key.receiver)) {
    sort_by_time(send, 0);
    sort_by_time(receive, r.count() - pairs);
    if (key.sender == key.receiver)
      pairs = 0;  // a pair on one thread would need its stream's order
  }
  return {key, pairs, s, r};
}

void Relation::count_left(Stage stage, std::uint32_t sends, std::uint32_t receives) {
  switch (stage) {
    case Stage::message:
      unmatched_.sends += sends;
      unmatched_.receives += receives;
      break;
    case Stage::group_sync:
      unmatched_.rma_group_sync += std::int64_t{sends} + receives;
      break;
    case Stage::notification:
      unmatched_.rma_notify += std::int64_t{sends} + receives;
      break;
  }
}

void Relation::gather_world(Team& team, std::span<const Outline> outlines) {
  std::vector<std::vector<Candidate>> to_first(team.size());
  for (const Outline& outline : outlines) {
    for (std::uint32_t what = 0; what < outline.world.size(); ++what) {
      if (!outline.world[what].complete()) continue;
      const EventRef enter = places_->event(outline.process, outline.world[what].enter);
      const EventRef leave = places_->event(outline.process, outline.world[what].leave);
      const auto& events = trace_->locations[enter.location].events;
      const ClockMap& map = maps_[enter.location];
      to_first[0].push_back({map(events[enter.event].time), map(events[leave.event].time), enter,
                             leave, outline.process, what});
    }
  }
  std::array<Instance, 2> world;
  for (const auto& part : exchange(team, std::move(to_first))) {
    for (const Candidate& c : part) {
      const std::uint32_t node = trace_->definitions.node_of[c.enter.location];
      world[c.what].sends.push_back({c.enter_time, c.enter, c.process, node});
      world[c.what].receives.push_back({c.leave_time, c.leave, c.process, node});
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

void Relation::sum_counters(Team& team) {
  const auto sum = [&team](auto& counters) {
    using Counters = std::remove_reference_t<decltype(counters)>;
    std::array<std::int64_t, sizeof(Counters) / sizeof(std::int64_t)> values{};
    std::memcpy(values.data(), &counters, sizeof counters);
    team.reduce(Team::Reduction::sum, values);
    std::memcpy(static_cast<void*>(&counters), values.data(), sizeof counters);
  };
  sum(unmatched_);
  sum(skipped_);
}

bool Relation::pair(const MatchedChannel& channel, std::uint32_t k, Pair& out) const {
  const ChannelKey& key = channel.key;
  out.send = places_->event(key.sender, channel.sends.node(k));
  out.receive = places_->event(key.receiver, channel.receives.node(k));
  if (out.send.location == out.receive.location) return false;
  out.kind = channel.kind();
  out.order = channel.order(k);
  out.send_time = channel.sends.time(k);
  out.receive_time = channel.receives.time(k);
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
