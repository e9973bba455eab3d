// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <entrain/clock_map.hpp>

#include "formats/spans/spans.hpp"

/// OTLP as Protobuf: files of ExportTraceServiceRequest or TracesData, which have the same form.
namespace entrain::spans {

/// Bytes that precede each message of a file.
enum class Framing : std::uint8_t {
  none,     ///< nothing: the file is one message
  fixed32,  ///< its size in 4 bytes, the highest first, as the collector's file exporter writes
  varint,   ///< its size as a varint
};

/// Sizes in 4 bytes.
inline constexpr std::size_t k_fixed_size = 4;
std::uint64_t fixed_size_of(std::string_view text);
void append_fixed_size(std::uint64_t size, std::string& to);

/// Contents of messages of OTLP; all signals have the same form.
enum class Signal : std::uint8_t { none, spans, logs, metrics };
/// The signal of a message, or of its begin. All fields up to the first time must be those of OTLP,
/// by number and type; those of Perfetto are others. Signal::none: they are not, or there is no
/// time. `size`: of the whole message.
Signal signal_of(std::string_view beginning, std::uint64_t size);

/// The framing of a file that begins so; empty if it is none of OTLP, by its first message.
std::optional<Framing> framing_of(std::string_view beginning);

/// Reads the messages of a text in order. A text without framing is split at its outermost fields,
/// which are messages of the same form.
class Messages {
 public:
  Messages(std::string_view text, Framing framing) : text_(text), framing_(framing) {}

  /// Moves to the next message; false at the end, or where the text ends inside one. Throws
  /// protozero::exception for bytes that are no field.
  bool next();
  [[nodiscard]] std::string_view message() const { return message_; }
  /// Bytes that precede it.
  [[nodiscard]] std::string_view head() const { return head_; }
  /// End of the message in the text.
  [[nodiscard]] std::size_t done() const { return at_; }

 private:
  std::string_view text_, head_, message_;
  Framing framing_;
  std::size_t at_ = 0;  ///< end of the message
};

/// The text with the attribute entrain.offset_ns in each span of `marks` whose begin moves, and
/// with the sizes of what is around it; see patched(). `text` is one that was read.
std::string with_marks(std::string_view text, Framing framing, std::span<const Mark> marks,
                       std::span<const ClockMap> maps);

}  // namespace entrain::spans

/// Numbers of the fields of OTLP (opentelemetry-proto, trace/v1/trace.proto,
/// common/v1/common.proto) that are read.
namespace entrain::spans::field {

inline constexpr std::uint32_t k_resource_spans = 1;               ///< field of a request
inline constexpr std::uint32_t k_resource = 1, k_scope_spans = 2;  ///< fields of ResourceSpans
inline constexpr std::uint32_t k_library_spans = 1000;             ///< older name of scope_spans
inline constexpr std::uint32_t k_attributes_of_resource = 1;
inline constexpr std::uint32_t k_spans = 2;  ///< field of ScopeSpans
/// Fields of a span.
inline constexpr std::uint32_t k_trace = 1, k_id = 2, k_parent = 4, k_name = 5, k_kind = 6,
                               k_begin = 7, k_end = 8, k_attributes = 9, k_events = 11,
                               k_links = 13;
inline constexpr std::uint32_t k_event_time = 1;                          ///< field of an event
inline constexpr std::uint32_t k_key = 1, k_value = 2;                    ///< an attribute's
inline constexpr std::uint32_t k_string = 1, k_integer = 3, k_array = 5;  ///< fields of a value
inline constexpr std::uint32_t k_elements = 1;                            ///< field of an array

}  // namespace entrain::spans::field
