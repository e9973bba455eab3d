// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string>

#include <fmt/format.h>

#include <entrain/compare.hpp>
#include <entrain/drop.hpp>
#include <entrain/export.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>
#include <entrain/synth.hpp>

namespace entrain {

namespace {

template <class Enum, std::size_t N>
const char* name_in(const std::array<const char*, N>& names, Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : "unknown";
}

const char* text_of(Condensing rule) {
  static constexpr std::array k_texts{"shortest round trips", "mean of the exchanges kept",
                                      "mean of the exchanges kept, weighted by 1 / round trip^2"};
  return name_in(k_texts, rule);
}

}  // namespace

const char* name_of(Presync presync) {
  static constexpr std::array<const char*, k_presyncs> k_names{"auto",       "none",   "linear",
                                                               "regression", "spline", "causal"};
  return name_in(k_names, presync);
}

const char* name_of(PresyncMethod method) {
  static constexpr std::array k_names{"none",   "linear", "regression",
                                      "spline", "causal", "constant"};
  return name_in(k_names, method);
}

const char* name_of(Condensing rule) {
  static constexpr std::array k_names{"shortest", "mean", "weighted"};
  return name_in(k_names, rule);
}

const char* name_of(ClockDomain rule) {
  static constexpr std::array k_names{"auto", "location", "process", "node"};
  return name_in(k_names, rule);
}

const char* name_of(ClockKind kind) {
  static constexpr std::array k_names{"auto", "timer", "wall"};
  return name_in(k_names, kind);
}

const char* name_of(WriteMode mode) {
  static constexpr std::array k_names{"rewrite", "overlay"};
  return name_in(k_names, mode);
}

const char* name_of(MuOrigin origin) {
  static constexpr std::array k_names{"none", "archive", "given", "round trip (estimate)",
                                      "clock_delays.csv (estimate)"};
  return name_in(k_names, origin);
}

std::string text_of(const MuProvenance& mu) {
  if (mu.pairs_above == 0) return name_of(mu.origin);
  return fmt::format("{}; more for {} of {} pairs of nodes", name_of(mu.origin), mu.pairs_above,
                     mu.pairs);
}

const char* name_of(SessionOrigin origin) {
  static constexpr std::array k_names{"",
                                      "ClockOffset records",
                                      "clock_offsets.csv",
                                      "clock_samples.csv",
                                      "clock sessions",
                                      "exchanges of clock sessions"};
  return name_in(k_names, origin);
}

std::string text_of(const SessionProvenance& sessions) {
  std::string text = name_of(sessions.origin);
  if (sessions.condensing) text += fmt::format(", {}", text_of(*sessions.condensing));
  if (!sessions.folder.empty()) text += fmt::format(" of {}", sessions.folder);
  return sessions.records_added ? text + ", and ClockOffset records" : text;
}

const char* name_of(LimitOrigin origin) {
  static constexpr std::array k_names{"given", "trace", "stamps", "kind", "off"};
  return name_in(k_names, origin);
}

const char* name_of(SpanOrigin origin) {
  static constexpr std::array k_names{"clock offsets", "property", "whole trace"};
  return name_in(k_names, origin);
}

const char* name_of(EdgeKind kind) {
  static constexpr std::array<const char*, k_edge_kinds> k_names{
      "p2p", "one_to_n", "n_to_one", "n_to_n", "scan", "thread", "rma", "init_finalize"};
  return name_in(k_names, kind);
}

const char* name_of(ClockState state) {
  static constexpr std::array k_names{"right", "slow", "fast", "stepped", "bent", "untied"};
  return name_in(k_names, state);
}

const char* name_of(Verdict verdict) {
  static constexpr std::array k_names{"violations", "clean", "unproven"};
  return name_in(k_names, verdict);
}

const char* name_of(Doubt doubt) {
  static constexpr std::array k_names{"none",         "contradictory_edges", "no_edges",
                                      "low_coverage", "clocks_apart",        "unsettled_pairs",
                                      "set_aside"};
  return name_in(k_names, doubt);
}

const char* name_of(ExplanationKind kind) {
  static constexpr std::array k_names{"step", "fast_clocks", "weak_evidence", "wrong_pairs",
                                      "exchanged"};
  return name_in(k_names, kind);
}

const char* name_of(LatencyClass latency_class) {
  static constexpr std::array<const char*, k_latency_classes> k_names{"same_process", "same_node",
                                                                      "other"};
  return name_in(k_names, latency_class);
}

const char* name_of(ExportFormat format) {
  static constexpr std::array k_names{"perfetto", "chrome", "csv"};
  return name_in(k_names, format);
}

const char* name_of(SynthFormat format) {
  static constexpr std::array<const char*, k_synth_formats> k_names{"otf2", "chrome", "otlp"};
  return name_in(k_names, format);
}

const char* name_of(SynthPattern pattern) {
  static constexpr std::array<const char*, k_synth_patterns> k_names{
      "ring", "stencil2d", "allreduce", "master-worker", "mixed", "pipeline"};
  return name_in(k_names, pattern);
}

const char* name_of(RecordKind kind) {
  static constexpr std::array<const char*, k_record_kinds> k_names{"MpiSend",
                                                                   "MpiIsend",
                                                                   "MpiIsendComplete",
                                                                   "MpiRecv",
                                                                   "MpiIrecvRequest",
                                                                   "MpiIrecv",
                                                                   "MpiRequestTest",
                                                                   "MpiRequestCancelled",
                                                                   "MpiCollectiveBegin",
                                                                   "MpiCollectiveEnd",
                                                                   "NonBlockingCollectiveRequest",
                                                                   "NonBlockingCollectiveComplete"};
  return name_in(k_names, kind);
}

}  // namespace entrain
