// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <protozero/exception.hpp>

#include "base/memory_room.hpp"
#include "base/try.hpp"
#include "formats/json/document.hpp"
#include "formats/json/scanner.hpp"
#include "formats/spans/protobuf.hpp"
#include "formats/spans/reader.hpp"
#include "formats/spans/span_table.hpp"
#include "formats/spans/spans.hpp"

namespace entrain::spans {
namespace {

/// Splits a text into JSON documents: the whole text, one per line, or several in sequence.
class Documents {
 public:
  explicit Documents(std::string_view text);

  /// Moves to the next document; false after the last one.
  bool next(std::string_view& document);
  [[nodiscard]] std::size_t begin() const { return begin_; }
  [[nodiscard]] bool none() const { return number_ == 0; }
  /// True if the current document is the last one of several: it may have been cut off.
  [[nodiscard]] bool may_be_cut() const {
    return kind_ != Kind::one && reaches_end_ && number_ > 1;
  }
  /// Restarts with a sequence of objects, if the whole text was taken for one document. False if no
  /// second object begins after the first one.
  bool split();
  /// Location of the current document, for messages.
  [[nodiscard]] std::string place(const std::string& name) const;

 private:
  enum class Kind : std::uint8_t { one, lines, sequence };

  /// True if the first line is an object or a list, and another one of the same kind follows.
  [[nodiscard]] bool is_lines() const;
  [[nodiscard]] std::size_t end_of_value() const;

  std::string_view text_;
  std::size_t at_ = 0, begin_ = 0, number_ = 0;
  Kind kind_ = Kind::one;
  bool reaches_end_ = false;
};

constexpr std::string_view k_blanks = " \t\r\n";

Documents::Documents(std::string_view text) : text_(text) {
  if (text_.starts_with(json::k_byte_order_mark)) at_ = json::k_byte_order_mark.size();
  at_ = std::min(text_.find_first_not_of(k_blanks, at_), text_.size());
  kind_ = is_lines() ? Kind::lines : Kind::one;
}

bool Documents::next(std::string_view& document) {
  begin_ = at_;
  if (begin_ == text_.size()) return false;
  std::size_t end = text_.size();
  if (kind_ == Kind::lines) end = std::min(text_.find('\n', begin_), end);
  if (kind_ == Kind::sequence) end = end_of_value();
  ++number_;
  document = text_.substr(begin_, end - begin_);
  reaches_end_ = end == text_.size();
  at_ = std::min(text_.find_first_not_of(k_blanks, end), text_.size());
  return true;
}

bool Documents::split() {
  if (kind_ != Kind::one || text_[begin_] != '{') return false;
  at_ = begin_;
  const std::size_t end = end_of_value();
  const std::size_t next = text_.find_first_not_of(k_blanks, end);
  if (next == std::string_view::npos || text_[next] != '{') return false;
  kind_ = Kind::sequence;
  at_ = begin_;
  number_ = 0;
  return true;
}

std::string Documents::place(const std::string& name) const {
  switch (kind_) {
    case Kind::lines: {
      const std::string_view before = text_.substr(0, begin_);
      return fmt::format("{}:{}", name, 1 + std::count(before.begin(), before.end(), '\n'));
    }
    case Kind::sequence:
      return fmt::format("{}, document {}", name, number_);
    case Kind::one:
      return name;
  }
  return name;
}

bool Documents::is_lines() const {
  const std::size_t line = text_.find('\n', at_);
  if (line == std::string_view::npos) return false;
  const char open = text_[at_];
  if (open != '{' && open != '[') return false;
  const std::size_t last = text_.substr(0, line).find_last_not_of(k_blanks);
  const std::size_t next = text_.find_first_not_of(k_blanks, line);
  return text_[last] == (open == '{' ? '}' : ']') && next != std::string_view::npos &&
         text_[next] == open;
}

std::size_t Documents::end_of_value() const {
  const std::string_view rest = text_.substr(at_);
  json::Scanner scanner(rest);
  std::string_view value;
  return scanner.value(value) ? at_ + scanner.position() : text_.size();
}

/// State before a document is read; removes what a damaged one added.
class Rollback {
 public:
  Rollback(Spans& spans, std::vector<Stamp>& stamps, std::vector<Mark>* marks)
      : spans_(spans),
        stamps_(stamps),
        marks_(marks),
        all_(spans.all.size()),
        stamp_count_(stamps.size()),
        mark_count_(marks == nullptr ? 0 : marks->size()),
        untimed_(spans.untimed.size()),
        without_id_(spans.without_id),
        without_end_(spans.without_end),
        immovable_times_(spans.immovable_times) {}

  void back() {
    spans_.all.resize(all_);
    stamps_.resize(stamp_count_);
    if (marks_ != nullptr) marks_->resize(mark_count_);
    std::erase_if(spans_.links, [&](const Link& link) { return link.span >= all_; });
    spans_.untimed.resize(untimed_);
    spans_.without_id = without_id_;
    spans_.without_end = without_end_;
    spans_.immovable_times = immovable_times_;
  }

 private:
  Spans& spans_;
  std::vector<Stamp>& stamps_;
  std::vector<Mark>* marks_;
  std::size_t all_, stamp_count_, mark_count_, untimed_;
  std::uint64_t without_id_, without_end_, immovable_times_;
};

/// If any time of a file has decimals, all are written to the ns: times of two resolutions would
/// not keep their order.
void refine(std::span<Stamp> stamps) {
  const bool any = std::any_of(stamps.begin(), stamps.end(),
                               [](const Stamp& stamp) { return stamp.fine && stamp.unit == k_us; });
  for (Stamp& stamp : stamps) stamp.fine = stamp.fine || (any && stamp.unit == k_us);
}

/// The coarsest units of the times of a text without tables.
StoredUnits units_of(std::span<const Stamp> stamps) {
  std::uint32_t unit = 1;
  for (const Stamp& stamp : stamps) {
    if (!stamp.fine && !stamp.truncated) unit = std::max(unit, stamp.unit);
  }
  return {.begin = unit, .end = unit};
}

/// Reads the messages of a text of OTLP as Protobuf.
Result<void> read_messages(std::string_view text, Framing framing, const std::string& name,
                           Spans& spans, std::vector<Stamp>& stamps, std::vector<Mark>* marks) {
  Reader reader(text, name, spans, stamps, marks);
  Messages messages(text, framing);
  try {
    while (messages.next()) {
      if (!reader.message(messages.message())) return reader.memory();
    }
  } catch (const protozero::exception&) {
    return fail(ErrorKind::input,
                fmt::format("{}: the message at byte {} is damaged: what it holds are no fields",
                            name, messages.done()));
  }
  if (messages.done() == 0) {
    return fail(ErrorKind::input,
                fmt::format("{}: its first message does not end; the file was cut off", name));
  }
  spans.cut_files += messages.cut() ? 1 : 0;
  return {};
}

/// Reads the documents of a text of JSON.
Result<void> read_documents(std::string& text, const std::string& name, Spans& spans,
                            std::vector<Stamp>& stamps, std::vector<Mark>* marks) {
  constexpr std::size_t k_room = simdjson::SIMDJSON_PADDING;
  text.reserve(text.size() + k_room);
  Reader reader(text, name, spans, stamps, marks);
  json::Parser parser;
  bool any_known = false;
  Documents documents(text);
  for (std::string_view own; documents.next(own);) {
    if (own.size() >= simdjson::SIMDJSON_MAXSIZE_BYTES) {
      return fail(ErrorKind::input, fmt::format("{}: this document has 4 GiB or more; split it",
                                                documents.place(name)));
    }
    const simdjson::padded_string_view part(own.data(), own.size(),
                                            text.capacity() - documents.begin());
    // The parser's index takes about one byte per byte of the text.
    TRY(check_memory_room(name, own.size()));
    Rollback rollback(spans, stamps, marks);
    bool known = false;
    if (!reader.document(parser, part, known)) {
      if (!reader.memory()) return reader.memory();
      const bool cut = documents.may_be_cut();
      if (cut || documents.split()) {
        rollback.back();
        spans.cut_files += cut ? 1 : 0;
        continue;
      }
      return fail(ErrorKind::input, fmt::format("{}: this is damaged JSON, or it was cut off",
                                                documents.place(name)));
    }
    any_known = any_known || known;
  }
  if (documents.none()) {
    return fail(ErrorKind::input, fmt::format("{}: this is damaged JSON: it is empty", name));
  }
  if (!any_known) {
    return fail(ErrorKind::input, fmt::format("{}: these are no spans as OTLP, Jaeger or Zipkin "
                                              "write them (resourceSpans, data or an array)",
                                              name));
  }
  return {};
}

}  // namespace

Result<void> read(std::string& text, const std::string& name, Spans& spans,
                  std::vector<Stamp>& stamps, std::vector<Mark>* marks, std::string_view columns) {
  const std::size_t first_stamp = stamps.size();
  const bool had_immovable = spans.immovable_times > 0;
  const std::string_view beginning = std::string_view(text).substr(0, json::k_beginning);
  const auto framing = framing_of(beginning);
  const bool is_table = !framing && is_span_table(beginning, columns);
  if (framing) {
    TRY(read_messages(text, *framing, name, spans, stamps, marks));
  } else if (is_table) {
    TRY(Reader(text, name, spans, stamps, marks).table(columns));
  } else {
    TRY(read_documents(text, name, spans, stamps, marks));
  }
  if (!had_immovable && spans.immovable_times > 0) {
    spans.first_immovable_time = fmt::format("{} in {}", spans.first_immovable_time, name);
  }
  const auto own = std::span(stamps).subspan(first_stamp);
  std::sort(own.begin(), own.end(), [](const Stamp& a, const Stamp& b) { return a.at < b.at; });
  refine(own);
  if (!is_table) spans.units = units_of(own);
  if (marks != nullptr) {
    std::sort(marks->begin(), marks->end(),
              [](const Mark& a, const Mark& b) { return a.at < b.at; });
  }
  return {};
}

void join_halved_traces(Spans& spans) {
  const std::vector<std::uint32_t> whole_of = spans.ids.wholes();
  if (whole_of.empty()) return;
  const auto join = [&](std::uint32_t& id) {
    if (id != k_none && whole_of[id] != k_none) id = whole_of[id];
  };
  for (Span& span : spans.all) {
    join(span.id);
    join(span.parent);
  }
  for (Link& link : spans.links) join(link.id);
}

void conclude_calls(Spans& spans) {
  std::vector<std::uint32_t> of_id(spans.ids.size(), k_none);
  for (std::uint32_t i = 0; i < spans.all.size(); ++i) {
    std::uint32_t& first = of_id[spans.all[i].id];
    first = std::min(first, i);
  }
  const auto group_of = [&](const Span& span) { return spans.facts[span.clock].group; };
  const auto caller_of = [&](const Span& span) -> Span* {
    const std::uint32_t parent = span.parent == k_none ? k_none : of_id[span.parent];
    if (parent == k_none || group_of(spans.all[parent]) == group_of(span)) return nullptr;
    return &spans.all[parent];
  };
  for (Span& span : spans.all) {
    if (span.parent != k_none && of_id[span.parent] == k_none && spans.ids.is_zero(span.parent)) {
      span.parent = k_none;
    }
    if (span.role == Role::unnamed && caller_of(span) != nullptr) span.role = Role::server;
  }
  for (const Span& span : spans.all) {
    if (span.role != Role::server) continue;
    Span* const caller = caller_of(span);
    if (caller != nullptr && caller->role == Role::unnamed) caller->role = Role::client;
  }
  for (Span& span : spans.all) {
    if (span.role == Role::unnamed) span.role = Role::internal;
  }
}

}  // namespace entrain::spans
