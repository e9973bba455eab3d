// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/rewrite.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/memory_room.hpp"
#include "base/text_hash.hpp"
#include "base/try.hpp"
#include "formats/json/strings.hpp"
#include "formats/json/text_file.hpp"
#include "formats/json/window.hpp"
#include "formats/kineto/arrows.hpp"
#include "formats/kineto/time_index.hpp"
#include "formats/perfetto/reader.hpp"
#include "formats/recording.hpp"

namespace entrain::kineto {

namespace fs = std::filesystem;

namespace {

/// Error for a file that is not what it was.
tl::unexpected<Error> has_changed(const RankFile& file) {
  return formats::has_changed(file.path, file.was_summarised);
}

bool is_text_of(const RankFile& file, std::uint64_t bytes, std::uint64_t hash) {
  return hash == file.facts.hash && bytes == file.facts.bytes;
}
bool is_unchanged(const RankFile& file, const json::Window& window) {
  return is_text_of(file, window.total(), window.hash());
}

Result<json::Window> bytes_of(const RankFile& file, const fs::path& path) {
  return json::Window::open(path, file.max_unpacked, json::Content::bytes);
}
Result<json::Window> bytes_of(const RankFile& file) { return bytes_of(file, file.path); }

/// True if a file holds the text that was read of another one, or of itself.
Result<bool> holds_text_of(const RankFile& file, const fs::path& path) {
  TRY_ASSIGN(json::Window window, bytes_of(file, path));
  while (!window.ended()) TRY(window.advance(window.text().size()));
  return is_unchanged(file, window);
}

/// Time of an event, ns since 1970 or another origin.
Result<std::uint64_t> moment(std::optional<std::int64_t> ns, const RankFile& file) {
  std::int64_t sum = 0;
  if (!ns || __builtin_add_overflow(*ns, file.facts.base, &sum) || sum < 0) {
    return has_changed(file);
  }
  return static_cast<std::uint64_t>(sum);
}

/// A text from begin to end, with the numbers in it: of a file, or of a piece of one.
class TextCursor {
 public:
  explicit TextCursor(json::Window& window)
      : window_(&window), text_(window.text()), begin_(window.offset()) {}
  /// `begin`: position of the piece in the file, bytes.
  TextCursor(std::string_view piece, std::uint64_t begin) : text_(piece), begin_(begin) {}
  [[nodiscard]] std::uint64_t position() const { return begin_ + at_; }

  /// Takes the next bytes, at most so many; none at the end only. Valid until the next call.
  Result<std::string_view> take(std::uint64_t most) {
    if (at_ == text_.size() && !is_last()) TRY(advance());
    const std::string_view bytes = text_.substr(at_, most);
    at_ += bytes.size();
    return bytes;
  }
  /// Takes what may be of a decimal number. Valid until the next call.
  Result<std::string_view> number() {
    for (;;) {
      const std::string_view text = text_.substr(at_);
      std::size_t size = 0;
      while (size < text.size() && is_of_number(text[size])) ++size;
      if (size < text.size() || is_last()) {
        at_ += size;
        return text.substr(0, size);
      }
      TRY(advance());
    }
  }

 private:
  static bool is_of_number(char c) {
    return (c >= '0' && c <= '9') || std::string_view(".-+eE").find(c) != std::string_view::npos;
  }
  [[nodiscard]] bool is_last() const { return window_ == nullptr || window_->ended(); }
  Result<void> advance() {
    TRY(window_->advance(at_));
    text_ = window_->text();
    begin_ = window_->offset();
    at_ = 0;
    return {};
  }

  json::Window* window_ = nullptr;  ///< null: the text is a piece
  std::string_view text_;
  std::uint64_t begin_ = 0;
  std::size_t at_ = 0;
};

/// The rows of a file that is read again.
class RowReader {
 public:
  explicit RowReader(const RankFile& file) : file_(file) {}

  /// The position of an event's row in `rows`.
  std::uint32_t number_of(const EventText& event) {
    const Row row{event.process, event.thread};
    const std::uint32_t number = numbers_(row);
    if (number == rows.size()) rows.push_back(file_.clock_of(row));
    return number;
  }

  std::vector<RowClock> rows;

 private:
  const RankFile& file_;
  RowNumbers numbers_;
};

/// Times of an event as they stand in a text, ns without the base. Index: TimeIndex::Kind.
using StoredTimes = std::array<std::optional<std::int64_t>, TimeIndex::k_kinds>;

/// Times of events and what maps make of them. They count on where their clock was set back.
class RowTimes {
 public:
  /// `rows`: may grow.
  RowTimes(const RankFile& file, const std::vector<RowClock>& rows,
           std::span<const ClockMap> maps = {})
      : file_(file), rows_(rows), maps_(maps) {}

  /// The begin of an event, ns. `time`, `length`: as stored, without the base.
  Result<std::uint64_t> begin(std::uint32_t row, std::int64_t time, std::int64_t length) {
    TRY_ASSIGN(const std::uint64_t begin, moment(time, file_));
    const Falls& falls = clock_of(row).falls;
    if (falls.all.empty() || rows_[row].is_out_of_order) return begin;
    if (orders_.size() <= row) orders_.resize(rows_.size());
    const std::uint64_t end = static_cast<std::uint64_t>(time) + static_cast<std::uint64_t>(length);
    return begin + falls.ahead(time, orders_[row].see(time, static_cast<std::int64_t>(end)));
  }
  /// The new times; none for a request that cannot move. Errors: ErrorKind::input for a file that
  /// has changed, and for times before 1970.
  Result<StoredTimes> moved(std::uint32_t row, const StoredTimes& before) {
    const std::int64_t time = *before[0], length = before[TimeIndex::k_length].value_or(0);
    if (clock_of(row).is_none(time, length)) return before;
    TRY_ASSIGN(const std::uint64_t begin, this->begin(row, time, length));
    const ClockMap& map = maps_[rows_[row].clock];
    const std::int64_t after = map(begin);
    if (after < 0) {
      return input_error("{}: a time would move before the year 1970", file_.path.string());
    }
    StoredTimes result{after - file_.facts.base};
    if (before[TimeIndex::k_length]) {
      result[TimeIndex::k_length] = map(begin + static_cast<std::uint64_t>(length)) - after;
    }
    if (before[TimeIndex::k_issued]) {
      const Result<std::uint64_t> asked = moment(before[TimeIndex::k_issued], file_);
      if (asked) result[TimeIndex::k_issued] = map(*asked) - file_.facts.base;
    }
    return result;
  }
  [[nodiscard]] const FileClock& clock_of(std::uint32_t row) const {
    return file_.clocks[rows_[row].clock];
  }

 private:
  const RankFile& file_;
  const std::vector<RowClock>& rows_;
  std::span<const ClockMap> maps_;
  std::vector<RowOrder> orders_;  ///< where each row's clock was set back
};

constexpr std::size_t k_block = std::size_t{1} << 18;  // bytes written at once

/// Appends a text with the moved times. Calls `flush` for a block or more of `out`. Errors: those
/// of RowTimes::moved(), and of `flush`.
template <class Flush>
Result<void> append_moved(TextCursor& text, const TimeIndex& times, const RankFile& file,
                          RowTimes& mover, std::string& out, const Flush& flush) {
  TimeIndex::Reader index(times);
  TimeIndex::Entry entry;
  std::string rest;
  while (index.next(entry)) {
    StoredTimes before;
    std::array<std::pair<std::size_t, std::size_t>, TimeIndex::k_kinds> pieces;  // begin, end
    for (const auto& [at, kind] : entry.all()) {
      while (text.position() < at) {
        TRY_ASSIGN(const std::string_view bytes, text.take(at - text.position()));
        if (bytes.empty()) return has_changed(file);
        out += bytes;
      }
      bool cut = false;
      TRY_ASSIGN(const std::string_view number, text.number());
      before[kind] = parse_time(number, cut);
      if (!before[kind]) return has_changed(file);
      pieces[kind] = {out.size(), out.size() + number.size()};
      out += number;
    }
    TRY_ASSIGN(const StoredTimes after, mover.moved(entry.row, before));
    for (std::uint32_t p = entry.count; p-- > 0;) {
      const TimeIndex::Kind kind = entry.places[p].kind;
      const bool stays = after[kind] == before[kind] && kind != TimeIndex::k_issued;
      if (stays || !after[kind]) continue;
      const auto [begin, end] = pieces[kind];
      rest.assign(out, end);
      out.resize(begin);
      json::append_decimal(out, *after[kind], k_ns_per_us);
      out += rest;
    }
    if (out.size() >= k_block) TRY(flush());
  }
  for (;;) {
    TRY_ASSIGN(const std::string_view bytes, text.take(k_block));
    if (bytes.empty()) return {};
    out += bytes;
    if (out.size() >= k_block) TRY(flush());
  }
}

/// Compares texts with their copies.
class Comparison {
 public:
  Comparison(const RankFile& file, const std::vector<RowClock>& rows,
             std::span<const ClockMap> maps)
      : file_(file), times_(file, rows, maps) {}

  /// The position in the copy of the first byte, or time, that is not what it must be; empty if
  /// there is none. Errors: those of RowTimes::moved().
  Result<std::optional<std::uint64_t>> difference(TextCursor& text, TextCursor& copy,
                                                  const TimeIndex& times) {
    TimeIndex::Reader index(times);
    TimeIndex::Entry entry;
    while (index.next(entry)) {
      StoredTimes before, after;
      std::array<std::uint64_t, TimeIndex::k_kinds> begins{};  // in the copy
      for (const auto& [at, kind] : entry.all()) {
        TRY_ASSIGN(const bool equal, are_equal(text, copy, at));
        if (!equal) return equal_until_;
        begins[kind] = copy.position();
        bool cut = false;
        TRY_ASSIGN(const std::string_view old, text.number());
        before[kind] = parse_time(old, cut);
        if (!before[kind]) return has_changed(file_);
        cut = false;
        TRY_ASSIGN(const std::string_view number, copy.number());
        after[kind] = parse_time(number, cut);
        if (!after[kind]) return begins[kind];
        if (kind == TimeIndex::k_issued) continue;
        cut_times += cut ? 1 : 0;
        whole_us = whole_us && number.find_first_of(".eE") == std::string_view::npos;
      }
      TRY_ASSIGN(const StoredTimes wanted, times_.moved(entry.row, before));
      for (std::size_t kind = 0; kind < begins.size(); ++kind) {
        if ((wanted[kind] ? wanted : before)[kind] != after[kind]) return begins[kind];
      }
    }
    TRY_ASSIGN(const bool equal, are_equal(text, copy, ~std::uint64_t{0}));
    TRY_ASSIGN(const std::string_view more, copy.take(1));
    if (!equal) return equal_until_;
    if (!more.empty()) return copy.position() - 1;
    return std::nullopt;
  }

  std::uint64_t cut_times = 0;  ///< RankFile::cut_times of the copies
  bool whole_us = true;         ///< RankFile::whole_us of the copies

 private:
  /// Compares the bytes up to a position of the original.
  Result<bool> are_equal(TextCursor& text, TextCursor& copy, std::uint64_t until) {
    while (text.position() < until) {
      TRY_ASSIGN(std::string_view bytes, text.take(until - text.position()));
      if (bytes.empty()) break;
      while (!bytes.empty()) {
        TRY_ASSIGN(const std::string_view same, copy.take(bytes.size()));
        equal_until_ = copy.position() - same.size();
        if (same.empty() || !bytes.starts_with(same)) {
          const auto first = std::ranges::mismatch(same, bytes).in1;
          equal_until_ += static_cast<std::uint64_t>(first - same.begin());
          return false;
        }
        bytes.remove_prefix(same.size());
      }
    }
    return true;
  }

  const RankFile& file_;
  RowTimes times_;
  std::uint64_t equal_until_ = 0;  ///< position in the copy
};

tl::unexpected<Error> no_copy(const RankFile& file, const fs::path& copy, std::uint64_t at) {
  return output_error(
      "{} differs from the original at byte {}{}: it cannot be its copy; write to another disk",
      copy.string(), at, file.facts.packing == json::Packing::none ? "" : " of its text");
}

}  // namespace

std::string corrected_issue_time(const EventText& event, const RankFile& file, const ClockMap& map,
                                 std::int64_t base) {
  bool cut = false;
  const std::string_view time = issue_time_of(event);
  if (time.empty()) return "";
  const auto before = moment(parse_time(time, cut), file);
  return before ? time_text(map(*before) - base) : "";
}

Result<FileFacts> for_each_time(const RankFile& file, const SeeTime& see, EventSinks others) {
  RowReader reader(file);
  RowTimes times(file, reader.rows);
  const auto see_other = std::move(others.see);
  others.see = [&](const EventText& event) -> Result<void> {
    const auto see_untimed = [&] { return see_other ? see_other(event) : Result<void>(); };
    if (!event.has_time() || event.phase == "M") return see_untimed();
    bool cut = false;
    const std::uint32_t row = reader.number_of(event);
    const FileClock& clock = times.clock_of(row);
    const auto time = time_of(event, cut);
    const auto length = event.has_length() ? length_of(event, cut).value_or(0) : 0;
    if (!clock.none.empty() && clock.is_none(time.value_or(0), length)) return see_untimed();
    if (!time) return has_changed(file);
    TRY_ASSIGN(const std::uint64_t begin, times.begin(row, *time, length));
    return see({event, reader.rows[row].clock, begin, length});
  };
  TRY_ASSIGN(FileFacts facts,
             for_each_event(file.path, others, file.max_unpacked, file.facts.survey));
  if (is_text_of(file, facts.bytes, facts.hash)) return facts;
  return has_changed(file);
}

Result<void> unpack(const RankFile& file, const fs::path& to) {
  TRY_ASSIGN(json::TextWriter writer, json::TextWriter::create(to, json::Packing::none));
  TRY_ASSIGN(json::Window window, bytes_of(file));
  for (;;) {
    TRY(writer.write(window.text()));
    if (window.ended()) break;
    TRY(window.advance(window.text().size()));
  }
  if (!is_unchanged(file, window)) return has_changed(file);
  return writer.close();
}

namespace {

/// True if the copy of a file has its bytes.
bool stays(const RankFile& file, std::span<const ClockMap> maps) {
  return std::ranges::all_of(maps, &ClockMap::is_identity) &&
         std::ranges::all_of(file.clocks, [](const FileClock& clock) {
           return clock.falls.all.empty();  // else later times count on
         });
}

/// write_file() of a Perfetto trace.
Result<void> write_packets(const fs::path& to, const RankFile& file,
                           std::span<const ClockMap> maps) {
  TRY_ASSIGN(json::TextWriter writer, json::TextWriter::create(to, file.facts.packing));
  const std::vector<perfetto::Row>& rows = file.facts.survey->tracks.rows();
  std::vector<std::uint32_t> clocks;
  for (const perfetto::Row& row : rows) {
    clocks.push_back(file.clock_of({row.process, row.thread}).clock);
  }
  const auto new_time = [&](const perfetto::Row* row, std::uint32_t machine,
                            std::int64_t time) -> Result<std::int64_t> {
    std::uint32_t clock = 0;
    if (row != nullptr) {
      clock = clocks[static_cast<std::size_t>(row - rows.data())];
    } else if (const auto host = file.machines.find(machine); host != file.machines.end()) {
      clock = host->second;
    }
    // Times of packets that are no events may be anything.
    const bool is_none = row == nullptr ? time == 0 : file.clocks[clock].is_none(time);
    if (is_none || time < 0 || time > k_last_time) return time;
    const std::int64_t moved = maps[clock](static_cast<std::uint64_t>(time));
    if (moved >= 0) return moved;
    return input_error("{}: a time would move before the begin of its clock", file.path.string());
  };
  TRY_ASSIGN(const perfetto::TraceFacts facts,
             perfetto::retime(file.path, file.max_unpacked, *file.facts.survey, new_time,
                              [&](std::string_view text) { return writer.write(text); }));
  if (!is_text_of(file, facts.bytes, facts.hash)) return has_changed(file);
  return writer.close();
}

}  // namespace

Result<void> write_file(const fs::path& to, const RankFile& file, std::span<const ClockMap> maps) {
  if (stays(file, maps)) return duplicate_file(file.path, to);
  if (file.facts.survey != nullptr) return write_packets(to, file, maps);
  TRY_ASSIGN(json::TextWriter writer, json::TextWriter::create(to, file.facts.packing));
  TRY_ASSIGN(json::Window window, bytes_of(file));
  TextCursor text(window);
  RowTimes mover(file, file.times->rows, maps);
  std::string out;
  const auto flush = [&] {
    Result<void> written = writer.write(out);
    out.clear();
    return written;
  };
  TRY(append_moved(text, *file.times, file, mover, out, flush));
  TRY(flush());
  if (!is_unchanged(file, window)) return has_changed(file);
  return writer.close();
}

Result<void> check_copy(const RankFile& file, RankFile& copy, std::span<const ClockMap> maps) {
  TRY_ASSIGN(json::Window window, bytes_of(file));
  TRY_ASSIGN(json::Window other, bytes_of(file, copy.path));
  TextCursor text(window), written(other);
  Comparison comparison(file, file.times->rows, maps);
  TRY_ASSIGN(const auto differs, comparison.difference(text, written, *file.times));
  TRY_ASSIGN(const bool is_same,
             differs ? holds_text_of(file, file.path) : is_unchanged(file, window));
  if (!is_same) return has_changed(file);
  if (differs) return no_copy(file, copy.path, *differs);
  copy.cut_times = comparison.cut_times;
  copy.whole_us = comparison.whole_us;
  copy.facts.bytes = other.total();
  copy.facts.hash = other.hash();
  return {};
}

namespace {

/// write_part() of a file of JSON.
Result<void> write_json_part(const fs::path& to, const RankFile& file,
                             std::span<const ClockMap> maps) {
  TRY_ASSIGN(json::TextWriter writer, json::TextWriter::create(to, file.facts.packing));
  TimeIndex times;  // of a piece
  RowReader rows(file);
  RowTimes mover(file, rows.rows, maps);
  Comparison comparison(file, rows.rows, maps);
  std::string copy;  // of a piece
  std::uint64_t read = 0, written = 0;
  std::vector<std::pair<std::size_t, std::uint64_t>> pieces;  // sizes and hashes of copies
  const auto see = [&](const EventText& event) -> Result<void> {
    if (!event.has_time() || event.is_phase('M')) return {};
    times.add(rows.number_of(event), event, issue_time_to_move(event));
    return {};
  };
  const auto pass = [&](std::string_view text) -> Result<void> {
    copy.clear();
    if (copy.capacity() < text.size()) {
      TRY(check_memory_room(to, 2 * text.size()));
      copy.reserve(text.size() + text.size() / 8);  // times may have more digits
    }
    TextCursor original(text, read), again = original;
    TRY(append_moved(original, times, file, mover, copy, [] { return Result<void>(); }));
    TextCursor moved(copy, written);
    TRY_ASSIGN(const auto differs, comparison.difference(again, moved, times));
    if (differs) return no_copy(file, to, *differs);
    read += text.size();
    written += copy.size();
    times.clear();
    if (file.facts.packing != json::Packing::none)
      pieces.emplace_back(copy.size(), text_hash(copy));
    return writer.write(copy);
  };
  TRY_ASSIGN(const FileFacts facts,
             for_each_event(file.path, {.see = see, .pass = pass}, file.max_unpacked));
  if (!is_text_of(file, facts.bytes, facts.hash)) return has_changed(file);
  TRY(writer.close());
  if (file.facts.packing == json::Packing::none) return {};
  TRY_ASSIGN(json::TextReader reader, json::TextReader::open(to, file.max_unpacked));
  pieces.emplace_back(0, text_hash({}));  // nothing follows
  written = 0;
  for (const auto& [size, hash] : pieces) {
    copy.resize(std::max<std::size_t>(size, 1));
    TRY_ASSIGN(const std::size_t found, reader.read({copy.data(), copy.size()}));
    copy.resize(found);
    if (found != size || text_hash(copy) != hash) return no_copy(file, to, written);
    written += size;
  }
  return {};
}

/// write_part(), where what a changed file holds may be taken for another error.
Result<void> try_part(const fs::path& to, const RankFile& file, std::span<const ClockMap> maps) {
  if (stays(file, maps)) {
    TRY(duplicate_file(file.path, to));
    TRY_ASSIGN(const bool is_same, holds_text_of(file, to));
    return is_same ? Result<void>() : has_changed(file);
  }
  if (file.facts.survey == nullptr) return write_json_part(to, file, maps);
  TRY_ASSIGN(const RankFile here, read_file(file.path, file.max_unpacked));
  if (!is_text_of(file, here.facts.bytes, here.facts.hash)) return has_changed(file);
  RankFile known = file;
  known.facts.survey = here.facts.survey;
  TRY(write_packets(to, known, maps));
  TRY_ASSIGN(const RankFile written, read_file(to, file.max_unpacked));
  if (written.events == here.events && written.calls.size() == here.calls.size()) return {};
  return output_error("{} does not hold the events of {}, and was not kept; write to another disk",
                      to.filename().string(), file.path.string());
}

}  // namespace

Result<void> write_part(const fs::path& to, const RankFile& file, std::span<const ClockMap> maps) {
  Result<void> written = try_part(to, file, maps);
  if (written || written.error().kind != ErrorKind::input) return written;
  TRY_ASSIGN(const bool is_same, holds_text_of(file, file.path));
  return is_same ? written : has_changed(file);
}

}  // namespace entrain::kineto
