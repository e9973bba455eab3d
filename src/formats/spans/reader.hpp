// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
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

/// Adds the spans of a text as a format's reader reads them, and notes where their times stand.
class Reader {
 public:
  /// `file`: name of the file. `own_stamps`, `marks`: null if nobody needs them.
  Reader(std::string_view all, std::string file, Spans& to, std::vector<Stamp>* own_stamps,
         std::vector<Mark>* marks)
      : text(all), name(std::move(file)), spans(to), stamps(own_stamps), marks_(marks) {}

  /// State of reading: numbers of spans, stamps, marks and ignored spans, and counts.
  struct State {
    std::size_t spans = 0, stamps = 0, marks = 0, untimed = 0;
    SpanCounts counts{};
    SeenUnits seen{};
  };
  [[nodiscard]] State state() const;
  /// Removes what was read since: a damaged document.
  void restore(const State& before);
  /// Numbers the ids of spans that were added since. Must be called at the end.
  void number_waiting();
  /// The coarsest unit of the times of a text without columns. If any time of a file has decimals,
  /// all are written to the ns.
  [[nodiscard]] std::uint32_t coarsest_unit() const {
    return seen.whole_ms ? k_ms : seen.whole_us && !seen.fine_us ? k_us : k_ns;
  }
  /// Must be called after every span; false if there is no memory for more.
  bool has_memory();
  /// The error if there was none.
  [[nodiscard]] const Result<void>& memory() const { return memory_; }

  // What a format's reader does with the draft.

  /// Adds the span and its stamps.
  void finish(std::uint32_t unit, bool has_length, std::uint32_t clock);
  /// Adds the span without stamps if it has an id and times, else counts it.
  void take(std::uint32_t unit, bool has_length, std::uint32_t clock);
  /// Adds the span without stamps; times in ns.
  void add_span(std::uint64_t begin, std::uint64_t end, std::uint32_t unit, std::uint32_t clock);
  /// Notes that its times are none.
  void ignore(std::uint32_t unit, std::uint32_t clock, bool is_backwards = false);
  /// The number that stands for its place until that of its process is known, too.
  std::uint32_t owner_of_draft();
  /// Completes the places of all that was added since, by a function of the name of their process,
  /// and sets their clocks.
  void settle(const State& since, const std::function<Place(const std::string&)>& place_of);
  /// The number of a place in Spans::clocks.
  std::uint32_t clock_at(const Place& place);
  void stamp(const Number& number, std::uint32_t unit, std::uint32_t clock);
  /// Adds the stamp of a duration, if its begin is valid.
  void stamp_length(const Number& length, const Number& begin, std::uint32_t unit,
                    std::uint32_t clock);
  /// Adds the stamp of the begin in ms, which Jaeger's storage writes too.
  void stamp_millis(std::uint32_t clock);

  std::string_view text;
  std::string name;
  Spans& spans;
  std::vector<Stamp>* stamps;
  Stamp::Form form = Stamp::Form::digits;
  bool only_times = false;           ///< see TextSoFar
  SeenUnits seen;                    ///< units in the text, and in the pieces before it
  Draft draft;                       ///< the span that is read; its memory is used again
  std::string name_text, list_text;  ///< what views of the draft may be of
  std::deque<std::string> id_texts;  ///< ids of the draft that are longer than numbers

 private:
  /// True if a span has no such id. Tables have an empty cell then, and may count from 0.
  [[nodiscard]] bool is_missing(const Id& id) const {
    return form == Stamp::Form::cell ? id.is_empty : id.is_zero();
  }
  /// Lets an id wait for its number, and others number together.
  void wait_for_number(const Id& id, std::size_t position, std::uint32_t Span::*member);
  void note_immovable(const Number& number, std::uint32_t unit);
  void add_stamp(const Number& number, Stamp stamp);
  void mark(std::uint64_t begin, std::uint32_t clock);

  std::vector<Mark>* marks_;
  /// Places that the spans of a process or resource name themselves, and their processes.
  std::vector<std::pair<Place, std::string>> owners_;
  std::map<std::string, std::uint32_t> owner_numbers_;
  std::uint32_t nameless_owner_ = k_none;  ///< owner of spans that name nothing
  std::vector<SpanIds::Key> waiting_;      ///< ids without a number, and where these go
  std::vector<std::pair<std::size_t, std::uint32_t Span::*>> waiting_members_;
  std::uint64_t finished_ = 0;
  Result<void> memory_;
};

// Readers of the formats. Those of JSON return false for damaged JSON, or if there was no memory.

/// Reads one document. `known`: true if it is of one of the formats.
bool read_document(Reader& reader, json::Parser& parser, simdjson::padded_string_view padded,
                   bool& known);
bool read_otlp(Reader& reader, value resource_spans);
bool read_jaeger_trace(Reader& reader, value trace);
/// Reads a span that is alone, with its process.
bool read_jaeger_span(Reader& reader, value span);
bool read_zipkin_span(Reader& reader, value span);
/// Reads an attribute of a resource or process, or of a span.
bool read_attribute(Reader& reader, value from, Place& place, Draft* span = nullptr);
/// Reads a message of OTLP as Protobuf, a part of the text. False if there was no memory for more
/// spans. Throws protozero::exception for bytes that are no message.
bool read_message(Reader& reader, std::string_view request);
/// Reads the text as a table. `columns`: words of CheckOptions::columns. Errors: those of
/// check_span_table(), of tables::Reader, of Reader::memory(), and ErrorKind::input for columns
/// whose units nobody knows.
Result<void> read_table(Reader& reader, std::string_view columns);

/// True if a key is this name of OTLP, or its Protobuf form: start_time instead of startTime.
bool is_protobuf_name(std::string_view key, std::string_view name);
inline bool is_named(std::string_view key, std::string_view name) {
  return key == name || (key.size() > name.size() && is_protobuf_name(key, name));
}

}  // namespace entrain::spans
