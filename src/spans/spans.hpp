// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <entrain/error.hpp>

#include "base/ids.hpp"
#include "edges/names.hpp"

/// Spans of services: what tracers of distributed systems write.
namespace entrain::spans {

/// The clock of spans that do not say where they were made: perhaps of many hosts.
inline constexpr std::string_view k_nowhere = "unknown";

/// What a span is in a call between services. `internal` also stands for "not said".
enum class Role : std::uint8_t { internal, client, server, producer, consumer };

/// A piece of work of a service. Numbers are those of Spans.
struct Span {
  std::uint32_t id = k_none;         ///< number of the name TRACE/SPAN
  std::uint32_t parent = k_none;     ///< as id; k_none: a root
  std::uint32_t clock = k_none;      ///< number of its host
  std::uint32_t operation = k_none;  ///< number of its name
  Role role = Role::internal;
  bool shared = false;  ///< the server's half of a span whose client's half has its id
  bool polls = false;   ///< it waits for messages: they may come from later than its begin
  std::uint64_t begin = 0, end = 0;  ///< ns since 1970, begin <= end < 2^62
};

/// A span that began before another one did (or, if that one polls, ended), and nothing more is
/// known.
struct Link {
  std::uint32_t id = k_none;  ///< the earlier span, as Span::id
  std::size_t span = 0;       ///< the later one, position in Spans::all
};

/// A number of a text that is a time, or the length of time since another one.
struct Stamp {
  std::uint64_t at = 0;          ///< its first byte
  std::uint32_t size = 0;        ///< bytes
  std::uint32_t clock = k_none;  ///< number of the host
  std::uint64_t time = 0;        ///< ns; of a length of time: its end
  std::uint64_t since = 0;       ///< ns; of a length of time: its begin, else k_no_length
  std::uint32_t unit = 1;        ///< ns per unit of the number: 1, 1,000 or 1,000,000
  bool fine = false;             ///< it is written to the ns, with decimals of its unit
  bool in_ms = false;            ///< the same time stands elsewhere; here in ms, cut off
};
inline constexpr std::uint64_t k_no_length = ~std::uint64_t{0};

/// Where an attribute can be put into a span.
struct Mark {
  /// How formats write attributes.
  enum class Form : std::uint8_t { otlp, jaeger, zipkin, old_zipkin };

  std::uint64_t at = 0;          ///< byte before which to write
  std::uint32_t clock = k_none;  ///< number of the host
  std::uint64_t time = 0;        ///< begin of the span, ns
  Form form = Form::otlp;
  bool in_list = false;  ///< behind the bracket of its attributes, else behind that of the span
  bool alone = false;    ///< nothing else stands between those brackets
};

/// The spans of any number of files, which are one run.
struct Spans {
  std::vector<Span> all;
  std::vector<Link> links;
  edges::Names ids, clocks, operations;
  bool microseconds = false;       ///< some times are whole microseconds
  std::uint64_t without_time = 0;  ///< spans left out: a time is missing, or no whole number
  std::uint64_t backwards = 0;     ///< spans left out: they end before they begin
  std::uint64_t cut_files = 0;     ///< they end inside their last line, which is left out
  std::uint64_t without_id = 0;    ///< spans left out: they do not say which they are
  std::uint64_t odd_times = 0;  ///< that are no numbers, negative, or too large: nothing moves them
  std::string first_odd_time;   ///< the first of them, and its file
};

/// Adds the spans of a text to `spans`: OTLP JSON, Jaeger JSON or Zipkin JSON, told by the keys.
/// A span of Zipkin's version 1 may hold a client's and a server's half; each counts. A text is one
/// document, or many: one per line, or objects one behind the other. Documents are lists of OTLP
/// (resourceSpans), answers of Jaeger (data), traces of Jaeger, spans of Jaeger with their process,
/// spans of Zipkin, or arrays of these. `name`: of the file, for messages. Appends to `stamps` all
/// times of the text, in its order. On an error both may hold a part.
///
/// The clock of a span is its host: the attribute `host.name` or `k8s.node.name`, else
/// `k8s.pod.name`, else the instance or address with its service, else the service, else k_nowhere.
///
/// A text of several documents may end inside its last one: that is left out, and counted.
///
/// `marks`, if not null, gets a place for each span that is kept and has no attribute
/// entrain.offset_ns, in the order of the text.
///
/// `text` may get room behind its end; it stays the same. Errors: ErrorKind::input for what is no
/// JSON, none of these formats, or a document of 4 GiB or more. One thread.
Result<void> read(std::string& text, const std::string& name, Spans& spans,
                  std::vector<Stamp>& stamps, std::vector<Mark>* marks = nullptr);

/// Some services keep only the lower 64 bits of a trace's 128: spans of both kinds then have one
/// trace. To be called when all files are read. Ids that two traces would share stay apart.
///
/// Example: a client's span 5 of trace 463ac35c9f6413ad48485a3953bb6124 is the parent that a
/// server's span of trace 48485a3953bb6124 names.
void join_halved_traces(Spans& spans);

}  // namespace entrain::spans
