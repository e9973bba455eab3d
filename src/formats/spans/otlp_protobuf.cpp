// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string>
#include <string_view>

#include "base/utf8.hpp"
#include "formats/perfetto/message.hpp"
#include "formats/spans/protobuf.hpp"
#include "formats/spans/protobuf_fields.hpp"
#include "formats/spans/reader.hpp"

namespace entrain::spans {
namespace {

using perfetto::for_each_field;
using perfetto::Value;

/// Strings should be UTF-8; a byte that is none becomes a question mark, as names are shown.
void take_text(std::string_view bytes, std::string& text) {
  text = bytes;
  if (is_utf8(bytes)) return;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = utf8_sequence(std::string_view(text).substr(at));
    if (size == 0) text[at] = '?';
    at += size == 0 ? 1 : size;
  }
}

/// Writes bytes as hexadecimal digits, as OTLP JSON does.
void take_hex(std::string_view bytes, std::string& text) {
  constexpr std::string_view k_hex = "0123456789abcdef";
  text.resize(2 * bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text[2 * i] = k_hex[byte >> 4];
    text[2 * i + 1] = k_hex[byte & 15];
  }
}

/// A time; missing if it is no field of 8 bytes.
void take_time(const Value& value, Number& number) {
  if (value.fixed_size != sizeof value.number) return;
  number.digits = {value.at, value.fixed_size};
  number.value = value.number;
}

/// Calls see(key, text) for an attribute; the strings of an array are lines of the text.
template <class See>
void see_attribute(std::string_view attribute, std::string& key, std::string& text,
                   const See& see) {
  key.clear();
  text.clear();
  for_each_field<std::uint32_t>(attribute, [&](std::uint32_t number, const Value& value) {
    if (number == field::k_key) take_text(value.bytes, key);
    if (number != field::k_value) return;
    for_each_field<std::uint32_t>(value.bytes, [&](std::uint32_t type, const Value& plain) {
      if (type == field::k_string) take_text(plain.bytes, text);
      if (type != field::k_array) return;
      for_each_field<std::uint32_t>(plain.bytes, [&](std::uint32_t list, const Value& element) {
        if (list != field::k_elements) return;
        for_each_field<std::uint32_t>(element.bytes, [&](std::uint32_t kind, const Value& string) {
          if (kind != field::k_string) return;
          std::string line;
          take_text(string.bytes, line);
          text += line + '\n';
        });
      });
    });
  });
  see(key, text);
}

void take_link(std::string_view message, FarSpan& link) {
  for_each_field<std::uint32_t>(message, [&](std::uint32_t number, const Value& value) {
    if (number == 1) take_hex(value.bytes, link.trace);
    if (number == 2) take_hex(value.bytes, link.id);
  });
}

}  // namespace

bool Reader::message(std::string_view request) {
  form_ = Stamp::Form::fixed64;
  bool good = true;
  if (const Signal signal = signal_of(request, request.size()); signal > Signal::spans) {
    spans_.other_signal = signal == Signal::logs ? "logs" : "metrics";
    return true;
  }
  for_each_field<std::uint32_t>(request, [&](std::uint32_t number, const Value& value) {
    if (number == field::k_resource_spans) good = good && packed_resource(value.bytes);
  });
  return good;
}

bool Reader::packed_resource(std::string_view message) {
  Place place;
  std::string key, text;
  bool good = true;
  const Sizes before = sizes();
  for_each_field<std::uint32_t>(message, [&](std::uint32_t number, const Value& value) {
    if (number == field::k_resource) {
      for_each_field<std::uint32_t>(value.bytes, [&](std::uint32_t inner, const Value& attribute) {
        if (inner != field::k_attributes_of_resource) return;
        see_attribute(attribute.bytes, key, text, [&](std::string_view name, std::string_view is) {
          take_attribute(name, is, place, nullptr);
        });
      });
    }
    if (number != field::k_scope_spans && number != field::k_library_spans) return;
    for_each_field<std::uint32_t>(value.bytes, [&](std::uint32_t inner, const Value& span) {
      if (inner == field::k_spans) good = good && packed_span(span.bytes);
    });
  });
  settle(before, [&](const std::string&) { return place; });
  return good;
}

bool Reader::packed_span(std::string_view message) {
  Draft& draft = draft_;
  for (std::string* text : {&draft.trace, &draft.id, &draft.parent, &draft.name}) text->clear();
  for (std::string& sign : draft.place.signs) sign.clear();
  draft.place.is_changed = draft.polls = draft.marked = false;
  draft.role = Role::internal;
  draft.begin.digits = draft.end.digits = {};
  draft.begin.value = draft.end.value = 0;
  draft.instants.clear();
  draft.links.clear();
  draft.form = Mark::Form::protobuf;
  draft.self = message;
  for_each_field<std::uint32_t>(message, [&](std::uint32_t number, const Value& value) {
    switch (number) {
      case field::k_trace:
        return take_hex(value.bytes, draft.trace);
      case field::k_id:
        return take_hex(value.bytes, draft.id);
      case field::k_parent:
        return take_hex(value.bytes, draft.parent);
      case field::k_name:
        return take_text(value.bytes, draft.name);
      case field::k_kind:
        draft.role = role_of_number(value.number);
        return;
      case field::k_begin:
        return take_time(value, draft.begin);
      case field::k_end:
        return take_time(value, draft.end);
      case field::k_attributes:
        return see_attribute(value.bytes, key_, value_,
                             [&](std::string_view key, std::string_view text) {
                               take_attribute(key, text, draft.place, &draft);
                             });
      case field::k_links:
        return take_link(value.bytes, draft.links.emplace_back());
      case field::k_events:
        return for_each_field<std::uint32_t>(value.bytes,
                                             [&](std::uint32_t inner, const Value& time) {
                                               if (inner != field::k_event_time) return;
                                               take_time(time, draft.instants.emplace_back());
                                             });
      default:
        return;
    }
  });
  finish(draft, k_ns, false, owner_of(draft));
  return has_memory();
}

}  // namespace entrain::spans
