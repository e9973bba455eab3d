// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/workload.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/try.hpp"
#include "sim/model/machine.hpp"
#include "sim/model/patterns.hpp"

namespace entrain::sim {

namespace {

constexpr double k_ticks_per_s = 1e9;
constexpr double k_longest_ticks = 0x1p60;

/// Refuses a number that is not one or lies outside [least, most].
Result<void> check_range(const char* name, double value, double least, double most) {
  if (value >= least && value <= most) return {};
  return fail(ErrorKind::usage,
              fmt::format("{} must be a number from {} to {}, not {}", name, least, most, value));
}

Result<void> check_range(const char* name, std::uint64_t value, std::uint64_t most) {
  if (value >= 1 && value <= most) return {};
  return fail(ErrorKind::usage,
              fmt::format("{} must be a whole number from 1 to {}, not {}", name, most, value));
}

}  // namespace

Result<void> check_options(const SynthOptions& options) {
  TRY(check_range("the number of locations", options.locations, k_most_synth_locations));
  TRY(check_range("the number of events", options.events, k_most_synth_events));
  TRY(check_range("the number of locations per node", options.locations_per_node,
                  k_most_synth_locations));
  TRY(check_range("the number of devices", options.devices,
                  options.format == SynthFormat::chrome ? k_most_synth_devices : 1));
  TRY(check_range("the share of communication", options.communication_share, 1e-4, 1));
  TRY(check_range("the latency", options.latency_s, 1e-9, 1));
  TRY(check_range("the tail of the latency", options.tail_s, 0, 1));
  TRY(check_range("the latency back", options.back_latency_s.value_or(options.latency_s), 1e-9, 1));
  TRY(check_range("the tail of the latency back", options.back_tail_s.value_or(options.tail_s), 0,
                  1));
  TRY(check_range("the time of an iteration", options.iteration_s, 1e-7, 1000));
  TRY(check_range("the time of the straggler", options.straggler_s, 0,
                  options.format == SynthFormat::chrome ? 1000 : 0));
  if (options.straggler >= options.locations) {
    return fail(ErrorKind::usage, fmt::format("there is no rank {}: ranks are 0 to {}",
                                              options.straggler, options.locations - 1));
  }
  return check_range("the imbalance", options.imbalance, 0, 1);
}

namespace {

std::uint64_t ticks_of(double latency_s) {
  return static_cast<std::uint64_t>(std::ceil(latency_s * k_ticks_per_s));
}

}  // namespace

Timing timing_of(const SynthOptions& options) {
  Timing timing;
  timing.latency = ticks_of(options.latency_s);
  timing.tail = options.tail_s * k_ticks_per_s;
  timing.back_latency = ticks_of(options.back_latency_s.value_or(options.latency_s));
  timing.back_tail = options.back_tail_s.value_or(options.tail_s) * k_ticks_per_s;
  timing.iteration = options.iteration_s * k_ticks_per_s;
  timing.imbalance = options.imbalance;
  return timing;
}

namespace {

WorkloadCounts operator-(const WorkloadCounts& a, const WorkloadCounts& b) {
  return {a.events - b.events, a.communication - b.communication, a.messages - b.messages,
          a.collectives - b.collectives, a.slots - b.slots};
}
WorkloadCounts operator+(const WorkloadCounts& a, const WorkloadCounts& b) {
  return {a.events + b.events, a.communication + b.communication, a.messages + b.messages,
          a.collectives + b.collectives, a.slots + b.slots};
}
WorkloadCounts operator*(std::uint64_t n, const WorkloadCounts& a) {
  return {n * a.events, n * a.communication, n * a.messages, n * a.collectives, n * a.slots};
}

/// Counts the events of all processes.
class Counter final : public EventSink {
 public:
  void enter(std::uint64_t, std::uint32_t region) override { call(region); }
  void leave(std::uint64_t, std::uint32_t region) override { call(region); }
  void send(std::uint64_t, const Message&) override { message(); }
  void receive(std::uint64_t, const Message&) override { communicate(); }
  void isend(std::uint64_t, const Message&, std::uint64_t) override { message(); }
  void isend_complete(std::uint64_t, std::uint64_t) override { ++counts_.events; }
  void irecv_request(std::uint64_t, std::uint64_t) override { communicate(); }
  void irecv(std::uint64_t, const Message&, std::uint64_t) override { communicate(); }
  void collective_begin(std::uint64_t) override { communicate(); }
  void collective_end(std::uint64_t, const Collective&) override { communicate(); }
  void nb_request(std::uint64_t, std::uint64_t) override { communicate(); }
  void nb_complete(std::uint64_t, const Collective&, std::uint64_t) override { communicate(); }

  [[nodiscard]] WorkloadCounts counts(const Machine& machine) const {
    WorkloadCounts counts = counts_;
    counts.collectives = machine.collectives();
    counts.slots = machine.slots();
    return counts;
  }

 private:
  void communicate() {
    ++counts_.events;
    ++counts_.communication;
  }
  void message() {
    communicate();
    ++counts_.messages;
  }
  void call(std::uint32_t region) {
    ++counts_.events;
    // A skeleton holds MPI_Init and MPI_Finalize too.
    if (region == k_mpi_init || region == k_mpi_finalize) ++counts_.communication;
  }
  WorkloadCounts counts_;
};

/// Numbers of events for any number of iterations, without functions of the user. They follow from
/// two periods of the pattern, which are counted.
class Survey {
 public:
  Survey(const SynthOptions& options, const Layout& layout) {
    Counter counter;
    const std::vector<EventSink*> sinks(layout.processes, &counter);
    Machine machine(layout, timing_of(options), options.seed, Quota(0, 0, 0), {0, sinks});
    const auto pattern = make_pattern(options.pattern);
    period_ = pattern->period();
    machine.start();
    pattern->begin(machine);
    upto_.push_back(counter.counts(machine));
    // Once there are more events than asked for, further iterations do not matter, except for the
    // first one.
    while (upto_.size() <= 2 * period_ &&
           (upto_.size() == 1 || upto_.back().events <= options.events)) {
      pattern->iteration(machine, upto_.size() - 1);
      upto_.push_back(counter.counts(machine));
    }
    pattern->end(machine);
    machine.finish();
    end_ = counter.counts(machine) - upto_.back();
  }

  /// All of a run with n iterations; n > 0.
  [[nodiscard]] WorkloadCounts operator()(std::uint64_t n) const {
    if (n < upto_.size()) return upto_[n] + end_;
    const std::uint64_t more = n - period_;
    return upto_[period_ + more % period_] +
           more / period_ * (upto_[2 * period_] - upto_[period_]) + end_;
  }

  /// No run of that many iterations has as few events as `events`.
  [[nodiscard]] std::uint64_t too_many(std::uint64_t events) const {
    if (upto_.size() <= 2 * period_) return upto_.size() - 1;
    const WorkloadCounts one = upto_[2 * period_] - upto_[period_];
    return (events / std::max(one.events, one.slots) + 3) * period_;
  }

 private:
  std::uint64_t period_ = 1;
  std::vector<WorkloadCounts> upto_;  ///< counts after 0, 1, ... iterations, without the end
  WorkloadCounts end_;
};

/// Whether n iterations leave enough room for functions of the user.
bool fits(const WorkloadCounts& counts, const SynthOptions& options) {
  constexpr std::uint64_t k_without_communication = 2;  // a lone process: per time it computes
  const std::uint64_t communication =
      std::max(counts.communication, k_without_communication * counts.slots);
  return counts.events <= options.events &&
         static_cast<double>(communication) <=
             options.communication_share * static_cast<double>(options.events);
}

/// The largest number of iterations that fits, at least 1.
std::uint64_t choose_iterations(const Survey& survey, const SynthOptions& options) {
  std::uint64_t low = 1, high = std::max<std::uint64_t>(survey.too_many(options.events), 2);
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (fits(survey(middle), options) ? low : high) = middle;
  }
  return low;
}

Result<void> check_length(std::uint64_t iterations, const SynthOptions& options) {
  constexpr double k_operations = 100;        // of an iteration, one after the other
  constexpr double k_ticks_per_event = 1000;  // where all wait for one
  const Timing timing = timing_of(options);
  const double slowest = std::max(static_cast<double>(timing.latency) + timing.tail,
                                  static_cast<double>(timing.back_latency) + timing.back_tail);
  const double ticks =
      static_cast<double>(iterations) * (2 * timing.iteration + k_operations * slowest) +
      static_cast<double>(options.events) * k_ticks_per_event;
  if (ticks < k_longest_ticks) return {};
  return fail(ErrorKind::usage,
              fmt::format("{} iterations of {} s are too long for time stamps in nanoseconds; ask "
                          "for fewer events or shorter iterations",
                          iterations, options.iteration_s));
}

}  // namespace

Result<Workload> Workload::plan(const SynthOptions& options) {
  TRY(check_options(options));
  Workload workload(options, make_layout(options));
  const Survey survey(options, workload.layout_);
  workload.iterations_ = choose_iterations(survey, options);
  workload.counts_ = survey(workload.iterations_);
  if (workload.counts_.events > options.events) {
    return fail(
        ErrorKind::usage,
        fmt::format("{} events are too few for one iteration of {} locations of the pattern "
                    "{}; ask for {} or more",
                    options.events, options.locations, name_of(options.pattern),
                    workload.counts_.events));
  }
  TRY(check_length(workload.iterations_, options));
  workload.pairs_ = (options.events - workload.counts_.events) / 2;
  workload.counts_.events += 2 * workload.pairs_;
  return workload;
}

Result<WorkloadSpan> Workload::run(std::uint32_t first, std::span<EventSink* const> sinks,
                                   const std::function<Result<void>()>& after_iteration) const {
  Machine machine(layout_, timing_of(options_), options_.seed,
                  Quota(pairs_, counts_.slots, options_.seed), {first, sinks});
  const auto pattern = make_pattern(options_.pattern);
  machine.start();
  pattern->begin(machine);
  for (std::uint64_t i = 0; i < iterations_; ++i) {
    pattern->iteration(machine, i);
    TRY(after_iteration());
  }
  pattern->end(machine);
  machine.finish();
  return WorkloadSpan{machine.first_time(), machine.last_time()};
}

}  // namespace entrain::sim
