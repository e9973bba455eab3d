// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <entrain/error.hpp>

namespace entrain::chrome {

/// An event as it stands in the text; all pieces are views of it, empty where it has no such
/// member.
struct EventText {
  std::string_view phase, category, name;  ///< without quotes
  std::string_view thread;                 ///< "tid": a number or a string
  std::string_view time, duration;         ///< "ts" and "dur"
  std::string_view arguments;              ///< the object "args"

  /// True if it says how long it took. Some profilers give events that did not end -1.
  [[nodiscard]] bool has_length() const { return !duration.empty() && !duration.starts_with('-'); }
};

/// A file without its events.
struct FileFacts {
  std::int64_t base = 0;              ///< ns: baseTimeNanoseconds
  std::optional<std::uint32_t> rank;  ///< distributedInfo.rank
  std::optional<std::uint32_t> world_size;
  bool has_events = false;  ///< "traceEvents", or an array
  bool truncated = false;   ///< the text ends too early; what was whole was seen
};

/// Calls `see` for every whole event of a Chrome trace, in order, until it returns an error.
/// Errors: ErrorKind::input for what cannot stand in JSON before the end of the text, naming the
/// byte; `name` is for messages.
Result<FileFacts> for_each_event(std::string_view text, const std::string& name,
                                 const std::function<Result<void>(const EventText&)>& see);

/// A time in microseconds, as ns; digits after the third decimal are cut off, and `cut` says so.
/// Empty: no number of at most 19 digits in plain decimals.
std::optional<std::int64_t> parse_time(std::string_view text, bool& cut);

/// The same as text: as many decimals as it needs, at most 3.
std::string time_text(std::int64_t ns);

/// The member of an object, as it stands; strings without quotes. Empty if there is none.
std::string_view member(std::string_view object, std::string_view key);

}  // namespace entrain::chrome
