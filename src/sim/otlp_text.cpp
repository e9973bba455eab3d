// SPDX-License-Identifier: BSD-3-Clause
#include "sim/otlp_text.hpp"

#include <fmt/format.h>

namespace entrain::sim {

std::string otlp_begin(std::string_view service, std::string_view host) {
  return fmt::format(
      R"({{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"service.name","value":)"
      R"({{"stringValue":"{}"}}}},{{"key":"host.name","value":{{"stringValue":"{}"}}}}]}},)"
      R"("scopeSpans":[{{"spans":[)",
      service, host);
}

std::string otlp_span(const OtlpSpan& span) {
  const std::string parent =
      span.parent == 0 ? "" : fmt::format(R"("parentSpanId":"{:016x}",)", span.parent);
  return fmt::format(R"({{"traceId":"{:032x}","spanId":"{:016x}",{}"name":"{}","kind":{},)"
                     R"("startTimeUnixNano":"{}","endTimeUnixNano":"{}"}})",
                     span.trace, span.id, parent, span.name, span.kind, span.begin, span.end);
}

}  // namespace entrain::sim
