// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <entrain/error.hpp>

#include "base/flat_map.hpp"
#include "base/ids.hpp"
#include "base/try.hpp"
#include "formats/json/window.hpp"

/// Traces of Paraver: the text that Extrae, Dimemas and others write.
namespace entrain::paraver {

/// Largest time that is read, ticks.
inline constexpr std::uint64_t k_last_time = std::uint64_t{1} << 62;

/// Takes numbers and signs off the front of a text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  [[nodiscard]] bool number(std::uint64_t& value) {
    const auto [end, error] = std::from_chars(at_, end_, value);
    at_ = end;
    return error == std::errc();
  }
  [[nodiscard]] bool sign(char wanted) {
    const bool is_there = at_ != end_ && *at_ == wanted;
    at_ += is_there ? 1 : 0;
    return is_there;
  }
  /// A colon and a number.
  [[nodiscard]] bool next(std::uint64_t& value) { return sign(':') && number(value); }
  [[nodiscard]] std::string_view rest() const {
    return {at_, static_cast<std::size_t>(end_ - at_)};
  }

 private:
  const char* at_;
  const char* end_;
};

/// A process, as the header lists it.
struct Task {
  std::uint32_t application = 0;  ///< number, counted from 0
  std::uint32_t number = 0;       ///< number in its application, counted from 0
  std::uint32_t clock = 0;        ///< its node, from 0; its own position where tasks name none
  std::uint64_t threads = 0;

  /// Both numbers from 1: "1.2".
  [[nodiscard]] std::string name() const {
    return fmt::format("{}.{}", application + 1, number + 1);
  }
};

/// The first line of a trace.
struct Header {
  std::uint64_t resolution_hz = 0;    ///< ticks per second
  std::uint64_t end = 0;              ///< time of the end, ticks
  std::size_t end_at = 0;             ///< place of its digits in the line, bytes
  std::size_t end_size = 0;           ///< number of these digits
  std::uint32_t nodes = 0;            ///< 0: tasks name none
  std::vector<Task> tasks;            ///< tasks of all applications, in order
  std::vector<std::uint32_t> firsts;  ///< position of the first task per application, and their sum

  /// Number of clocks: nodes, or tasks where these name none.
  [[nodiscard]] std::uint32_t clocks() const {
    return nodes > 0 ? nodes : static_cast<std::uint32_t>(tasks.size());
  }
  /// Position of a task by its numbers from 1; k_none for others.
  [[nodiscard]] std::uint32_t task(std::uint64_t application, std::uint64_t task) const {
    if (application - 1 >= firsts.size() - 1) return k_none;
    const std::uint64_t first = firsts[application - 1], next = firsts[application];
    return task - 1 < next - first ? static_cast<std::uint32_t>(first + task - 1) : k_none;
  }
};

/// Reads the first line, without its end. Errors: ErrorKind::input, which names `path`.
Result<Header> parse_header(std::string_view line, const std::filesystem::path& path);

/// Processes that communicate, in order of their ranks.
struct Communicator {
  std::uint32_t application = 0;     ///< number, counted from 0
  std::uint64_t id = 0;              ///< unique in its application
  std::vector<std::uint32_t> tasks;  ///< positions in Header::tasks, no two alike
};

/// Reads a line `c:application:id:number:task:...`; false if it is none.
bool parse_communicator(std::string_view line, const Header& header, Communicator& result);

/// Kinds of records, by the first sign of their lines.
enum class Kind : char { state = '1', event = '2', message = '3' };

/// A time of a record.
struct RecordTime {
  std::uint64_t time = 0;   ///< ticks
  std::uint32_t clock = 0;  ///< clock that it is of
  std::string_view digits;  ///< the part of the line
};

/// A line that is a record. Views of the line.
struct Record {
  Kind kind = Kind::state;
  std::uint32_t task = 0;    ///< position in Header::tasks; of a message the sender
  std::uint64_t thread = 0;  ///< number in its task, counted from 0
  /// Begin and end of a state; the time of events; of a message begin and end of the send, then
  /// begin and end of the receive.
  std::array<RecordTime, 4> all_times{};
  std::uint32_t count = 0;  ///< number of times
  std::string_view rest;    ///< what follows: `:state`, `:type:value:...` or `:size:tag`

  [[nodiscard]] std::span<const RecordTime> times() const { return {all_times.data(), count}; }
  /// Number of the thread among all of a trace.
  [[nodiscard]] std::uint64_t thread_key() const { return std::uint64_t{task} << 32 | thread; }
  /// Hash of all but times.
  [[nodiscard]] std::uint64_t hash() const {
    const std::uint64_t place = mix(thread_key() + static_cast<std::uint64_t>(kind));
    return mix(mix(place + all_times[count - 1].clock) + std::hash<std::string_view>{}(rest));
  }
  /// Reads a line without its end; false for all but the records above.
  [[nodiscard]] bool parse(std::string_view line, const Header& header);
};

/// Calls `see(type, value)` for the events of a record, up to the first that is none, but for
/// values with a sign or decimals. Returns false if one is none.
template <class See>
bool for_each_event(const Record& record, const See& see) {
  Cursor cursor(record.rest);
  std::uint64_t type = 0, value = 0, decimals = 0;
  while (cursor.next(type)) {
    if (!cursor.sign(':')) return false;
    const bool is_negative = cursor.sign('-');
    if (!cursor.number(value)) return false;
    const bool is_decimal = cursor.sign('.');
    if (is_decimal && !cursor.number(decimals)) return false;
    if (!is_negative && !is_decimal) see(type, value);
  }
  return cursor.rest().empty() || cursor.rest() == "\r";
}

/// Facts about the text of a trace.
struct TextFacts {
  std::uint64_t bytes = 0, hash = 0;  ///< size and hash of the text, unpacked
  json::Packing packing = json::Packing::none;
  bool is_cut = false;            ///< a packed stream ends too early
  bool ends_inside_line = false;  ///< no line feed at its end
};

/// Calls `see(line)` for each line of a file, without its line feed. Errors: those of json::Window
/// and of `see`.
template <class See>
Result<TextFacts> for_each_line(const std::filesystem::path& path, std::uint64_t max_unpacked,
                                const See& see) {
  TRY_ASSIGN(json::Window window, json::Window::open(path, max_unpacked, json::Content::bytes));
  for (;;) {
    const std::string_view text = window.text();
    std::size_t done = 0;
    for (std::size_t end = 0; (end = text.find('\n', done)) != std::string_view::npos;
         done = end + 1) {
      TRY(see(text.substr(done, end - done)));
    }
    if (!window.ended()) {
      TRY(window.advance(done));
      continue;
    }
    const std::string_view last = text.substr(done);
    if (!last.empty()) TRY(see(last));
    return TextFacts{window.total(), window.hash(), window.packing(), window.cut(), !last.empty()};
  }
}

}  // namespace entrain::paraver
