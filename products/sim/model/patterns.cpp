// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/patterns.hpp"

#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace entrain::sim {

namespace {

namespace op = trace::op;
using Shape = CollectiveKind::Shape;

constexpr CollectiveKind k_barrier{op::barrier, Shape::n_to_n, k_mpi_barrier, true};
constexpr CollectiveKind k_bcast{op::bcast, Shape::one_to_n, k_mpi_bcast};
constexpr CollectiveKind k_gather{op::gather, Shape::n_to_one, k_mpi_gather};
constexpr CollectiveKind k_sparse_gatherv{op::gatherv, Shape::n_to_one, k_mpi_gatherv, false, true};
constexpr CollectiveKind k_scatter{op::scatter, Shape::one_to_n, k_mpi_scatter};
constexpr CollectiveKind k_allgather{op::allgather, Shape::n_to_n, k_mpi_allgather};
constexpr CollectiveKind k_sparse_allgatherv{op::allgatherv, Shape::n_to_n, k_mpi_allgatherv, false,
                                             true};
constexpr CollectiveKind k_alltoall{op::alltoall, Shape::n_to_n, k_mpi_alltoall};
constexpr CollectiveKind k_allreduce{op::allreduce, Shape::n_to_n, k_mpi_allreduce};
constexpr CollectiveKind k_reduce{op::reduce, Shape::n_to_one, k_mpi_reduce};
constexpr CollectiveKind k_reduce_scatter_block{op::reduce_scatter_block, Shape::n_to_n,
                                                k_mpi_reduce_scatter_block};
constexpr CollectiveKind k_scan{op::scan, Shape::scan, k_mpi_scan};
constexpr CollectiveKind k_exscan{op::exscan, Shape::scan, k_mpi_exscan};
constexpr CollectiveKind k_ibarrier{op::barrier, Shape::n_to_n, k_mpi_ibarrier, true};
constexpr CollectiveKind k_ibcast{op::bcast, Shape::one_to_n, k_mpi_ibcast};
constexpr CollectiveKind k_iallreduce{op::allreduce, Shape::n_to_n, k_mpi_iallreduce};

/// Two neighbours each; now and then everybody passes something to the right.
class Ring final : public Pattern {
 public:
  [[nodiscard]] std::uint64_t period() const override { return 16; }
  void iteration(Machine& machine, std::uint64_t i) override {
    constexpr std::uint64_t k_halo = 4096;
    machine.enter_iteration();
    machine.compute(0.7);
    machine.post_exchange(k_halo);
    machine.compute(0.3);
    machine.wait_exchange(k_halo);
    if (i % 4 == 3) machine.shift(1024);
    if (i % 16 == 15) machine.collective(k_allreduce, machine.layout().world, 8);
    machine.leave_iteration();
  }
};

/// Four neighbours each; line sums along rows, pipelines along columns, a norm over all.
class Stencil final : public Pattern {
 public:
  [[nodiscard]] std::uint64_t period() const override { return 32; }
  void iteration(Machine& machine, std::uint64_t i) override {
    constexpr std::uint64_t k_halo = 8192;
    const Layout& layout = machine.layout();
    machine.enter_iteration();
    machine.compute(0.6);
    machine.post_exchange(k_halo);
    machine.compute(0.4);
    machine.wait_exchange(k_halo);
    if (i % 4 == 3) machine.collective(k_allreduce, layout.rows, 64);
    if (i % 8 == 7) {
      machine.collective(k_reduce, layout.columns, 256);
      machine.collective(k_bcast, layout.columns, 256);
    }
    if (i % 16 == 15) machine.collective(k_allreduce, layout.world, 8);
    if (i % 32 == 31) machine.collective(k_barrier, layout.world, 0);
    machine.leave_iteration();
  }
};

class Allreduce final : public Pattern {
 public:
  [[nodiscard]] std::uint64_t period() const override { return 8; }
  void iteration(Machine& machine, std::uint64_t i) override {
    const Partition& world = machine.layout().world;
    machine.enter_iteration();
    machine.compute(1);
    machine.collective(k_allreduce, world, i % 2 == 0 ? 8 : 65536);
    if (i % 8 == 7) machine.collective(k_bcast, world, 512);
    machine.leave_iteration();
  }
};

/// The master hands a new task to whoever is the first to return one, as with MPI_ANY_SOURCE: who
/// that is follows from the times. An iteration is as many tasks as there are workers.
class MasterWorker final : public Pattern {
 public:
  [[nodiscard]] std::uint64_t period() const override { return 1; }

  void begin(Machine& machine) override {
    machine.collective(k_bcast, machine.layout().world, 1024);
  }

  void iteration(Machine& machine, std::uint64_t i) override {
    const std::uint32_t processes = machine.layout().processes;
    if (processes == 1) machine.compute(k_master, 1);
    for (std::uint32_t worker = 1; worker < processes; ++worker) {
      hand_out(machine, i == 0 ? worker : collect(machine));
    }
  }

  void end(Machine& machine) override {
    while (!results_.empty()) collect(machine);
    for (std::uint32_t worker = 1; worker < machine.layout().processes; ++worker) {
      const std::uint64_t arrival = machine.send(k_master, {worker, 0, k_stop_tag, 0});
      machine.receive(worker, {k_master, 0, k_stop_tag, 0}, arrival);
    }
    machine.collective(k_reduce, machine.layout().world, 64);
  }

 private:
  static constexpr std::uint32_t k_master = 0, k_task_tag = 1, k_result_tag = 2, k_stop_tag = 3;
  static constexpr std::uint64_t k_task_bytes = 512, k_result_bytes = 128;

  /// Everything that a worker does until its result is on the way.
  void hand_out(Machine& machine, std::uint32_t worker) {
    const std::uint64_t task = machine.send(k_master, {worker, 0, k_task_tag, k_task_bytes});
    machine.receive(worker, {k_master, 0, k_task_tag, k_task_bytes}, task);
    machine.compute(worker, 1);
    results_.emplace(machine.send(worker, {k_master, 0, k_result_tag, k_result_bytes}), worker);
  }

  /// Receives the result that arrives first, and returns whose it is.
  std::uint32_t collect(Machine& machine) {
    const auto [arrival, worker] = results_.top();
    results_.pop();
    machine.receive(k_master, {worker, 0, k_result_tag, k_result_bytes}, arrival);
    return worker;
  }

  using Result = std::pair<std::uint64_t, std::uint32_t>;  ///< time of arrival, worker
  std::priority_queue<Result, std::vector<Result>, std::greater<>> results_;
};

/// A bit of everything: halo exchange or shift, messages without content, and a collective that
/// changes from iteration to iteration, on all processes or on either half.
class Mixed final : public Pattern {
 public:
  [[nodiscard]] std::uint64_t period() const override { return 16; }

  void iteration(Machine& machine, std::uint64_t i) override {
    constexpr std::uint64_t k_halo = 2048;
    machine.enter_iteration();
    machine.compute(0.5);
    if (i % 2 == 0) {
      machine.post_exchange(k_halo);
      machine.compute(0.3);
      machine.wait_exchange(k_halo);
    } else {
      machine.compute(0.3);
      machine.shift(i % 4 == 1 ? 0 : k_halo);
    }
    collective(machine, i);
    machine.leave_iteration();
  }

 private:
  static void non_blocking(Machine& machine, const CollectiveKind& kind, const Partition& partition,
                           std::uint64_t turn) {
    machine.post_collective(kind, partition, turn);
    machine.compute(0.2);
    machine.wait_collective(kind, partition, 256, turn);
  }

  static void collective(Machine& machine, std::uint64_t i) {
    const Partition& world = machine.layout().world;
    const Partition& halves = machine.layout().halves;
    switch (i % 16) {
      case 0:
        return machine.collective(k_allreduce, halves, 8);
      case 1:
        return machine.collective(k_barrier, world, 0);
      case 2:
        return machine.collective(k_scan, world, 16);
      case 3:
        return machine.collective(k_exscan, halves, 16);
      case 4:
        return non_blocking(machine, k_iallreduce, world, 0);
      case 5:
        return machine.collective(k_bcast, halves, 1024, i);
      case 6:
        return machine.collective(k_sparse_gatherv, world, 512, i);
      case 7:
        return machine.collective(k_scatter, world, 512, i);
      case 8:
        return machine.collective(k_reduce, halves, 64, i);
      case 9:
        return machine.collective(k_alltoall, halves, 128);
      case 10:
        return non_blocking(machine, k_ibcast, halves, i);
      case 11:
        return machine.collective(k_allgather, world, 32);
      case 12:
        return non_blocking(machine, k_ibarrier, world, 0);
      case 13:
        return machine.collective(k_sparse_allgatherv, halves, 32);
      case 14:
        return machine.collective(k_reduce_scatter_block, world, 64);
      default:
        return machine.collective(k_gather, halves, 256, i);
    }
  }
};

/// Every process works on an item and passes it on to the next one. Messages go one way only, so
/// they say how far a clock may be ahead, and nothing of how far behind.
class Pipeline final : public Pattern {
 public:
  [[nodiscard]] std::uint64_t period() const override { return 1; }
  void iteration(Machine& machine, std::uint64_t) override {
    const std::uint32_t processes = machine.layout().processes;
    std::uint64_t arrival = 0;
    machine.enter_iteration();
    for (std::uint32_t l = 0; l < processes; ++l) {
      if (l > 0) machine.receive(l, {l - 1, 0, k_tag, k_bytes}, arrival);
      if (l + 1 < processes || l == 0) machine.compute(l, 1);  // the last one only takes
      if (l + 1 < processes) arrival = machine.send(l, {l + 1, 0, k_tag, k_bytes});
    }
    machine.leave_iteration();
  }

 private:
  static constexpr std::uint32_t k_tag = 1;
  static constexpr std::uint64_t k_bytes = 4096;
};

}  // namespace

std::unique_ptr<Pattern> make_pattern(SynthPattern pattern) {
  switch (pattern) {
    case SynthPattern::ring:
      return std::make_unique<Ring>();
    case SynthPattern::stencil2d:
      return std::make_unique<Stencil>();
    case SynthPattern::allreduce:
      return std::make_unique<Allreduce>();
    case SynthPattern::master_worker:
      return std::make_unique<MasterWorker>();
    case SynthPattern::mixed:
      return std::make_unique<Mixed>();
    case SynthPattern::pipeline:
      return std::make_unique<Pipeline>();
  }
  return nullptr;
}

}  // namespace entrain::sim
