// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <fmt/format.h>

#include "base/cancel.hpp"
#include "base/try.hpp"
#include "sim/model/otlp_text.hpp"
#include "sim/model/services.hpp"
#include "sim/model/synth_json.hpp"

namespace entrain::sim {
namespace {

constexpr std::int64_t k_spans_origin = 1'700'000'000'000'000'000;  ///< ns since 1970
/// Spans of a document: agents send them in batches.
constexpr std::uint64_t k_document = 500;
/// Spans between two looks at progress.
constexpr std::uint64_t k_spans_between_looks = 10'000;
constexpr std::uint32_t k_services = 3;

/// The agents of all hosts, each of which writes what ends on its host.
class Agents {
 public:
  Agents(const std::filesystem::path& folder, std::uint64_t hosts, Progress* progress)
      : progress_(progress) {
    for (std::uint64_t h = 0; h < hosts; ++h) {
      hosts_.push_back({PieceWriter(folder / fmt::format("host{}.jsonl", h))});
    }
  }

  Result<void> see(const ServiceSpan& span) {
    Host& host = hosts_[span.host];
    std::string& text = host.file.text();
    const bool is_first = host.spans % k_document == 0;
    text += is_first ? otlp_begin(fmt::format("s{}", span.host % k_services),
                                  fmt::format("host{}", span.host))
                     : ",";
    text += otlp_span({span.trace, span.id, span.parent, span.name, static_cast<int>(span.kind),
                       k_spans_origin + span.begin, k_spans_origin + span.end});
    if (++host.spans % k_document == 0) text += k_otlp_end;
    host.file.written();
    return ++since_ < k_spans_between_looks ? Result<void>() : look();
  }

  /// Returns the size of all files.
  Result<std::uint64_t> close() {
    TRY(look());
    std::uint64_t bytes = 0;
    for (Host& host : hosts_) {
      if (host.spans % k_document != 0) host.file.text() += k_otlp_end;
      TRY(host.file.close());
      bytes += host.file.size();
    }
    return bytes;
  }

 private:
  struct Host {
    PieceWriter file;
    std::uint64_t spans = 0;
  };

  Result<void> look() {
    if (progress_ != nullptr) progress_->advance(2 * since_);
    since_ = 0;
    TRY(Cancel(progress_).check());
    for (Host& host : hosts_) {
      if (!host.file.ok()) return host.file.close();
    }
    return {};
  }

  Progress* progress_;
  std::vector<Host> hosts_;
  std::uint64_t since_ = 0;
};

}  // namespace

Result<void> synth_services(const std::filesystem::path& folder, const SynthOptions& options,
                            Progress* progress, SynthReport& report) {
  Agents agents(folder, options.locations, progress);
  Services services(static_cast<std::uint32_t>(options.locations), options.seed,
                    [&](const ServiceSpan& span) { return agents.see(span); });
  TRY_ASSIGN(const ServiceCounts counts, services.run(options.events / 2));
  TRY_ASSIGN(report.event_bytes, agents.close());
  report.iterations = counts.requests;
  report.events = options.events / 2 * 2;
  report.communication_events = counts.calls + counts.answers;
  report.messages = counts.calls;
  report.span_s = static_cast<double>(counts.last) * 1e-9;
  return {};
}

}  // namespace entrain::sim
