// SPDX-License-Identifier: BSD-3-Clause
#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "cli/common.hpp"
#include "cli/values.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/report/reports.hpp"

namespace entrain::cli {
namespace {

auto fraction_from(double least) {
  return [=](std::string_view text) -> Result<double> {
    auto value = parse_number(text, least, 1, "");
    if (value) return value;
    return fail(ErrorKind::usage, fmt::format("is not a fraction from {:g} to 1", least));
  };
}

class Synth : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "synth",
        "[OPTIONS] -o DIR",
        "write a synthetic trace with true clocks",
        {"Simulates a message-passing program and writes the archive that a tracer with perfect "
         "clocks would have recorded: check calls it clean, and distort gives it wrong "
         "clocks. Its time stamps are nanoseconds. Memory does not grow with the number of events. "
         "The same options give the same archive, byte for byte.",
         "ring: every process exchanges messages with two neighbours without blocking, and passes "
         "one on to the right now and then. stencil2d: halo exchange with up to four neighbours on "
         "a grid, collectives on its rows and columns. allreduce: compute, then combine. "
         "master-worker: process 0 hands a new task to whoever is the first to return one. mixed: "
         "messages of both kinds, empty ones too, and sixteen kinds of collectives, blocking or "
         "not, on all processes or on either half, some with empty contributions. pipeline: every "
         "process passes items on to the next one, and nothing comes back.",
         "--format chrome: a training loop, as the PyTorch profiler writes it, a file rankN.json "
         "per rank: launches, and kernels of seven kinds of collectives and messages among all "
         "ranks, those of a node, one of each node, or two neighbours. --format otlp: spans of "
         "services, a file hostN.jsonl per host: calls, clients that give up, calls that nobody "
         "waits for, and messages."},
        {{"entrain synth -o ring", "A million events of 8 processes in a ring."},
         {"entrain synth -o big --pattern stencil2d --locations 512 --events 1000000000",
          "A billion events: 14 GB."},
         {"entrain synth -o x --pattern mixed --communication-share 0.3 --seed 7",
          "Much communication, other random numbers."},
         {"entrain synth -o run --format chrome --locations 64", "A training run of 64 ranks."}},
        exit_codes({{"0", "the trace is written"}}),
        {"--output", "--format", "--pattern", "--locations", "--events", "--communication-share"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    add_output(set, output_, options_.force);
    declare_program(set);
    declare_times(set);
    common_.declare(set, "");
    set.after_parsing([this, &set] { return check_use(set); });
  }

  int run() override {
    options_.threads = common_.threads;
    return run_and_report(
        common_, [&](Progress* progress) { return entrain::synth(output_, options_, progress); });
  }

 private:
  void declare_program(OptionSet& set);
  void declare_times(OptionSet& set);
  [[nodiscard]] Result<void> check_use(const OptionSet& set) const;

  std::string output_;
  SynthOptions options_;
  CommonOptions common_;
};

void Synth::declare_program(OptionSet& set) {
  set.group("OPTIONS OF THE PROGRAM");
  set.choice("--format", options_.format, named_up_to(SynthFormat::otlp),
             "What to simulate. otf2: an MPI program. chrome: a training run, as JSON of the "
             "PyTorch profiler. otlp: spans of services. Default: otf2.");
  set.choice("--pattern", options_.pattern, named_up_to(SynthPattern::pipeline),
             "Who communicates with whom; --help-all describes each pattern. Use mixed to test "
             "with every kind of collective. Needs --format otf2. Default: ring.");
  set.value("--locations", options_.locations, count(1, k_most_synth_locations), "N",
            "Number of processes, with one location each, 1 to 1000000; of ranks or hosts, 2 to "
            "1024. Default: 8.");
  set.value("--events", options_.events, count(1, k_most_synth_events), "N",
            "Number of events of all locations together, to within one, 1 to 10^14. A span has "
            "two. A number too small for one iteration is refused. Default: 1000000.");
  set.value("--communication-share", options_.communication_share, fraction_from(1e-4), "SHARE",
            "Share of the events that take part in communication, 0.0001 to 1. The others "
            "are Enter and Leave of functions. As every call of MPI has its own, no pattern "
            "gets beyond 0.3 to 0.35; kernels of a training run stay below 0.2. Use a large one to "
            "test the worst case for a correction. Not with --format otlp. Default: 0.1.");
  set.value("--locations-per-node", options_.locations_per_node, count(1, k_most_synth_locations),
            "N",
            "Processes on one node of the machine, 1 to 1000000. Use it with distort --per "
            "node. Not with --format otlp. Default: 8.");
  set.value("--devices", options_.devices, count(1, k_most_synth_devices), "N",
            "Devices of a rank, 1 to 16: the first one communicates, the others compute, and the "
            "rank waits for each at the end of a step. Needs --format chrome. Default: 1.");
  set.value("--seed", options_.seed, k_any_count, "N",
            "Seed of the random numbers, 0 to 2^64-1. Default: 1.");
}

void Synth::declare_times(OptionSet& set) {
  set.group("OPTIONS OF ITS TIMES (NOT WITH --format otlp)");
  set.value("--latency-s", options_.latency_s, number(1e-9, 1, "seconds"), "SECONDS",
            "Least time from the send of a message, or the begin of a collective, to its "
            "receive, or end, seconds, 1e-9 to 1. Default: 0.000001.");
  set.value("--tail-s", options_.tail_s, number(0, 1, "seconds"), "SECONDS",
            "Mean of the delay on top of the latency, with an exponential tail, seconds, 0 "
            "to 1. Use a large one to test congested networks. Default: 0.0000003.");
  set.value("--back-latency-s", options_.back_latency_s, number(1e-9, 1, "seconds"), "SECONDS",
            "As --latency-s, of messages to a process with a lower number. Use it for networks "
            "that are slower one way than the other. Default: as --latency-s.");
  set.value("--back-tail-s", options_.back_tail_s, number(0, 1, "seconds"), "SECONDS",
            "As --tail-s, of messages to a process with a lower number. Default: as --tail-s.");
  set.value("--iteration-s", options_.iteration_s, number(1e-7, 1000, "seconds"), "SECONDS",
            "Mean time that a process computes per iteration (master-worker: per task), seconds, "
            "1e-7 to 1000; more where its functions would be shorter than 16 ns. Default: 0.001.");
  set.value("--imbalance", options_.imbalance, fraction_from(0), "SHARE",
            "How much the time of --iteration-s varies, between processes and with an exponential "
            "tail from iteration to iteration, as a fraction of its mean, 0 to 1. Use 0 for a "
            "program in lockstep. Default: 0.2.");
  set.value("--straggler", options_.straggler, count(0, k_most_synth_files - 1), "RANK",
            "The rank that --straggler-s makes late. Needs --format chrome. Default: 0.");
  set.value("--straggler-s", options_.straggler_s, number(0, 1000, "seconds"), "SECONDS",
            "How much later one rank begins each step, as if it waited for its input, seconds, 0 "
            "to 1000. Use it to try entrain stragglers. Needs --format chrome. Default: 0.");
}

Result<void> Synth::check_use(const OptionSet& set) const {
  const std::string why =
      fmt::format("does not concern --format {}; leave it out", name_of(options_.format));
  if (options_.format != SynthFormat::chrome)
    TRY(set.refuse({"--devices", "--straggler", "--straggler-s"}, why));
  if (options_.format != SynthFormat::otf2) TRY(set.refuse({"--pattern"}, why));
  if (options_.format != SynthFormat::otlp) return {};
  return set.refuse({"--communication-share", "--locations-per-node", "--latency-s", "--tail-s",
                     "--back-latency-s", "--back-tail-s", "--iteration-s", "--imbalance"},
                    why);
}

}  // namespace

std::unique_ptr<Verb> make_synth() { return std::make_unique<Synth>(); }

}  // namespace entrain::cli
