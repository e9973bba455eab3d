// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "record/real_mpi.hpp"

namespace entrain::record {

/// Clock sessions that nobody asked for in the program: every so many seconds, at the end of a
/// blocking collective call over all processes.
///
/// Processes that decided by their own clocks would decide differently, and wait for each other for
/// ever. So rank 0 decides. Its word goes to the others on a communicator of the recorder's own,
/// not at every such call but at every n-th; all count the calls, and the word says as well what n
/// is next. Rank 0 takes the n that makes about ten such words per period, 1 to `every`: where
/// collective calls are rare none may be missed, and where they are frequent words must be rare.
class Period {
 public:
  /// Collective over `world`. `seconds` 0: never.
  void set_up(double seconds, std::uint64_t every, MPI_Comm world);
  [[nodiscard]] bool on() const { return period_ns_ > 0; }
  void switch_off() { period_ns_ = 0; }
  /// The end of a blocking collective call over all processes; true in all of them if there is to
  /// be a session now.
  bool due();
  /// A session has taken `duration_ns` until `now_ns`; `own`: one that due() asked for.
  void session_over(std::uint64_t now_ns, std::uint64_t duration_ns, bool own);
  /// One sentence on what all this has cost this process until `now_ns`, or why there was nothing.
  [[nodiscard]] std::string cost(std::uint64_t now_ns) const;

 private:
  struct Word {
    int session = 0, next = 1;
  };
  [[nodiscard]] Word decide(std::uint64_t now_ns) const;

  std::uint64_t period_ns_ = 0, every_ = 1;
  MPI_Comm world_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::uint64_t interval_ = 1, left_ = 1;  ///< calls from one word to the next
  std::uint64_t begin_ns_ = 0, last_word_ns_ = 0, last_session_ns_ = 0;
  std::uint64_t words_ = 0, words_ns_ = 0, sessions_ = 0, sessions_ns_ = 0;
};

}  // namespace entrain::record
