// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <string_view>

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

/// Calls see(key, text) for an attribute; the strings of an array are lines of the text, which
/// `list` keeps.
template <class See>
void see_attribute(std::string_view attribute, std::string& list, const See& see) {
  std::string_view key, text;
  for_each_field<std::uint32_t>(attribute, [&](std::uint32_t number, const Value& value) {
    if (number == field::k_key) key = value.bytes;
    if (number != field::k_value) return;
    for_each_field<std::uint32_t>(value.bytes, [&](std::uint32_t type, const Value& plain) {
      if (type == field::k_string) text = plain.bytes;
      if (type != field::k_array) return;
      if (text.data() != list.data()) list = text;
      for_each_field<std::uint32_t>(plain.bytes, [&](std::uint32_t of, const Value& element) {
        if (of != field::k_elements) return;
        for_each_field<std::uint32_t>(element.bytes, [&](std::uint32_t kind, const Value& string) {
          if (kind == field::k_string) list.append(string.bytes) += '\n';
        });
      });
      text = list;
    });
  });
  see(key, text);
}

}  // namespace

std::string shown_text(std::string_view bytes) {
  std::string text(bytes);
  if (is_utf8(bytes)) return text;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = utf8_sequence(std::string_view(text).substr(at));
    if (size == 0) text[at] = '?';
    at += size == 0 ? 1 : size;
  }
  return text;
}

Id Reader::packed_id(std::string_view bytes, std::size_t most_digits) {
  if (2 * bytes.size() <= most_digits) return id_in_bytes(bytes);
  constexpr std::string_view k_hex = "0123456789abcdef";
  std::string& text = id_texts_.emplace_back();
  for (const char one : bytes) {
    const auto byte = static_cast<unsigned char>(one);
    text += {k_hex[byte >> 4], k_hex[byte & 15]};
  }
  return id_in(text, most_digits);
}

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
  bool good = true;
  const State before = state();
  for_each_field<std::uint32_t>(message, [&](std::uint32_t number, const Value& value) {
    if (number == field::k_resource) {
      for_each_field<std::uint32_t>(value.bytes, [&](std::uint32_t inner, const Value& attribute) {
        if (inner != field::k_attributes_of_resource) return;
        see_attribute(attribute.bytes, list_text_, [&](std::string_view name, std::string_view is) {
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

void Reader::packed_link(std::string_view message, FarSpan& link) {
  for_each_field<std::uint32_t>(message, [&](std::uint32_t number, const Value& value) {
    if (number == 1) link.trace = packed_id(value.bytes, k_trace_digits);
    if (number == 2) link.id = packed_id(value.bytes, k_span_digits);
  });
}

bool Reader::packed_span(std::string_view message) {
  Draft& draft = draft_.begin_span(Mark::Form::protobuf);
  id_texts_.clear();
  draft.self = message;
  for_each_field<std::uint32_t>(message, [&](std::uint32_t number, const Value& value) {
    switch (number) {
      case field::k_trace:
        draft.trace = packed_id(value.bytes, k_trace_digits);
        return;
      case field::k_id:
        draft.id = packed_id(value.bytes, k_span_digits);
        return;
      case field::k_parent:
        draft.parent = packed_id(value.bytes, k_span_digits);
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
        return see_attribute(value.bytes, list_text_,
                             [&](std::string_view key, std::string_view text) {
                               take_attribute(key, text, draft.place, &draft);
                             });
      case field::k_links:
        return packed_link(value.bytes, draft.links.emplace_back());
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
  if (!is_utf8(draft.name)) draft.name = name_text_ = shown_text(draft.name);
  finish(draft, k_ns, false, owner_of(draft));
  return has_memory();
}

}  // namespace entrain::spans
