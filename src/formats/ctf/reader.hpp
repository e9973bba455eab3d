// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/error.hpp>

#include "formats/ctf/metadata.hpp"
#include "formats/ctf/rules.hpp"

namespace entrain::ctf {

/// Hash of values in 128 bits, so that equal ones mean equal values.
struct Key {
  std::uint64_t a = 0, b = 0;

  void add(std::uint64_t value);
  void add(std::string_view text);
  friend auto operator<=>(const Key&, const Key&) = default;
};

/// An event that is an end of a message, by a rule.
struct MessageEnd {
  Key key;                 ///< rule and values of its fields
  std::uint32_t rule = 0;  ///< position of the rule
  bool is_send = false;
  std::uint64_t place = 0;  ///< hash of the place where it was seen
};

/// An event of a trace. Views are valid during the call that shows it.
struct Event {
  std::uint32_t clock = 0;  ///< position in TraceFacts::clocks
  std::uint64_t time = 0;   ///< ns since the origin of the clock, at most 2^62
  std::string_view name;
  std::string_view stream;     ///< name of its stream, that of a file in most traces
  std::uint64_t contents = 0;  ///< hash of its name and, with `all`, its fields
  std::span<const MessageEnd> ends;
};

/// Facts of a trace beside its events.
struct TraceFacts {
  std::string hostname;            ///< as its environment says; "": unknown
  std::vector<ClockClass> clocks;  ///< clocks of streams, in order of their appearance
  std::vector<std::optional<StampRange>> spans;  ///< events of each clock; empty: it has none
  std::uint64_t events = 0;                      ///< with a time
  std::uint64_t without_clock = 0;               ///< events of streams that no clock stamps
  std::uint64_t out_of_range = 0;                ///< events before the origin or later than 2^62 ns
  std::uint64_t discarded = 0;                   ///< events that the tracer says it lost
};

/// Reads the trace in `folder`, stream by stream, in a process of its own, and shows the events
/// that are ends of messages; with `all` every one that has a time, and its contents. Errors:
/// ErrorKind::input with what libbabeltrace2 says; ErrorKind::usage in a build without it; those of
/// `see`, which ends the reading.
Result<TraceFacts> read_trace(const std::filesystem::path& folder, std::span<const Rule> rules,
                              bool all, const std::function<Result<void>(const Event&)>& see);

}  // namespace entrain::ctf
