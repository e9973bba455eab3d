// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/protobuf.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <utility>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "formats/perfetto/message.hpp"
#include "formats/spans/draft.hpp"

namespace entrain::spans {
namespace {

using perfetto::for_each_field;
using perfetto::Value;
using Wire = protozero::pbf_wire_type;

/// Messages of OTLP as far as framing_of() looks, and their fields in order of their numbers: b
/// bytes, v a varint, 8 and 4 a number of so many bytes, - none, and a message by its letter. L is
/// what scopes hold: spans, logs or metrics.
constexpr char k_request = 'Q', k_resource_spans = 'R', k_leaf = 'L', k_span = 'P', k_log = 'G',
               k_metric = 'M', k_no_field = '-';
constexpr std::array<std::pair<char, std::string_view>, 10> k_fields{{{k_request, "R"},
                                                                      {k_resource_spans, "ESb"},
                                                                      {'E', "Avb"},  // resource
                                                                      {'S', "bLb"},  // scope
                                                                      {k_span, "bbbbbv88Avbvbvb4"},
                                                                      {k_log, "8vb-bAv4bb8b"},
                                                                      {k_metric, "bbb-O-O-OOOA"},
                                                                      {'O', "Ivv"},        // points
                                                                      {'I', "b88---b-b"},  // point
                                                                      {'A', "bb"}}};  // attribute

char field_of(char message, std::uint32_t number) {
  if (message == k_resource_spans && number == field::k_library_spans) {
    number = field::k_scope_spans;
  }
  const auto* const known =
      std::ranges::find(k_fields, message, [](const auto& one) { return one.first; });
  return number - 1 < known->second.size() ? known->second[number - 1] : k_no_field;
}

Wire wire_of(char field) {
  return field == 'v'   ? Wire::varint
         : field == '8' ? Wire::fixed64
         : field == '4' ? Wire::fixed32
                        : Wire::length_delimited;
}

/// How likely a text is a message of some kind.
enum class Likeness : std::uint8_t { none, possible, certain };

/// Whether a message is of a kind: certain at the first time, none at a field that it cannot have;
/// resources are alike in all signals. `leaf`: what a signal has in their scopes. `text`: the
/// message, or its begin. `size`: of the message.
Likeness likeness_of(char kind, char leaf, std::string_view text, std::uint64_t size) {
  protozero::pbf_reader reader(text.data(), text.size());
  try {
    while (reader.next()) {
      const char known = field_of(kind, reader.tag());
      // Spans may get further fields; a message with others is of another kind.
      if (known == k_no_field ? kind != k_span : wire_of(known) != reader.wire_type()) {
        return Likeness::none;
      }
      if (reader.wire_type() != Wire::length_delimited) {
        reader.skip();
        if (known == '8') return Likeness::certain;
        continue;
      }
      const char* at = reader.data().data();
      const char* const end = text.data() + text.size();
      const std::uint64_t inner_size = protozero::decode_varint(&at, end);
      if (inner_size > size - static_cast<std::uint64_t>(at - text.data())) return Likeness::none;
      const std::string_view inner(at, std::min(static_cast<std::uint64_t>(end - at), inner_size));
      if (known >= 'A' && known <= 'Z') {
        const Likeness likeness =
            likeness_of(known == k_leaf ? leaf : known, leaf, inner, inner_size);
        if (likeness != Likeness::possible) return likeness;
      }
      if (inner.size() < inner_size) return Likeness::possible;
      reader.skip();
    }
  } catch (const protozero::end_of_buffer_exception&) {
    return text.size() < size ? Likeness::possible : Likeness::none;
  } catch (const protozero::exception&) {
    return Likeness::none;
  }
  return Likeness::possible;
}

bool begins_with_message(std::string_view text, std::uint64_t size) {
  return signal_of(text, size) != Signal::none;
}

void append_varint(std::uint64_t number, std::string& to) {
  protozero::write_varint(std::back_inserter(to), number);
}

}  // namespace

std::uint64_t fixed_size_of(std::string_view text) {
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < k_fixed_size; ++i) {
    size = size << 8 | static_cast<unsigned char>(text[i]);
  }
  return size;
}

void append_fixed_size(std::uint64_t size, std::string& to) {
  for (std::size_t i = k_fixed_size; i-- > 0;) to += static_cast<char>(size >> 8 * i & 0xFF);
}

Signal signal_of(std::string_view beginning, std::uint64_t size) {
  for (const auto& [leaf, signal] :
       {std::pair(k_span, Signal::spans), {k_log, Signal::logs}, {k_metric, Signal::metrics}}) {
    if (likeness_of(k_request, leaf, beginning.substr(0, size), size) == Likeness::certain) {
      return signal;
    }
  }
  return Signal::none;
}

std::optional<Framing> framing_of(std::string_view beginning) {
  constexpr std::uint64_t k_unknown = std::numeric_limits<std::uint64_t>::max();
  if (begins_with_message(beginning, k_unknown)) return Framing::none;
  if (beginning.size() > k_fixed_size &&
      begins_with_message(beginning.substr(k_fixed_size), fixed_size_of(beginning))) {
    return Framing::fixed32;
  }
  try {
    const char* at = beginning.data();
    const std::uint64_t size = protozero::decode_varint(&at, at + beginning.size());
    beginning.remove_prefix(static_cast<std::size_t>(at - beginning.data()));
    if (begins_with_message(beginning, size)) return Framing::varint;
  } catch (const protozero::exception&) {
  }
  return std::nullopt;
}

bool Messages::next() {
  const std::string_view rest = text_.substr(at_);
  const char *at = rest.data(), *const end = at + rest.size();
  std::uint64_t size = 0;
  if (rest.empty()) return false;
  try {
    switch (framing_) {
      case Framing::none: {
        protozero::pbf_reader reader(at, rest.size());
        reader.next();
        reader.skip();
        size = rest.size() - reader.length();
        break;
      }
      case Framing::fixed32:
        if (rest.size() < k_fixed_size) return false;
        size = fixed_size_of(rest);
        at += k_fixed_size;
        break;
      case Framing::varint:
        size = protozero::decode_varint(&at, end);
        break;
    }
  } catch (const protozero::end_of_buffer_exception&) {
    return false;
  }
  if (size > static_cast<std::uint64_t>(end - at)) return false;
  head_ = {rest.data(), static_cast<std::size_t>(at - rest.data())};
  message_ = {at, size};
  at_ += head_.size() + size;
  return true;
}

namespace {

/// Writes messages anew that hold spans with marks.
class Marker {
 public:
  Marker(std::string_view text, std::span<const Mark> marks, std::span<const ClockMap> maps)
      : text_(text), marks_(marks), maps_(maps) {}

  /// A message with marks in its spans, which are `depth` messages further in.
  std::string rebuilt(std::string_view message, int depth) {
    if (depth == 0) return std::string(message) + attribute_at(message.data() + message.size());
    std::string result;
    const char* done = message.data();
    for_each_field(message, [&](std::uint32_t number, const Value& value) {
      if (!is_around(number, depth) || value.bytes.data() == nullptr) return;
      const std::string inner = rebuilt(value.bytes, depth - 1);
      if (inner.size() == value.bytes.size()) return;
      result.append(done, value.at);
      append_varint(inner.size(), result);
      result += inner;
      done = value.bytes.data() + value.bytes.size();
    });
    return result.append(done, message.data() + message.size());
  }

 private:
  /// True if spans are in this field, `depth` messages further in.
  static bool is_around(std::uint32_t number, int depth) {
    if (depth == 3) return number == field::k_resource_spans;
    if (depth == 1) return number == field::k_spans;
    return number == field::k_scope_spans || number == field::k_library_spans;
  }
  /// What a span that ends there gets; "" for none.
  std::string attribute_at(const char* end) {
    const auto at = static_cast<std::uint64_t>(end - text_.data());
    while (!marks_.empty() && marks_.front().at < at) marks_ = marks_.subspan(1);
    if (marks_.empty() || marks_.front().at > at) return "";
    const Mark& mark = marks_.front();
    const std::int64_t offset = maps_[mark.clock](mark.time) - static_cast<std::int64_t>(mark.time);
    if (offset == 0) return "";
    std::string text;
    protozero::pbf_writer span(text), pair(span, field::k_attributes);
    pair.add_string(field::k_key, k_mark.data(), k_mark.size());
    protozero::pbf_writer(pair, field::k_value).add_int64(field::k_integer, offset);
    pair.commit();
    return text;
  }

  std::string_view text_;
  std::span<const Mark> marks_;  ///< those that follow
  std::span<const ClockMap> maps_;
};

}  // namespace

std::string with_marks(std::string_view text, Framing framing, std::span<const Mark> marks,
                       std::span<const ClockMap> maps) {
  constexpr int k_depth = 3;  // request, resource, scope
  Marker marker(text, marks, maps);
  Messages messages(text, framing);
  std::string result;
  result.reserve(text.size());
  while (messages.next()) {
    const std::string message = marker.rebuilt(messages.message(), k_depth);
    if (message.size() == messages.message().size() || framing == Framing::none) {
      result += messages.head();
    } else if (framing == Framing::varint) {
      append_varint(message.size(), result);
    } else {
      append_fixed_size(message.size(), result);
    }
    result += message;
  }
  return result.append(text.substr(messages.done()));
}

}  // namespace entrain::spans
