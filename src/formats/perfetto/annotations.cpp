// SPDX-License-Identifier: BSD-3-Clause
#include "formats/perfetto/annotations.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "formats/json/scanner.hpp"
#include "formats/perfetto/fields.hpp"
#include "formats/perfetto/message.hpp"

namespace entrain::perfetto {
namespace {

constexpr int k_most_nested = 100;  ///< as other readers of protobuf allow
/// Bytes of an event's arguments: many may refer to one long interned text.
constexpr std::size_t k_most_arguments = std::size_t{1} << 26;

void separate(std::string& to) {
  if (to.back() != '{' && to.back() != '[') to += ", ";
}

template <class Number>
void add_number(Number number, std::string& to) {
  const fmt::format_int text(number);
  to.append(text.data(), text.size());
}

void add_double(std::uint64_t bits, std::string& to) {
  double number = 0;
  static_assert(sizeof number == sizeof bits);
  __builtin_memcpy(&number, &bits, sizeof number);
  if (!std::isfinite(number)) {
    to += "null";
    return;
  }
  fmt::format_to(std::back_inserter(to), "{}", number);
}

void add_string(std::string_view text, std::string& to) {
  to += '"';
  escape(text, to);
  to += '"';
}

/// JSON as it is; what is none becomes a string.
void add_json(std::string_view text, std::string& to) {
  const std::string padded = std::string(text) + ' ';
  json::Scanner scanner(padded);
  std::string_view value;
  const bool is_json = scanner.value(value) && scanner.peek() == '\0' && scanner.at_end();
  is_json ? to += value : (add_string(text, to), to);
}

class AnnotationText {
 public:
  AnnotationText(const State& state, std::string& to) : state_(state), to_(to) {}

  void add_member(std::string_view annotation, int depth) {
    if (to_.size() > k_most_arguments) return;
    separate(to_);
    to_ += '"';
    bool has_name = false;
    for_each_field<NoteField>(annotation, [&](NoteField field, const Value& value) {
      if (has_name) return;
      has_name = field == NoteField::name || field == NoteField::name_iid;
      if (field == NoteField::name) escape(value.bytes, to_);
      if (field == NoteField::name_iid) to_ += state_.name(Names::note, value.number);
    });
    to_ += "\": ";
    add_value(annotation, depth);
  }

 private:
  void close(char opened, std::size_t begin) {
    if (opened != '\0') {
      to_ += opened == '{' ? '}' : ']';
    } else if (to_.size() == begin) {
      to_ += "null";
    }
  }

  void add_value(std::string_view annotation, int depth) {
    const std::size_t begin = to_.size();
    char opened = '\0';
    for_each_field<NoteField>(annotation, [&](NoteField field, const Value& value) {
      const bool is_nested = field == NoteField::dict_entries || field == NoteField::array_values;
      if (is_nested ? opened != '\0' && (opened == '{') != (field == NoteField::dict_entries)
                    : to_.size() != begin) {
        return;  // it has a value
      }
      switch (field) {
        case NoteField::bool_value:
          to_ += value.number != 0 ? "true" : "false";
          break;
        case NoteField::uint_value:
          add_number(value.number, to_);
          break;
        case NoteField::int_value:
          add_number(value.integer(), to_);
          break;
        case NoteField::double_value:
          add_double(value.number, to_);
          break;
        case NoteField::string_value:
          add_string(value.bytes, to_);
          break;
        case NoteField::string_value_iid:
          to_ += '"';
          if (to_.size() <= k_most_arguments) to_ += state_.name(Names::value, value.number);
          to_ += '"';
          break;
        case NoteField::pointer_value:
          fmt::format_to(std::back_inserter(to_), "\"{:#x}\"", value.number);
          break;
        case NoteField::legacy_json_value:
          add_json(value.bytes, to_);
          break;
        case NoteField::dict_entries:
        case NoteField::array_values:
          if (depth >= k_most_nested || (opened == '\0' && to_.size() != begin)) break;
          if (opened == '\0') to_ += opened = field == NoteField::dict_entries ? '{' : '[';
          if (opened == '{') {
            add_member(value.bytes, depth + 1);
          } else {
            separate(to_);
            add_value(value.bytes, depth + 1);
          }
          break;
        default:
          break;
      }
    });
    close(opened, begin);
  }

  const State& state_;
  std::string& to_;
};

}  // namespace

void add_annotation(std::string_view annotation, const State& state, std::string& to) {
  AnnotationText(state, to).add_member(annotation, 0);
}

void add_text(std::string_view name, std::string_view value, std::string& to) {
  separate(to);
  add_string(name, to);
  to += ": ";
  add_string(value, to);
}

}  // namespace entrain::perfetto
