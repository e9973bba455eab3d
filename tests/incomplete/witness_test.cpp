// SPDX-License-Identifier: BSD-3-Clause
//
// Where records are missing, the checker accepts what the matcher claims: its edges and counts are
// those of the corrector, for any number of workers and in the corrected copy of the trace.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/flat_map.hpp"
#include "formats/otf2/load.hpp"
#include "sim/model/drop_testing.hpp"
#include "support/lockstep.hpp"
#include "support/pairing.hpp"
#include "support/random_plan.hpp"
#include "support/random_trace.hpp"
#include "support/repetitions.hpp"
#include "verify/testing.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

std::vector<DropOptions> drop_losses(std::uint64_t seed) {
  std::vector<DropOptions> all(5);
  all[0].random = 0.001;
  all[1].random = 0.01;
  all[2].random = 0.1;
  all[3].windows = {0.1, 1.0 / 3};
  all[4].tail = {0.2, 0.5};
  for (DropOptions& options : all) options.seed = seed;
  return all;
}

/// All claims, one per line.
std::string text_of(const trace::Witness& witness) {
  std::string text;
  const auto add = [&](const std::vector<trace::ClaimedRun>& runs) {
    for (const trace::ClaimedRun& run : runs) {
      text += fmt::format(" {}-{}+{}", run.first, run.second, run.count);
    }
    text += '\n';
  };
  for (const trace::ClaimedChannel& c : witness.channels) {
    text += fmt::format("{} -> {} on {} tag {}: {} {} {}", c.sender, c.receiver, c.comm, c.tag,
                        c.ambiguous, c.sends_in_gaps, c.receives_in_gaps);
    add(c.pairs);
  }
  for (const trace::ClaimedCalls& c : witness.calls) {
    text += fmt::format("{} in {}: {} {}", c.process, c.space, c.ambiguous, c.in_gaps);
    add(c.instances);
  }
  return text;
}

std::uint64_t moved_by(const trace::Trace& trace, LocationIndex l) {
  return std::uint64_t{1'000'000} * (trace.definitions.process_of[l] + 1);
}

/// Says what stretches are missing, as recorders that were switched off and truncated files do.
trace::Trace with_gaps(const sim::DroppedTrace& dropped) {
  trace::Trace trace = dropped.trace;
  for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
    const auto& window = dropped.report.locations[l].window;
    if (window) trace.locations[l].gaps.push_back({window->begin, window->end});
    if (dropped.report.locations[l].end) trace.locations[l].truncated = true;
  }
  return trace;
}

/// The copy that a correction would write: every process moves by another distance.
trace::Trace moved(trace::Trace trace) {
  for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
    trace::LocationSkeleton& location = trace.locations[l];
    trace::EventList events;
    for (trace::Event event : location.events) {
      event.time += moved_by(trace, l);
      events.push_back(event);
    }
    location.events = std::move(events);
    for (trace::Gap& gap : location.gaps) {
      gap.begin += moved_by(trace, l);
      if (gap.end != trace::Gap::k_open) gap.end += moved_by(trace, l);
    }
    location.last += moved_by(trace, l);
  }
  return trace;
}
Pairing moved(Pairing pairing, const trace::Trace& trace) {
  for (TrueEdge& edge : pairing.edges) {
    edge.send_stamp += moved_by(trace, edge.send_location);
    edge.receive_stamp += moved_by(trace, edge.receive_location);
  }
  std::sort(pairing.edges.begin(), pairing.edges.end());
  return pairing;
}

TEST(Witness, of_recorded_truths) {
  std::size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces")) {
    if (entry.path().extension() != ".truth") continue;
    const auto loaded = otf2::load(entry.path(), 0, nullptr);
    ASSERT_TRUE(loaded) << loaded.error().message;
    for (const DropOptions& loss : drop_losses(compared + 1)) {
      const auto dropped = sim::drop(loaded->trace, loss);
      ASSERT_TRUE(dropped);
      for (const trace::Trace& trace : {dropped->trace, with_gaps(*dropped)}) {
        trace::Witness witness;
        const Pairing expected = by_corrector(trace, false, 1, &witness);
        EXPECT_GT(expected.left.at("sends") + expected.left.at("receives"), 0);
        const Pairing found = by_checker(trace, AlltoallvRule::ignore, compared % 2 == 0 ? 1 : 3);
        EXPECT_TRUE(found.edges == expected.edges)
            << entry.path() << ": " << found.edges.size() << " instead of " << expected.edges.size()
            << " edges";
        EXPECT_EQ(found.left, expected.left) << entry.path();
        EXPECT_TRUE(by_checker(moved(trace), AlltoallvRule::ignore, 3, &witness) ==
                    moved(expected, trace));
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 30u);
}

TEST(Witness, in_lockstep) {
  // Calls are compared along ways over one other process to the reference.
  const std::uint32_t rounds = every_repetition() ? 2000 : 500;
  const LockstepPlan plans[] = {
      {.processes = 3, .rounds = rounds},
      {.processes = 3, .rounds = rounds, .both_ways = true},
      {.processes = 5, .rounds = rounds, .both_ways = true, .rounds_per_call = 10},
      {.processes = 5, .rounds = rounds, .both_ways = true, .rounds_per_call = 1},
      {.processes = 4, .rounds = rounds, .rounds_per_call = 3}};
  for (const LockstepPlan& plan : plans) {
    const trace::Trace complete = lockstep(plan);
    for (const DropOptions& loss : drop_losses(1)) {
      const auto dropped = sim::drop(complete, loss);
      ASSERT_TRUE(dropped);
      for (const trace::Trace& trace : {dropped->trace, with_gaps(*dropped)}) {
        const Pairing expected = by_corrector(trace, false, 1);
        EXPECT_LE(expected.left.at("ambiguous_receives") + expected.left.at("messages_in_gaps"),
                  expected.left.at("sends") + expected.left.at("receives"));
        for (const unsigned threads : {1u, 3u}) {
          EXPECT_TRUE(by_checker(trace, AlltoallvRule::ignore, threads) == expected);
          EXPECT_TRUE(by_corrector(trace, false, threads) == expected);
        }
      }
    }
  }
}

RC_GTEST_PROP(Witness, of_random_traces, ()) {
  TracePlan plan = *any_plan();
  plan.mismatched_collective = *flag();
  plan.unmatched = *flag();
  const RandomTrace random = random_trace(plan);
  const auto options = *rc::gen::elementOf(drop_losses(plan.seed));
  const auto dropped = sim::drop(random.trace, options);
  RC_ASSERT(dropped.has_value());
  const trace::Trace trace = *flag() ? with_gaps(*dropped) : dropped->trace;
  const auto rule = plan.dense_alltoallv ? AlltoallvRule::dense : AlltoallvRule::ignore;
  trace::Witness witness, of_three;
  const Pairing expected = by_corrector(trace, plan.dense_alltoallv, 1, &witness);
  RC_CLASSIFY(expected.left.at("messages_in_gaps") > 0, "in gaps");
  RC_CLASSIFY(expected.left.at("ambiguous_receives") > 0, "ambiguous");
  for (const auto& [name, count] : expected.left) RC_ASSERT(count >= 0);
  RC_ASSERT(by_checker(trace, rule, 1) == expected);
  RC_ASSERT(by_checker(trace, rule, 3) == expected);
  RC_ASSERT(by_corrector(trace, plan.dense_alltoallv, 3, &of_three) == expected);
  RC_ASSERT(text_of(of_three) == text_of(witness));
  RC_ASSERT(by_checker(moved(trace), rule, 3, &witness) == moved(expected, trace));
}

/// Changes one number of a witness, or adds or takes away a run.
void mutate(trace::Witness& witness, std::uint64_t seed) {
  const auto pick = [&](std::uint64_t of) { return mix(++seed * 77) % of; };
  const auto change = [&](std::uint32_t& number) {
    const std::uint32_t values[] = {number + 1, number - 1, 0, 0xFFFFFFFF, number * 2};
    number = values[pick(std::size(values))];
  };
  const auto change_runs = [&](std::vector<trace::ClaimedRun>& runs) {
    if (runs.empty() || pick(4) == 0) {
      runs.push_back({static_cast<std::uint32_t>(pick(9)), static_cast<std::uint32_t>(pick(9)), 1});
    } else if (pick(4) == 0) {
      runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(pick(runs.size())));
    } else {
      trace::ClaimedRun& run = runs[pick(runs.size())];
      std::uint32_t* const numbers[] = {&run.first, &run.second, &run.count};
      change(*numbers[pick(3)]);
    }
  };
  if (!witness.channels.empty() && pick(2) == 0) {
    trace::ClaimedChannel& claim = witness.channels[pick(witness.channels.size())];
    std::uint32_t* const numbers[] = {
        &claim.comm,      &claim.sender,        &claim.receiver,        &claim.tag,
        &claim.ambiguous, &claim.sends_in_gaps, &claim.receives_in_gaps};
    if (pick(2) == 0) return change_runs(claim.pairs);
    change(*numbers[pick(std::size(numbers))]);
  } else if (!witness.calls.empty()) {
    trace::ClaimedCalls& claim = witness.calls[pick(witness.calls.size())];
    std::uint32_t* const numbers[] = {&claim.space, &claim.process, &claim.ambiguous,
                                      &claim.in_gaps};
    if (pick(2) == 0) return change_runs(claim.instances);
    change(*numbers[pick(std::size(numbers))]);
  }
}

RC_GTEST_PROP(Witness, with_mistakes_is_refused_or_could_be_true, ()) {
  TracePlan plan = *any_plan();
  const RandomTrace random = random_trace(plan);
  const auto options = *rc::gen::elementOf(drop_losses(plan.seed));
  const auto dropped = sim::drop(random.trace, options);
  RC_ASSERT(dropped.has_value());
  const trace::Trace trace = *flag() ? with_gaps(*dropped) : dropped->trace;
  trace::Witness witness;
  static_cast<void>(by_corrector(trace, false, 1, &witness));
  mutate(witness, *rc::gen::inRange<std::uint64_t>(0, 100'000));
  witness.sort();
  const std::vector<ClockMap> maps(trace.locations.size());
  std::string texts[2];
  for (const unsigned members : {1u, 3u}) {
    const trace::Partition partition =
        verify::testing::dealt(trace.definitions, members, members == 3);
    const auto result = run_team(members, [&](Team& team) -> Result<void> {
      const auto report =
          verify::check({team, partition, trace}, {.maps = maps, .claims = {.witness = &witness}},
                        {}, Cancel(nullptr));
      if (!report) return tl::unexpected<Error>(report.error());
      const Coverage& c = report->coverage;
      if (c.paired + c.ambiguous + c.in_gaps > c.receives) return fail(ErrorKind::usage, "counts");
      if (team.rank() == 0) texts[members / 2] = verify::testing::text_of(*report);
      return {};
    });
    if (result) continue;
    RC_ASSERT(result.error().kind == ErrorKind::internal);
    texts[members / 2] = "refused";
  }
  RC_CLASSIFY(texts[0] == "refused", "refused");
  RC_ASSERT(texts[0] == texts[1]);
}

}  // namespace
}  // namespace entrain::test
