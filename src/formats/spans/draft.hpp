// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "formats/spans/ids.hpp"
#include "formats/spans/spans.hpp"
#include "formats/spans/values.hpp"

namespace entrain::spans {

/// Attributes that tell clocks apart, the most reliable first. Those up to `host` name a machine.
enum class Sign : std::uint8_t {
  node,
  host_id,
  host,
  device,
  pod,
  instance,
  container,
  address,
  service,
  session
};

/// Where a span was stamped, by its attributes.
struct Place {
  std::array<std::string, 10> signs;  ///< index: Sign; empty: not named
  bool is_changed = false;            ///< somebody else has changed the times

  friend bool operator==(const Place&, const Place&) = default;
  [[nodiscard]] const std::string& of(Sign sign) const {
    return signs[static_cast<std::size_t>(sign)];
  }
  /// The member that an attribute of a process sets; null for other attributes.
  std::string* member(std::string_view key);
  /// The member that an attribute of a single span sets; null for other attributes.
  std::string* member_of_span(std::string_view key);
  /// Takes what another one names and this one does not.
  void complete_with(const Place& other);
  [[nodiscard]] bool is_unknown() const;
  /// Name of the clock: that of the machine, else of a part of it. Addresses of containers repeat
  /// on many hosts, but seldom in one service.
  [[nodiscard]] std::string clock() const;
  /// The text that tells spans of one clock() apart, should that be the name of several clocks; may
  /// be "".
  [[nodiscard]] std::string part() const;
};

/// The first address of a list, a line each, that few machines share: no loopback, local link, or
/// usual bridge of containers. "" if there is none.
std::string_view address_in(std::string_view list);

/// True if a viewer says by this warning that it has moved the times of a span.
bool says_changed(std::string_view warning);

/// Name of the attribute with the offset that a correction added to a span.
inline constexpr std::string_view k_mark = "entrain.offset_ns";

/// A text as it is shown: what is no UTF-8, as strings of Protobuf should be, are question marks.
std::string shown_text(std::string_view bytes);

/// Parses the kind of a span, in the words or numbers of any format.
Role role_of(std::string_view word);
/// The kind of a number of OTLP.
Role role_of_number(std::uint64_t number);

/// A span that another one links to.
struct FarSpan {
  Id trace, id;
  bool is_cause = false;  ///< said to be the cause of the other one
};

/// Facts that a span states; keys come in any order. Views are of what is read.
struct SpanFacts {
  Id trace, id, parent;
  std::string_view name, process;
  Role role = Role::internal;
  bool shared = false, polls = false;
  bool follows = false;  ///< its parent does not wait for it
  Number begin, end;     ///< `end`: a time or a duration
  Number millis;         ///< begin in ms, in Jaeger only
  Mark::Form form = Mark::Form::otlp;
  std::string_view self, attributes;  ///< text from their brackets on; empty: none
  bool marked = false;                ///< has the attribute, or cannot get it
};

/// A span while it is read.
struct Draft : SpanFacts {
  std::vector<Number> instants;  ///< times of events inside
  std::vector<FarSpan> links;
  Place place;
  bool has_place = false;  ///< it may have one of its own

  /// Begins another span; keeps memory.
  Draft& begin_span(Mark::Form next) {
    static_cast<SpanFacts&>(*this) = {};
    form = next;
    instants.clear();
    links.clear();
    if (has_place) place = {};
    has_place = false;
    return *this;
  }
  /// Takes from an attribute what it says of the span alone.
  void see_attribute(std::string_view key, std::string_view text);
  /// Notes where the attributes begin.
  void note_attributes(value from, ondemand::json_type type) {
    if (is_a(from, type)) {
      attributes = from.raw_json_token();
    } else {
      marked = true;
    }
  }
  /// Reads a kind in words.
  bool read_kind(value from) {
    std::string_view word;
    const bool good = read_string(from, word);
    role = role_of(word);
    return good;
  }
};

/// Takes an attribute of a resource or process, or of a span, as OTLP and Jaeger name them.
void take_attribute(std::string_view key, std::string_view text, Place& place, Draft* span);

}  // namespace entrain::spans
