// SPDX-License-Identifier: BSD-3-Clause
#include "cli/check_options.hpp"

#include "base/try.hpp"
#include "cli/common.hpp"
#include "cli/values.hpp"
#include "report/bounds_report.hpp"

namespace entrain::cli {
namespace {

constexpr const char* k_group = "OPTIONS OF THE CHECK";

constexpr std::array<std::pair<const char*, AlltoallvRule>, 2> k_alltoallv_rules{
    {{"ignore", AlltoallvRule::ignore}, {"dense", AlltoallvRule::dense}}};

constexpr double k_most_rate_ppm = 100'000;

/// "auto" (empty) or parts per million.
Result<std::optional<double>> parse_rate(std::string_view text) {
  if (text == "auto") return std::optional<double>();
  if (const auto value = parse_number(text, 0, k_most_rate_ppm, "ppm"))
    return std::optional<double>(*value);
  return fail(ErrorKind::usage,
              fmt::format("is neither auto nor a number of ppm from 0 to {:g}", k_most_rate_ppm));
}

Result<AlltoallvRule> parse_alltoallv(std::string_view text) {
  return parse_choice(text, k_alltoallv_rules);
}

constexpr std::array<std::pair<const char*, ClockDomain>, 4> k_clock_domains{
    {{"auto", ClockDomain::automatic},
     {"location", ClockDomain::location},
     {"process", ClockDomain::process},
     {"node", ClockDomain::node}}};

Result<ClockDomain> parse_clock_domain(std::string_view text) {
  return parse_choice(text, k_clock_domains);
}

}  // namespace

void CheckArguments::declare(CLI::App& app) {
  add_value(
      app, "--presync", options.presync, parse_presync, "METHOD",
      "How stored time stamps become the times to start from. none: as stored. linear: "
      "through the ClockOffset records, exactly as an OTF2 reader does. regression: a straight "
      "line per clock, by least squares over all clock sessions. spline: a smooth, increasing "
      "curve through the sessions. causal: what auto takes, bent as little as the messages and "
      "collectives of the trace demand; where no clock was measured, clocks are aligned by "
      "these alone. auto: of linear, regression and spline the one that best foretells sessions "
      "that are left out; linear with fewer than three sessions and for an archive that was "
      "corrected already, none where it holds no ClockOffset records; correct then goes on as "
      "with causal where something is violated, but not in an archive that was corrected "
      "already or has more than 1,024 clocks. The report names the choice. Default: auto.")
      ->group(k_group);
  add_value(app, "--sessions", options.condensing, parse_condensing, "shortest|mean|weighted",
            "How the exchanges of a clock session become one offset, for regression and spline. "
            "They are in clock_samples.csv beside an archive of entrain record; without it the "
            "ClockOffset records are the sessions. shortest: the middle of what all exchanges "
            "allow, of which the shortest round trips allow least. mean: the mean of the fastest "
            "90 %, and regression over all of them, as Intel Trace Collector does. weighted: the "
            "same, weighted by 1 / (round trip)^2. Default: shortest.")
      ->group(k_group);
  add_value(
      app, "--clock-domain", options.clock_domain, parse_clock_domain, "auto|location|process|node",
      "Which locations share one clock: they are bent and moved together, so that no two of "
      "them are torn apart. location: none. process, node: those of a process, of a machine "
      "node. auto: those of a node, as far as the trace does not contradict it: clock offsets "
      "that differ by more than they may, or messages inside the node that would arrive "
      "before they were sent; then those of a process, or none. Edges inside a domain are "
      "never corrected: where locations that are told to share a clock do not, violations between "
      "them stay, or the correction is refused. Default: auto.")
      ->group(k_group);
  add_value(
      app, "--mu", options.mu, parse_mu, "auto|delays|rtt|1tick|SECONDS",
      "Minimum latency: how much later than its send a receive must be. auto: that of an "
      "earlier correction of the archive, else 0, as no measurement proves more. delays: a "
      "quarter of the shortest round trip that entrain record measured, per class of distance "
      "(same process, same node, other): a guess. rtt: a quarter of the smallest round trip of "
      "messages, per class: a guess. 1tick: one tick of the timer, which separates ties. A "
      "number: that many seconds, 0 to 1000, e.g. 1e-6. A mu above the true latency invents "
      "violations. Default: auto.")
      ->group(k_group);
  add_value(app, "--alltoallv", options.alltoallv, parse_alltoallv, "ignore|dense",
            "What Alltoallv and Alltoallw mean, of which a trace records only totals. ignore: no "
            "edge, counted and reported. dense: everybody who sent precedes everybody who "
            "received, which is wrong for a sparse exchange. Default: ignore.")
      ->group(k_group);
  add_value(app, "--init-finalize", options.init_finalize, parse_switch, "on|off",
            "Whether MPI_Init and MPI_Finalize synchronise all processes. MPI does not promise it. "
            "off: reported, but not counted. Default: off.")
      ->group(k_group);
  add_switch(app, "--bounds", options.bounds.wanted,
             "Also tell how far the times may be trusted: messages, collectives and clock sessions "
             "with an interval prove for every clock and time in which interval its error lies, "
             "seen from a reference clock, if no clock's rate leaves its mean by more than "
             "--max-rate-ppm. Where something is violated, correct moves its presync inside. "
             "Default: do not.")
      ->group(k_group);
  app.add_option("--bounds-csv", bounds_csv,
                 "Write these intervals, a line per location and window of time, to FILE, which "
                 "must not exist: stored stamp, time, offset as used, least and largest offset "
                 "possible (ticks), and the largest error possible of any event in the window "
                 "(seconds). Means --bounds. Default: do not.")
      ->type_name("FILE")
      ->check(reject_empty)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->group(k_group);
  add_value(app, "--max-rate-ppm", options.bounds.max_rate_ppm, parse_rate, "auto|PPM",
            "How much faster or slower than its mean a clock may run at any moment, seen from the "
            "reference clock, 0 to 100000 parts per million. Bounds at different times combine "
            "only under such a limit; one that is too small for the trace is refused. auto: twice "
            "what violations and sessions show, and 50 ppm more, as far as crystals are off at "
            "other temperatures; the report names it. Means --bounds. Default: auto.")
      ->group(k_group)
      ->each([this](const std::string&) { options.bounds.wanted = true; });
  add_value(app, "--memory", options.memory_limit_bytes, parse_size, "BYTES",
            "Memory that the arrays of the work may take, e.g. 500M or 16G (powers of 1024). What "
            "does not fit lies in files without a name in the folder TMPDIR, or /var/tmp, which "
            "is slower; the result is the same. About 140 bytes per communication event are "
            "needed in all. Of several processes each has that much. Default: no limit.")
      ->group(k_group);
  add_switch(app, "--strict-latency", strict_latency,
             "Also end with exit status 1 if a receive is not earlier than its send, but closer "
             "to it than the minimum latency (see --mu). Default: such edges are only reported.")
      ->group(k_group);
}

Result<void> CheckArguments::prepare() {
  if (bounds_csv.empty()) return {};
  options.bounds.wanted = options.bounds.rows = true;
  return processes().agree(speaks() ? check_new_file(bounds_csv) : Result<void>());
}

Result<void> CheckArguments::write_bounds(const std::optional<ClockBounds>& bounds,
                                          std::uint64_t resolution_hz) const {
  if (bounds_csv.empty() || !bounds) return {};
  if (!speaks()) return processes().agree({});
  return processes().agree(write_new_file(bounds_csv, report::bounds_csv(*bounds, resolution_hz)));
}

}  // namespace entrain::cli
