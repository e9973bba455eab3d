// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "net/simulate/event_queue.hpp"
#include "net/simulate/simulator.hpp"

namespace entrain::net {

/// The flits on a channel and in the buffer at its end, oldest first. Its capacity doubles as
/// needed, so memory grows with the flits that are there.
class FlitRing {
 public:
  struct Flit {
    std::int64_t arrival_fs;
    std::uint32_t packet;
    bool header, tail;
  };

  [[nodiscard]] std::uint32_t occupancy() const { return arrived_ - first_; }
  [[nodiscard]] bool on_wire() const { return arrived_ != end_; }
  [[nodiscard]] std::uint32_t count() const { return end_ - first_; }
  [[nodiscard]] const Flit& first() const { return flits_[first_ & mask_]; }
  [[nodiscard]] const Flit& next_on_wire() const { return flits_[arrived_ & mask_]; }
  void push(const Flit& flit) {
    if (end_ - first_ > mask_) grow();
    flits_[end_++ & mask_] = flit;
  }
  void arrive() { ++arrived_; }
  void pop() { ++first_; }
  void clear() { first_ = arrived_ = end_; }

 private:
  void grow();

  std::vector<Flit> flits_ = std::vector<Flit>(4);
  std::uint32_t mask_ = 3;
  std::uint32_t first_ = 0, arrived_ = 0, end_ = 0;
};

/// A directed link: the end of the sender, the wire, and the slack buffer of the receiver.
struct Channel {
  std::int64_t delay_fs = 0;
  std::int64_t last_sent_fs = INT64_MIN / 2;
  FlitRing flits;

  InterfaceIndex host = k_none;  ///< the sender, if it is an interface

  // Used if the sender is a router.
  std::uint32_t owner = k_none;        ///< input channel whose packet has the output
  std::vector<std::uint32_t> waiting;  ///< input channels, in the order of their headers
  std::int64_t newest_slot = -1;       ///< latest slot of the packets that passed
  // Flow control.
  bool stopped = false;      ///< STOP has reached the sender
  bool stop_sent = false;    ///< the last signal of the buffer was STOP
  std::uint8_t signals = 0;  ///< STOPs and GOs on their way
  // Used if the receiver is a router.
  bool to_router = false;
  bool held = false;           ///< a flit is ready, but its output is stopped
  bool settled = false;        ///< the last flit that left was no header and did not wait
  std::uint32_t out = k_none;  ///< output of the first packet, once it is requested
  std::int64_t ignored_until_fs = INT64_MIN;  ///< earlier events belong to skipped flits

  std::int64_t overruns = 0;
  std::uint32_t largest = 0;  ///< largest occupancy
};

struct Packet {
  const ChannelIndex* planned = nullptr;  ///< route of a message of the schedule; else null
  std::array<ChannelIndex, 2> local{};    ///< route of other traffic
  std::uint32_t channels = 0;             ///< length of the route
  InterfaceIndex source = 0;
  std::int64_t slot = 0;
  bool open = false;  ///< the header has left the last router, so nothing blocks it any more

  [[nodiscard]] const ChannelIndex* route() const {
    return planned != nullptr ? planned : local.data();
  }
};

/// An interface: its clock, and the packet that it injects.
struct Host {
  std::int64_t rate_ppb = 0;
  std::int64_t origin_fs = 0;  ///< time of flit 0 of slot 0, plus all pauses of the clock since
  std::int64_t slot = -1;
  std::int64_t flit = 0;  ///< next flit of the packet
  std::uint32_t packet = k_none;
  ChannelIndex out = 0;
  bool held = false;  ///< a flit is due, but STOP holds
  std::int64_t due_fs = 0;
  std::int64_t blocked_fs = 0;
};

/// The simulation that simulate() runs: interfaces, links, buffers and routers, driven by a queue
/// of events.
class FlitEngine {
 public:
  FlitEngine(const Topology& topology, const Schedule& schedule, const Parameters& parameters,
             const SimulationOptions& options);
  Result<SimulationResult> run(Progress* progress);

 private:
  // Hosts.
  void draw_clocks();
  void find_groups();
  [[nodiscard]] std::int64_t time_of(const Host& host, std::int64_t flit) const;
  void inject(InterfaceIndex i, std::int64_t now);
  void next_packet(InterfaceIndex i);
  void reach(InterfaceIndex i, std::int64_t slot);
  Packet& start_packet(InterfaceIndex i);
  void start_local(InterfaceIndex i);
  [[nodiscard]] bool sends_between(InterfaceIndex i, std::int64_t slot) const;
  void resume(InterfaceIndex i, std::int64_t now);
  [[nodiscard]] bool is_settled(const Packet& packet) const;
  /// Skips the flits of the packet of `host` whose way is known.
  void skip(Host& host);

  // Streaming (engine_stream.cpp).
  /// The times at which flits of an open packet leave the interface (stage 0) and the routers.
  struct Stream {
    struct Stage {
      std::int64_t delay_fs = 0;  ///< delay of the link from the previous stage
      std::int64_t last_fs = 0;   ///< time at which the last flit left
      std::int64_t last = 0;      ///< number of that flit
    };
    const FlitEngine& engine;
    Host host;
    std::int64_t first_flit = 0;  ///< first flit of the slot, counted from the begin of the run
    std::vector<Stage> stages;

    [[nodiscard]] std::int64_t leaves(std::int64_t flit, std::size_t stage) const;
    /// The first flit of begin .. end - 1 that leaves at `time_fs` or later; `end` if there is
    /// none.
    [[nodiscard]] std::int64_t first_from(std::int64_t time_fs, std::size_t stage,
                                          std::int64_t begin, std::int64_t end) const;
  };
  /// True if no buffer on the route of an open packet will send STOP or become fuller than before.
  [[nodiscard]] bool may_stream(const Packet& packet) const;
  /// Puts the route of the packet of `host` into its state at the time of the tail. Does nothing if
  /// flits that are on their way now would not have arrived by then.
  void stream(Host& host);
  /// True for an event of a skipped flit.
  [[nodiscard]] bool is_stale(const Event& event) const {
    return (event.kind() == EventKind::arrive || event.kind() == EventKind::depart) &&
           event.time_fs < channels_[event.id()].ignored_until_fs;
  }
  /// Fills the link and buffer `c` before router `stage` with the flits first .. end - 1 of
  /// stream_.
  void refill(ChannelIndex c, std::size_t stage, std::int64_t first, std::int64_t end,
              std::int64_t now_fs);

  // Network.
  void send(ChannelIndex c, const FlitRing::Flit& flit, std::int64_t now);
  void arrive(ChannelIndex c, std::int64_t now);
  void depart(ChannelIndex c, std::int64_t now);
  void request(ChannelIndex c, std::int64_t now);
  void grant(ChannelIndex c, ChannelIndex out, std::int64_t now);
  void serve_data(ChannelIndex c, std::int64_t now);
  void signal(ChannelIndex c, std::int64_t now);
  void take_effect(ChannelIndex c, std::int64_t now);
  void collect();

  const Topology& topology_;
  const Schedule& schedule_;
  const Parameters& parameters_;
  const SimulationOptions& options_;
  const std::int64_t cp_fs_, sd_fs_, rd_fs_;
  const std::int64_t
      interval_fs_;  ///< least time between flits on a link (LinkModel); 0 if only sd counts
  const std::int64_t packet_flits_;
  const bool may_skip_;
  std::int64_t last_slot_ = 0;  ///< the run ends at its begin
  RandomStream random_;

  EventQueue queue_;
  std::vector<Channel> channels_;
  std::vector<Host> hosts_;
  std::vector<Packet> packets_;
  std::vector<std::uint32_t> free_packets_;
  std::vector<ChannelIndex> route_channels_;  ///< all routes
  std::vector<std::uint32_t> plan_;           ///< [slot * hosts + host]: message or k_none
  std::vector<std::pair<std::uint32_t, std::uint32_t>> message_routes_;  ///< begin, length
  Stream stream_{*this, {}, 0, {}};
  std::vector<std::vector<InterfaceIndex>> groups_;  ///< interfaces of each switch
  std::vector<std::pair<std::uint32_t, std::uint32_t>>
      place_;  ///< group of each interface, and its position there
  std::uint64_t progressed_ = 0;
  SimulationResult result_;
};

}  // namespace entrain::net
