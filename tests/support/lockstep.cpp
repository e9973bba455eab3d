// SPDX-License-Identifier: BSD-3-Clause
#include "support/lockstep.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "trace/testing.hpp"

namespace entrain::test {

namespace {

using trace::EventKind;

class Program {
 public:
  explicit Program(const LockstepPlan& plan)
      : plan_(plan), builder_(plan.processes), random_(plan.seed) {}

  trace::Trace run() {
    std::vector<std::uint64_t> entered(plan_.processes, 1'000'000'000);
    for (std::uint32_t round = 0; round < plan_.rounds; ++round) {
      for (std::uint32_t p = 0; p < plan_.processes; ++p) send(p, entered[p], round);
      std::vector<std::uint64_t> left(plan_.processes);
      for (std::uint32_t p = 0; p < plan_.processes; ++p) {
        const std::uint64_t first = entered[p] + 4;
        left[p] = receive(p, true, std::max(first, entered[last(p)]), round);
        if (!plan_.both_ways) continue;
        left[p] = receive(p, false, std::max(left[p], entered[next(p)]), round);
      }
      if (plan_.rounds_per_call > 0 && (round + 1) % plan_.rounds_per_call == 0) call(left);
      for (std::uint32_t p = 0; p < plan_.processes; ++p) entered[p] = left[p] + 90 + below(20);
    }
    return builder_.trace();
  }

 private:
  [[nodiscard]] std::uint32_t next(std::uint32_t p) const { return (p + 1) % plan_.processes; }
  [[nodiscard]] std::uint32_t last(std::uint32_t p) const {
    return (p + plan_.processes - 1) % plan_.processes;
  }
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  void call(std::vector<std::uint64_t>& times) {
    const std::uint64_t last = *std::max_element(times.begin(), times.end());
    for (std::uint32_t p = 0; p < plan_.processes; ++p) {
      const std::uint64_t begin = times[p] + 20;
      times[p] = last + 300 + below(60);
      builder_.collective(p, begin, times[p], trace::op::allreduce);
    }
  }

  static std::uint32_t tag(bool onward) { return onward ? 0 : 1; }
  static std::uint64_t request(std::uint32_t round, bool onward) {
    return 2 * std::uint64_t{round} + (onward ? 0 : 1);
  }

  void send(std::uint32_t p, std::uint64_t time, std::uint32_t round) {
    if (plan_.both_ways) {
      for (const bool onward : {true, false}) {
        builder_.request(EventKind::irecv_request, p, time, request(round, onward));
        ++time;
      }
    }
    builder_.message(EventKind::send, p, time, next(p), tag(true));
    if (plan_.both_ways) builder_.message(EventKind::send, p, time + 1, last(p), tag(false));
  }
  /// Returns when it was received.
  std::uint64_t receive(std::uint32_t p, bool onward, std::uint64_t earliest, std::uint32_t round) {
    const std::uint32_t from = onward ? last(p) : next(p);
    std::uint64_t time = earliest + 500 + below(60);
    if (below(30) == 0) time += 1500 + below(1000);
    if (below(2000) == 0) time += 100'000 + below(100'000);
    if (plan_.both_ways) {
      builder_.message(EventKind::irecv, p, time, from, tag(onward), request(round, onward));
    } else {
      builder_.message(EventKind::recv, p, time, from, tag(true));
    }
    return time;
  }

  const LockstepPlan plan_;
  trace::testing::TraceBuilder builder_;
  std::mt19937_64 random_;
};

}  // namespace

trace::Trace lockstep(const LockstepPlan& plan) { return Program(plan).run(); }

}  // namespace entrain::test
