// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

#include "formats/spans/draft.hpp"
#include "formats/spans/spans.hpp"
#include "formats/spans/values.hpp"

namespace entrain::spans {

inline constexpr std::uint32_t k_ns = 1, k_us = 1000, k_ms = 1'000'000;

/// Contents of an object of a JSON text.
enum class Shape : std::uint8_t {
  other,         ///< no spans
  list,          ///< one of the lists of OTLP (resourceSpans) or Jaeger (data)
  wrapped,       ///< another shape under trace, result or _source
  jaeger_trace,  ///< spans and processes
  jaeger_span,
  zipkin_span,
};

/// Determines the shape of the object at the begin of a text by its keys, up to the first one that
/// decides. The text may continue after the object, or be cut off. O(bytes up to there).
///
/// Example: {"traceID": "1", "spans": [...] is Shape::jaeger_trace.
/// Of a wrapped one `end`, if not null, gets the position of what is wrapped.
Shape shape_of(std::string_view text, std::size_t* end = nullptr);

/// True for keys under which some tools nest the contents of a document.
bool is_wrapper(std::string_view key);

/// True if a key is the Protobuf form of this name of OTLP, in a part or all of it.
bool is_protobuf_name(std::string_view key, std::string_view name);

/// True if a key is this name of OTLP, or its Protobuf form: start_time instead of startTime.
inline bool is_named(std::string_view key, std::string_view name) {
  return key == name || (key.size() > name.size() && is_protobuf_name(key, name));
}

/// An annotation of Zipkin; in version 1 with its place.
struct Annotation {
  std::string what;
  Number time;
  Place place;
};

/// Contents of a span of Zipkin's version 1 besides its Draft.
struct ZipkinV1 {
  std::vector<Annotation> annotations;
  Place local;         ///< place of a span without halves
  Place owner;         ///< place of the span's own begin and duration
  bool is_v1 = false;  ///< true if the span is of version 1
};

/// Units of the times in the columns of a table, ns. They are given, or what the names of the
/// columns end in; else those in which the first rows are of this age, and lengths the distances of
/// begins and ends.
struct TableUnits {
  std::uint32_t start = 0;
  std::uint32_t end = 0;       ///< 0: there is no such column
  std::uint32_t duration = 0;  ///< 0: there is none, or it is no length of the spans
};

/// A text as it is shown: what is no UTF-8, as strings of Protobuf should be, are question marks.
std::string shown_text(std::string_view bytes);

/// Reads documents of any format, and adds their spans.
class Reader {
 public:
  /// `name`: the file's name. `stamps`, `marks`: null if nobody needs them.
  Reader(std::string_view text, std::string name, Spans& spans, std::vector<Stamp>* stamps,
         std::vector<Mark>* marks)
      : text_(text), name_(std::move(name)), spans_(spans), stamps_(stamps), marks_(marks) {}

  /// Reads one document; false for damaged JSON. `known`: true if it is of one of the formats.
  bool document(json::Parser& parser, simdjson::padded_string_view padded, bool& known);
  /// Reads a message of OTLP as Protobuf, a part of the text. False if there was no memory for more
  /// spans. Throws protozero::exception for bytes that are no message.
  bool message(std::string_view request);
  /// Reads the text as a table. `columns`: words of CheckOptions::columns. Errors: those of
  /// check_span_table(), of tables::Reader, of memory(), and ErrorKind::input for columns whose
  /// units nobody knows.
  Result<void> table(std::string_view columns);
  /// The error that ended document() if there was no memory for more spans.
  [[nodiscard]] const Result<void>& memory() const { return memory_; }
  /// Numbers the ids of spans that were added since. Must be called at the end.
  void number_waiting();
  /// The coarsest unit of the times of a text without columns. If any time of a file has decimals,
  /// all are written to the ns.
  [[nodiscard]] std::uint32_t coarsest_unit() const {
    return seen.whole_ms ? k_ms : seen.whole_us && !seen.fine_us ? k_us : k_ns;
  }

  /// State of reading: numbers of spans, stamps, marks and ignored spans, and counts.
  struct State {
    std::size_t spans = 0, stamps = 0, marks = 0, untimed = 0;
    SpanCounts counts{};
    SeenUnits seen{};
  };
  [[nodiscard]] State state() const {
    return {spans_.all.size(),
            stamps_ == nullptr ? 0 : stamps_->size(),
            marks_ == nullptr ? 0 : marks_->size(),
            spans_.untimed.size(),
            spans_,
            seen};
  }
  /// Removes what was read since: a damaged document.
  void restore(const State& before);

  SeenUnits seen;  ///< units in the text, and in the pieces before it

 private:
  bool member(std::string_view key, value inner, bool& known, int depth);
  bool element(value from, bool& known, int depth = 0);

  /// The number of a place in Spans::clocks.
  std::uint32_t clock_at(const Place& place);
  /// The number that stands for a place until that of its process is known, too.
  std::uint32_t owner_of(const Draft& draft);
  /// Completes the places of all that was added since, by a function of the name of their process,
  /// and sets their clocks.
  template <class PlaceOf>
  void settle(const State& since, const PlaceOf& place_of);

  // otlp.cpp
  bool attribute(value from, Place& place, Draft* span = nullptr);
  /// Notes an attribute of a resource or process, or of a span.
  static void take_attribute(std::string_view key, std::string_view text, Place& place,
                             Draft* span);
  bool otlp(value resource_spans);
  bool otlp_span(value from);

  // otlp_protobuf.cpp
  bool packed_resource(std::string_view message);
  bool packed_span(std::string_view message);
  void packed_link(std::string_view message, FarSpan& link);
  /// An id in bytes, valid as long as the span is read.
  Id packed_id(std::string_view bytes, std::size_t most_digits);

  // span_table.cpp
  /// The time of a cell at this position of the text, ns.
  [[nodiscard]] Number cell_number(std::string_view cell, std::uint32_t unit, std::size_t at,
                                   std::uint8_t& notations) const;
  /// `at`: position of the piece with the row in the text.
  void table_row(std::span<const std::string_view> cells, std::string_view piece, std::size_t at,
                 const TableUnits& units);

  // jaeger.cpp
  bool jaeger(value data);
  bool jaeger_trace(value trace);
  bool jaeger_process(value from, Place& place);
  bool jaeger_span(value from);
  bool lone_jaeger_span(value from);

  // zipkin.cpp
  bool zipkin_span(value from);
  /// Adds the client's and the server's half of a span of version 1.
  void finish_v1(Draft& draft, const ZipkinV1& v1);
  /// Adds the half between these annotations; false if that of the begin is missing.
  bool add_half(const Draft& draft, const ZipkinV1& v1, std::string_view begin,
                std::string_view end);

  /// Adds the span and its stamps.
  void finish(const Draft& draft, std::uint32_t unit, bool has_length, std::uint32_t clock);
  /// True if a span has no such id. Tables have an empty cell then, and may count from 0.
  [[nodiscard]] bool is_missing(const Id& id) const {
    return form_ == Stamp::Form::cell ? id.is_empty : id.is_zero();
  }
  /// Adds the span without stamps if it has an id and times, else counts it.
  void take(const Draft& draft, std::uint32_t unit, bool has_length, std::uint32_t clock);
  /// Lets an id wait for its number, and others number together.
  void wait_for_number(const Id& trace, const Id& id, std::size_t position,
                       std::uint32_t Span::*member);
  /// Adds the span without stamps; times in ns.
  void add_span(const Draft& draft, std::uint64_t begin, std::uint64_t end, std::uint32_t unit,
                std::uint32_t clock);
  /// True for a valid time or duration.
  static bool is_time(const Number& number, std::uint32_t unit);
  /// True for a time that a correction can move; 0 means unknown.
  static bool can_move(const Number& number, std::uint32_t unit);
  void note_immovable(const Number& number, std::uint32_t unit);
  void add_stamp(const Number& number, Stamp stamp);
  void stamp(const Number& number, std::uint32_t unit, std::uint32_t clock);
  /// Adds the stamp of a duration, if its begin is valid.
  void stamp_length(const Number& length, const Number& begin, std::uint32_t unit,
                    std::uint32_t clock);
  /// Adds the stamp of the begin in ms, which Jaeger's storage writes too.
  void stamp_millis(const Number& millis, const Number& begin, std::uint32_t clock);
  /// Stores where the attributes of a span begin.
  static void note_attributes(value from, ondemand::json_type type, Draft& draft);
  void mark(const Draft& draft, std::uint64_t begin, std::uint32_t clock);

  /// Must be called after every span; false if there is no memory for more.
  bool has_memory();
  /// Notes a span whose times are none.
  void ignore(const Number& begin, std::uint32_t unit, std::uint32_t clock,
              bool is_backwards = false);

  std::string_view text_;
  std::string name_;
  Spans& spans_;
  std::vector<Stamp>* stamps_;
  std::vector<Mark>* marks_;
  Stamp::Form form_ = Stamp::Form::digits;
  std::array<std::uint8_t, 6> most_decimals_{};  ///< times; index: column of a table
  std::array<std::uint8_t, 6> notations_{};      ///< the same: bits of tables::Notation
  bool names_roles_ = false;                     ///< a row of the table names its kind
  Draft draft_;                                  ///< its memory is used again
  std::string name_text_, list_text_;            ///< what views of a draft may be of
  std::deque<std::string> id_texts_;  ///< ids of the current span that are longer than numbers
  /// Places that the spans of a process or resource name themselves, and their processes.
  std::vector<std::pair<Place, std::string>> owners_;
  std::map<std::string, std::uint32_t> owner_numbers_;
  std::uint32_t nameless_owner_ = k_none;  ///< owner of spans that name nothing
  std::vector<SpanIds::Key> waiting_;      ///< ids without a number, and where these go
  std::vector<std::pair<std::size_t, std::uint32_t Span::*>> waiting_members_;
  std::uint64_t finished_ = 0;
  Result<void> memory_;
};

template <class PlaceOf>
void Reader::settle(const State& since, const PlaceOf& place_of) {
  std::vector<std::uint32_t> clocks;
  for (auto& [own, process] : owners_) {
    own.complete_with(place_of(process));
    clocks.push_back(clock_at(own));
  }
  const auto set = [&](auto& all, std::size_t first) {
    for (std::size_t i = first; i < all.size(); ++i) all[i].clock = clocks[all[i].clock];
  };
  set(spans_.all, since.spans);
  if (stamps_ != nullptr) set(*stamps_, since.stamps);
  if (marks_ != nullptr) set(*marks_, since.marks);
  set(spans_.untimed, since.untimed);
  owners_.clear();
  owner_numbers_.clear();
  nameless_owner_ = k_none;
}

}  // namespace entrain::spans
