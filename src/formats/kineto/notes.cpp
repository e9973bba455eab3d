// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "formats/json/scanner.hpp"
#include "formats/json/strings.hpp"
#include "formats/kineto/merge_rank.hpp"

namespace entrain::kineto {

namespace {

using perfetto::EventField;
using perfetto::InternedNames;
using perfetto::NoteField;

constexpr int k_most_nested = 16;  ///< deeper values become JSON text

bool add_number_value(std::string& note, std::string_view text) {
  if (const auto integer = parsed<std::int64_t>(text)) {
    perfetto::add_integer(note, NoteField::int_value, *integer);
  } else if (const auto large = parsed<std::uint64_t>(text)) {
    perfetto::add_number(note, NoteField::uint_value, *large);
  } else if (const auto number = parsed<double>(text);
             number && std::isfinite(*number) && text.find_first_of(".eE") != text.npos) {
    perfetto::add_double(note, NoteField::double_value, *number);
  } else {
    return false;
  }
  return true;
}

void add_value(std::string& note, InternedNames& names, std::string_view text, int depth);

/// Appends elements or members; false for an empty, a damaged or a deep one.
bool add_nested(std::string& note, InternedNames& names, std::string_view text, int depth) {
  const bool is_object = text.front() == '{';
  json::Scanner scanner(text);
  std::string_view key, value;
  bool any = false;
  scanner.open(text.front());
  while (is_object ? scanner.next_key(key) : scanner.next_element()) {
    if (!scanner.value(value)) return false;
    any = true;
    perfetto::add_message(note, is_object ? NoteField::dict_entries : NoteField::array_values,
                          [&](std::string& one) {
                            if (is_object)
                              perfetto::add_bytes(one, NoteField::name, json::unescaped(key));
                            add_value(one, names, value, depth + 1);
                          });
  }
  return any && !scanner.failed();
}

void add_value(std::string& note, InternedNames& names, std::string_view text, int depth) {
  const char first = text.empty() ? '\0' : text.front();
  const std::size_t before = note.size();
  if (first == '"' && text.size() >= 2) {
    perfetto::add_bytes(note, NoteField::string_value,
                        json::unescaped(text.substr(1, text.size() - 2)));
    return;
  }
  if (text == "true" || text == "false") {
    perfetto::add_number(note, NoteField::bool_value, first == 't' ? 1 : 0);
    return;
  }
  const bool is_nested = (first == '{' || first == '[') && depth < k_most_nested;
  if (is_nested ? add_nested(note, names, text, depth) : add_number_value(note, text)) return;
  note.resize(before);
  perfetto::add_bytes(note, NoteField::legacy_json_value, text);
}

}  // namespace

void add_name(std::string& fields, InternedNames& names, EventField number, EventField text,
              std::string_view raw) {
  if (raw.data() == nullptr) return;
  if (const std::uint64_t known = names.number(raw)) {
    perfetto::add_number(fields, number, known);
    return;
  }
  perfetto::add_bytes(fields, text, json::unescaped(raw));
}

void add_note(std::string& fields, InternedNames& names, std::string_view key,
              std::string_view value) {
  perfetto::add_message(fields, EventField::debug_annotations, [&](std::string& note) {
    if (const std::uint64_t known = names.number(key)) {
      perfetto::add_number(note, NoteField::name_iid, known);
    } else {
      perfetto::add_bytes(note, NoteField::name, json::unescaped(key));
    }
    add_value(note, names, value, 0);
  });
}

std::uint64_t add_notes(std::string& fields, InternedNames& names, std::string_view object) {
  if (object.empty()) return 0;
  const std::size_t before = fields.size();
  std::uint64_t count = 0;
  const bool is_whole = for_each_member(object, [&](std::string_view key, std::string_view value) {
    add_note(fields, names, key, value);
    return ++count > 0;
  });
  if (is_whole) return count;
  fields.resize(before);
  add_note(fields, names, "args", object);
  return 1;
}

}  // namespace entrain::kineto
