// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/spans/spans.hpp"
#include "formats/spans/values.hpp"

/// A span while it is read.
namespace entrain::spans {

/// Where a service runs, by its attributes; the most reliable first.
struct Place {
  std::string host, pod, instance, service;

  /// The member that an attribute sets; null for other attributes.
  std::string* member(std::string_view key) {
    if (key == "host.name" || key == "hostname") return &host;
    if (key == "k8s.node.name") return host.empty() ? &host : nullptr;
    if (key == "k8s.pod.name") return &pod;
    if (key == "service.instance.id") return &instance;
    if (key == "ip" || key == "ipv4" || key == "ipv6") {
      return instance.empty() ? &instance : nullptr;
    }
    return key == "service.name" || key == "serviceName" ? &service : nullptr;
  }
  [[nodiscard]] bool is_unknown() const {
    return host.empty() && pod.empty() && instance.empty() && service.empty();
  }
  /// Name of the clock. Addresses of containers repeat on many hosts, but seldom in one service.
  /// Libraries name services without a name "unknown_service...".
  [[nodiscard]] std::string clock() const {
    if (!host.empty()) return host;
    if (!pod.empty()) return pod;
    if (!instance.empty()) return service.empty() ? instance : service + "@" + instance;
    const bool is_named = !service.empty() && !service.starts_with("unknown_service");
    return is_named ? service : std::string(k_unknown_host);
  }
};

/// True if by this attribute a span waits for messages, and receives those that it links to.
bool says_polls(std::string_view key, std::string_view text);

/// Name of the attribute with the offset that a correction added to a span.
inline constexpr std::string_view k_mark = "entrain.offset_ns";

/// The significant digits of an id. Some tracers write ids of 64 bits with leading zeros.
/// Protobuf's own JSON has base64 instead of hexadecimal digits, where the letter A is zero.
std::string_view significant(std::string_view id);

/// Appends an id in the form that is compared: significant, hexadecimal digits in lower case.
void append_id(std::string_view id, std::string& text);

/// True if an id in compared form has more than 64 bits.
bool is_whole_trace(std::string_view id);
/// The lower 64 bits of a trace id, which is all that some services keep.
std::string_view half_of(std::string_view id);
/// True if both are ids of one trace, or one is the lower half of the other.
bool is_same_trace(std::string_view a, std::string_view b);

/// Parses the kind of a span, in the words or numbers of any format.
Role role_of(std::string_view word);

/// A span while it is read; keys come in any order.
struct Draft {
  std::string trace, id, parent, name, process;
  Role role = Role::internal;
  bool shared = false, polls = false;
  Number begin, end;                                       ///< `end`: a time or a duration
  Number millis;                                           ///< begin in ms, in Jaeger only
  std::vector<Number> instants;                            ///< times of events inside
  std::vector<std::pair<std::string, std::string>> links;  ///< trace and span
  Place place;
  Mark::Form form = Mark::Form::otlp;
  std::string_view self, attributes;  ///< text from their brackets on; empty: none
  bool marked = false;                ///< has the attribute, or cannot get it
};

}  // namespace entrain::spans
