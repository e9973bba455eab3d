// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spans/spans.hpp"
#include "spans/values.hpp"

/// What a span says, while it is read.
namespace entrain::spans {

/// What a service says about where it runs, the surest first.
struct Place {
  std::string host, pod, instance, service;

  /// The member that a key of attributes is about; null for others.
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
  [[nodiscard]] bool is_nowhere() const {
    return host.empty() && pod.empty() && instance.empty() && service.empty();
  }
  /// Addresses of containers are the same on many hosts, but seldom of one service. Libraries have
  /// names for services that have none.
  [[nodiscard]] std::string clock() const {
    if (!host.empty()) return host;
    if (!pod.empty()) return pod;
    if (!instance.empty()) return service.empty() ? instance : service + "@" + instance;
    const bool is_named = !service.empty() && !service.starts_with("unknown_service");
    return is_named ? service : std::string(k_nowhere);
  }
};

/// True if an attribute says that a span waits for messages, and got those that it links to.
bool says_polls(std::string_view key, std::string_view text);

/// The attribute that says how far a span was moved.
inline constexpr std::string_view k_mark = "entrain.offset_ns";

/// The digits of an id that count. Some write the ids of 64 bits with zeros before them. Protobuf's
/// own JSON has base64 instead of hexadecimal digits, where all bits are 0 if all letters are A.
std::string_view significant(std::string_view id);

/// Appends an id as it is compared: hexadecimal digits may have either case.
void append_id(std::string_view id, std::string& text);

/// True if this is more than half of a trace's bits, as it is compared.
bool is_whole_trace(std::string_view id);
/// The lower 64 bits, which is all that some services keep.
std::string_view half_of(std::string_view id);
/// True if both are ids of one trace, or one is half of the other.
bool same_trace(std::string_view a, std::string_view b);

/// The kind of a span, in the words or numbers of any format.
Role role_of(std::string_view word);

/// A span while it is read; keys come in any order.
struct Draft {
  std::string trace, id, parent, name, process;
  Role role = Role::internal;
  bool shared = false, polls = false;
  Number begin, end;                                       ///< `end`: a time or a length of time
  Number millis;                                           ///< Jaeger: the begin again, in ms
  std::vector<Number> instants;                            ///< of events inside
  std::vector<std::pair<std::string, std::string>> links;  ///< trace and span
  Place place;
  Mark::Form form = Mark::Form::otlp;
  std::string_view self, attributes;  ///< from their opening brackets on; empty: not there
  bool marked = false;                ///< it has the attribute already, or none can be added
};

}  // namespace entrain::spans
