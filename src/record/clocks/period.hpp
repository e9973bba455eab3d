// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace entrain::record {

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
class Period {
 public:
  struct Process {
    bool decides = false;                                  ///< true in rank 0 only
    std::function<std::uint64_t()> now_ns;                 ///< a clock that does not fall
    std::function<void(int* first, int count)> broadcast;  ///< of rank 0's numbers; collective
  };

  /// `seconds` 0: never. `every`: at least 1.
  void set_up(double seconds, std::uint64_t every, Process process);
  [[nodiscard]] bool on() const { return period_ns_ > 0; }
  /// Call it at the end of each blocking collective call over all processes. Returns true in all of
  /// them if they are to hold a session now.
  bool due();
  /// A session has ended now, after `duration_ns`; `own`: one that due() asked for.
  void session_over(std::uint64_t duration_ns, bool own);
  /// One sentence on the time that periodic sessions have cost this process so far, or on why there
  /// were none. "" if there is no period.
  [[nodiscard]] std::string cost() const;

 private:
  struct Decision {
    int session = 0, next = 1;
  };
  [[nodiscard]] Decision decide(std::uint64_t now_ns) const;

  Process process_;
  std::uint64_t period_ns_ = 0, every_ = 1;
  std::uint64_t interval_ = 1, left_ = 1;  ///< calls from one decision to the next
  std::uint64_t begin_ns_ = 0, last_decision_ns_ = 0, last_session_ns_ = 0;
  std::uint64_t decisions_ = 0, decisions_took_ns_ = 0, sessions_ = 0, sessions_took_ns_ = 0;
};

}  // namespace entrain::record
