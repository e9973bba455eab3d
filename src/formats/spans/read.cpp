// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <protozero/exception.hpp>

#include "base/memory_room.hpp"
#include "base/try.hpp"
#include "formats/json/document.hpp"
#include "formats/json/scanner.hpp"
#include "formats/spans/protobuf.hpp"
#include "formats/spans/reader.hpp"

namespace entrain::spans {
namespace {

constexpr std::string_view k_blanks = " \t\r\n";

std::uint64_t lines_in(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Splits a text, or the next piece of one, into JSON documents: the whole text, one per line, or
/// several in sequence.
class Documents {
 public:
  Documents(std::string_view text, const TextSoFar& so_far)
      : text_(text), number_(so_far.documents), lines_(so_far.lines), is_last_(so_far.is_last) {
    if (so_far.bytes == 0 && text_.starts_with(json::k_byte_order_mark)) {
      at_ = json::k_byte_order_mark.size();
    }
    at_ = std::min(text_.find_first_not_of(k_blanks, at_), text_.size());
    kind_ = so_far.are_lines || is_lines() ? Kind::lines : Kind::one;
  }

  /// Moves to the next document; false after the last one.
  bool next(std::string_view& document) {
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
  [[nodiscard]] std::size_t begin() const { return begin_; }
  /// Number of documents up to here, from the begin of the text.
  [[nodiscard]] std::uint64_t count() const { return number_; }
  /// True if the current document is the last one of several: it may have been cut off.
  [[nodiscard]] bool may_be_cut() const {
    return kind_ != Kind::one && reaches_end_ && is_last_ && number_ > 1;
  }
  /// Restarts with a sequence of objects, if the whole text was taken for one document. False if no
  /// second object begins after the first one.
  bool split() {
    if (kind_ != Kind::one || text_[begin_] != '{') return false;
    at_ = begin_;
    const std::size_t next = text_.find_first_not_of(k_blanks, end_of_value());
    if (next == std::string_view::npos || text_[next] != '{') return false;
    kind_ = Kind::sequence;
    number_ = 0;
    return true;
  }
  /// Location of the current document, for messages.
  [[nodiscard]] std::string place(const std::string& name) const {
    if (kind_ == Kind::sequence) return fmt::format("{}, document {}", name, number_);
    if (kind_ == Kind::one) return name;
    return fmt::format("{}:{}", name, 1 + lines_ + lines_in(text_.substr(0, begin_)));
  }
  /// True if the first line is an object or a list, and another one of the same kind follows.
  [[nodiscard]] bool is_lines() const {
    const std::size_t line = text_.find('\n', at_);
    if (line == std::string_view::npos) return false;
    const char open = text_[at_];
    if (open != '{' && open != '[') return false;
    const std::size_t last = text_.substr(0, line).find_last_not_of(k_blanks);
    const std::size_t next = text_.find_first_not_of(k_blanks, line);
    return text_[last] == (open == '{' ? '}' : ']') && next != std::string_view::npos &&
           text_[next] == open;
  }

 private:
  enum class Kind : std::uint8_t { one, lines, sequence };

  [[nodiscard]] std::size_t end_of_value() const {
    json::Scanner scanner(text_.substr(at_));
    std::string_view value;
    return scanner.value(value) ? at_ + scanner.position() : text_.size();
  }

  std::string_view text_;
  std::size_t at_ = 0, begin_ = 0;
  std::uint64_t number_ = 0, lines_ = 0;  ///< `lines_`: lines before this piece
  Kind kind_ = Kind::one;
  bool reaches_end_ = false, is_last_ = true;
};

/// They nearly always stand in order.
template <class All>
void sort_by_place(All&& all) {
  const auto is_before = [](const auto& a, const auto& b) { return a.at < b.at; };
  if (!std::ranges::is_sorted(all, is_before)) std::ranges::sort(all, is_before);
}

/// If any time of a file has decimals, all are written to the ns: times of two resolutions would
/// not keep their order.
void refine(std::span<Stamp> stamps, bool any_fine) {
  for (Stamp& stamp : stamps) stamp.fine |= any_fine && stamp.unit == k_us;
}

/// Reads the messages of a text of OTLP as Protobuf.
Result<void> read_messages(std::string_view text, const TextSoFar& so_far, const std::string& name,
                           Reader& reader, Spans& spans) {
  Messages messages(text, *so_far.framing);
  try {
    while (messages.next()) {
      if (!read_message(reader, messages.message())) return reader.memory();
    }
  } catch (const protozero::exception&) {
    return input_error("{}: the message at byte {} is damaged: what it holds are no fields", name,
                       so_far.bytes + messages.done());
  }
  if (so_far.bytes + messages.done() == 0) {
    return input_error("{}: its first message does not end; the file was cut off", name);
  }
  spans.cut_files += messages.done() < text.size() ? 1 : 0;
  return {};
}

/// Reads the documents of a text of JSON.
Result<void> read_documents(const std::string& text, TextSoFar& so_far, const std::string& name,
                            Reader& reader, Spans& spans) {
  json::Parser parser;
  Documents documents(text, so_far);
  for (std::string_view own; documents.next(own);) {
    if (own.size() >= simdjson::SIMDJSON_MAXSIZE_BYTES) {
      return input_error("{}: this document has 4 GiB or more; split it", documents.place(name));
    }
    const simdjson::padded_string_view part(own.data(), own.size(),
                                            text.capacity() - documents.begin());
    // The parser's index takes about one byte per byte of the text.
    TRY(check_memory_room(name, own.size()));
    const Reader::State before = reader.state();
    bool known = false;
    if (!read_document(reader, parser, part, known)) {
      if (!reader.memory()) return reader.memory();
      const bool cut = documents.may_be_cut();
      if (cut || documents.split()) {
        reader.restore(before);
        spans.cut_files += cut ? 1 : 0;
        continue;
      }
      return input_error("{}: this is damaged JSON, or it was cut off", documents.place(name));
    }
    so_far.any_known |= known;
  }
  so_far.documents = documents.count();
  if (!so_far.is_last) {
    so_far.lines += lines_in(text);
    return {};
  }
  if (so_far.documents == 0) {
    return input_error("{}: this is damaged JSON: it is empty", name);
  }
  if (!so_far.any_known) {
    return input_error(
        "{}: these are no spans as OTLP, Jaeger or Zipkin write them (resourceSpans, data or an "
        "array)",
        name);
  }
  return {};
}

}  // namespace

bool are_lines(std::string_view beginning) { return Documents(beginning, {}).is_lines(); }

Result<void> read(std::string& text, const std::string& name, Spans& spans,
                  std::vector<Stamp>* stamps, std::vector<Mark>* marks, TextSoFar* so_far) {
  TextSoFar whole;
  if (so_far == nullptr) so_far = &whole;
  const std::size_t first_stamp = stamps == nullptr ? 0 : stamps->size();
  const bool had_immovable = spans.immovable_times > 0;
  const std::string_view beginning = std::string_view(text).substr(0, json::k_beginning);
  if (so_far->bytes == 0) so_far->framing = framing_of(beginning);
  const bool is_table =
      !so_far->framing && !so_far->are_lines && is_span_table(beginning, so_far->columns);
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  Reader reader(text, name, spans, stamps, marks);
  reader.seen = so_far->seen;
  reader.only_times = so_far->only_times;
  if (so_far->framing) {
    TRY(read_messages(text, *so_far, name, reader, spans));
  } else if (is_table) {
    TRY(read_table(reader, so_far->columns));
  } else {
    TRY(read_documents(text, *so_far, name, reader, spans));
  }
  reader.number_waiting();
  so_far->seen = reader.seen;
  so_far->bytes += text.size();
  if (!had_immovable && spans.immovable_times > 0) {
    spans.first_immovable_time = fmt::format("{} in {}", spans.first_immovable_time, name);
  }
  if (!is_table) spans.units = {.begin = reader.coarsest_unit(), .end = reader.coarsest_unit()};
  if (stamps != nullptr) {
    const auto own = std::span(*stamps).subspan(first_stamp);
    sort_by_place(own);
    refine(own, reader.seen.fine_us);
  }
  if (marks != nullptr) sort_by_place(*marks);
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
  const bool are_named =
      std::ranges::none_of(spans.all, [](const Span& span) { return span.role == Role::unnamed; });
  if (are_named && !spans.ids.has_zero()) return;
  std::vector<std::uint32_t> of_id(spans.ids.size(), k_none);
  for (std::uint32_t i = 0; i < spans.all.size(); ++i) {
    std::uint32_t& first = of_id[spans.all[i].id];
    first = std::min(first, i);
  }
  const auto caller_of = [&](const Span& span) -> Span* {
    const std::uint32_t parent = span.parent == k_none ? k_none : of_id[span.parent];
    if (parent == k_none || spans.group_of(spans.all[parent]) == spans.group_of(span))
      return nullptr;
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
