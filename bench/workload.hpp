// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/random.hpp"

namespace bench {

/// Regions of the made-up program, in the order of their definition.
enum Region : std::uint32_t {
  k_main,
  k_step,
  k_gather_stress,
  k_update_nodes,
  k_equation_of_state,
  k_mpi_init,
  k_mpi_finalize,
  k_mpi_isend,
  k_mpi_irecv,
  k_mpi_waitall,
  k_mpi_send,
  k_mpi_recv,
  k_mpi_allreduce,
  k_region_count
};

/// A halo exchange in a ring: per step three kernels, two MPI_Irecv, two MPI_Isend, MPI_Waitall;
/// every 4th step an MPI_Send to the right and an MPI_Recv from the left; every 8th an
/// MPI_Allreduce. True times in nanoseconds: kernels of about 20 us with a tail, messages of about
/// a microsecond with a tail, no receive before its send plus latency, no end of the Allreduce
/// before its last begin. The same seed gives the same program, so it can be run twice.
///
/// A Sink has the members used below; `location` comes first, then the true time.
template <class Sink>
class Workload {
 public:
  Workload(std::uint32_t locations, std::uint64_t steps, std::uint64_t seed, Sink& sink)
      : count_(locations), steps_(steps), sink_(sink), sent_(locations), now_(locations) {
    for (std::uint32_t l = 0; l < locations; ++l) random_.emplace_back(seed, l);
  }

  /// Events per location of one run, on average over locations, without the frame.
  static double events_per_step() { return 26 + 6 / 4.0 + 4 / 8.0; }

  void run() {
    for (std::uint32_t l = 0; l < count_; ++l) init(l);
    for (std::uint64_t s = 0; s < steps_; ++s) step(s);
    for (std::uint32_t l = 0; l < count_; ++l) finalize(l);
  }

 private:
  struct Message {
    std::uint64_t sent = 0;
    std::uint64_t arrives = 0;
  };
  struct Sent {
    Message left, right, ring;
  };

  std::uint32_t left(std::uint32_t l) const { return (l + count_ - 1) % count_; }
  std::uint32_t right(std::uint32_t l) const { return (l + 1) % count_; }

  /// Nanoseconds with a long tail: at least `least`, `typical` more on average.
  std::uint64_t tailed(std::uint32_t l, double least, double typical) {
    return static_cast<std::uint64_t>(least - typical * std::log1p(-random_[l].uniform(0, 1)));
  }
  std::uint64_t later(std::uint32_t l, double least, double typical) {
    return now_[l] += tailed(l, least, typical);
  }
  Message send_now(std::uint32_t l) { return {now_[l], now_[l] + tailed(l, 700, 300)}; }

  void init(std::uint32_t l) {
    now_[l] = 1'000'000 + 20'000 * l;
    sink_.enter(l, now_[l], k_main);
    sink_.enter(l, later(l, 2'000, 1'000), k_mpi_init);
    // MPI_Init synchronises: everybody leaves it at about the same time.
    now_[l] = 60'000'000 + tailed(l, 0, 2'000);
    sink_.leave(l, now_[l], k_mpi_init);
    sink_.after_init(l, now_[l]);
  }

  void finalize(std::uint32_t l) {
    later(l, 2'000, 1'000);
    sink_.before_finalize(l, now_[l]);
    sink_.enter(l, now_[l], k_mpi_finalize);
    sink_.leave(l, later(l, 100'000, 2'000), k_mpi_finalize);
    sink_.leave(l, later(l, 1'000, 100), k_main);
  }

  void step(std::uint64_t s) {
    for (std::uint32_t l = 0; l < count_; ++l) compute_and_send(l);
    for (std::uint32_t l = 0; l < count_; ++l) wait_all(l);
    if (s % 4 == 3) {
      for (std::uint32_t l = 0; l < count_; ++l) ring_send(l);
      for (std::uint32_t l = 0; l < count_; ++l) ring_receive(l);
    }
    if (s % 8 == 7) allreduce();
    for (std::uint32_t l = 0; l < count_; ++l) sink_.leave(l, later(l, 100, 50), k_step);
  }

  void compute_and_send(std::uint32_t l) {
    sink_.enter(l, later(l, 100, 50), k_step);
    for (const Region kernel : {k_gather_stress, k_update_nodes, k_equation_of_state}) {
      sink_.enter(l, later(l, 50, 20), kernel);
      sink_.leave(l, later(l, 15'000, 4'000), kernel);
    }
    for (const std::uint32_t peer : {left(l), right(l)}) {
      sink_.enter(l, later(l, 80, 20), k_mpi_irecv);
      sink_.irecv_request(l, later(l, 60, 20), request(peer == left(l) ? 0 : 1));
      sink_.leave(l, later(l, 60, 20), k_mpi_irecv);
    }
    sent_[l].left = isend(l, left(l), 2);
    sent_[l].right = isend(l, right(l), 3);
  }

  Message isend(std::uint32_t l, std::uint32_t peer, std::uint64_t slot) {
    sink_.enter(l, later(l, 80, 20), k_mpi_isend);
    later(l, 60, 20);
    const Message message = send_now(l);
    sink_.isend(l, now_[l], peer, request(slot));
    sink_.leave(l, later(l, 300, 100), k_mpi_isend);
    return message;
  }

  void wait_all(std::uint32_t l) {
    sink_.enter(l, later(l, 80, 20), k_mpi_waitall);
    arrive(l, sent_[left(l)].right);
    sink_.irecv(l, now_[l], left(l), sent_[left(l)].right.sent, request(0));
    arrive(l, sent_[right(l)].left);
    sink_.irecv(l, now_[l], right(l), sent_[right(l)].left.sent, request(1));
    sink_.isend_complete(l, later(l, 40, 10), request(2));
    sink_.isend_complete(l, later(l, 40, 10), request(3));
    sink_.leave(l, later(l, 60, 20), k_mpi_waitall);
  }

  void arrive(std::uint32_t l, const Message& message) {
    now_[l] = std::max(now_[l] + 40, message.arrives + tailed(l, 0, 50));
  }

  void ring_send(std::uint32_t l) {
    sink_.enter(l, later(l, 80, 20), k_mpi_send);
    later(l, 60, 20);
    sent_[l].ring = send_now(l);
    sink_.send(l, now_[l], right(l));
    sink_.leave(l, later(l, 400, 100), k_mpi_send);
  }

  void ring_receive(std::uint32_t l) {
    sink_.enter(l, later(l, 80, 20), k_mpi_recv);
    arrive(l, sent_[left(l)].ring);
    sink_.recv(l, now_[l], left(l), sent_[left(l)].ring.sent);
    sink_.leave(l, later(l, 60, 20), k_mpi_recv);
  }

  void allreduce() {
    std::uint64_t last = 0;
    for (std::uint32_t l = 0; l < count_; ++l) {
      sink_.enter(l, later(l, 80, 20), k_mpi_allreduce);
      // As Score-P writes it, the begin shares the stamp of the enter.
      sink_.collective_begin(l, now_[l]);
      last = std::max(last, now_[l]);
    }
    for (std::uint32_t l = 0; l < count_; ++l) {
      now_[l] = last + tailed(l, 1'500, 1'000);
      sink_.collective_end(l, now_[l]);
      sink_.leave(l, later(l, 40, 10), k_mpi_allreduce);
    }
  }

  /// Requests are numbered per step slot, as a tracer that reuses finished requests does.
  static std::uint64_t request(std::uint64_t slot) { return 1 + slot; }

  std::uint32_t count_;
  std::uint64_t steps_;
  Sink& sink_;
  std::vector<entrain::sim::RandomStream> random_;
  std::vector<Sent> sent_;
  std::vector<std::uint64_t> now_;
};

}  // namespace bench
