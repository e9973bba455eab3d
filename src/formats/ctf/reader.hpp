// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/error.hpp>

#include "formats/ctf/metadata.hpp"
#include "formats/ctf/rules.hpp"

namespace entrain::ctf {

/// Two hashes of the values of a message's fields, so that equal ones mean equal values.
using Key = std::pair<std::uint64_t, std::uint64_t>;

/// An event that is an end of a message, by a rule.
struct MessageEnd {
  Key key;                 ///< key of the rule and the values of its fields
  std::uint32_t rule = 0;  ///< position of the rule
  bool is_send = false;
  std::uint64_t place = 0;  ///< hash of the place where it was seen
  std::uint32_t clock = 0;  ///< position in TraceFacts::clocks; later in the run
  std::uint64_t time = 0;   ///< ns since the origin of the clock, at most 2^62
};

/// An event of a trace.
struct Event {
  std::uint32_t clock = 0;  ///< see MessageEnd
  std::uint64_t time = 0;
  std::vector<MessageEnd> ends{};
  std::uint64_t contents = 0;  ///< hash of its name and its fields; 0 if not all are shown
  std::string name{};          ///< name of its class; "" if not all are shown
  std::string stream{};        ///< name of its stream, that of a file in most traces; as `name`
};

/// The span of a clock without events.
inline constexpr StampRange k_no_events{~std::uint64_t{0}, 0};

/// Facts of a trace beside its events.
struct TraceFacts {
  std::string hostname;             ///< name that its environment gives; "": unknown
  std::vector<ClockClass> clocks;   ///< clocks of streams, in order of their appearance
  std::vector<StampRange> spans;    ///< events of each clock, or k_no_events
  std::uint64_t events = 0;         ///< events with a time
  std::uint64_t without_clock = 0;  ///< events of streams that no clock stamps
  std::uint64_t out_of_range = 0;   ///< events before the origin or later than 2^62 ns
  std::uint64_t discarded = 0;      ///< events that the tracer says it lost
};

/// Reads the trace in `folder`, stream by stream, in a process of its own, and shows the events
/// that are ends of messages; with `all` every one that has a time, and its contents. Errors:
/// ErrorKind::input with what libbabeltrace2 says; ErrorKind::usage in a build without it; those of
/// `see`, which ends the reading.
Result<TraceFacts> read_trace(const std::filesystem::path& folder, std::span<const Rule> rules,
                              bool all, const std::function<Result<void>(const Event&)>& see);

}  // namespace entrain::ctf
