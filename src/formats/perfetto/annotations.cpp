// SPDX-License-Identifier: BSD-3-Clause
#include "formats/perfetto/state.hpp"

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

constexpr int k_most_nested = 100;  ///< depth that other readers of protobuf allow

void separate(std::string& to) {
  if (to.back() != '{' && to.back() != '[') to += ", ";
}

template <class Number>
void add_number(Number number, std::string& to) {
  const fmt::format_int text(number);
  to.append(text.data(), text.size());
}

void add_double(double number, std::string& to) {
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
    if (add_plain(annotation)) return;
    bool has_name = false;
    for_each_field<NoteField>(annotation, [&](NoteField field, const Value& value) {
      if (has_name) return;
      has_name = field == NoteField::name || field == NoteField::name_iid;
      if (field == NoteField::name_iid) add_key(value.number);
      if (field != NoteField::name) return;
      add_string(value.bytes, to_);
      to_ += ": ";
    });
    if (!has_name) to_ += k_no_key;
    add_value(annotation, depth);
  }

 private:
  static constexpr std::string_view k_no_key = "\"\": ";

  void add_key(std::uint64_t iid) {
    const std::string_view key = state_.name(Names::note, iid);
    to_ += key.empty() ? k_no_key : key;
  }

  /// Adds one that is the number of a name and one plain value, as nearly all are; false, and
  /// nothing added, for another one.
  bool add_plain(std::string_view annotation) {
    const auto key_of = [](NoteField field, protozero::pbf_wire_type type) {
      return static_cast<char>(static_cast<unsigned>(field) << 3 | static_cast<unsigned>(type));
    };
    constexpr auto k_varint = protozero::pbf_wire_type::varint;
    const char* at = annotation.data();
    const char* const end = at + annotation.size();
    if (annotation.size() < 4 || *at != key_of(NoteField::name_iid, k_varint)) return false;
    const std::uint64_t iid = take_varint(++at, end);
    if (end - at < 2) return false;
    const char head = *at++;
    const bool is_text =
        head == key_of(NoteField::string_value, protozero::pbf_wire_type::length_delimited);
    const bool is_integer = head == key_of(NoteField::int_value, k_varint);
    if (!is_text && !is_integer) return false;
    const std::uint64_t number = take_varint(at, end);
    if (is_text ? static_cast<std::uint64_t>(end - at) != number : at != end) return false;
    add_key(iid);
    if (is_text) {
      add_string({at, number}, to_);
    } else {
      add_number(static_cast<std::int64_t>(number), to_);
    }
    return true;
  }

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
      using enum NoteField;
      if (field == bool_value) to_ += value.number != 0 ? "true" : "false";
      if (field == uint_value) add_number(value.number, to_);
      if (field == int_value) add_number(value.integer(), to_);
      if (field == double_value) add_double(value.real(), to_);
      if (field == string_value) add_string(value.bytes, to_);
      if (field == string_value_iid) {
        to_ += '"';
        if (to_.size() <= k_most_arguments) to_ += state_.name(Names::value, value.number);
        to_ += '"';
      }
      if (field == pointer_value) {
        fmt::format_to(std::back_inserter(to_), "\"{:#x}\"", value.number);
      }
      if (field == legacy_json_value) add_json(value.bytes, to_);
      if (!is_nested || depth >= k_most_nested || (opened == '\0' && to_.size() != begin)) return;
      if (opened == '\0') to_ += opened = field == dict_entries ? '{' : '[';
      if (opened == '{') return add_member(value.bytes, depth + 1);
      separate(to_);
      add_value(value.bytes, depth + 1);
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
