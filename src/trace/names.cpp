// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include <entrain/compare.hpp>
#include <entrain/drop.hpp>
#include <entrain/export.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>
#include <entrain/stragglers.hpp>
#include <entrain/synth.hpp>

namespace entrain {

namespace {

/// The name of a value; `most`: number of values, where a constant has it.
template <std::size_t most = 16, class Enum, std::size_t N>
const char* name_in(const char* const (&names)[N], Enum value) {
  static_assert(N <= most);
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : "unknown";
}

const char* text_of(Condensing rule) {
  return name_in({"shortest round trips", "mean of the exchanges kept",
                  "mean of the exchanges kept, weighted by 1 / round trip^2"},
                 rule);
}

}  // namespace

const char* name_of(Presync presync) {
  return name_in<k_presyncs>({"auto", "none", "linear", "regression", "spline", "causal"}, presync);
}

const char* name_of(PresyncMethod method) {
  return name_in({"none", "linear", "regression", "spline", "causal", "constant"}, method);
}

const char* name_of(Condensing rule) { return name_in({"shortest", "mean", "weighted"}, rule); }

const char* name_of(ClockDomain rule) {
  return name_in({"auto", "location", "process", "node"}, rule);
}

const char* name_of(ClockKind kind) { return name_in({"auto", "timer", "wall"}, kind); }

const char* name_of(WriteMode mode) { return name_in({"rewrite", "overlay"}, mode); }

const char* name_of(LinkKind kind) {
  return name_in<k_link_kinds>({"", "reflink", "symbolic link", "hard link"}, kind);
}

std::string text_of(const LinkCounts& counts) {
  const auto kinds = std::count_if(counts.begin(), counts.end(), [](auto n) { return n > 0; });
  std::string text;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (counts[kind] == 0) continue;
    if (!text.empty()) text += ", ";
    text += name_of(static_cast<LinkKind>(kind));
    if (kinds > 1) text += fmt::format(" ({})", counts[kind]);
  }
  return text;
}

const char* name_of(MuOrigin origin) {
  return name_in(
      {"none", "archive", "given", "round trip (estimate)", "clock_delays.csv (estimate)"}, origin);
}

std::string text_of(const MuProvenance& mu) {
  if (mu.pairs_above == 0) return name_of(mu.origin);
  return fmt::format("{}; more for {} of {} pairs of nodes", name_of(mu.origin), mu.pairs_above,
                     mu.pairs);
}

const char* name_of(SessionOrigin origin) {
  return name_in({"", "ClockOffset records", "clock_offsets.csv", "clock_samples.csv",
                  "clock sessions", "exchanges of clock sessions"},
                 origin);
}

std::string text_of(const SessionProvenance& sessions) {
  std::string text = name_of(sessions.origin);
  if (sessions.condensing) text += fmt::format(", {}", text_of(*sessions.condensing));
  if (!sessions.folder.empty()) text += fmt::format(" of {}", sessions.folder);
  return sessions.records_added ? text + ", and ClockOffset records" : text;
}

const char* name_of(LimitOrigin origin) {
  return name_in({"given", "trace", "stamps", "kind", "off"}, origin);
}

const char* name_of(SpanOrigin origin) {
  return name_in({"clock offsets", "property", "whole trace"}, origin);
}

const char* name_of(EdgeKind kind) {
  return name_in<k_edge_kinds>(
      {"p2p", "one_to_n", "n_to_one", "n_to_n", "scan", "thread", "rma", "init_finalize"}, kind);
}

const char* name_of(ClockState state) {
  return name_in({"right", "slow", "fast", "stepped", "bent", "untied"}, state);
}

const char* name_of(Verdict verdict) {
  return name_in({"violations", "clean", "unproven"}, verdict);
}

const char* name_of(LastArrival known) {
  return name_in({"proven", "tie", "nobody", "unproven", "incomplete"}, known);
}

const char* name_of(Doubt doubt) {
  return name_in({"none", "contradictory_edges", "no_edges", "low_coverage", "clocks_apart",
                  "unsettled_pairs", "set_aside", "fast_clocks", "tied_clocks"},
                 doubt);
}

const char* name_of(ExplanationKind kind) {
  return name_in({"step", "fast_clocks", "weak_evidence", "wrong_pairs", "exchanged"}, kind);
}

const char* name_of(LatencyClass latency_class) {
  return name_in<k_latency_classes>({"same_process", "same_node", "other"}, latency_class);
}

const char* name_of(ExportFormat format) { return name_in({"perfetto", "chrome", "csv"}, format); }

const char* name_of(MergeFormat format) { return name_in({"perfetto", "chrome"}, format); }

const char* name_of(SynthFormat format) {
  return name_in<k_synth_formats>({"otf2", "chrome", "otlp"}, format);
}

const char* name_of(SynthPattern pattern) {
  return name_in<k_synth_patterns>(
      {"ring", "stencil2d", "allreduce", "master-worker", "mixed", "pipeline"}, pattern);
}

const char* name_of(RecordKind kind) {
  return name_in<k_record_kinds>(
      {"MpiSend", "MpiIsend", "MpiIsendComplete", "MpiRecv", "MpiIrecvRequest", "MpiIrecv",
       "MpiRequestTest", "MpiRequestCancelled", "MpiCollectiveBegin", "MpiCollectiveEnd",
       "NonBlockingCollectiveRequest", "NonBlockingCollectiveComplete"},
      kind);
}

}  // namespace entrain
