// SPDX-License-Identifier: BSD-3-Clause
#include "cli/check_options.hpp"

#include "base/try.hpp"
#include "cli/common.hpp"
#include "cli/values.hpp"
#include "engine/inputs.hpp"
#include "output/output.hpp"
#include "report/bounds_report.hpp"

namespace entrain::cli {
namespace {

constexpr const char* k_check_group = "OPTIONS OF THE CHECK";

constexpr double k_most_rate_ppm = 100'000;

/// Sets the limit on mean rates: "auto", "off" or parts per million.
Result<ClockPriorOption> parse_mean_rate(std::string_view text, ClockPriorOption prior) {
  prior.max_mean_rate_ppm.reset();
  prior.any_mean_rate = text == "off";
  if (text == "auto" || text == "off") return prior;
  const auto value = parse_number(text, 0, k_most_rate_ppm, "ppm");
  if (!value) {
    return fail(ErrorKind::usage, fmt::format("is neither auto nor off nor a number of ppm from 0 "
                                              "to {:g}",
                                              k_most_rate_ppm));
  }
  prior.max_mean_rate_ppm = *value;
  return prior;
}

}  // namespace

void CheckArguments::declare(OptionSet& set) {
  set.group(k_check_group);
  set.choice("--presync", options.presync, named_up_to(Presync::causal),
             "How stored time stamps become the times to start from. none: as stored. linear: "
             "through the ClockOffset records, exactly as an OTF2 reader does. regression: a "
             "straight line per clock, by least squares over all clock sessions. spline: a smooth, "
             "increasing curve through the sessions. causal: the choice of auto, bent as little as "
             "the messages and collectives of the trace demand; where no clock was measured, these "
             "alone align the clocks. auto: the one of linear, regression and spline that best "
             "predicts sessions that were left out. With fewer than three sessions it takes "
             "regression if their exchanges are known, else linear. It takes linear for an archive "
             "that was corrected already, and none for an archive without ClockOffset records. "
             "Then correct goes on as with causal if something is violated, "
             "unless the archive was corrected already or has more than 4,096 clocks. The report "
             "names the choice. Use none to see the stamps as they were recorded; use causal for "
             "more than 4,096 clocks, which may take long. Default: auto.");
  set.choice("--sessions", options.condensing, named_up_to(Condensing::weighted),
             "How the exchanges of a clock session become one offset, for regression and spline. "
             "The exchanges are in clock_samples.csv beside an archive of entrain record; without "
             "that file the ClockOffset records are the sessions. shortest: the middle of the "
             "interval that all exchanges allow, which the shortest round trips narrow most. mean: "
             "the mean of the fastest 90 %, and regression over all of them, as Intel Trace "
             "Collector does. weighted: the same, weighted by 1 / (round trip)^2. Use mean or "
             "weighted to compare with results of that tool. Default: shortest.");
  set.path(
      "--clock-samples", options.clock_samples, "DIR",
      "Use the clock sessions in DIR, with their half-widths, in place of the archive's "
      "ClockOffset records (or beside them, --clock-records). DIR is the folder of entrain record "
      "--clocks-only, or an archive of entrain record, of the same run. Number of processes, rate "
      "of the timer and times must fit those of the archive. Use it for an archive that another "
      "tracer wrote. Default: the records of the archive.");
  set.group(k_check_group);
  set.choice(
      "--clock-records", options.clock_records,
      {{"replace", ClockRecords::replace}, {"add", ClockRecords::add}},
      "With --clock-samples: what becomes of the archive's own ClockOffset records. replace: "
      "they do not count. add: they count beside the sessions, with a half-width by which "
      "all of a clock agree with the line between its sessions; the single exchanges of the "
      "sessions do not count then. Use add where the archive has records in the middle of a "
      "long run, and DIR sessions at its ends only. Default: replace.");
  set.choice(
      "--spline", options.spline,
      {{"undisturbed", SplineSessions::undisturbed}, {"all", SplineSessions::all}},
      "Which clock sessions a spline goes through. undisturbed: not through those inner ones "
      "in which all exchanges were slow and that say less than the curve through the others "
      "does; the report counts them. all: through every one, as Intel Trace Collector does. "
      "Use all to compare with results of that tool. Default: undisturbed.");
  set.choice("--clock-domain", options.clock_domain, named_up_to(ClockDomain::node),
             "Which locations share one clock. Locations of one clock are bent and moved together. "
             "location: every location has a clock of its own. process, node: those of a process, "
             "of a machine. auto: those of a machine, unless the trace contradicts it by clock "
             "offsets that differ too much, or by messages inside the machine that would arrive "
             "before they were sent; then those of a process, or none. Edges inside a domain are "
             "never corrected: if locations do not share the clock that the option says, "
             "violations between them stay, or the correction is refused. Use it when you know the "
             "machine better than its trace does. Default: auto.");
  set.choice(
      "--clock-kind", options.clock_prior.kind, named_up_to(ClockKind::wall),
      "What the clocks are. timer: they count freely, such as the time stamp counter. wall: "
      "they tell the time of day, and were slewed to do so. It decides what is assumed of "
      "their rates; see --max-mean-rate-ppm. auto: wall if the earliest stamp lies between "
      "the years 2000 and 2100, else timer. Use it when you know the tracer. Default: auto.");
  const auto parse_mean = [this](std::string_view text) {
    return parse_mean_rate(text, options.clock_prior);
  };
  set.group(k_check_group);
  set.value("--max-mean-rate-ppm", options.clock_prior, parse_mean, "auto|off|PPM",
            "How far the mean rates of two clocks may be apart, 0 to 100000 parts per million, as "
            "long as nothing shows more. Bounds assume it, and so do clocks that messages align, "
            "or that were measured once. auto: 200 for timers, twice what data sheets of crystals "
            "allow; 500 for wall clocks, by which systems slew. off: any rate. If the trace "
            "contradicts the limit, a larger one is taken, and told. Use a smaller one when you "
            "know the machines; servers are mostly within 30. Default: auto.");
  set.value(
      "--reference", "CLOCK|consensus",
      [this](std::string_view text) -> Result<void> {
        options.reference = text == "auto" ? std::string_view() : text;
        return {};
      },
      "The clock that shows the right time, where no clock was measured, and to which bounds "
      "refer: the id of an OTF2 location, or the name of a location or process. consensus: "
      "the time of most clocks; those that can stay as they are without a violation do, and "
      "the others come to the middle of what messages allow. Use it when you know which "
      "clock is right. Default: consensus for wall clocks, else the first clock.");
  set.value("--mu", options.mu, parse_mu, "auto|delays|rtt|1tick|SECONDS",
            "Minimum latency: a receive must be later than its send by at least this much. auto: "
            "the one that an earlier correction of the archive used, else 0, because no "
            "measurement proves more; with 0, correct places a receive that it has to move one "
            "tick after its send. delays: a quarter of the shortest round trip that entrain record "
            "measured, for messages per pair of nodes, for collectives the smallest one per class "
            "of distance (same process, same node, other); a guess. rtt: a quarter of the smallest "
            "round trip of messages, per class; a guess. 1tick: one tick of the timer, which "
            "separates ties. A number: that many seconds, 0 to 1000, e.g. 1e-6. Use a number when "
            "you know the network's latency, and 0 to let correct place receives at the times of "
            "their sends. A mu above the true latency invents violations. Default: auto.");
  set.choice("--alltoallv", options.alltoallv,
             {{"ignore", AlltoallvRule::ignore}, {"dense", AlltoallvRule::dense}},
             "How to read calls of Alltoallv and Alltoallw that do not name their partners. "
             "ignore: no edges; the calls are counted and reported. dense: every process that sent "
             "precedes every process that received. Use dense when you know that every process "
             "sends to every other one; it is wrong for a sparse exchange. Default: ignore.");
  set.choice("--init-finalize", options.init_finalize, {{"on", true}, {"off", false}},
             "Whether MPI_Init and MPI_Finalize synchronise all processes. MPI does not promise "
             "it, although most implementations do it. off: their edges are reported, but not "
             "counted. Use on when your MPI is known to synchronise there. Default: off.");
  set.value("--min-coverage", options.min_coverage, parse_percent, "PERCENT",
            "Share of the recorded receives and calls of collectives, 0 to 100 %, that must be "
            "checked before a trace without violations is called clean. Below it the verdict is "
            "unproven, and the exit status 3. It is unproven with any value if no edge at all "
            "could be checked. Use a larger one where a miss is dear, and 0 to ask for "
            "violations only. Default: 50 %.");
  set.flag("--bounds", options.bounds.wanted,
           "Also prove how far the times may be trusted. Messages, collectives and clock sessions "
           "with an interval prove, for every clock and time, the interval in which the clock's "
           "error lies, seen from a reference clock. The proof assumes that no clock's rate leaves "
           "its mean by more than --max-rate-ppm. If something is violated, correct also moves the "
           "presynchronised times into the intervals. Use it when a wait of some microseconds "
           "matters. It costs one more pass over the edges. Default: no proof.");
  set.path("--bounds-csv", bounds_csv, "FILE",
           "Write the intervals that --bounds proves to FILE, which must not exist, a line per "
           "location and window of time: stored stamp, time, offset as used, least and largest "
           "offset possible (ticks), and the largest error possible of any event in the window "
           "(seconds). Use it when you want to plot the intervals. Means --bounds. Default: no "
           "file.");
  const auto parse_rate_and_mark = [this](std::string_view text) {
    auto rate = or_auto(number(0, k_most_rate_ppm, "ppm"))(text);
    if (rate) options.bounds.wanted = true;
    return rate;
  };
  set.group(k_check_group);
  set.value("--max-rate-ppm", options.bounds.max_rate_ppm, parse_rate_and_mark, "auto|PPM",
            "How much faster or slower than its mean a clock may run at any moment, seen "
            "from the reference clock, 0 to 100000 parts per million. Bounds at different "
            "times combine only under such a limit, and a limit that is too small for the "
            "trace is refused. auto: twice the rate that violations and sessions show, plus "
            "50 ppm for the temperature of crystals; the report names it. Use it when you "
            "know the oscillators. Means --bounds. Default: auto.");
  set.value(
      "--memory", options.memory_limit_bytes, parse_size, "BYTES",
      "Memory that the large arrays may take, e.g. 500M or 16G (powers of 1024). The rest lies in "
      "unnamed temporary files in the folder that the variable TMPDIR names, or /var/tmp, which is "
      "slower; the result is the same. All arrays together need about 140 bytes per communication "
      "event. With several processes, each one has that much. What is kept of JSON files and of "
      "names in tables counts, and no file takes its place: where it is more, they are refused. "
      "Use it when a trace is larger than the machine. Default: no limit.");
  add_max_unpacked(set, options.max_unpacked_bytes);
  add_columns(set, options.columns);
  set.values(
      "--match", "RULE",
      [this](std::string_view text) -> Result<void> {
        options.match.emplace_back(text);
        return {};
      },
      "Events of CTF traces that are messages: send=NAME:FIELDS,receive=NAME:FIELDS, e.g. "
      "send=app:request:id,receive=app:serve:id. An event of the first name is the send of the one "
      "of the second name, on another host, whose fields have the same values. Several fields "
      "stand "
      "with + between them, and those inside others with a dot: conn.port+conn.seq. May be given "
      "more than once. Use it for tracepoints of your own; TCP packets and ROS 2 messages are "
      "known. "
      "Default: only these.");
  set.flag("--strict-latency", options.strict_latency,
           "Also call it a violation, with exit status 1, if a receive is not earlier than its "
           "send, but closer to it than the minimum latency (see --mu). Use it with a mu that you "
           "know. Default: such edges are only reported.");
}

OutputRule CheckArguments::rule(const engine::Paths& inputs) const {
  OutputRule rule = engine::output_rule(inputs, options);
  rule.offers_force = false;
  return rule;
}

Result<void> CheckArguments::prepare(const engine::Paths& inputs) {
  if (bounds_csv.empty()) return {};
  rule_ = rule(inputs);
  options.bounds.wanted = options.bounds.rows = true;
  return processes().agree(speaks() ? OutputFile::check(bounds_csv, rule_) : Result<void>());
}

Result<void> CheckArguments::write_bounds(const std::optional<ClockBounds>& bounds,
                                          std::uint64_t resolution_hz) const {
  if (bounds_csv.empty() || !bounds) return {};
  if (!speaks()) return processes().agree({});
  return processes().agree(
      write_output(bounds_csv, report::bounds_csv(*bounds, resolution_hz), rule_));
}

}  // namespace entrain::cli
