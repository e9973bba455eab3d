// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

namespace entrain::chrome {

/// An event as it stands in the text; all pieces are views of it, empty where it has no such
/// member.
struct EventText {
  std::string_view phase, category, name;  ///< without quotes
  std::string_view process, thread;        ///< "pid" and "tid": a number or a string
  std::string_view time, duration;         ///< "ts" and "dur", also of strings without quotes
  std::string_view id;                     ///< as process
  std::string_view id2;                    ///< an object that has "local" or "global" in its place
  std::string_view scope;                  ///< of the id, with quotes
  std::string_view arguments;              ///< the object "args"
  bool is_trace = false;                   ///< it is no event, but holds events itself
  bool has_two_times = false;              ///< "ts" or "dur" stands there twice

  /// True if it has a time, though it may be an empty string.
  [[nodiscard]] bool has_time() const { return time.data() != nullptr; }

  /// True if it says how long it took, if only by an empty string, which is no time. Some profilers
  /// give events that did not end -1.
  [[nodiscard]] bool has_length() const {
    return duration.data() != nullptr && !duration.starts_with('-');
  }
};

/// A file without its events.
struct FileFacts {
  std::int64_t base = 0;              ///< ns: baseTimeNanoseconds
  std::optional<std::uint32_t> rank;  ///< distributedInfo.rank
  std::optional<std::uint32_t> world_size;
  bool has_events = false;  ///< "traceEvents", or an array
  bool truncated = false;   ///< the text ends too early; what was whole was seen
  bool packed = false;      ///< the file is gzip
  std::uint64_t bytes = 0;  ///< of the text
  std::uint64_t hash = 0;   ///< of the text
};

/// What a reader of a file does with its parts; each may return an error, which ends the reading.
struct EventSinks {
  /// Is called for every whole event, in order. Its pieces stay where they are until `pass`.
  std::function<Result<void>(const EventText&)> see;
  /// Is called for the whole text, part by part, in order, each when the events that begin in it
  /// were seen; no event lies in two parts. May be empty.
  std::function<Result<void>(std::string_view)> pass;
};

/// Reads a Chrome trace from begin to end, with less than 1 MB of it in memory unless an event is
/// longer. Errors: those of json::Window; ErrorKind::input for what cannot stand in JSON before the
/// end of the text, naming the byte.
Result<FileFacts> for_each_event(const std::filesystem::path& path, const EventSinks& sinks,
                                 std::uint64_t max_unpacked = 0);

/// False if the first bytes of a text show that it is no Chrome trace: that it is empty, no JSON,
/// or JSON of something else. `is_whole`: they are all of it.
bool may_hold_events(std::string_view beginning, bool is_whole);

/// A time in microseconds, as ns; digits after the third decimal are cut off, and `cut` says so.
/// Empty: no number of at most 19 digits in plain decimals.
std::optional<std::int64_t> parse_time(std::string_view text, bool& cut);

/// The same as text: as many decimals as it needs, at most 3.
std::string time_text(std::int64_t ns);

/// The member of an object, as it stands; strings without quotes. Empty if there is none.
std::string_view member(std::string_view object, std::string_view key);

/// The members of objects of which many are asked for, found in one walk over each.
class Members {
 public:
  void clear();
  /// Adds those of an object up to where it ends or is damaged.
  void add(std::string_view object);
  /// As member(); of the object that was added first among those that have one that is not empty.
  [[nodiscard]] std::string_view operator[](std::string_view key) const;

 private:
  std::vector<std::pair<std::string_view, std::string_view>> members_;
};

}  // namespace entrain::chrome
