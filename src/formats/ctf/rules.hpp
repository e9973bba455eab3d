// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include <entrain/error.hpp>

namespace entrain::ctf {

/// A field of an event by its name; inside of others by their names: {"network_header", "seq"}.
/// Options of variants are stepped through without a name.
using FieldPath = std::vector<std::string>;

/// An end of messages: events of one of these names that have all of these fields.
struct RuleEnd {
  std::vector<std::string> events;
  std::vector<FieldPath> key;  ///< fields whose values both ends of a message have
};

/// Says which events are the ends of a message.
struct Rule {
  std::string name;  ///< shown in reports
  RuleEnd send, receive;
  /// Where an end was seen: a message is seen once at each place of a host. Empty: a host has one.
  FieldPath place{};
};

/// The rules for TCP packets (LTTng's kernel events) and for messages of ROS 2.
std::span<const Rule> known_rules();

/// Reads "send=NAME:FIELDS,receive=NAME:FIELDS": NAME up to the last colon, FIELDS with + between
/// them, and dots between the names of a path. Errors: ErrorKind::usage.
Result<Rule> parse_rule(const std::string& text);

}  // namespace entrain::ctf
