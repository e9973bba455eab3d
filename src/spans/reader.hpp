// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

#include "spans/draft.hpp"
#include "spans/spans.hpp"
#include "spans/values.hpp"

namespace entrain::spans {

inline constexpr std::uint32_t k_ns = 1, k_us = 1000, k_ms = 1'000'000;

/// An annotation of Zipkin. Those of version 1 say where they were made.
struct Annotation {
  std::string what;
  Number time;
  Place place;
};

/// What spans of Zipkin's version 1 say beside a Draft.
struct OldZipkin {
  std::vector<Annotation> annotations;
  Place local;          ///< of the process that wrote a span without halves
  std::string owner;    ///< the clock that the span's own begin and length are of
  bool is_old = false;  ///< this is such a span
};

/// Reads documents of any format, and adds what they hold.
class Reader {
 public:
  /// `name`: of the file.
  Reader(std::string_view text, std::string name, Spans& spans, std::vector<Stamp>& stamps,
         std::vector<Mark>* marks)
      : text_(text), name_(std::move(name)), spans_(spans), stamps_(stamps), marks_(marks) {}

  /// False for damaged JSON; `known` tells if it was one of the formats.
  bool document(json::Parser& parser, simdjson::padded_string_view padded, bool& known);
  /// An error where there was no memory for more spans: document() then ended for this reason.
  [[nodiscard]] const Result<void>& room() const { return room_; }

 private:
  bool member(std::string_view key, value inner, bool& known, int depth);
  bool element(value from, bool& known, int depth = 0);

  // otlp.cpp
  bool attribute(value from, Place& place, Draft* span = nullptr);
  bool otlp(value resource_spans);
  bool otlp_span(value from);

  // jaeger.cpp
  bool jaeger(value data);
  bool jaeger_trace(value trace);
  bool jaeger_process(value from, Place& place);
  bool jaeger_span(value from);

  // zipkin.cpp
  bool zipkin_span(value from);
  /// Adds the client's and the server's half of a span of version 1.
  void finish_old(Draft& draft, const OldZipkin& old);
  /// Adds the half whose begin and end these annotations say; false if the begin is not there.
  bool add_half(const Draft& draft, const OldZipkin& old, std::string_view begin,
                std::string_view end);

  /// Adds the span; the clock of its stamps is known later if `clock` is k_none.
  void finish(const Draft& draft, std::uint32_t unit, bool has_length, std::uint32_t clock);
  /// The same without stamps; times in ns.
  void keep(const Draft& draft, std::uint64_t begin, std::uint64_t end, std::uint32_t unit,
            std::uint32_t clock);
  /// True for a number that counts as a time, or as a length of time.
  static bool is_time(const Number& number, std::uint32_t unit);
  /// True for a time that moves with its host; 0 means that it is not known.
  static bool can_move(const Number& number, std::uint32_t unit);
  void note_odd(const Number& number, std::uint32_t unit);
  void add_stamp(const Number& number, Stamp stamp);
  void stamp(const Number& number, std::uint32_t unit, std::uint32_t clock);
  /// A length of time; it counts from a begin that is one.
  void stamp_length(const Number& length, const Number& begin, std::uint32_t unit,
                    std::uint32_t clock);
  /// What Jaeger's storage writes beside the begin of a span: the same in ms.
  void stamp_millis(const Number& millis, const Number& begin, std::uint32_t clock);
  std::uint32_t id_of(std::string_view trace, std::string_view id);
  /// Notes where the attributes of a span begin.
  static void note_attributes(value from, ondemand::json_type type, Draft& draft);
  void mark(const Draft& draft, std::uint64_t begin, std::uint32_t clock);

  /// To be asked after every span; false where there is no memory for more.
  bool has_room();

  std::string_view text_;
  std::string name_;
  Spans& spans_;
  std::vector<Stamp>& stamps_;
  std::vector<Mark>* marks_;
  std::string id_;  ///< room for id_of()
  std::uint64_t finished_ = 0;
  Result<void> room_;
};

}  // namespace entrain::spans
