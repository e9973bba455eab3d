// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <entrain/synth.hpp>

#include "sim/model/event_sink.hpp"
#include "sim/model/layout.hpp"
#include "sim/model/random.hpp"
#include "sim/model/timing.hpp"

namespace entrain::sim {

/// Deals out `total` pairs of Enter and Leave to `slots` calls of next(): unevenly, but exactly
/// `total` in the end.
class Quota {
 public:
  Quota(std::uint64_t total, std::uint64_t slots, std::uint64_t seed);
  std::uint64_t next();

 private:
  std::uint64_t slots_, share_, rest_;
  std::uint64_t dealt_ = 0;  ///< calls so far
  std::uint64_t sum_ = 0;    ///< multiple of slots_ still owed, in pairs / slots_
  std::int64_t owed_ = 0;    ///< pairs that the call before got less than its share
  bool give_back_ = false;
  RandomStream random_;
};

/// An operation of all members of a communicator.
struct CollectiveKind {
  enum class Shape : std::uint8_t { one_to_n, n_to_one, n_to_n, scan };
  std::uint8_t op;  ///< see trace::op
  Shape shape;
  Region region;
  bool no_data = false;     ///< a barrier
  bool some_empty = false;  ///< some members contribute nothing
};

/// The processes whose events are reported: number first + i to sinks[i].
struct Reported {
  std::uint32_t first = 0;
  std::span<EventSink* const> sinks;
};

/// A collective operation of all members of every communicator of a partition.
struct CollectiveCall {
  const CollectiveKind& kind;
  const Partition& partition;
  std::uint64_t turn = 0;  ///< rank `turn` modulo size is the root
};

/// The processes of a synthetic program, in true time. Each operation below is done by all of them
/// unless it names one; operations on the same process must come in the order in which it does
/// them. State is proportional to the number of processes, whatever the length of the run.
///
/// All is causally valid: no receive is earlier than its send plus the latency, no end of a
/// collective earlier than the begins it depends on plus the latency, and time grows from event to
/// event of a process but for the Enter of a call and what its begin records.
///
/// Only the events of the reported processes go to sinks; the others are simulated as well. Times
/// do not depend on which processes are reported.
class Machine {
 public:
  Machine(const Layout& layout, const Timing& timing, std::uint64_t seed, Quota quota,
          const Reported& reported);

  void start();
  void finish();
  void enter_iteration();
  void leave_iteration();

  /// Computes for `share` of the time of an iteration.
  void compute(double share);
  void compute(std::uint32_t process, double share);

  /// Non-blocking exchange with all neighbours: receives and sends are posted, later waited for.
  void post_exchange(std::uint64_t bytes);
  void wait_exchange(std::uint64_t bytes);
  /// Blocking send to the neighbour in direction 0, blocking receive from the opposite one.
  void shift(std::uint64_t bytes);

  /// Sends a message and returns when it arrives.
  std::uint64_t send(std::uint32_t process, const Message& message);
  /// Receives a message that arrives at `arrival`.
  void receive(std::uint32_t process, const Message& message, std::uint64_t arrival);

  /// A call of all members of every communicator of `partition`; rank `turn` modulo size is root.
  void collective(const CollectiveKind& kind, const Partition& partition, std::uint64_t bytes,
                  std::uint64_t turn = 0);
  /// The same in two steps, non-blocking; one at a time.
  void post_collective(const CollectiveKind& kind, const Partition& partition, std::uint64_t turn);
  void wait_collective(const CollectiveKind& kind, const Partition& partition, std::uint64_t bytes,
                       std::uint64_t turn);

  [[nodiscard]] const Layout& layout() const { return layout_; }
  /// Shares of the Quota dealt out, and collective operations, so far.
  [[nodiscard]] std::uint64_t slots() const { return slots_; }
  [[nodiscard]] std::uint64_t collectives() const { return collectives_; }
  /// The time at which the earliest process began, and the time of the latest process, ticks.
  [[nodiscard]] std::uint64_t first_time() const { return first_time_; }
  [[nodiscard]] std::uint64_t last_time() const;

 private:
  struct Process {
    std::uint64_t now;
    RandomStream random;                                ///< random numbers of events that others
                                                        ///< can see: times
    RandomStream functions;                             ///< random numbers of events while it
                                                        ///< computes
    double pace;                                        ///< how long it takes for the same work
    std::uint64_t begin = 0;                            ///< begin of the collective under way
    std::uint64_t nb_begin = 0;                         ///< begin of the non-blocking one
    std::array<std::uint64_t, k_directions> arrival{};  ///< arrival of its messages at the
                                                        ///< neighbours
  };
  /// Begins of one collective operation.
  struct Round {
    std::uint64_t last = 0;  ///< latest begin of all members, or of those passed already (scan)
    std::uint64_t root = 0;
  };

  [[nodiscard]] EventSink* sink(std::uint32_t l) const {
    return l - reported_.first < reported_.sinks.size() ? reported_.sinks[l - reported_.first]
                                                        : nullptr;
  }
  std::uint64_t delay(Process& process) const;
  std::uint64_t message_delay(std::uint32_t from, std::uint32_t to);
  void start_round(std::vector<Round>& rounds, const Partition& partition) const;
  std::uint64_t end_of(const CollectiveCall& call, std::vector<Round>& rounds, std::uint32_t l,
                       std::uint64_t begin);
  void functions(EventSink& out, Process& process, std::uint64_t length, std::uint64_t pairs);

  const Layout& layout_;
  Timing timing_;
  Quota quota_;
  Reported reported_;
  std::vector<Process> processes_;
  std::vector<Round> rounds_, nb_rounds_;
  std::uint64_t slots_ = 0;
  std::uint64_t collectives_ = 0;
  std::uint64_t first_time_ = 0;
};

}  // namespace entrain::sim
