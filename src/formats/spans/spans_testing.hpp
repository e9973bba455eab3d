// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "formats/spans/edges.hpp"
#include "formats/spans/spans.hpp"

namespace entrain::spans {

struct Read {
  Spans spans;
  std::vector<Stamp> stamps;
};

/// The edges of spans, as a run of them finds them, and its clocks.
struct Found : SpanEdges {
  Identity identity;
};
inline Found edges_of(Spans spans) {
  const Family family(spans);
  Identity identity = identify(spans, family);
  SpanEdges edges = edges_of(spans, family, identity);
  if (!edges.rejected.folds.empty()) {
    divide(identity, spans, edges.rejected.folds);
    edges = edges_of(spans, family, identity);
  }
  return {std::move(edges), std::move(identity)};
}

inline Read read_all(std::string text) {
  Read result;
  const auto done = read(text, "file", result.spans, &result.stamps);
  EXPECT_TRUE(done) << done.error().message;
  return result;
}

inline constexpr const char* k_otlp =
    R"({"resourceSpans":[{"resource":{"attributes":[
{"key":"service.name","value":{"stringValue":"shop"}},
{"key":"host.name","value":{"stringValue":"a"}}]},"scopeSpans":[{"spans":[
{"traceId":"0A","spanId":"01","kind":3,"name":"pay","startTimeUnixNano":"1700000000000000100",
"endTimeUnixNano":"1700000000000000900","events":[{"timeUnixNano":"1700000000000000500"}]}]}]},
{"scopeSpans":[{"spans":[{"endTimeUnixNano":1700000000000000700,"parentSpanId":"01","name":"paid",
"startTimeUnixNano":1700000000000000050,"traceId":"0A","spanId":"02","kind":"SPAN_KIND_SERVER"}]}],
"resource":{"attributes":[{"key":"k8s.node.name","value":{"stringValue":"b"}}]}}]})";

/// A span in Zipkin's format.
struct Call {
  std::string id, parent, kind, host;
  std::uint64_t begin = 0, length = 0;
};
inline std::string zipkin_of(const std::vector<Call>& calls) {
  std::string text = "[";
  for (const Call& call : calls) {
    if (text.size() > 1) text += ",\n";
    text += R"({"traceId":"1","id":")" + call.id + R"(","name":"get","timestamp":)" +
            std::to_string(call.begin) + R"(,"duration":)" + std::to_string(call.length);
    if (!call.parent.empty()) text += R"(,"parentId":")" + call.parent + '"';
    if (!call.kind.empty()) text += R"(,"kind":")" + call.kind + '"';
    text += R"(,"localEndpoint":{"serviceName":")" + call.host + "\"}}";
  }
  return text + "]";
}

}  // namespace entrain::spans
