// SPDX-License-Identifier: BSD-3-Clause
//
// Links, buffers, flow control and routers.
#include <algorithm>

#include "net/simulate/flit_engine.hpp"

namespace entrain::net {

void FlitEngine::send(ChannelIndex c, const FlitRing::Flit& flit, std::int64_t now) {
  Channel& channel = channels_[c];
  channel.last_sent_fs = now;
  if (!channel.to_router) {  // an interface takes every flit
    ++result_.delivered_flits;
    if (flit.header) packets_[flit.packet].open = true;
    if (flit.tail) free_packets_.push_back(flit.packet);
    return;
  }
  FlitRing::Flit sent = flit;
  sent.arrival_fs = now + channel.delay_fs;
  if (!channel.flits.on_wire()) queue_.push({sent.arrival_fs, EventKind::arrive, c});
  channel.flits.push(sent);
}

void FlitEngine::arrive(ChannelIndex c, std::int64_t now) {
  Channel& channel = channels_[c];
  const bool header = channel.flits.next_on_wire().header;
  channel.flits.arrive();
  if (channel.flits.on_wire())
    queue_.push({channel.flits.next_on_wire().arrival_fs, EventKind::arrive, c});
  const std::uint32_t occupancy = channel.flits.occupancy();
  channel.largest = std::max(channel.largest, occupancy);
  if (occupancy > parameters_.bl) ++channel.overruns;
  if (!channel.stop_sent && occupancy >= parameters_.ks) signal(c, now);
  if (occupancy > 1) return;
  if (header) {
    request(c, now);
  } else {
    serve_data(c, now);
  }
}

void FlitEngine::request(ChannelIndex c, std::int64_t now) {
  Channel& channel = channels_[c];
  const Packet& packet = packets_[channel.flits.first().packet];
  const ChannelIndex* const route = packet.route();
  const ChannelIndex* const here = std::find(route, route + packet.channels, c);
  channel.out = *(here + 1);
  Channel& out = channels_[channel.out];
  if (out.owner == k_none) {
    grant(c, channel.out, now);
  } else {
    out.waiting.push_back(c);
  }
}

void FlitEngine::grant(ChannelIndex c, ChannelIndex output, std::int64_t now) {
  Channel& out = channels_[output];
  out.owner = c;
  const Packet& packet = packets_[channels_[c].flits.first().packet];
  if (packet.slot < out.newest_slot && result_.inversions++ == 0)
    result_.first_inversion = {
        .channel = output, .first_slot = out.newest_slot, .second_slot = packet.slot};
  out.newest_slot = std::max(out.newest_slot, packet.slot);
  queue_.push({std::max(now + rd_fs_, out.last_sent_fs + interval_fs_), EventKind::depart, c});
}

void FlitEngine::serve_data(ChannelIndex c, std::int64_t now) {
  const Channel& channel = channels_[c];
  std::int64_t ready = now + sd_fs_;
  if (interval_fs_ > 0) {  // a flit is in the crossbar while the previous one leaves
    ready = std::max(channel.flits.first().arrival_fs + sd_fs_,
                     channels_[channel.out].last_sent_fs + interval_fs_);
  }
  queue_.push({std::max(ready, now), EventKind::depart, c});
}

void FlitEngine::depart(ChannelIndex c, std::int64_t now) {
  Channel& channel = channels_[c];
  Channel& out = channels_[channel.out];
  if (out.stopped) {
    channel.held = true;
    return;
  }
  const FlitRing::Flit flit = channel.flits.first();
  channel.settled = !flit.header && now - flit.arrival_fs == sd_fs_;
  channel.flits.pop();
  const ChannelIndex output = channel.out;
  send(output, flit, now);
  if (channel.stop_sent && channel.flits.occupancy() <= parameters_.kg) signal(c, now);
  const bool more = channel.flits.occupancy() > 0;
  if (!flit.tail) {
    if (more) serve_data(c, now);
    return;
  }
  channel.out = k_none;
  out.owner = k_none;
  if (!out.waiting.empty()) {
    const ChannelIndex next = out.waiting.front();
    out.waiting.erase(out.waiting.begin());
    grant(next, output, now);
  }
  if (more) request(c, now);
}

void FlitEngine::signal(ChannelIndex c, std::int64_t now) {
  Channel& channel = channels_[c];
  channel.stop_sent = !channel.stop_sent;
  ++channel.signals;
  queue_.push({now + channel.delay_fs + 2 * parameters_.fc.count(), EventKind::signal, c});
}

void FlitEngine::take_effect(ChannelIndex c, std::int64_t now) {
  Channel& channel = channels_[c];
  --channel.signals;
  channel.stopped = !channel.stopped;  // STOP and GO alternate
  if (channel.stopped) return;
  if (channel.host != k_none) return resume(channel.host, now);
  if (channel.owner == k_none || !channels_[channel.owner].held) return;
  channels_[channel.owner].held = false;
  depart(channel.owner, now);
}

void FlitEngine::collect() {
  for (ChannelIndex c = 0; c < channels_.size(); ++c) {
    const Channel& channel = channels_[c];
    result_.largest_occupancy = std::max<std::int64_t>(result_.largest_occupancy, channel.largest);
    if (channel.overruns > 0) result_.overruns.push_back({c, channel.overruns, channel.largest});
  }
  for (const Host& host : hosts_) result_.blocked_fs.push_back(host.blocked_fs);
}

}  // namespace entrain::net
