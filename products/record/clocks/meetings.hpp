// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "record/base/process_record.hpp"
#include "record/base/timer.hpp"
#include "record/clocks/budget.hpp"

namespace entrain::record {

/// Clock sessions of two processes, a parent and its child in the tree, for programs in which all
/// processes seldom or never come together.
///
/// Nobody may wait for somebody who does not come. So a parent whose child was not measured for a
/// period sends an *invitation*, and both go on. When the child has time, it says that it is ready,
/// and stays until the parent comes or its time is over; then it says that it is gone. A parent who
/// finds a child ready says *go*, and from there on both are here until the child is done. A `go`
/// that crosses a `gone` is void: the child has moved on, and the parent receives `gone` next.
/// Messages of one process to another arrive in the order in which they were sent.
///
///     parent                          child
///     invite  ----------------------> (at work)
///     (at work)                       a call of MPI: ready 1, waits 2 ms, gone 1
///     a call: receives ready 1, gone 1
///     (at work)                       waits for a message: ready 2
///     a call: gets ready 2, go 2  --> ask
///     answer with its clock <-------> ask ... done 2
///
/// A process has time inside of calls in which it waits anyhow, and for moments between calls that
/// its budget pays (linger). One thread at a time may call its functions.
class Meetings {
 public:
  enum class Kind : std::uint64_t { invite = 1, ready, gone, go, ask, answer, done, end };
  /// A message of one process to another.
  struct Message {
    Kind kind = Kind::invite;
    /// Number of the child's attempt to meet, if the kind belongs to one.
    std::uint64_t attempt = 0;
    /// go: the exchanges to make. answer: the parent's clock, ticks.
    std::uint64_t value = 0;
  };
  /// The process in which it runs. Peers are ranks.
  struct Process {
    std::function<Stamp()> now;
    std::function<void(int peer, const Message& message)> send;  ///< does not wait
    /// Takes the next message of a peer; false if there is none yet.
    std::function<bool(int peer, Message& message)> receive;
    /// Gives the core away for a moment. False: the process ends, and nobody may be waited for.
    std::function<bool()> rest;
    /// The samples of a session that has ended; their `session` is to be set.
    std::function<void(std::vector<ClockSample>& samples)> keep;
    /// The process stops its own work (true), and goes on with it (false).
    std::function<void(bool stops)> mark;
  };
  struct Limits {
    std::uint64_t period_ns =
        0;  ///< time between two sessions of a parent with a child; at least 1
    std::uint64_t exchanges = 1;  ///< limit for a session; at least 1
  };

  /// `parent`: -1 for none. The budget outlives this.
  void set_up(const Limits& limits, Budget& budget, int parent, std::vector<int> children,
              Process process);
  /// True if this process measures another one, or is measured.
  [[nodiscard]] bool any() const { return parent_ >= 0 || !children_.empty(); }

  /// This process has time, until end_waiting(): call step() in short intervals.
  void begin_waiting() { has_time_ = true; }
  /// Sends due messages, receives all that arrived, and holds the sessions that can be held now.
  void step();
  /// This process goes on with its own work.
  void end_waiting();
  /// Between two calls of the program: a step, and some time for the parent if it has invited and
  /// the budget allows it.
  void linger();

  /// A session of all processes is over: for a period nobody need be invited. `exchange_ns`: the
  /// time that an exchange of two took in it.
  void all_met(std::uint64_t now_ns, double exchange_ns);
  /// True if this process has invited somebody or is invited.
  [[nodiscard]] bool expects_one() const;
  /// The next time at which a look for messages is due, if the latest one was now.
  [[nodiscard]] std::uint64_t next_look(std::uint64_t now_ns) const;
  /// Says farewell and receives all messages that are still under way. Waits until all neighbours
  /// in the tree have called it, too.
  void close();
  /// True if a session was due and the budget did not pay for it.
  [[nodiscard]] bool was_too_dear() const { return too_dear_; }
  /// Returns a sentence on the sessions of this process, rank 0, so far; "" if there were none.
  [[nodiscard]] std::string cost() const;

 private:
  struct Peer {
    int rank = 0;
    bool invited = false, ended = false;
    std::uint64_t ready = 0;    ///< the attempt in which it waits; 0: it does not
    std::uint64_t last_ns = 0;  ///< end of its latest session
  };
  void invite(Peer& child, std::uint64_t now_ns);
  void receive_from(Peer& child);
  void receive_from_parent();
  void serve(Peer& child);
  void ask_parent(std::uint64_t exchanges);
  void wait_for_parent(std::uint64_t until_ns);
  [[nodiscard]] std::uint64_t affordable(std::uint64_t now_ns) const;
  void session_over(std::uint64_t took_ns, std::uint64_t exchanges);

  Limits limits_;
  Budget* budget_ = nullptr;
  Process process_;
  int parent_ = -1;
  std::vector<Peer> children_;
  bool has_time_ = false, marked_ = false, too_dear_ = false;
  bool invited_ = false, ready_ = false, parent_ended_ = false;
  std::uint64_t attempt_ = 0;
  double exchange_ns_ = 0;   ///< mean of the latest session; 0: unknown
  double lingering_ns_ = 0;  ///< how long this process waits for its parent between two calls
  double look_ns_ = 0;       ///< mean time of a look in which nothing happened
  std::uint64_t sessions_ = 0, sessions_took_ns_ = 0;
};

}  // namespace entrain::record
