// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/training.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/try.hpp"

namespace entrain::sim {
namespace {

constexpr std::uint64_t k_first_begin = 50'000'000;  ///< earliest begin of a rank, ns
constexpr std::uint64_t k_stagger = 1'000'000;       ///< latest begin after that
constexpr std::uint64_t k_least_compute = 16;        ///< ns per piece of work on the processor

using Op = TrainingOperation;

/// A piece of a step; pieces follow each other.
struct Part {
  TrainingOperation operation;
  Grouping grouping;
  std::uint32_t place;     ///< position in its grouping
  std::uint64_t elements;  ///< elements of a rank
};
constexpr std::array<Part, 8> k_parts{{{Op::broadcast, Grouping::world, 0, 4096},
                                       {Op::all_gather, Grouping::node, 0, 262'144},
                                       {Op::all_to_all, Grouping::across, 0, 65'536},
                                       {Op::send, Grouping::pair, 0, 131'072},
                                       {Op::receive, Grouping::pair, 1, 131'072},
                                       {Op::reduce_scatter, Grouping::node, 1, 2'097'152},
                                       {Op::all_reduce, Grouping::world, 1, 394'241},
                                       {Op::all_reduce, Grouping::world, 2, 226'960}}};
constexpr std::array<std::uint64_t, k_groupings> k_calls_of_group{3, 2, 1,
                                                                  2};  ///< calls of a group in
                                                                       ///< each step

/// The even rank of a pair sends first, the odd one answers.
TrainingOperation own_operation(const Part& part, std::uint32_t rank) {
  if (part.grouping != Grouping::pair) return part.operation;
  return (part.place == 0) == (rank % 2 == 0) ? Op::send : Op::receive;
}

Result<void> check_loop_length(std::uint64_t steps, const SynthOptions& options) {
  constexpr double k_longest = 0x1p60;
  const Timing timing = timing_of(options);
  const double slowest = std::max(static_cast<double>(timing.latency) + timing.tail,
                                  static_cast<double>(timing.back_latency) + timing.back_tail);
  const double length = static_cast<double>(steps) * (4 * timing.iteration + 100 * slowest +
                                                      options.straggler_s * 1e9 + 1e6) +
                        static_cast<double>(options.events) * k_least_compute;
  if (length < k_longest) return {};
  return fail(ErrorKind::usage,
              fmt::format("{} steps of {} s are too long for time stamps in nanoseconds; ask for "
                          "fewer events or shorter iterations",
                          steps, options.iteration_s));
}

}  // namespace

Training::Training(const SynthOptions& options)
    : options_(options),
      ranks_(static_cast<std::uint32_t>(options.locations)),
      per_node_(
          static_cast<std::uint32_t>(std::min(options.locations_per_node, options.locations))) {}

TrainingGroup Training::group_of(std::uint32_t rank, Grouping grouping) const {
  switch (grouping) {
    case Grouping::node: {
      const std::uint32_t node = rank / per_node_;
      return {grouping, node, node * per_node_, 1, std::min(per_node_, ranks_ - node * per_node_)};
    }
    case Grouping::across: {
      const std::uint32_t place = rank % per_node_;
      return {grouping, place, place, per_node_, (ranks_ - place - 1) / per_node_ + 1};
    }
    case Grouping::pair:
      return {grouping, rank / 2, rank / 2 * 2, 1, std::min(2U, ranks_ - rank / 2 * 2)};
    case Grouping::world:
      break;
  }
  return {Grouping::world, 0, 0, 1, ranks_};
}

std::uint64_t Training::calls_per_step(std::uint32_t rank) const {
  return static_cast<std::uint64_t>(
      std::count_if(k_parts.begin(), k_parts.end(),
                    [&](const Part& part) { return group_of(rank, part.grouping).size > 1; }));
}

std::uint64_t Training::events_of(std::uint32_t rank) const {
  return options_.events / ranks_ + (rank < options_.events % ranks_ ? 1 : 0);
}

Result<Training> Training::plan(const SynthOptions& options) {
  TRY(check_options(options));
  Training training(options);
  std::uint64_t per_step = 0, most_calls = 0;
  TrainingCounts one;
  for (std::uint32_t r = 0; r < training.ranks_; ++r) {
    const std::uint64_t calls = training.calls_per_step(r);
    per_step += calls;
    most_calls = std::max(most_calls, calls);
    for (const Part& part : k_parts) {
      const TrainingGroup group = training.group_of(r, part.grouping);
      if (group.size < 2 || group.first != r) continue;
      ++(part.grouping == Grouping::pair ? one.messages : one.collectives);
    }
  }
  const std::uint64_t least = events_per_call(options.devices) * most_calls +
                              events_per_step(options.devices);  // of a rank, in a step
  const std::uint64_t most_steps = options.events / training.ranks_ / least;
  if (most_steps == 0) {
    return fail(ErrorKind::usage,
                fmt::format("{} events are too few for one step of {} ranks; ask for {} or more",
                            options.events, options.locations, least * options.locations));
  }
  const double wanted = options.communication_share * static_cast<double>(options.events) /
                        static_cast<double>(per_step);
  const std::uint64_t steps =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, most_steps);
  TRY(check_loop_length(steps, options));
  training.counts_ = {steps, steps * per_step, steps * one.collectives, steps * one.messages};
  return training;
}

/// A single run.
class Training::Loop {
 public:
  Loop(const Training& training, std::uint32_t first, std::span<TrainingSink* const> sinks)
      : training_(training), timing_(timing_of(training.options_)), first_(first), sinks_(sinks) {
    for (std::uint32_t r = 0; r < training.ranks_; ++r) {
      RandomStream random(training.options_.seed, r);
      const double pace = 1 + timing_.imbalance * random.uniform(-0.5, 0.5);
      const std::uint64_t now = k_first_begin + random.below(k_stagger);
      const std::uint64_t calls = training.counts_.steps * training.calls_per_step(r);
      const std::uint64_t devices = training.options_.devices;
      const std::uint64_t work = training.events_of(r) - events_per_call(devices) * calls -
                                 events_per_step(devices) * training.counts_.steps;
      ranks_.push_back({now, random, pace, now, work, calls, 0, {}});
    }
    for (const Rank& rank : ranks_) first_time_ = std::min(first_time_, rank.now);
    rounds_.resize(training.ranks_);
  }

  void step(std::uint64_t number) {
    for (Rank& rank : ranks_) rank.step_begin = rank.now;
    ranks_[training_.options_.straggler].now +=
        static_cast<std::uint64_t>(training_.options_.straggler_s * 1e9);
    for (const Part& part : k_parts) {
      std::fill(rounds_.begin(), rounds_.end(), Round{});
      for (std::uint32_t r = 0; r < ranks_.size(); ++r) begin(part, number, r);
      for (std::uint32_t r = 0; r < ranks_.size(); ++r) end(part, r);
    }
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      if (TrainingSink* const out = sink(r)) out->step(ranks_[r].step_begin, ranks_[r].now, number);
    }
  }

  /// So far.
  [[nodiscard]] WorkloadSpan span() const {
    WorkloadSpan span{first_time_, 0};
    for (const Rank& rank : ranks_) span.last = std::max(span.last, rank.now);
    return span;
  }

 private:
  struct Rank {
    std::uint64_t now;
    RandomStream random;
    double pace;  ///< how long it takes for the same work
    std::uint64_t step_begin;
    std::uint64_t work, calls;  ///< pieces of work between calls, of the whole run
    std::uint64_t called = 0;
    TrainingCall call;  ///< call under way
  };
  /// Begins of the calls of a group.
  struct Round {
    std::uint64_t last = 0, root = 0;
  };

  [[nodiscard]] TrainingSink* sink(std::uint32_t r) const {
    return r - first_ < sinks_.size() ? sinks_[r - first_] : nullptr;
  }

  /// Works until the range of the next call begins.
  void compute(std::uint32_t r) {
    Rank& rank = ranks_[r];
    const std::uint64_t pieces =
        rank.work / rank.calls + (rank.called < rank.work % rank.calls ? 1 : 0);
    ++rank.called;
    const double variation = 1 - timing_.imbalance + timing_.imbalance * tailed(rank.random.next());
    const auto wanted = static_cast<std::uint64_t>(timing_.iteration * rank.pace * variation /
                                                   static_cast<double>(k_parts.size()));
    const std::uint64_t length = std::max(wanted, (pieces + 1) * k_least_compute);
    if (TrainingSink* const out = sink(r)) {
      const std::uint64_t each = length / (pieces + 1);
      for (std::uint64_t i = 0; i < pieces; ++i) {
        out->compute(rank.now + i * each, rank.now + i * each + each * 3 / 4);
      }
    }
    rank.now += length;
  }

  void begin(const Part& part, std::uint64_t step, std::uint32_t r) {
    const TrainingGroup group = training_.group_of(r, part.grouping);
    if (group.size < 2) return;
    compute(r);
    Rank& rank = ranks_[r];
    TrainingCall call;
    call.operation = own_operation(part, r);
    call.group = group;
    call.sequence =
        step * k_calls_of_group.at(static_cast<std::size_t>(part.grouping)) + part.place + 1;
    call.elements = part.elements;
    call.source = call.operation == Op::send ? r : r ^ 1U;
    call.target = call.source ^ 1U;
    call.range_begin = rank.now;
    call.launch_begin = call.range_begin + 5'000 + rank.random.below(5'000);
    call.launch_end = call.launch_begin + 6'000 + rank.random.below(4'000);
    call.range_end = call.launch_end + 2'000;
    call.begin = call.launch_end + 500 + rank.random.below(2'000);
    rank.call = call;
    Round& round = rounds_[group.number];
    round.last = std::max(round.last, call.begin);
    if (r == group.first) round.root = call.begin;
  }

  void end(const Part& part, std::uint32_t r) {
    const TrainingGroup group = training_.group_of(r, part.grouping);
    if (group.size < 2) return;
    Rank& rank = ranks_[r];
    TrainingCall& call = rank.call;
    const Round& round = rounds_[group.number];
    const std::uint64_t from =
        part.operation == Op::broadcast ? std::max(round.root, call.begin) : round.last;
    const bool back = part.grouping == Grouping::pair && call.target < call.source;
    call.end = from + (back ? timing_.back_latency : timing_.latency) +
               static_cast<std::uint64_t>((back ? timing_.back_tail : timing_.tail) *
                                          tailed(rank.random.next()));
    if (TrainingSink* const out = sink(r)) out->call(call);
    rank.now = std::max(call.end, call.range_end) + 1'000;
  }

  const Training& training_;
  Timing timing_;
  std::uint32_t first_;
  std::span<TrainingSink* const> sinks_;
  std::vector<Rank> ranks_;
  std::vector<Round> rounds_;  ///< one for each group
  std::uint64_t first_time_ = ~std::uint64_t{0};
};

Result<WorkloadSpan> Training::run(std::uint32_t first, std::span<TrainingSink* const> sinks,
                                   const std::function<Result<void>()>& after_step) const {
  Loop loop(*this, first, sinks);
  for (std::uint64_t step = 0; step < counts_.steps; ++step) {
    loop.step(step);
    TRY(after_step());
  }
  return loop.span();
}

}  // namespace entrain::sim
