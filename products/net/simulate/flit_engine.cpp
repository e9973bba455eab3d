// SPDX-License-Identifier: BSD-3-Clause
//
// The interfaces: clocks, slots, and when they inject. flit_engine_network.cpp has the network,
// flit_engine_stream.cpp the skipping on physical links.
#include "net/simulate/flit_engine.hpp"

#include <algorithm>

#include "base/cancel.hpp"
#include "base/exact.hpp"
#include "base/try.hpp"

namespace entrain::net {
namespace {

constexpr std::uint64_t k_clock_stream = 1;
constexpr std::uint64_t k_traffic_stream = 2;
/// Number of events between two questions whether the user wants to stop.
constexpr std::uint64_t k_batch = std::uint64_t{1} << 16;

/// Skipping is exact if each flit of a packet that nothing blocks finds the previous one gone, and
/// no buffer comes near STOP. With LinkModel::at_link, may_stream() checks that.
bool skipping_is_exact(const Parameters& parameters, LinkModel model) {
  return model == LinkModel::at_link || (parameters.sd <= parameters.cp && parameters.ks > 1);
}

}  // namespace

void FlitRing::grow() {
  std::vector<Flit> larger(2 * flits_.size());
  const auto mask = static_cast<std::uint32_t>(larger.size() - 1);
  for (std::uint32_t i = first_; i != end_; ++i) larger[i & mask] = flits_[i & mask_];
  flits_ = std::move(larger);
  mask_ = mask;
}

FlitEngine::FlitEngine(const Topology& topology, const Schedule& schedule,
                       const Parameters& parameters, const SimulationOptions& options)
    : topology_(topology),
      schedule_(schedule),
      parameters_(parameters),
      options_(options),
      cp_fs_(parameters.cp.count()),
      sd_fs_(parameters.sd.count()),
      rd_fs_(parameters.rd.count()),
      interval_fs_(options.model == LinkModel::at_link ? parameters.cp.count() : 0),
      packet_flits_(parameters.slot_flits - options.guard_flits),
      may_skip_(options.skip && skipping_is_exact(parameters, options.model)),
      last_slot_((options.synchronisations - 1) * options.interval_slots + schedule.slots),
      random_(options.seed, k_clock_stream),
      channels_(topology.channel_count()),
      hosts_(topology.interfaces().size()) {
  for (ChannelIndex c = 0; c < channels_.size(); ++c) {
    channels_[c].delay_fs = topology.links()[c / 2].delay.value_or(parameters.ld).count();
    channels_[c].to_router = topology.nodes()[topology.receiver(c)].is_switch;
  }
  for (InterfaceIndex i = 0; i < hosts_.size(); ++i) {
    hosts_[i].out = topology.neighbours(topology.interfaces()[i]).front().out;
    channels_[hosts_[i].out].host = i;
  }
  plan_.assign(static_cast<std::size_t>(schedule.slots) * hosts_.size(), k_none);
  for (std::uint32_t m = 0; m < schedule.messages.size(); ++m) {
    const Message& message = schedule.messages[m];
    plan_[static_cast<std::size_t>(message.slot) * hosts_.size() + message.source] = m;
    const auto route = schedule.route(message);
    message_routes_.emplace_back(static_cast<std::uint32_t>(route_channels_.size()),
                                 static_cast<std::uint32_t>(route.size() - 1));
    for (std::size_t i = 1; i < route.size(); ++i)
      route_channels_.push_back(topology.channel(route[i - 1], route[i]));
  }
  draw_clocks();
  find_groups();
}

void FlitEngine::draw_clocks() {
  const std::size_t n = hosts_.size();
  const auto slowest = static_cast<std::size_t>(random_.below(n));
  const auto fastest = (slowest + 1 + static_cast<std::size_t>(random_.below(n - 1))) % n;
  const auto late = static_cast<std::size_t>(random_.below(n));
  const auto early = (late + 1 + static_cast<std::size_t>(random_.below(n - 1))) % n;
  const auto drift = static_cast<std::uint64_t>(options_.drift_ppb) + 1;
  for (std::size_t i = 0; i < n; ++i) {
    Host& host = hosts_[i];
    host.rate_ppb = static_cast<std::int64_t>(random_.below(drift));
    const double share = random_.uniform(0, 1);
    host.origin_fs = static_cast<std::int64_t>(share * static_cast<double>(options_.phase.count()));
    if (i == slowest) host.rate_ppb = options_.drift_ppb;
    if (i == fastest) host.rate_ppb = 0;
    if (i == late) host.origin_fs = options_.phase.count();
    if (i == early) host.origin_fs = 0;
    result_.rate_ppb.push_back(host.rate_ppb);
  }
}

void FlitEngine::find_groups() {
  std::vector<std::uint32_t> group_of(topology_.nodes().size(), k_none);
  for (InterfaceIndex i = 0; i < hosts_.size(); ++i) {
    const NodeIndex at = topology_.receiver(hosts_[i].out);
    if (group_of[at] == k_none) {
      group_of[at] = static_cast<std::uint32_t>(groups_.size());
      groups_.emplace_back();
    }
    auto& group = groups_[group_of[at]];
    place_.emplace_back(group_of[at], static_cast<std::uint32_t>(group.size()));
    group.push_back(i);
  }
}

std::int64_t FlitEngine::time_of(const Host& host, std::int64_t flit) const {
  const std::int64_t nominal = flit * cp_fs_;
  return host.origin_fs + nominal + nominal / k_billion * host.rate_ppb +
         nominal % k_billion * host.rate_ppb / k_billion;
}

void FlitEngine::reach(InterfaceIndex i, std::int64_t slot) {
  const std::int64_t sync = slot / options_.interval_slots;
  const std::int64_t within = slot % options_.interval_slots;
  const auto record = [&](std::int64_t synchronisation, std::int64_t at) {
    const bool end = at == 0 || at == schedule_.slots;
    if (!end && !options_.every_slot) return;
    const std::int64_t per_sync = options_.every_slot ? schedule_.slots + 1 : 2;
    const std::int64_t index = synchronisation * per_sync + (options_.every_slot ? at
                                                             : at == 0           ? 0
                                                                                 : 1);
    result_.boundaries[static_cast<std::size_t>(index)].reached_fs[i] =
        time_of(hosts_[i], slot * parameters_.slot_flits);
  };
  // Where schedules follow each other without a gap, a boundary is the end of one and the begin of
  // the next.
  if (within == 0 && sync > 0 && options_.interval_slots == schedule_.slots)
    record(sync - 1, schedule_.slots);
  if (within <= schedule_.slots && sync < options_.synchronisations) record(sync, within);
}

bool FlitEngine::sends_between(InterfaceIndex i, std::int64_t slot) const {
  if (groups_[place_[i].first].size() < 2) return false;
  RandomStream random(options_.seed ^ (static_cast<std::uint64_t>(slot) << 20),
                      k_traffic_stream + i);
  return random.uniform(0, 1) < options_.load;
}

void FlitEngine::next_packet(InterfaceIndex i) {
  Host& host = hosts_[i];
  for (;;) {
    ++host.slot;
    reach(i, host.slot);
    ++progressed_;
    if (host.slot == last_slot_) {
      result_.simulated = std::max(result_.simulated,
                                   Femtoseconds(time_of(host, host.slot * parameters_.slot_flits)));
      return;
    }
    const std::int64_t within = host.slot % options_.interval_slots;
    if (within < schedule_.slots) {
      const std::uint32_t m = plan_[static_cast<std::size_t>(within) * hosts_.size() + i];
      if (m == k_none) continue;
      Packet& packet = start_packet(i);
      packet.planned = route_channels_.data() + message_routes_[m].first;
      packet.channels = message_routes_[m].second;
      return;
    }
    if (options_.load == 0) {
      const std::int64_t next = host.slot - within + options_.interval_slots;
      progressed_ += static_cast<std::uint64_t>(next - 1 - host.slot);
      host.slot = next - 1;
      continue;
    }
    if (sends_between(i, host.slot)) return start_local(i);
  }
}

void FlitEngine::start_local(InterfaceIndex i) {
  const auto [group, position] = place_[i];
  const auto& neighbours = groups_[group];
  // In one slot all interfaces of a switch send the same number of places on, so no two meet.
  const auto turn = 1 + static_cast<std::size_t>(hosts_[i].slot) % (neighbours.size() - 1);
  const InterfaceIndex to = neighbours[(position + turn) % neighbours.size()];
  Packet& packet = start_packet(i);
  packet.planned = nullptr;
  packet.local = {hosts_[i].out, hosts_[to].out ^ 1};
  packet.channels = 2;
}

Packet& FlitEngine::start_packet(InterfaceIndex i) {
  Host& host = hosts_[i];
  if (free_packets_.empty()) {
    free_packets_.push_back(static_cast<std::uint32_t>(packets_.size()));
    packets_.emplace_back();
  }
  host.packet = free_packets_.back();
  free_packets_.pop_back();
  host.flit = 0;
  ++result_.packets;
  queue_.push({time_of(host, host.slot * parameters_.slot_flits), EventKind::inject, i});
  Packet& packet = packets_[host.packet];
  packet.source = i;
  packet.slot = host.slot;
  packet.open = false;
  return packet;
}

bool FlitEngine::is_settled(const Packet& packet) const {
  for (std::uint32_t hop = 0; hop + 1 < packet.channels; ++hop) {
    const Channel& channel = channels_[packet.route()[hop]];
    if (!channel.settled || channel.stop_sent || channel.stopped || channel.signals != 0)
      return false;
  }
  return true;
}

void FlitEngine::inject(InterfaceIndex i, std::int64_t now) {
  Host& host = hosts_[i];
  if (channels_[host.out].stopped) {
    host.held = true;
    host.due_fs = now;
    return;
  }
  const bool tail = host.flit + 1 == packet_flits_;
  ++result_.injected_flits;
  send(host.out, {0, host.packet, host.flit == 0, tail}, now);
  if (tail) return next_packet(i);
  ++host.flit;
  if (may_skip_ && packets_[host.packet].open && host.flit + 1 < packet_flits_) skip(host);
  queue_.push(
      {time_of(host, host.slot * parameters_.slot_flits + host.flit), EventKind::inject, i});
}

void FlitEngine::skip(Host& host) {
  const Packet& packet = packets_[host.packet];
  if (options_.model == LinkModel::at_link) {
    if (may_stream(packet)) stream(host);
    return;
  }
  if (!is_settled(packet)) return;
  // All following flits pass like this one, so only the tail matters, which frees the links.
  const std::int64_t skipped = packet_flits_ - 1 - host.flit;
  result_.skipped_flits += skipped;
  result_.injected_flits += skipped;
  result_.delivered_flits += skipped;
  host.flit = packet_flits_ - 1;
}

void FlitEngine::resume(InterfaceIndex i, std::int64_t now) {
  Host& host = hosts_[i];
  if (!host.held) return;
  host.held = false;
  host.origin_fs += now - host.due_fs;
  host.blocked_fs += now - host.due_fs;
  inject(i, now);
}

Result<SimulationResult> FlitEngine::run(Progress* progress) {
  const std::int64_t per_sync = options_.every_slot ? schedule_.slots + 1 : 2;
  for (std::int64_t k = 0; k < options_.synchronisations * per_sync; ++k) {
    const std::int64_t at = k % per_sync;
    result_.boundaries.push_back({k / per_sync, options_.every_slot ? at : at * schedule_.slots,
                                  std::vector<std::int64_t>(hosts_.size(), 0)});
  }
  if (progress != nullptr)
    progress->begin("simulate", hosts_.size() * static_cast<std::uint64_t>(last_slot_ + 1),
                    "slots");
  const Cancel cancel(progress);
  for (InterfaceIndex i = 0; i < hosts_.size(); ++i) next_packet(i);
  for (std::uint64_t count = 1; !queue_.empty(); ++count) {
    const Event event = queue_.top();
    queue_.pop();
    if (is_stale(event)) continue;
    ++result_.events;
    switch (event.kind()) {
      case EventKind::depart:
        depart(event.id(), event.time_fs);
        break;
      case EventKind::arrive:
        arrive(event.id(), event.time_fs);
        break;
      case EventKind::signal:
        take_effect(event.id(), event.time_fs);
        break;
      case EventKind::inject:
        inject(event.id(), event.time_fs);
        break;
    }
    if (progress == nullptr || count % k_batch != 0) continue;
    TRY(cancel.check());
    progress->advance(progressed_);
    progressed_ = 0;
  }
  collect();
  return std::move(result_);
}

}  // namespace entrain::net
