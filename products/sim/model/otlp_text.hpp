// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace entrain::sim {

/// A span to write. Times are ns since 1970.
struct OtlpSpan {
  std::uint64_t trace = 0, id = 0, parent = 0;  ///< 0: no parent
  std::string_view name;                        ///< needs no escapes
  int kind = 0;                                 ///< number in OTLP
  std::int64_t begin = 0, end = 0;
};

/// The begin of a document of OTLP JSON, up to its first span. Names need no escapes.
inline std::string otlp_begin(std::string_view service, std::string_view host) {
  return fmt::format(
      R"({{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"service.name","value":)"
      R"({{"stringValue":"{}"}}}},{{"key":"host.name","value":{{"stringValue":"{}"}}}}]}},)"
      R"("scopeSpans":[{{"spans":[)",
      service, host);
}

/// A span; a document separates spans by commas.
inline std::string otlp_span(const OtlpSpan& span) {
  const std::string parent =
      span.parent == 0 ? "" : fmt::format(R"("parentSpanId":"{:016x}",)", span.parent);
  return fmt::format(R"({{"traceId":"{:032x}","spanId":"{:016x}",{}"name":"{}","kind":{},)"
                     R"("startTimeUnixNano":"{}","endTimeUnixNano":"{}"}})",
                     span.trace, span.id, parent, span.name, span.kind, span.begin, span.end);
}

/// The end of a document, and of its line.
inline constexpr std::string_view k_otlp_end = "]}]}]}\n";

}  // namespace entrain::sim
