// SPDX-License-Identifier: BSD-3-Clause

#include "base/utf8.hpp"
#include "formats/perfetto/message.hpp"
#include "formats/spans/protobuf.hpp"
#include "formats/spans/reader.hpp"

namespace entrain::spans {
namespace {

using perfetto::for_each_field;
using perfetto::Value;

/// A time; missing if it is no field of 8 bytes.
void take_time(const Value& value, Number& number) {
  if (value.fixed_size != sizeof value.number) return;
  number.digits = {value.at, value.fixed_size};
  number.value = value.number;
}

/// The strings of an array are lines of the text.
void read_packed_attribute(Reader& reader, std::string_view attribute, Place& place, Draft* span) {
  std::string_view key, text;
  std::string& list = reader.list_text;
  for_each_field(attribute, [&](std::uint32_t number, const Value& value) {
    if (number == field::k_key) key = value.bytes;
    if (number != field::k_value) return;
    for_each_field(value.bytes, [&](std::uint32_t type, const Value& plain) {
      if (type == field::k_string) text = plain.bytes;
      if (type != field::k_array) return;
      if (text.data() != list.data()) list = text;
      for_each_field(plain.bytes, [&](std::uint32_t of, const Value& element) {
        if (of != field::k_elements) return;
        for_each_field(element.bytes, [&](std::uint32_t kind, const Value& string) {
          if (kind == field::k_string) list.append(string.bytes) += '\n';
        });
      });
      text = list;
    });
  });
  take_attribute(key, text, place, span);
}

Id read_packed_id(Reader& reader, std::string_view bytes, std::size_t most_digits) {
  if (2 * bytes.size() <= most_digits) return id_in_bytes(bytes);
  constexpr std::string_view k_hex = "0123456789abcdef";
  std::string& text = reader.id_texts.emplace_back();
  for (const char one : bytes) {
    const auto byte = static_cast<unsigned char>(one);
    text += {k_hex[byte >> 4], k_hex[byte & 15]};
  }
  return id_in(text, most_digits);
}

bool read_packed_span(Reader& reader, std::string_view message) {
  Draft& draft = reader.draft.begin_span(Mark::Form::protobuf);
  reader.id_texts.clear();
  draft.self = message;
  for_each_field(message, [&](std::uint32_t number, const Value& value) {
    switch (number) {
      case field::k_trace:
        draft.trace = read_packed_id(reader, value.bytes, k_trace_digits);
        return;
      case field::k_id:
        draft.id = read_packed_id(reader, value.bytes, k_span_digits);
        return;
      case field::k_parent:
        draft.parent = read_packed_id(reader, value.bytes, k_span_digits);
        return;
      case field::k_name:
        draft.name = value.bytes;
        return;
      case field::k_kind:
        draft.role = role_of_number(value.number);
        return;
      case field::k_begin:
        return take_time(value, draft.begin);
      case field::k_end:
        return take_time(value, draft.end);
      case field::k_attributes:
        return read_packed_attribute(reader, value.bytes, draft.place, &draft);
      case field::k_links: {
        FarSpan& link = draft.links.emplace_back();
        return for_each_field(value.bytes, [&](std::uint32_t inner, const Value& id) {
          if (inner == 1) link.trace = read_packed_id(reader, id.bytes, k_trace_digits);
          if (inner == 2) link.id = read_packed_id(reader, id.bytes, k_span_digits);
        });
      }
      case field::k_events:
        return for_each_field(value.bytes, [&](std::uint32_t inner, const Value& time) {
          if (inner == field::k_event_time) take_time(time, draft.instants.emplace_back());
        });
      default:
        return;
    }
  });
  if (!is_utf8(draft.name)) draft.name = reader.name_text = shown_text(draft.name);
  reader.finish(k_ns, false, reader.owner_of_draft());
  return reader.has_memory();
}

bool read_packed_resource(Reader& reader, std::string_view message) {
  Place place;
  bool good = true;
  const Reader::State before = reader.state();
  for_each_field(message, [&](std::uint32_t number, const Value& value) {
    if (number == field::k_resource) {
      for_each_field(value.bytes, [&](std::uint32_t inner, const Value& attribute) {
        if (inner != field::k_attributes_of_resource) return;
        read_packed_attribute(reader, attribute.bytes, place, nullptr);
      });
    }
    if (number != field::k_scope_spans && number != field::k_library_spans) return;
    for_each_field(value.bytes, [&](std::uint32_t inner, const Value& span) {
      if (inner == field::k_spans) good = good && read_packed_span(reader, span.bytes);
    });
  });
  reader.settle(before, [&](const std::string&) { return place; });
  return good;
}

}  // namespace

bool read_message(Reader& reader, std::string_view request) {
  reader.form = Stamp::Form::fixed64;
  bool good = true;
  if (const Signal signal = signal_of(request, request.size()); signal > Signal::spans) {
    reader.spans.other_signal = signal == Signal::logs ? "logs" : "metrics";
    return true;
  }
  for_each_field(request, [&](std::uint32_t number, const Value& value) {
    if (number == field::k_resource_spans) good = good && read_packed_resource(reader, value.bytes);
  });
  return good;
}

}  // namespace entrain::spans
