// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "record/clocks/budget.hpp"

namespace entrain::record {

/// The size of one clock session.
struct SessionSize {
  std::uint64_t exchanges = 0;  ///< exchanges of a process with each of its children, at least 1
  /// After this a parent begins no exchange; it makes one at least. Nanoseconds.
  std::uint64_t limit_ns = ~std::uint64_t{0};
};

/// Decides when the recorder holds a clock session that the program did not ask for: about every
/// `seconds`, at the end of a blocking collective call over all processes.
///
/// If every process decided by its own clock, some would begin a session and wait for the others
/// for ever. So rank 0 decides and broadcasts its decision, not at each of these calls but at every
/// n-th. All processes count the calls, and each decision also says the next n. Rank 0 chooses n so
/// that about ten decisions fall into one period, from 1 to `every`: where the calls are rare it
/// must miss none, where they are frequent broadcasts must be rare.
///
/// Example with a period of 10 s: calls come every 1 ms, so ten decisions per period are one in
/// 1,000 calls, and n = `every` = 100 is taken. Where calls come every 0.5 s, n = 2.
///
/// Sessions and broadcasts together stay within a share of the run so far, the budget, as far as
/// that can be known: rank 0 predicts what an exchange costs by the sessions before. A session that
/// does not fit gets fewer exchanges, down to a tenth; if that is too much as well, it waits until
/// the run has earned it. Broadcasts get a quarter of the budget, and become rarer than `every`
/// says where they would need more.
class Period {
 public:
  struct Process {
    bool decides = false;                                  ///< true in rank 0 only
    std::function<std::uint64_t()> now_ns;                 ///< a clock that does not fall
    std::function<void(int* first, int count)> broadcast;  ///< sends rank 0's numbers to all;
                                                           ///< collective
  };
  struct Limits {
    std::uint64_t every = 1;        ///< calls between two decisions, at most; at least 1
    std::uint64_t exchanges = 1;    ///< limit for a session; at least 1
    std::uint64_t tree_levels = 1;  ///< each of which may take a session's time limit
  };

  /// `seconds` 0: never. The budget outlives this.
  void set_up(double seconds, const Limits& limits, Budget& budget, Process process);
  [[nodiscard]] bool on() const { return period_ns_ > 0; }
  /// Call it at the end of each blocking collective call over all processes. Gives all of them the
  /// size of the session that they are to hold now, if any.
  std::optional<SessionSize> due();
  /// A session of this number of exchanges has ended now, after `duration_ns`; `own`: one that
  /// due() asked for.
  void session_over(std::uint64_t duration_ns, std::uint64_t exchanges, bool own);
  /// How often rank 0 has decided so far.
  [[nodiscard]] std::uint64_t decisions() const { return decisions_; }
  /// True if there was a session that due() asked for.
  [[nodiscard]] bool held_any() const { return sessions_ > 0; }
  /// Returns a sentence on the time that periodic sessions have cost this process so far, or on the
  /// reason why there were none. "" if there is no period. `too_dear`: the budget did not pay for a
  /// session of two processes.
  [[nodiscard]] std::string cost(bool too_dear = false) const;

 private:
  struct Decision {
    int exchanges = 0;  ///< 0: no session
    int limit_us = 0, next = 1;
  };
  [[nodiscard]] Decision decide(std::uint64_t now_ns) const;
  [[nodiscard]] std::uint64_t next_interval(std::uint64_t now_ns) const;
  [[nodiscard]] SessionSize affordable(std::uint64_t now_ns) const;

  Process process_;
  Limits limits_;
  Budget* budget_ = nullptr;
  std::uint64_t period_ns_ = 0;
  std::uint64_t interval_ = 1, left_ = 1;  ///< calls from one decision to the next
  std::uint64_t last_decision_ns_ = 0, last_session_ns_ = 0;
  std::uint64_t decisions_ = 0, decisions_took_ns_ = 0, sessions_ = 0, sessions_took_ns_ = 0;
  double exchange_ns_ = 0;     ///< time of a session per exchange, of the latest one; 0: unknown
  std::uint64_t put_off_ = 0;  ///< decisions at which a session was due and too dear
};

}  // namespace entrain::record
