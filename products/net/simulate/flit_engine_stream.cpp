// SPDX-License-Identifier: BSD-3-Clause
//
// Skipping the middle of a packet on links that carry one flit per cp (LinkModel::at_link).
//
// Once the header has left the last router, all links of the route belong to the packet until its
// tail. As long as no buffer sends STOP, flit k leaves router h at
//
//   D(k, h) = max(D(k, h-1) + ld + sd, D(k-1, h) + cp).
//
// Senders keep cp between flits, so D(k, h) - k cp never falls with k. For any flit j that has
// already left the router, and k > j, therefore
//
//   D(k, h) = max(D(k, h-1) + ld + sd, D(j, h) + (k - j) cp).
//
// So the state of the route at the time of a later flit is known without the flits between.
#include <algorithm>

#include "base/exact.hpp"
#include "net/simulate/flit_engine.hpp"

namespace entrain::net {

bool FlitEngine::may_stream(const Packet& packet) const {
  std::int64_t last = hosts_[packet.source].flit - 1;  // that has left the previous stage
  for (std::uint32_t hop = 0; hop + 1 < packet.channels; ++hop) {
    const Channel& in = channels_[packet.route()[hop]];
    if (in.stop_sent || in.stopped || in.signals != 0) return false;
    const std::int64_t next_in =
        in.flits.on_wire() ? last - in.flits.count() + in.flits.occupancy() + 1 : last;
    const std::int64_t arrival_fs =
        in.flits.on_wire() ? in.flits.next_on_wire().arrival_fs : in.last_sent_fs + in.delay_fs;
    last -= in.flits.count();
    // Every flit finds fewer flits in the buffer than the one before, so the next one decides.
    const std::int64_t leaves_fs =
        channels_[packet.route()[hop + 1]].last_sent_fs + (next_in - last) * cp_fs_;
    const std::int64_t wait_fs = std::max(leaves_fs - arrival_fs, sd_fs_);
    const auto most =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(ceil_div(wait_fs, cp_fs_)));
    if (most >= parameters_.ks || most > in.largest) return false;
  }
  return true;
}

std::int64_t FlitEngine::Stream::leaves(std::int64_t flit, std::size_t stage) const {
  std::int64_t time_fs = engine.time_of(host, first_flit + flit);
  for (std::size_t i = 1; i <= stage; ++i) {
    time_fs = std::max(time_fs + stages[i].delay_fs + engine.sd_fs_,
                       stages[i].last_fs + (flit - stages[i].last) * engine.cp_fs_);
  }
  return time_fs;
}

std::int64_t FlitEngine::Stream::first_from(std::int64_t time_fs, std::size_t stage,
                                            std::int64_t begin, std::int64_t end) const {
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    if (leaves(middle, stage) < time_fs) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

void FlitEngine::stream(Host& host) {
  const Packet& packet = packets_[host.packet];
  const std::int64_t next = host.flit, tail = packet_flits_ - 1;
  stream_.host = host;
  stream_.first_flit = host.slot * parameters_.slot_flits;
  stream_.stages.clear();
  stream_.stages.push_back({});
  std::int64_t last = next - 1;
  for (std::uint32_t hop = 0; hop + 1 < packet.channels; ++hop) {
    const Channel& in = channels_[packet.route()[hop]];
    last -= in.flits.count();
    stream_.stages.push_back({in.delay_fs, channels_[packet.route()[hop + 1]].last_sent_fs, last});
  }
  // All flits that are on their way now must have arrived by then, so that none of their events is
  // left.
  const std::size_t end = stream_.stages.size() - 1;
  const std::int64_t now_fs = stream_.leaves(tail, 0);
  if (stream_.leaves(next, end) >= now_fs) return;
  std::int64_t unsent = tail;  // first flit that the previous stage has not sent
  for (std::size_t stage = 1; stage <= end; ++stage) {
    const ChannelIndex c = packet.route()[stage - 1];
    const std::int64_t first = stream_.first_from(now_fs, stage, next, unsent);
    refill(c, stage, first, unsent, now_fs);
    unsent = first;
  }
  channels_[packet.route()[end]].last_sent_fs = stream_.leaves(unsent - 1, end);
  result_.delivered_flits += unsent - (stream_.stages[end].last + 1);
  const std::int64_t passed = tail - next;
  result_.injected_flits += passed;
  result_.skipped_flits += passed;
  host.flit = tail;
}

void FlitEngine::refill(ChannelIndex c, std::size_t stage, std::int64_t first, std::int64_t end,
                        std::int64_t now_fs) {
  Channel& in = channels_[c];
  in.ignored_until_fs = now_fs;
  in.last_sent_fs = stream_.leaves(end - 1, stage - 1);
  in.flits.clear();
  for (std::int64_t flit = first; flit < end; ++flit) {
    const std::int64_t arrival_fs = stream_.leaves(flit, stage - 1) + in.delay_fs;
    in.flits.push(
        {.arrival_fs = arrival_fs, .packet = stream_.host.packet, .header = false, .tail = false});
    if (arrival_fs < now_fs) in.flits.arrive();
  }
  if (in.flits.on_wire()) queue_.push({in.flits.next_on_wire().arrival_fs, EventKind::arrive, c});
  if (in.flits.occupancy() > 0) queue_.push({stream_.leaves(first, stage), EventKind::depart, c});
}

}  // namespace entrain::net
