// SPDX-License-Identifier: BSD-3-Clause
#include "report/parts.hpp"

#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/units.hpp"

namespace entrain::report {
namespace {

/// Checked and unchecked parts of a trace.
std::string operations_text(const CheckReport& report) {
  const Coverage& coverage = report.coverage;
  if (coverage.receives == 0) return "recorded collective calls";
  return fmt::format("recorded {}{}", report.words.receives,
                     coverage.collective_calls == 0 ? "" : " and collective calls");
}

/// "1 receive", "40 receives".
std::string receives_text(std::uint64_t count, const CheckReport& report) {
  return fmt::format("{} {}", format_count(count),
                     count == 1 ? report.words.receive : report.words.receives);
}

std::uint64_t operations(const Coverage& coverage) {
  return coverage.receives + coverage.collective_calls;
}

/// Edges that contradict others whatever clocks do.
std::uint64_t contradicting(const Counters& skipped) {
  return count_of(skipped, "dropped_edges") + count_of(skipped, "contradicting_pairs");
}

/// Appends an item of a list.
void append(std::string& list, const std::string& item, std::string_view separator = "; ") {
  if (item.empty()) return;
  if (!list.empty()) list += separator;
  list += item;
}

/// "40 receives (lost 30, ambiguous 10)".
std::string silent_receives(const CheckReport& report) {
  const Coverage& coverage = report.coverage;
  const std::uint64_t silent = coverage.lost + coverage.ambiguous + coverage.in_gaps;
  if (silent == 0) return "";
  std::string why;
  const auto add = [&](const char* name, std::uint64_t count) {
    if (count > 0) append(why, fmt::format("{} {}", name, format_count(count)), ", ");
  };
  add("lost", coverage.lost);
  add("ambiguous", coverage.ambiguous);
  add("in gaps", coverage.in_gaps);
  return fmt::format("{} ({})", receives_text(silent, report), why);
}

/// Operations that yield no edge, by the reason.
std::string silent_text(const CheckReport& report) {
  const Coverage& coverage = report.coverage;
  std::string text = silent_receives(report);
  const auto add = [&](std::uint64_t count, const char* singular, const char* plural) {
    if (count > 0) append(text, format_number_of(count, singular, plural));
  };
  const std::uint64_t explained =
      coverage.in_instances + coverage.alltoallv_skipped + coverage.neighbourhood_skipped;
  if (coverage.collective_calls > explained) {
    // Passive epochs of RMA windows count as calls.
    const bool locks = count_of(report.skipped, "rma_locks") > 0;
    add(coverage.collective_calls - explained,
        locks ? "collective call or passive epoch in no complete instance"
              : "collective call in no complete instance",
        locks ? "collective calls and passive epochs in no complete instance"
              : "collective calls in no complete instance");
  }
  add(coverage.alltoallv_skipped, "call of Alltoallv or Alltoallw",
      "calls of Alltoallv or Alltoallw");
  add(coverage.neighbourhood_skipped, "call of a neighbourhood collective",
      "calls of neighbourhood collectives");
  return text;
}

/// Returns advice on how to get more edges out of such calls.
std::string help_text(const Coverage& coverage) {
  std::string text;
  if (coverage.alltoallv_skipped > 0) {
    append(text, "--alltoallv dense, if every process exchanges data with every other one");
  }
  if (coverage.alltoallv_skipped + coverage.neighbourhood_skipped > 0) {
    append(text, "recording with entrain record, which stores the partners");
  }
  return text;
}

std::string coverage_text(const CheckReport& report) {
  const Coverage& coverage = report.coverage;
  const std::optional<double> share = coverage.share();
  if (!share) return "";
  std::string text;
  if (coverage.receives > 0) {
    append(text, fmt::format("{} of {} paired", format_count(coverage.paired),
                             receives_text(coverage.receives, report)));
  }
  if (coverage.collective_calls > 0) {
    append(text, fmt::format("{} of {} in complete instances", format_count(coverage.in_instances),
                             format_number_of(coverage.collective_calls, "collective call")));
  }
  return fmt::format("{} of what was recorded: {}", format_share(*share), text);
}

/// Returns the reservations that the sentence on the edges needs, each part after a semicolon.
std::string reservations(const CheckReport& report) {
  std::string text;
  const auto add = [&](const std::string& part) { text += "; " + part; };
  if (report.completeness.mpi_communication == false) {
    add("the archive says that its MPI communication is not complete");
  }
  if (const std::string unread = unread_text(report); !unread.empty()) {
    add("not everything could be read: " + unread);
  }
  if (const std::uint64_t devices = count_of(report.skipped, "accelerators_unchecked")) {
    add(
        fmt::format("the times of {} were not checked, as no record compares the clocks of devices "
                    "with others: they go with those of their processes",
                    format_number_of(devices, "accelerator location")));
  }
  return text;
}

/// Operations with processes that were not recorded.
std::string unrecorded_clause(const CheckReport& report) {
  const std::uint64_t count = count_of(report.unmatched, "with_unrecorded_processes");
  if (count == 0) return "";
  return fmt::format("; {} processes that were not recorded",
                     format_number_of(count, "operation involves", "operations involve"));
}

/// "; 98.2 % of the recorded receives and collective calls could be checked".
std::string share_clause(const CheckReport& report) {
  const std::optional<double> share = report.coverage.share();
  if (!share) return "";
  return fmt::format("; {} of the {} could be checked", format_share(*share),
                     operations_text(report)) +
         unrecorded_clause(report);
}

std::string none_violated(const CheckReport& report, const char* edge = "edge") {
  return fmt::format("none of {} is violated", format_number_of(report.checked_edges, edge));
}

std::string close_text(const CheckReport& report) {
  if (report.below_latency == 0) return "";
  return fmt::format("; {} closer than the minimum latency",
                     format_number_of(report.below_latency, "edge is", "edges are"));
}

/// Why times were set aside: of up to three clocks.
std::string set_aside_text(const CheckReport& report) {
  constexpr std::size_t k_shown = 3;
  std::string text;
  std::size_t count = 0;
  for (const SetAside& one : report.set_aside) {
    if (one.is_decisive && ++count <= k_shown) append(text, one.reason);
  }
  if (count > k_shown) {
    append(text,
           fmt::format("the same holds for {}", format_number_of(count - k_shown, "other clock")));
  }
  return text;
}

/// "1 of 40 edges is"; `count` of the checked edges.
std::string edges_are(std::uint64_t count, const CheckReport& report) {
  return fmt::format("{} of {} {}", format_count(count),
                     format_number_of(report.checked_edges, "edge"), count == 1 ? "is" : "are");
}

std::string violations_text(const CheckReport& report) {
  std::string text =
      report.violations > 0
          ? fmt::format("{} violated: {}", edges_are(report.violations, report),
                        report.words.violation)
          : edges_are(report.below_latency, report) +  // they count by --strict-latency
                " closer than the minimum latency";
  const std::uint64_t dropped = contradicting(report.skipped);
  if (dropped > 0) {
    text +=
        fmt::format("; {} each other in cycles and could not be checked",
                    format_number_of(dropped, "more edge contradicts", "more edges contradict"));
  }
  append(text, set_aside_text(report));
  return text + share_clause(report);
}

std::string clean_text(const CheckReport& report) {
  if (report.checked_edges == 0) {
    return "there is nothing to violate, as the trace records no communication between locations";
  }
  return none_violated(report) + close_text(report) + share_clause(report);
}

Tone tone_of(Verdict verdict) { return verdict == Verdict::clean ? Tone::good : Tone::bad; }

/// Why an overlay may leave violations.
std::string flush_text(const CheckReport& after) {
  const std::uint64_t events = count_of(after.skipped, "events_in_flushes");
  if (events == 0) return "";
  return fmt::format(
      "; {} inside a buffer flush, where an overlay cannot move one event by itself; --mode "
      "rewrite can",
      events == 1 ? "1 event of communication lies"
                  : format_count(events) + " events of communication lie");
}

std::string corrected_text(const CorrectReport& report, const Judgement& judgement) {
  const CheckReport& after = report.after;
  const std::string where = report.mode
                                ? fmt::format("in the {} as written ", report.before.words.written)
                                : "in the times as corrected ";
  switch (judgement.verdict) {
    case Verdict::violations:
      if (after.judgement.verdict == Verdict::violations)
        return "Violations: " + where + violations_text(after) + flush_text(after);
      return fmt::format("Violations: {}{} changed order", where,
                         format_number_of(report.statistics.order_broken, "pair of local events",
                                          "pairs of local events"));
    case Verdict::clean:
      return "Clean: " + where + clean_text(after) +
             (report.before.violations == 0 && report.statistics.moved_events == 0
                  ? "; there was nothing to correct"
                  : "");
    case Verdict::unproven:
      break;
  }
  // The checker counts as a later check will; the correction may have dropped what it does not see.
  const std::uint64_t seen = contradicting(after.skipped);
  const std::uint64_t dropped = seen > 0 ? seen : count_of(report.cycles, "dropped_edges");
  return "Unproven: " + where + unproven_text(after, judgement.doubt, dropped);
}

/// True if the archive says that something was not recorded.
bool is_denied(const Completeness& completeness) {
  return completeness.mpi_communication == false || !completeness.incomplete.empty() ||
         !completeness.filters.empty();
}

}  // namespace

std::string unproven_text(const CheckReport& report, Doubt doubt, std::uint64_t dropped) {
  const std::optional<double> share = report.coverage.share();
  switch (doubt) {
    case Doubt::contradictory_edges:
      if (const std::string text = exchange_text(report); !text.empty()) return text;
      return fmt::format(
                 "{} in cycles that no clocks can meet: operations were paired wrongly, or times "
                 "of records are wrong; {}",
                 format_number_of(dropped, "edge lies", "edges lie"),
                 none_violated(report, "other edge")) +
             close_text(report) + share_clause(report);
    case Doubt::low_coverage:
      return fmt::format("only {} of the {} could be checked, less than {:.4g} %; {}",
                         format_share(share.value_or(0)), operations_text(report),
                         100 * report.min_coverage, none_violated(report)) +
             close_text(report) + unrecorded_clause(report);
    case Doubt::clocks_apart:
      return fmt::format(
                 "nothing ties the clocks of {}, for all of the run or for a part of it; {}",
                 format_number_of(count_of(report.unmatched, "ranks_apart"), "rank"),
                 none_violated(report)) +
             close_text(report) + share_clause(report);
    case Doubt::unsettled_pairs:
      return "the corrected times show other pairs of operations than those they were corrected "
             "by; " +
             none_violated(report) + share_clause(report);
    case Doubt::tied_clocks:
      return "other clocks, as many as stay, could be the right ones; " + none_violated(report) +
             close_text(report) + share_clause(report);
    case Doubt::fast_clocks:
      return "the clocks of machines would have to run more than 1,000 ppm fast or slow: files of "
             "another run are among these, or times in another unit; " +
             none_violated(report) + close_text(report) + share_clause(report);
    case Doubt::set_aside: {
      const std::string why = set_aside_text(report);
      const std::string rest = none_violated(report, "other edge");
      if (!why.empty()) return why + "; " + rest + close_text(report) + share_clause(report);
      return "too many edges contradict the others and were set aside; " + rest +
             close_text(report);
    }
    default:
      break;
  }
  if (!share) return "nothing could be checked: what is recorded of communication yields no edge";
  return fmt::format(
      "nothing could be checked: {} {} no edge", format_count(operations(report.coverage)),
      operations(report.coverage) == 1
          ? fmt::format("recorded {} or collective call yields", report.words.receive)
          : operations_text(report) + " yield");
}

void add_completeness(FieldList& fields, const Completeness& completeness) {
  std::string text;
  if (completeness.mpi_communication) {
    append(text, fmt::format("{} MPI communication, says the archive",
                             *completeness.mpi_communication ? "all" : "not all"));
  }
  std::string denied;
  for (const std::string& name : completeness.incomplete) append(denied, name, ", ");
  if (!denied.empty()) append(text, "false: " + denied);
  for (const auto& [name, value] : completeness.filters) append(text, name + " " + value);
  fields.some("recorded", text);
}

Json completeness_json(const Completeness& completeness) {
  Json filters = Json::object();
  for (const auto& [name, value] : completeness.filters) filters[name] = value;
  return {{"mpi_communication",
           completeness.mpi_communication ? Json(*completeness.mpi_communication) : Json(nullptr)},
          {"incomplete", completeness.incomplete},
          {"filters", std::move(filters)}};
}

void add_coverage(FieldList& fields, const CheckReport& report) {
  fields.some("coverage", coverage_text(report))
      .some("told nothing", silent_text(report))
      .some("would help", help_text(report.coverage));
}

Json coverage_json(const Coverage& coverage) {
  const std::optional<double> share = coverage.share();
  return {{"receives", coverage.receives},
          {"paired", coverage.paired},
          {"ambiguous", coverage.ambiguous},
          {"lost", coverage.lost},
          {"in_gaps", coverage.in_gaps},
          {"collective_calls", coverage.collective_calls},
          {"in_instances", coverage.in_instances},
          {"alltoallv_skipped", coverage.alltoallv_skipped},
          {"neighbourhood_skipped", coverage.neighbourhood_skipped},
          {"share", number(share)}};
}

std::string notes_text(const CheckReport& report, const std::optional<Judgement>& judgement,
                       std::uint64_t removed, const Style& style) {
  FieldList notes;
  if (is_denied(report.completeness)) add_completeness(notes, report.completeness);
  add_warnings(notes, report, style);
  add_leftovers(notes, removed);
  if (judgement && judgement->verdict == Verdict::unproven) add_coverage(notes, report);
  return notes.text(style);
}

void add_verdict(Json& json, const std::optional<Judgement>& judgement) {
  const bool doubted = judgement && judgement->doubt != Doubt::none;
  json["verdict"] = judgement ? Json(name_of(judgement->verdict)) : Json(nullptr);
  json["verdict_reason"] = doubted ? Json(name_of(judgement->doubt)) : Json(nullptr);
}

std::string verdict_text(const CheckReport& report, const Style& style) {
  const Judgement& judgement = report.judgement;
  const std::uint64_t dropped = contradicting(report.skipped);
  const std::string text = judgement.verdict == Verdict::violations
                               ? "Violations: " + violations_text(report)
                           : judgement.verdict == Verdict::clean
                               ? "Clean: " + clean_text(report)
                               : "Unproven: " + unproven_text(report, judgement.doubt, dropped);
  return paragraph(text + reservations(report) + ".", style, tone_of(judgement.verdict));
}

std::string verdict_text(const CorrectReport& report, const Style& style) {
  // A file that is missing in the original is missing in the new archive, too.
  const CheckReport& said = unread_text(report.before).empty() ? report.after : report.before;
  if (!report.judgement) {
    return paragraph(
        "No verdict: the new archive was not read back, so nothing in it was checked; entrain "
        "check can do it" +
            reservations(report.before) + ".",
        style, Tone::faint);
  }
  return paragraph(corrected_text(report, *report.judgement) + reservations(said) + ".", style,
                   tone_of(report.judgement->verdict));
}

}  // namespace entrain::report
