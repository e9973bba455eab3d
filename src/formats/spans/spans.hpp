// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <entrain/error.hpp>

#include "base/big_vector.hpp"
#include "base/ids.hpp"
#include "base/name_table.hpp"
#include "formats/spans/ids.hpp"

/// Spans of services: what tracers of distributed systems write.
namespace entrain::spans {

/// Clock of the spans that name no host: perhaps of many.
inline constexpr std::string_view k_unknown_host = "unknown";

/// Role of a span in a call between services; unknown roles are `internal`. `unnamed`: that of a
/// table that names none, until conclude_calls().
enum class Role : std::uint8_t { internal, client, server, producer, consumer, unnamed };

/// A piece of work of a service. Numbers refer to the names in Spans.
struct Span {
  std::uint32_t id = k_none;         ///< number in Spans::ids
  std::uint32_t parent = k_none;     ///< `id` of the parent; k_none: a root
  std::uint32_t clock = k_none;      ///< number in Spans::clocks
  std::uint32_t host = k_none;       ///< the clock that counts; see identify()
  std::uint32_t operation = k_none;  ///< number of its name
  Role role = Role::internal;
  bool shared = false;               ///< the server's half of a span whose client's half has its id
  bool polls = false;                ///< waits for messages, which may be sent after its begin
  bool follows = false;              ///< its parent does not wait for it, or its end is unknown
  std::uint64_t begin = 0, end = 0;  ///< ns since 1970, begin <= end < 2^62
};

/// A span that began before another one began, or, if that one polls, ended.
struct Link {
  std::uint32_t id = k_none;  ///< Span::id of the earlier span
  std::size_t span = 0;       ///< the later one, position in Spans::all
  bool is_cause = false;      ///< true: the earlier one caused it; false: they are related
};

/// A number of a text that is a time or a duration.
struct Stamp {
  /// How it is written: in decimal digits, in 8 bytes of which the lowest is the first, or as a
  /// cell of a table, in one of the notations of tables::Times.
  enum class Form : std::uint8_t { digits, fixed64, cell };

  std::uint64_t at = 0;          ///< its first byte
  std::uint32_t size = 0;        ///< bytes
  std::uint32_t clock = k_none;  ///< number in Spans::clocks
  std::uint64_t time = 0;        ///< ns; the end of a duration
  std::uint64_t since = 0;       ///< ns; the begin of a duration; k_no_length: a time
  std::uint32_t unit = 1;        ///< ns per unit of the number: 1, 1,000, 1,000,000 or 10^9
  bool fine = false;             ///< written to the ns, with decimals
  std::uint32_t since_step = 1;  ///< cells: ns between two begins that can be written
  std::uint8_t decimals = 0;     ///< cells: most in their column; others may lack zeros at the end
  /// Copy of another time, in ms, or of a length; its last digits are cut off.
  bool truncated = false;
  Form form = Form::digits;
};
inline constexpr std::uint64_t k_no_length = ~std::uint64_t{0};

/// The multiple of a unit that is nearest to a time of 0 or more, halves up.
inline std::int64_t nearest(std::int64_t time, std::int64_t unit) {
  return (time + unit / 2) / unit * unit;
}

/// Position at which an attribute can be added to a span.
struct Mark {
  /// Syntax of attributes.
  enum class Form : std::uint8_t { otlp, jaeger, zipkin, zipkin_v1, protobuf };

  std::uint64_t at = 0;          ///< byte before which to write
  std::uint32_t clock = k_none;  ///< number in Spans::clocks
  std::uint64_t time = 0;        ///< begin of the span, ns
  Form form = Form::otlp;
  bool in_list = false;  ///< it stands in the list of attributes, else in the span
  bool alone = false;    ///< nothing else is between these brackets
};

/// Attributes of a place, without its name.
struct PlaceFacts {
  std::uint32_t group = k_none;  ///< number in Spans::groups
  bool is_changed = false;       ///< somebody else has changed its times
};

/// A span that is ignored since its times are none.
struct Untimed {
  std::uint32_t clock = k_none;  ///< number in Spans::clocks
  double value = 0;              ///< its begin as it stands, ns
  bool is_backwards = false;     ///< it ends before it begins
};

/// Times that a file can hold: multiples of these, ns.
struct StoredUnits {
  std::uint32_t begin = 1, end = 1;
  bool has_lengths = false;  ///< `end` is that of lengths, which are stored in place of ends
};

/// Spans and times that say less than they should.
struct SpanCounts {
  std::uint64_t without_id = 0;   ///< spans ignored: no id
  std::uint64_t without_end = 0;  ///< spans without a valid length; they count as begins only
  /// Times that are no numbers, negative or too large; they stay.
  std::uint64_t immovable_times = 0;
};

/// The spans of all files of a run.
struct Spans : SpanCounts {
  BigVector<Span> all;
  BigVector<Link> links;
  std::vector<Untimed> untimed;
  std::vector<std::string> guesses;  ///< columns and units of tables that nobody named
  SpanIds ids;
  NameTable operations;
  NameTable clocks;               ///< places, as exactly as the spans name them
  NameTable groups;               ///< names of which each is taken for one clock
  std::vector<PlaceFacts> facts;  ///< index: number in `clocks`
  std::uint64_t unit = 1;         ///< coarsest unit in which a file writes times, at most 1 ms, ns
  std::uint64_t cut_files = 0;    ///< files that end inside a line, which is ignored
  std::string first_immovable_time;  ///< the first of them, and its file
  StoredUnits units;                 ///< units of the text that was read last
  std::string other_signal;          ///< "logs" or "metrics" of OTLP, which were skipped; else ""

  void add_guess(const std::string& guess) {
    if (guess.empty() || std::ranges::find(guesses, guess) != guesses.end()) return;
    guesses.push_back(guess);
  }
  [[nodiscard]] std::uint32_t group_of(const Span& span) const { return facts[span.clock].group; }
  /// Number of spans that say too little to be used.
  [[nodiscard]] std::uint64_t ignored() const { return without_id + untimed.size(); }
};

enum class Framing : std::uint8_t;  // protobuf.hpp

/// Units of the times of a text, other than ns.
struct SeenUnits {
  bool whole_ms = false, whole_us = false, fine_us = false;
};

/// Facts known of a text, some from those of its pieces that were read; see read().
struct TextSoFar {
  std::string_view columns{};  ///< words of CheckOptions::columns, by which CSV is a table of spans
  bool only_times = false;     ///< no spans are wanted, only stamps, marks and places
  bool is_last = true;         ///< the next piece ends the text
  bool are_lines = false;      ///< it is JSON with a document per line
  std::optional<Framing> framing{};                   ///< framing of Protobuf
  std::uint64_t bytes = 0, lines = 0, documents = 0;  ///< numbers before the next piece
  bool any_known = false;                             ///< a document is of one of the formats
  SeenUnits seen{};
};

/// True for the beginning of a text of JSON with a document per line.
bool are_lines(std::string_view beginning);

/// Refuses a text that does not begin as a table of spans does, whose header names trace, span,
/// begin, and end or duration. `columns`: words of CheckOptions::columns. Errors: those of
/// tables::columns_of() and tables::Reader::open(); ErrorKind::input for missing columns.
Result<void> check_span_table(std::string_view beginning, const std::string& name,
                              std::string_view columns);
/// True if a text begins as such a table, and not as JSON or a table of edges does.
bool is_span_table(std::string_view beginning, std::string_view columns = {});
/// True if a text of JSON begins with spans, or with an empty list.
bool are_documents(std::string_view beginning);
/// The new text of a cell, by the mapped times of its stamp: in its notation, unit and decimals.
std::string cell_text(const Stamp& stamp, std::string_view text, std::int64_t time,
                      std::int64_t since);

/// Adds the spans of a text to `spans`: OTLP as Protobuf (protobuf.hpp), or OTLP JSON, Jaeger JSON
/// or Zipkin JSON, by its keys. A span of Zipkin's version 1 may contain a client's and a server's
/// half; each counts. A text is one document, one per line, or a sequence of objects. Documents are
/// lists of OTLP (resourceSpans), answers of Jaeger (data), traces of Jaeger, spans of Jaeger with
/// their process, spans of Zipkin, or arrays of these. `name`: the file's, for messages. Appends
/// all times of the text to `stamps`, if not null, in order. After an error both may contain a
/// part.
///
/// Places are named by all attributes that may tell clocks apart (Place); a group of places has the
/// name of the machine, else of the device or pod, else of the instance, container or address with
/// its service, else of the service, else k_unknown_host.
///
/// If a text of several documents ends inside the last one, that is ignored and counted.
///
/// `marks`, if not null, gets the mark of each added span without an attribute entrain.offset_ns,
/// in order of the text.
///
/// `so_far`, if not null: the text is a piece of one that is read from begin to end, of whole lines
/// of JSON (TextSoFar::are_lines) or whole messages of Protobuf. Stamps have their positions in the
/// piece; whether they are fine is known from its own times and those before.
///
/// The capacity of `text` may grow. Errors: ErrorKind::input for a text that is no JSON or of no
/// such format, and for a document of 4 GiB or more. One thread.
Result<void> read(std::string& text, const std::string& name, Spans& spans,
                  std::vector<Stamp>* stamps = nullptr, std::vector<Mark>* marks = nullptr,
                  TextSoFar* so_far = nullptr);

/// Merges ids of which some services keep only the lower 64 of 128 bits. Must be called after all
/// files were read. Halves that two traces share stay apart.
///
/// Example: a client's span 5 of trace 463ac35c9f6413ad48485a3953bb6124 is the parent that a
/// server's span of trace 48485a3953bb6124 names.
void join_halved_traces(Spans& spans);

/// Concludes the roles of spans of tables without any: a span whose parent is of another clock is a
/// server, and that parent a client if it is none. A parent of zeros that is no span is none. Must
/// be called after all files were read and joined.
void conclude_calls(Spans& spans);

}  // namespace entrain::spans
