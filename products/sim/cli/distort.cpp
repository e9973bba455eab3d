// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <entrain/entrain.hpp>

#include "cli/common.hpp"
#include "cli/values.hpp"
#include "engine/verbs.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/report/reports.hpp"
#include "sim/verbs/distort.hpp"

namespace entrain::cli {
namespace {

constexpr const char* k_clock_group = "OPTIONS OF THE CLOCKS";
/// The number of clock sessions: none, or as many as make a line.
Result<std::uint32_t> parse_sessions(std::string_view text) {
  const auto count = parse_count(text, 0, k_most_distort_sessions);
  if (!count || *count == 1) {
    return fail(ErrorKind::usage, fmt::format("is neither 0 nor a whole number from 2 to {}",
                                              k_most_distort_sessions));
  }
  return static_cast<std::uint32_t>(*count);
}

class Distort : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "distort",
        "[OPTIONS] ARCHIVE... -o DIR",
        "give a trace wrong clocks, to test corrections",
        {"Writes a copy of a trace in which every process has a clock with an offset, a drift and "
         "wander. Of OTF2 archives it adds the ClockOffset records that a tracer would have "
         "measured at begin and end, or more often or never (--sessions). The original is then "
         "the ground truth for compare. The same seed gives the same copy."},
        {{"entrain distort traces.otf2 -o skewed --seed 7", "A trace with wrong clocks."},
         {"entrain distort traces.otf2 -o skewed --per node --drift-ppm 50",
          "One clock per node, up to 50 ppm too fast or too slow."}},
        exit_codes({{"0", "the copy is written"}}),
        {"--output", "--seed", "--per", "--offset-s", "--sessions"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    add_archive(set, archive_);
    add_output(set, output_, options_.force);
    declare_clocks(set);
    set.group("OPTIONS");
    add_max_unpacked(set, options_.max_unpacked_bytes);
    add_columns(set, options_.columns);
    common_.declare(set, "");
  }

  int run() override {
    options_.threads = common_.threads;
    return run_and_report(common_, [&](Progress* progress) {
      return sim::distort(engine::paths_of(archive_), output_, options_, progress);
    });
  }

 private:
  void declare_clocks(OptionSet& set);

  std::vector<std::string> archive_;
  std::string output_;
  DistortOptions options_;
  CommonOptions common_;
};

void Distort::declare_clocks(OptionSet& set) {
  set.group(k_clock_group);
  set.value("--seed", options_.seed, k_any_count, "N",
            "Seed of the random numbers, 0 to 2^64-1. Use another one for another set of clocks. "
            "Default: 1.");
  set.choice("--per", options_.unit,
             {{"location", DistortUnit::location},
              {"process", DistortUnit::process},
              {"node", DistortUnit::node}},
             "What has a clock of its own. Use node for a cluster whose machines have one clock "
             "each. Default: process.");
  set.value("--offset-s", options_.offset_s, number(0, 1e6, "seconds"), "SECONDS",
            "Largest offset at the beginning, seconds, 0 to 1000000; offsets are uniform between "
            "minus and plus this. Use 0 for clocks that start together, and days for hosts that "
            "count from when they were switched on. Default: 0.005.");
  set.value("--drift-ppm", options_.drift_ppm, number(0, 1e5, "ppm"), "PPM",
            "Largest drift, the constant error of a clock's rate, parts per million, 0 to 100000, "
            "together with --wander-ppm; drifts are uniform between minus and plus this. Crystals "
            "have up to 50. Default: 20.");
  set.value("--wander-ppm", options_.wander_ppm, number(0, 1e5, "ppm"), "PPM",
            "Amplitude of the slow change of the rate, parts per million, 0 to 100000; "
            "together with --drift-ppm not above 100000. Use 0 for clocks that straight "
            "lines describe. Default: 5.");
  set.value("--wander-period-s", options_.wander_period_s, number(0, 1e9, "seconds"), "SECONDS",
            "Period of the wander, seconds, 0 to 1e9; 0: the span of the trace. Less than about a "
            "2800th of the span may be refused: clocks are drawn with at most 65536 points. Use a "
            "short one to test how far presync can follow. Default: 0.");
  set.choice("--wander-kind", options_.wander_kind,
             {{"cycle", WanderKind::cycle}, {"walk", WanderKind::walk}},
             "How the rate wanders. cycle: two sinusoids, of about the wander period and half of "
             "it. walk: at random, 16 steps per wander period, never beyond --wander-ppm; here a "
             "period below about a 4000th of the span is refused. Use walk to test without "
             "periods that a fit could learn. Default: cycle.");
  set.group(k_clock_group);
  set.value("--steps", options_.steps, count(0, k_most_distort_steps), "N",
            "How often each clock is set forward, at random times, 0 to 1000. Use it for clocks "
            "that are set, and for devices whose calibration is renewed. Default: 0.");
  set.value("--step-s", options_.step_s, number(0, 1e6, "seconds"), "SECONDS",
            "Largest step of --steps, seconds, 0 to 1000000; steps are uniform between 0 and "
            "this. Default: 0.001.");
  set.choice("--master", options_.steady_master, {{"wander", false}, {"steady", true}},
             "The clock of the first location, against which the others are measured. wander: it "
             "wanders as the others do. steady: it has an offset and a drift, but does not "
             "wander. Use steady to test errors between clocks alone. Default: wander.");
  set.value("--sessions", options_.sessions, parse_sessions, "N",
            "Number of clock measurements, at equal distances from begin to end: 0, or 2 to "
            "100000. With 0 the archive has no ClockOffset record. Use 0 to test clocks that "
            "nobody measured. Default: 2.");
  set.value("--offset-noise-s", options_.offset_noise_s, number(0, 1e6, "seconds"), "SECONDS",
            "Largest error of the offsets in ClockOffset records, seconds, 0 to 1000000; errors "
            "are uniform between minus and plus this. Use the asymmetry of your network's round "
            "trips. Default: 0.000001.");
}

}  // namespace

std::unique_ptr<Verb> make_distort() { return std::make_unique<Distort>(); }

}  // namespace entrain::cli
