// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

#include "formats/json/packing.hpp"
#include "formats/json/scanner.hpp"

namespace entrain::perfetto {
struct Survey;
}

namespace entrain::kineto {

/// Time and duration of an event of a format that stores numbers, ns; a duration of -1: none.
struct Moment {
  std::int64_t time = 0, length = -1;
};

/// True if a text is this word. The comparison is a few instructions, where that of two texts is a
/// call, and events are compared with dozens of words.
template <std::size_t Size>
bool is_word(std::string_view text, const char (&word)[Size]) {
  return text.size() == Size - 1 && std::memcmp(text.data(), word, Size - 1) == 0;
}

/// Members of an event as written: views of the text, empty for members that are missing.
struct EventText {
  std::string_view phase, category, name;  ///< no quotes
  std::string_view process, thread;        ///< "pid" and "tid": a number or a string
  std::string_view time, duration;         ///< "ts" and "dur"; strings without quotes
  std::string_view id;                     ///< a number or a string
  std::string_view id2;                    ///< object with "local" or "global"; replaces `id`
  std::string_view scope;                  ///< scope of the id, with quotes
  std::string_view arguments;              ///< the object "args"
  std::optional<Moment> moment{};          ///< replaces `time` and `duration`
  std::uint32_t machine = 0;               ///< number of the machine, if a file has several
  std::string_view bind;     ///< "bp" of an arrow's end: "e", or empty: the slice that begins next
  std::string_view reach;    ///< "s" of an instant: "t" thread, "p" process, "g" all
  std::string_view text;     ///< the object itself; empty: the file is no JSON
  std::uint64_t at = 0;      ///< position of `text` in the text of the file
  std::uint32_t others = 0;  ///< members of `text` that are none of the above
  bool is_trace = false;     ///< a trace inside a list, not an event
  bool has_two_times = false;  ///< "ts" or "dur" occurs twice

  [[nodiscard]] bool is_phase(char sign) const { return phase.size() == 1 && phase[0] == sign; }

  /// True if "ts" is there, even as an empty string.
  [[nodiscard]] bool has_time() const { return moment || time.data() != nullptr; }

  /// True if "dur" is there, even as "". Some profilers write -1 for events that did not end.
  [[nodiscard]] bool has_length() const {
    if (moment) return moment->length >= 0;
    return duration.data() != nullptr && !duration.starts_with('-');
  }
};

/// Properties of a file besides its events.
struct FileFacts {
  std::int64_t base = 0;              ///< ns: baseTimeNanoseconds
  std::optional<std::uint32_t> rank;  ///< distributedInfo.rank
  std::optional<std::uint32_t> world_size;
  bool has_events = false;  ///< "traceEvents", or an array
  bool truncated = false;   ///< the text ends too early; its whole events were seen
  json::Packing packing = json::Packing::none;
  std::uint64_t bytes = 0;  ///< size of the text
  std::uint64_t hash = 0;   ///< hash of the text
  std::uint64_t unit = 1;   ///< unit of a Perfetto trace's stored times, ns
  std::uint32_t clock = 0;  ///< number that it gives to the clock of its times; 0: none
  /// The file is a Perfetto trace. A later reading is faster with it.
  std::shared_ptr<perfetto::Survey> survey{};
  /// What was seen counts for nothing: the reading must be done again, with `survey`.
  bool is_misread = false;
  std::uint64_t lost_events = 0;   ///< packets without a time, or without those they refer to
  bool holds_other_times = false;  ///< packets hold records of the kernel, which are not read
  bool ties_machines = false;      ///< packets tell offsets between the clocks of machines
  /// Parts of a Perfetto trace that no event tells of, e.g. "unread_fields".
  std::map<std::string, std::uint64_t> lost{};
};

/// Receivers of the parts of a file; an error that one returns ends the reading.
struct EventSinks {
  /// Called for every whole event, in order. Its views are valid until `pass`.
  std::function<Result<void>(const EventText&)> see{};
  /// Called for each part of a text of JSON, in order, after the events that begin in it; no event
  /// lies in two parts. May be empty.
  std::function<Result<void>(std::string_view)> pass{};
  /// Called for each member beside the events: its key and value as written. May be empty.
  std::function<Result<void>(std::string_view, std::string_view)> fact{};
  /// Hand out all names and arguments of a Perfetto trace; else only those that tell of
  /// communication. Chrome JSON has all of them.
  bool wants_all = false;
};

/// Reads a Chrome trace, or a Perfetto trace, from begin to end, with less than 1 MB of it in
/// memory unless an event is longer. `survey`: FileFacts::survey of an earlier reading. Errors:
/// those of json::Window, perfetto::survey() and the sinks; ErrorKind::input for invalid JSON
/// before the end of the text, with the byte.
Result<FileFacts> for_each_event(const std::filesystem::path& path, const EventSinks& sinks,
                                 std::uint64_t max_unpacked = 0,
                                 const std::shared_ptr<perfetto::Survey>& survey = nullptr);

/// False if the first bytes of a text show that it is no Chrome or Perfetto trace.
bool may_hold_events(std::string_view beginning);

/// Largest time, ns since 1970 (year 2116): differences of offsets then fit into 64 bits.
constexpr std::int64_t k_last_time = std::int64_t{1} << 62;
/// True for times beyond that, which no clock shows.
constexpr bool is_beyond(std::int64_t time) { return time > k_last_time || time < -k_last_time; }

/// Parses a time in microseconds; returns ns. Cuts off digits after the third decimal, and then
/// sets `cut`. Numbers beyond k_last_time are one that is_beyond(). Empty for what is no number.
std::optional<std::int64_t> parse_time(std::string_view text, bool& cut);

/// Time and duration of an event, ns; empty if they are no times. Cuts as parse_time().
std::optional<std::int64_t> time_of(const EventText& event, bool& cut);
std::optional<std::int64_t> length_of(const EventText& event, bool& cut);

/// Times of the text are decimals of microseconds, ours are whole ns.
constexpr std::uint32_t k_ns_per_us = 1000;

/// Text of a time in microseconds, with as many decimals as it needs, at most 3.
std::string time_text(std::int64_t ns);

/// A number; empty for anything else.
template <class Number>
std::optional<Number> parsed(std::string_view text) {
  Number value{};
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || at != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A whole number; 0 for anything else.
std::uint64_t whole_number(std::string_view text);

/// Calls `see(key, value)` for the members of an object, as written, until it returns false.
/// Returns false then, and for what is no object.
template <class See>
bool for_each_member(std::string_view object, const See& see) {
  json::Scanner scanner(object);
  std::string_view key, value;
  if (!scanner.open('{')) return false;
  while (scanner.next_key(key)) {
    // The last value ends at the bracket of the object, so that a number is never cut.
    if (!scanner.value(value) || !see(key, value)) return false;
  }
  return !scanner.failed();
}

/// Value of a member of an object as written; strings without quotes. Empty if there is none.
std::string_view member(std::string_view object, std::string_view key);

/// Members of several objects, each read once, and not before one of its keys is asked for.
class Members {
 public:
  void clear();
  /// Adds an object; its members count up to its end or first damage.
  void add(std::string_view object) { unread_.push_back(object); }
  /// The first value of this key that is not empty, in order of add().
  [[nodiscard]] std::string_view operator[](std::string_view key);

 private:
  std::vector<std::string_view> unread_;
  std::size_t next_unread_ = 0;
  std::vector<std::pair<std::string_view, std::string_view>> members_;
};

}  // namespace entrain::kineto
