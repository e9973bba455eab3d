// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include <entrain/drop.hpp>
#include <entrain/export.hpp>
#include <entrain/report.hpp>
#include <entrain/synth.hpp>

namespace entrain {

const char* name_of(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::p2p:
      return "p2p";
    case EdgeKind::one_to_n:
      return "one_to_n";
    case EdgeKind::n_to_one:
      return "n_to_one";
    case EdgeKind::n_to_n:
      return "n_to_n";
    case EdgeKind::scan:
      return "scan";
    case EdgeKind::thread:
      return "thread";
    case EdgeKind::rma:
      return "rma";
    case EdgeKind::init_finalize:
      return "init_finalize";
  }
  return "unknown";
}

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::violations:
      return "violations";
    case Verdict::clean:
      return "clean";
    case Verdict::unproven:
      return "unproven";
  }
  return "unknown";
}

const char* name_of(Doubt doubt) {
  switch (doubt) {
    case Doubt::none:
      return "none";
    case Doubt::no_edges:
      return "no_edges";
    case Doubt::contradictory_edges:
      return "contradictory_edges";
    case Doubt::low_coverage:
      return "low_coverage";
    case Doubt::unsettled_pairs:
      return "unsettled_pairs";
  }
  return "unknown";
}

const char* name_of(LatencyClass latency_class) {
  switch (latency_class) {
    case LatencyClass::same_process:
      return "same_process";
    case LatencyClass::same_node:
      return "same_node";
    case LatencyClass::other:
      return "other";
  }
  return "unknown";
}

const char* name_of(ExportFormat format) {
  switch (format) {
    case ExportFormat::perfetto:
      return "perfetto";
    case ExportFormat::chrome:
      return "chrome";
    case ExportFormat::csv:
      return "csv";
  }
  return "unknown";
}

const char* name_of(SynthFormat format) {
  constexpr std::array<const char*, k_synth_formats> k_names{"otf2", "chrome", "otlp"};
  return k_names.at(static_cast<std::size_t>(format));
}

const char* name_of(SynthPattern pattern) {
  switch (pattern) {
    case SynthPattern::ring:
      return "ring";
    case SynthPattern::stencil2d:
      return "stencil2d";
    case SynthPattern::allreduce:
      return "allreduce";
    case SynthPattern::master_worker:
      return "master-worker";
    case SynthPattern::mixed:
      return "mixed";
    case SynthPattern::pipeline:
      return "pipeline";
  }
  return "unknown";
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
  const auto index = static_cast<std::size_t>(kind);
  return index < k_names.size() ? k_names[index] : "unknown";
}

}  // namespace entrain
