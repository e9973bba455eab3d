// SPDX-License-Identifier: BSD-3-Clause
#include "cli/check_options.hpp"

#include "base/try.hpp"
#include "cli/values.hpp"
#include "report/report.hpp"

namespace entrain::cli {
namespace {

constexpr double k_most_rate_ppm = 100'000;

/// Sets the limit on mean rates: "auto", "off" or parts per million.
Result<ClockPriorOption> parse_mean_rate(std::string_view text, ClockPriorOption prior) {
  prior.max_mean_rate_ppm.reset();
  prior.any_mean_rate = text == "off";
  if (text == "auto" || text == "off") return prior;
  const auto value = parse_number(text, 0, k_most_rate_ppm, "ppm");
  if (!value) {
    return usage_error("is neither auto nor off nor a number of ppm from 0 to {:g}",
                       k_most_rate_ppm);
  }
  prior.max_mean_rate_ppm = *value;
  return prior;
}

}  // namespace

void CheckingVerb::declare_check(OptionSet& set, const std::string& rows) {
  set.group("OPTIONS OF THE CHECK");
  set.choice("--presync", check_.presync, named_up_to(Presync::causal),
             "How stored time stamps become times before any violation is removed. none: as "
             "stored. linear: through the ClockOffset records, exactly as an OTF2 reader does. "
             "regression: a straight line per clock, by least squares over all clock sessions. "
             "spline: a smooth, increasing curve through the sessions. causal: the choice of "
             "auto, bent as little as the messages and collectives of the trace demand; where no "
             "clock was measured, these alone align the clocks. auto: of linear, regression and "
             "spline the one that best predicts sessions that were left out. With fewer than "
             "three sessions it takes regression if their exchanges are known, else linear. It "
             "takes linear for an archive that was corrected already, and none for an archive "
             "without ClockOffset records. If something is violated, correct then goes on as with "
             "causal, unless the archive was corrected already or has more than 4,096 clocks. The "
             "report names the choice. Use none to see the stamps as they were recorded; use "
             "causal for more than 4,096 clocks, which may take long. Default: auto.");
  set.choice("--sessions", check_.condensing, named_up_to(Condensing::weighted),
             "How the exchanges of a clock session become one offset, for regression and spline. "
             "The exchanges are in clock_samples.csv beside an archive of entrain record; without "
             "that file the ClockOffset records are the sessions. shortest: the middle of the "
             "interval that all exchanges allow, which the shortest round trips narrow most. mean: "
             "the mean of the fastest 90 %, and regression over all of them, as Intel Trace "
             "Collector does. weighted: the same, weighted by 1 / (round trip)^2. Use mean or "
             "weighted to compare with results of that tool. Default: shortest.");
  set.path(
      "--clock-samples", check_.clock_samples, "DIR",
      "Use the clock sessions in DIR, with their half-widths, in place of the archive's "
      "ClockOffset records (or beside them, --clock-records). DIR is the folder of entrain record "
      "--clocks-only, or an archive of entrain record, of the same run. Number of processes, rate "
      "of the timer and times must fit those of the archive. Use it for an archive that another "
      "tracer wrote. Default: the records of the archive.");
  set.choice(
      "--clock-records", check_.clock_records,
      {{"replace", ClockRecords::replace}, {"add", ClockRecords::add}},
      "With --clock-samples: what becomes of the archive's own ClockOffset records. replace: they "
      "do not count. add: they count beside the sessions. Their half-width is the largest "
      "distance of a record of the clock from the line between its sessions; single exchanges do "
      "not count then. Use add where the archive has records in the middle of a long run, and DIR "
      "sessions at its ends only. Default: replace.");
  set.choice(
      "--spline", check_.spline,
      {{"undisturbed", SplineSessions::undisturbed}, {"all", SplineSessions::all}},
      "Which clock sessions a spline goes through. undisturbed: all but inner ones whose "
      "exchanges were all slow, and which are less certain than the curve through the others; the "
      "report counts them. all: through every one, as Intel Trace Collector does. Use all to "
      "compare with results of that tool. Default: undisturbed.");
  set.choice("--clock-domain", check_.clock_domain, named_up_to(ClockDomain::node),
             "Which locations share one clock. These are bent and moved together. location: each "
             "has a clock of its own. process: those of a process. node: those of a machine. "
             "auto: those of a machine; if clock offsets that differ too much, or messages inside "
             "the machine that would arrive before they were sent, contradict it, those of a "
             "process; else none. Edges between locations of one clock are never corrected: if "
             "they do not share it in truth, violations stay, or the correction is refused. Use "
             "it when you know the machine better than its trace does. Default: auto.");
  set.choice(
      "--clock-kind", check_.clock_prior.kind, named_up_to(ClockKind::wall),
      "What the clocks are. timer: they count freely, such as the time stamp counter. wall: they "
      "show the time of day, and are slewed. It decides how far their rates may be apart; see "
      "--max-mean-rate-ppm. auto: wall if the earliest stamp lies between the years 2000 and "
      "2100, else timer. Use it when you know which clock the tracer read. Default: auto.");
  const auto parse_mean = [this](std::string_view text) {
    return parse_mean_rate(text, check_.clock_prior);
  };
  set.value("--max-mean-rate-ppm", check_.clock_prior, parse_mean, "auto|off|PPM",
            "Largest difference of the mean rates of two clocks, parts per million, 0 to 100000. "
            "It is assumed for bounds, and for clocks that only messages align, or that were "
            "measured once. auto: 200 for timers, twice what data sheets of crystals allow; 500 "
            "for wall clocks, by which systems slew. off: any rate. Where the trace contradicts "
            "auto, a larger limit is taken, and the report says so; a limit that you give is "
            "kept, and --max-rate-ppm raised if that suffices; else it is refused. Use a smaller "
            "one when you know the "
            "machines; servers are mostly within 30. Default: auto.");
  set.value(
      "--reference", "CLOCK|consensus",
      [this](std::string_view text) -> Result<void> {
        check_.reference = text == "auto" ? std::string_view() : text;
        return {};
      },
      "The clock that keeps its time where no clock was measured; bounds refer to it. It is given "
      "by the id of an OTF2 location, or the name of a location or process. consensus: the time "
      "of most clocks. As many as can keep their times without a violation do; the others come to "
      "the middle of what messages allow. Use it when you know which clock is right. Default: "
      "consensus for wall clocks, else the first clock.");
  set.value("--mu", check_.mu, parse_mu, "auto|delays|rtt|1tick|SECONDS",
            "Minimum latency: a receive must be later than its send by at least this much. auto: "
            "that of an earlier correction of the archive, else 0, since no measurement proves "
            "more. With auto, correct places a receive that it has to move one tick after its "
            "send. delays: a quarter of the shortest round trip that entrain record measured: per "
            "pair of nodes for messages, per latency class (same process, same node, other) for "
            "collectives; an estimate. rtt: a quarter of the smallest round trip of messages, per "
            "class; an estimate. 1tick: one tick of the timer, which separates equal times. "
            "SECONDS: 0 to 1000, e.g. 1e-6. Use it when you know the network's latency; with 0, "
            "correct places receives at the times of their sends. A value above the true latency "
            "invents violations. Default: auto.");
  set.choice("--alltoallv", check_.alltoallv,
             {{"ignore", AlltoallvRule::ignore}, {"dense", AlltoallvRule::dense}},
             "Edges of calls of Alltoallv and Alltoallw that do not name their partners. ignore: "
             "none; the calls are counted and reported. dense: every process that sent precedes "
             "every process that received. Use dense when you know that every process sends to "
             "every other one; it is wrong for a sparse exchange. Default: ignore.");
  set.choice("--init-finalize", check_.init_finalize, {{"on", true}, {"off", false}},
             "Whether MPI_Init and MPI_Finalize synchronise all processes. MPI does not promise "
             "it, although most implementations do it. off: their edges are reported, but do not "
             "count in the verdict. Use on when your MPI is known to synchronise there. Default: "
             "off.");
  set.value("--min-coverage", check_.min_coverage, parse_percent, "PERCENT",
            "Share of the recorded receives and calls of collectives, 0 to 100 %, that must be "
            "checked before a trace without violations is called clean: of all, and of those of "
            "each process. Below it the verdict is unproven, and the exit status 3. It is unproven "
            "with any value if no edge at all, or none of a process, could be checked. Use a "
            "larger one where a missed violation is expensive, and 0 to "
            "ask for violations only. Default: 50 %.");
  set.flag("--bounds", check_.bounds.wanted,
           "Also prove the largest error that each clock can have. Messages, collectives and "
           "clock sessions with a half-width prove an interval that contains the clock's error "
           "against a reference clock, at every time. The proof assumes that no clock's rate "
           "leaves its mean by more than --max-rate-ppm. If something is violated, correct also "
           "moves times into the intervals, before it removes violations. Use it when a wait of "
           "some microseconds matters. It costs one more pass over the edges. Default: no proof.");
  set.path("--bounds-csv", bounds_csv_, "FILE",
           "Write the intervals that --bounds proves to FILE, which must not exist, a line per "
           "location and window of time: stored stamp, time, offset as used, least and largest "
           "offset possible (ticks), and the largest error possible of any event in the window "
           "(seconds). Use it when you want to plot the intervals. Means --bounds. Default: no "
           "file.");
  const auto parse_rate_and_mark = [this](std::string_view text) {
    auto rate = or_auto(number(0, k_most_rate_ppm, "ppm"))(text);
    if (rate) check_.bounds.wanted = true;
    return rate;
  };
  set.value("--max-rate-ppm", check_.bounds.max_rate_ppm, parse_rate_and_mark, "auto|PPM",
            "Largest deviation of a clock's rate from its mean at any moment, by the reference "
            "clock, parts per million, 0 to 100000. Bounds assume it. A limit that is too small "
            "for the trace is refused. auto: twice the rate that violations and sessions show, "
            "plus 50 ppm for the temperature of crystals; the report names it. Use it when you "
            "know the clocks: smaller limits give smaller bounds. Means --bounds. Default: auto.");
  set.value(
      "--memory", check_.memory_limit_bytes, parse_size, "BYTES",
      "Limit on the memory of the large arrays, bytes, e.g. 500M or 16G (powers of 1024). The "
      "rest lies in unnamed temporary files in $TMPDIR, or /var/tmp; that is slower, with the "
      "same result. All arrays together need about 140 bytes per communication event. The limit "
      "holds for each of several processes. What is kept of JSON files and of names in tables "
      "counts, but cannot lie in files: traces that need more are refused. Use it when a trace is "
      "larger than the machine. Default: no limit.");
  add_max_unpacked(set, check_.max_unpacked_bytes);
  add_columns(set, check_.columns);
  set.values(
      "--match", check_.match, "RULE",
      "Rule by which events of CTF traces are messages: send=NAME:FIELDS,receive=NAME:FIELDS, "
      "e.g. send=app:request:id,receive=app:serve:id. An event of the first name is the send of "
      "the one of the second name, on another host, whose fields have the same values. Write + "
      "between several fields, and a dot before a field inside another one: conn.port+conn.seq. "
      "The option may be given more than once. Use it for tracepoints of your own; TCP packets "
      "and ROS 2 messages are known. Default: only these.");
  set.flag("--strict-latency", check_.strict_latency,
           "Also count as violations, with exit status 1, receives that follow their sends by "
           "less than the minimum latency (--mu). Use it with a latency that you know. Default: "
           "such edges are only reported.");
  common_.declare(set, rows);
}

OutputRule CheckingVerb::rule() const {
  OutputRule rule = engine::output_rule(paths(), check_);
  rule.offers_force = false;
  return rule;
}

Result<void> CheckingVerb::prepare() {
  if (bounds_csv_.empty()) return {};
  rule_ = rule();
  check_.bounds.wanted = check_.bounds.rows = true;
  return processes().agree(speaks() ? OutputFile::check(bounds_csv_, rule_) : Result<void>());
}

Result<void> CheckingVerb::write_bounds(const std::optional<ClockBounds>& bounds,
                                        std::uint64_t resolution_hz) const {
  if (bounds_csv_.empty() || !bounds) return {};
  if (!speaks()) return processes().agree({});
  return processes().agree(
      write_output(bounds_csv_, report::bounds_csv(*bounds, resolution_hz), rule_));
}

void MethodArguments::declare(OptionSet& set) {
  const auto parse_delta = [this](std::string_view text) {
    options.measure_delta = text == "auto";
    if (options.measure_delta) return Result<std::uint64_t>(0);
    return parse_count(text, 0, 1'000'000'000'000);
  };
  set.group("OPTIONS OF THE CORRECTION");
  set.value("--gamma", options.gamma, or_auto(decimal9(1)), "auto|N",
            "Control variable of forward amortization: the rate at which a clock that was moved "
            "runs until it is back at its own time. A decimal number above 0 and at most 1, at "
            "most 9 decimals. auto: tries 0.99999, 0.9999, 0.999, 0.99 and 0.9, and takes for "
            "every clock the largest one with which it moves by at most --epsilon. Use a number "
            "to compare with other implementations, which mostly take 0.99. Default: auto.");
  set.value("--epsilon", options.epsilon_s, or_auto(number(0, 1e6, "seconds")), "auto|SECONDS",
            "Largest displacement of a clock that needs no smaller gamma, seconds, 0 to 1000000. "
            "auto: 1.1 times the largest displacement with gamma 0.9 everywhere. Not with --gamma "
            "N. Use a number when errors below it do not matter: smaller gammas remove larger "
            "displacements and change more intervals. Default: auto.");
  set.value("--delta", options.delta_ticks, parse_delta, "auto|TICKS",
            "Smallest distance of consecutive communication events of a location, in ticks of the "
            "trace's timer, 0 to 1000000000000. Events that were closer before stay as close as "
            "they were. auto: for every process the smallest distance of its events in the trace, "
            "which is at least a step of its timer; the report names it. Use it when a tool needs "
            "distinct times. It costs memory for events that need none without it. Default: 0.");
  set.value("--max-slope", options.max_slope, decimal9(1000), "N",
            "Slope of the ramps that backward amortization builds before a jump, ticks per tick: "
            "0.01 spreads a jump of 1 us over the 100 us before it. Sends that may not move that "
            "far make a ramp flatter first, then steeper. Not with --backward off. A decimal "
            "number above 0 and at most 1000, at most 9 decimals. Use a smaller one when local "
            "intervals must change less, a larger one when corrections must stay near the jump. "
            "Default: 0.01.");
  set.choice("--ramp", options.ramp, {{"taut", RampShape::taut}, {"paper", RampShape::paper}},
             "Shape of the ramp before a jump. taut: by the shortest curve between the times and "
             "the limits of sends; where ramps overlap, the higher one counts. paper: by straight "
             "pieces from the start of an interval of jump / --max-slope, for each jump by "
             "itself, as in the paper of 2007 that describes the method; ramps add up. Not with "
             "--backward off. Use paper to compare with other implementations. Default: taut.");
  set.choice("--backward", options.backward, {{"on", true}, {"off", false}},
             "Whether backward amortization spreads a jump over the events before it. off: a "
             "corrected receive jumps, and only later events move. Use off to see forward "
             "amortization alone. Default: on.");
  set.choice("--amortize", options.amortize, {{"on", true}, {"off", false}},
             "Whether the controlled logical clock removes violations. off: the times after "
             "--presync are written as they are, with the violations that they leave. Use off to "
             "see how good the presync alone is; not with --gamma, --epsilon, --delta, "
             "--max-slope, --ramp or --backward. Default: on.");
}

Result<void> MethodArguments::refuse_useless(const OptionSet& set) const {
  if (!options.backward) {
    TRY(set.refuse({"--max-slope", "--ramp"},
                   "is of no use with --backward off: there are no ramps"));
  }
  if (options.epsilon_s && options.gamma) {
    TRY(set.refuse({"--epsilon"}, "is of no use with --gamma N: it decides which gamma is taken"));
  }
  if (options.amortize) return {};
  return set.refuse({"--gamma", "--epsilon", "--delta", "--max-slope", "--ramp", "--backward"},
                    "is of no use with --amortize off");
}

}  // namespace entrain::cli
