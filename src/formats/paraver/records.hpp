// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include <entrain/error.hpp>

#include "base/flat_map.hpp"
#include "base/try.hpp"
#include "formats/json/window.hpp"
#include "formats/paraver/header.hpp"

namespace entrain::paraver {

enum class Kind : std::uint8_t { state, event, communication };

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
  std::uint64_t thread = 0;  ///< in its task, from 0
  /// Begin and end of a state; the time of events; of a message begin and end of the send, then
  /// begin and end of the receive.
  std::span<const RecordTime> times() const { return {all_.data(), count_}; }
  /// What follows the last time: `:state`, `:type:value:...` or `:size:tag`.
  std::string_view rest;
  /// Number of the thread among all of a trace.
  [[nodiscard]] std::uint64_t thread_key() const { return std::uint64_t{task} << 32 | thread; }

  /// Reads a line without its end; false for all but the records above.
  [[nodiscard]] bool parse(std::string_view line, const Header& header);

 private:
  /// Reads `:cpu:application:task:thread`.
  [[nodiscard]] static bool place(Cursor& cursor, const Header& header, std::uint32_t& task,
                                  std::uint64_t& thread);
  /// Reads `:time`.
  [[nodiscard]] bool time(Cursor& cursor, std::uint32_t clock);

  std::array<RecordTime, 4> all_;
  std::uint32_t count_ = 0;
};

/// Calls `see(type, value)` for the events of a record, up to the first that is none.
template <class See>
void for_each_event(const Record& record, const See& see) {
  Cursor cursor(record.rest);
  std::uint64_t type = 0, value = 0;
  while (cursor.next(type) && cursor.next(value)) see(type, value);
}

/// Facts about the text of a trace.
struct TextFacts {
  std::uint64_t bytes = 0, hash = 0;  ///< of the text, unpacked
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
