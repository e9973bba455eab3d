// SPDX-License-Identifier: BSD-3-Clause
#include "net/report/reports.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/printable.hpp"
#include "report/units.hpp"

namespace entrain::net {
namespace {

using report::Align;
using report::Cell;
using report::FieldList;
using report::format_count;
using report::format_duration;
using report::format_number_of;
using report::format_share;
using report::Style;
using report::Table;
using report::Tone;

std::string duration(Femtoseconds time) { return format_duration(seconds_of(time)); }

/// A skew bound; there is none if no chain connects some pair.
std::string bound_of(Femtoseconds skew) {
  return skew == Femtoseconds::max() ? "none" : duration(skew);
}

std::string drift_text(std::int64_t drift_ppb) {
  return fmt::format("{:g} ppm", static_cast<double>(drift_ppb) / 1000);
}

std::string interval_text(std::int64_t slots) {
  return slots == 0 ? "none" : format_count(static_cast<std::uint64_t>(slots));
}

/// Interval and overhead in a reading. Clocks without drift need no schedule after the first.
std::array<std::string, 2> interval_and_overhead(const DriftRow& row, std::size_t reading) {
  if (row.interval_slots[reading] == 0) return {"none", "-"};
  if (row.drift_ppb == 0) return {"any", "-"};
  return {interval_text(row.interval_slots[reading]), format_share(row.overhead_share[reading])};
}

void add_delays(FieldList& fields, DelayRange delays) {
  if (delays.are_alike()) return;
  fields.field("link delays", fmt::format("{} to {}; the bounds count each", duration(delays.least),
                                          duration(delays.most)));
}

std::string slots_of(std::int64_t count) {
  return format_number_of(static_cast<std::uint64_t>(count), "slot");
}

std::string parameters_text(const Parameters& parameters) {
  return fmt::format(
      "ld {:g} ns, cp {:g} ns, sd {:g} ns, rd {:g} ns, fc {:g} ns; bl {}, ks {}, kg {} flits; slot "
      "{} "
      "flits = {}",
      ns_of(parameters.ld), ns_of(parameters.cp), ns_of(parameters.sd), ns_of(parameters.rd),
      ns_of(parameters.fc), parameters.bl, parameters.ks, parameters.kg, parameters.slot_flits,
      duration(parameters.slot()));
}

std::string topology_text(const TopologySummary& topology) {
  return fmt::format("{}: {}, {}, {}; tree of {} levels, root {}", topology.name,
                     format_number_of(topology.interfaces, "interface"),
                     format_number_of(topology.switches, "switch", "switches"),
                     format_number_of(topology.links, "link"), topology.levels, topology.root);
}

std::string range_text(GapRange gap) {
  return fmt::format("{} to {}", duration(gap.least), duration(gap.most));
}

Cell verified(const Verification& verification) {
  return verification.holds() ? Cell("holds", Tone::good) : Cell("fails", Tone::bad);
}

/// Why a method was taken: "the least bound of 4 plans that hold (as alternating, with more
/// slots)".
std::string reason(const Choice& choice) {
  if (!choice.by_bound) return "named by --method";
  std::string others;
  for (const Method method : choice.equals)
    others += fmt::format("{}{}", others.empty() ? "" : ", ", name_of(method));
  return fmt::format("the least bound of {}{}",
                     format_number_of(choice.compared, "plan that holds", "plans that hold"),
                     others.empty() ? ""
                                    : fmt::format("; {} {} it too, in no fewer slots", others,
                                                  choice.equals.size() == 1 ? "has" : "have"));
}

/// The first few, described: "n0 -> s0 (room for 11 flits, 14 needed); ...".
template <class List, class Describe>
std::string first_few(const List& list, Describe describe) {
  constexpr std::size_t k_shown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(list.size(), k_shown); ++i)
    text += (i == 0 ? "" : "; ") + describe(list[i]);
  if (list.size() > k_shown) text += fmt::format("; {} more", list.size() - k_shown);
  return text;
}

}  // namespace

std::string to_text(const BoundReport& report, const Style& style) {
  std::string text =
      FieldList()
          .field("parameters", parameters_text(report.parameters))
          .field("tree", fmt::format("{}-port switches, {} levels: HSS takes {}", report.ports,
                                     report.levels, slots_of(report.slots)))
          .field("GAP1", duration(report.gap1))
          .field("GAP2", range_text(report.gap2))
          .text(style);
  Table skews;
  skews.column("reading", Align::left).column("GAP3").column("GAPmin").column("GAPmax");
  skews.column("SSS").column("HSS");
  for (std::size_t i = 0; i < 2; ++i)
    skews.row({name_of(k_readings[i]), duration(report.gap3[i]), duration(report.lag[i].least),
               duration(report.lag[i].most), duration(report.sss[i]), duration(report.hss[i])});
  Table drifts;
  drifts.column("drift").column("interval").column("overhead");
  drifts.column("interval, printed").column("overhead, printed");
  for (const DriftRow& row : report.drifts) {
    const auto published = interval_and_overhead(row, 0), printed = interval_and_overhead(row, 1);
    drifts.row({drift_text(row.drift_ppb), published[0], published[1], printed[0], printed[1]});
  }
  return text +
         "\nOne router between the interfaces (p1 = p2 = 1); bounded skews of SSS and HSS\n" +
         skews.text(style) + "\nInterval in slots, and share of the time that HSS takes\n" +
         drifts.text(style);
}

std::string to_text(const ScheduleReport& report, const Style& style) {
  Table table;
  table.column("method", Align::left).column("slots").column("messages");
  table.column("bound").column("bound, printed").column("interval").column("overhead");
  table.column("verification", Align::left);
  for (const MethodRow& row : report.methods) {
    const bool holds = row.verification.holds();
    const auto often = interval_and_overhead(row.drift, 0);
    table.row({name_of(row.method), format_count(static_cast<std::uint64_t>(row.slots)),
               format_count(static_cast<std::uint64_t>(row.messages)),
               holds ? bound_of(row.skew[0]) : "-", holds ? bound_of(row.skew[1]) : "-",
               holds ? often[0] : "-", holds ? often[1] : "-", verified(row.verification)});
  }
  FieldList fields;
  fields.field("topology", topology_text(report.topology))
      .field("parameters", parameters_text(report.parameters));
  add_delays(fields, report.delays);
  fields.field("drift", fmt::format("{}; seed {}", drift_text(report.drift_ppb), report.seed));
  std::string text = fields.text(style) + "\n" + table.text(style);
  text += fmt::format("\nTaken: {}, {}.\n", name_of(report.choice.method), reason(report.choice));
  if (const MethodRow* const least = report.least_overhead();
      least != nullptr && report.drift_ppb > 0)
    text += fmt::format("Least overhead: {}.\n", name_of(least->method));
  for (const MethodRow& row : report.methods) {
    if (row.verification.holds()) continue;
    text += fmt::format("\n{}: {}\n", name_of(row.method), printable(row.verification.sentence()));
  }
  if (!report.written.empty())
    text += fmt::format("\nThe schedule by {} is in {}.\n", name_of(report.choice.method),
                        printable(report.written));
  return text;
}

namespace {

void add_flow(FieldList& fields, const SimulationReport& report) {
  const SimulationResult& result = report.result;
  fields.field("blocked",
               fmt::format("{} at most for one interface", duration(report.blocked_most)));
  if (!report.risks.empty())
    fields.field("overrun predicted", first_few(report.risks, [&](const OverrunRisk& risk) {
                   return fmt::format("{} (room for {} flits after STOP, {} needed)",
                                      report.channel_names[risk.channel], risk.room, risk.needed);
                 }));
  if (!result.overruns.empty())
    fields.field("overrun seen",
                 first_few(result.overruns,
                           [&](const Overrun& overrun) {
                             return fmt::format("{} ({} flits in {}, {} without room)",
                                                report.channel_names[overrun.channel],
                                                overrun.largest, report.parameters.bl,
                                                overrun.flits);
                           }),
                 Tone::bad);
  fields.field("largest buffer",
               fmt::format("{} of {} flits", result.largest_occupancy, report.parameters.bl));
  const std::int64_t lost = report.overrunning_flits();
  fields.field(
      "flits",
      fmt::format("{} in {}; {}", format_count(static_cast<std::uint64_t>(result.injected_flits)),
                  format_number_of(static_cast<std::uint64_t>(result.packets), "packet"),
                  lost == 0 ? "none would be lost"
                            : fmt::format("would be lost: {}",
                                          format_count(static_cast<std::uint64_t>(lost)))),
      lost == 0 ? Tone::plain : Tone::bad);
}

void add_verdict(FieldList& fields, const SimulationReport& report) {
  const SimulationResult& result = report.result;
  const Verification& verification = report.method.verification;
  fields.field("verification", verification.holds() ? "holds" : "fails: " + verification.sentence(),
               verification.holds() ? Tone::good : Tone::bad);
  if (report.synchronised()) {
    fields.field("synchrony", "kept", Tone::good);
  } else {
    const Inversion& first = *result.first_inversion;
    fields.field("synchrony",
                 fmt::format("lost: {} packets came after one of a later slot; first on {}, where "
                             "slot {} was before slot {}",
                             result.inversions, report.channel_names[first.channel],
                             first.first_slot, first.second_slot),
                 Tone::bad);
  }
  if (!report.limit) return;
  std::string limit =
      fmt::format("synchrony holds {}up to an interval of {} slots, equation (11) gives {}",
                  report.limit->is_lost_beyond ? "" : "at least ",
                  format_count(static_cast<std::uint64_t>(report.limit->interval_slots)),
                  interval_text(report.limit->by_equation));
  if (const auto margin = report.limit->margin()) limit += fmt::format(": margin {:.2f}", *margin);
  fields.field("limit", limit);
}

std::string bound_text(const SimulationReport& report) {
  const BothReadings& skew = report.method.skew;
  if (!report.method.verification.holds()) return "none: the plan fails";
  if (skew[0] == Femtoseconds::max()) return "none";
  return fmt::format("{} published, {} printed; with drift during the schedule {}",
                     bound_of(skew[0]), bound_of(skew[1]),
                     bound_of(skew[0] + report.drift_allowance));
}

std::string excess_text(const SimulationReport& report) {
  const Femtoseconds excess = report.excess();
  const std::string allowance = duration(report.drift_allowance);
  return excess <= report.drift_allowance
             ? fmt::format("by {}, within the drift during the schedule ({})", duration(excess),
                           allowance)
             : fmt::format("by {}, more than the drift during the schedule ({})", duration(excess),
                           allowance);
}

}  // namespace

std::string to_text(const SimulationReport& report, const Style& style) {
  const SimulationResult& result = report.result;
  const SimulationOptions& options = report.options;
  FieldList fields;
  fields.field("topology", topology_text(report.topology))
      .field("parameters", parameters_text(report.parameters));
  add_delays(fields, report.delays);
  fields
      .field("schedule",
             fmt::format("{}, {}, every {} (overhead {})", name_of(report.method.method),
                         slots_of(report.method.slots), slots_of(options.interval_slots),
                         format_share(static_cast<double>(report.method.slots) /
                                      static_cast<double>(options.interval_slots))))
      .field("method", fmt::format("{}: {}", name_of(report.method.method), reason(report.choice)))
      .field("model",
             fmt::format("{}, {} idle flits per slot, drift {}, load {}, seed {}",
                         name_of(options.model), options.guard_flits, drift_text(options.drift_ppb),
                         format_share(options.load), options.seed))
      .field("skew before",
             fmt::format("{} at first, then {} at most (half a slot: {})",
                         duration(result.boundaries.front().skew()), duration(report.skew_before),
                         duration(report.parameters.slot() / 2)))
      .field("skew after",
             fmt::format("{} at most in {}", duration(report.skew_after),
                         format_number_of(static_cast<std::uint64_t>(options.synchronisations),
                                          "schedule")))
      .field("bound", bound_text(report));
  if (report.excess() > Femtoseconds(0))
    fields.field("bound exceeded", excess_text(report), Tone::bad);
  if (report.lag_per_schedule)
    fields.field("behind the slowest",
                 fmt::format("{} per schedule at most", duration(*report.lag_per_schedule)));
  add_flow(fields, report);
  add_verdict(fields, report);
  fields.field(
      "time",
      fmt::format("{} simulated in {}: {} events, {:.1f} million per second; {} flits skipped",
                  duration(result.simulated), format_duration(report.seconds),
                  format_count(static_cast<std::uint64_t>(result.events)),
                  static_cast<double>(result.events) / report.seconds * 1e-6,
                  format_count(static_cast<std::uint64_t>(result.skipped_flits))));
  for (const std::string& file : report.written) fields.field("written", file);
  return fields.text(style);
}

}  // namespace entrain::net
