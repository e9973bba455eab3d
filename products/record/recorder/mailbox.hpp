// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>

#include "record/clocks/meetings.hpp"
#include "record/mpi/real_mpi.hpp"

namespace entrain::record {

/// Carries the words of Meetings between processes. Neither sending nor receiving waits, and the
/// words of one process to another keep their order. One thread at a time may use it.
class Mailbox {
 public:
  /// The communicator is the recorder's own, and outlives this.
  void set_up(MPI_Comm comm) { comm_ = comm; }
  void send(int peer, const Meetings::Message& message);
  /// Takes the next message of this process; false if there is none yet.
  bool receive(int peer, Meetings::Message& message);
  /// Waits until all words have left.
  void close();

 private:
  static constexpr int k_numbers = 3;
  struct Letter {
    std::uint64_t numbers[k_numbers] = {};
    MPI_Request request = MPI_REQUEST_NULL;
  };

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::deque<Letter> sent_;  ///< those that may still be under way, and keep their place
};

}  // namespace entrain::record
