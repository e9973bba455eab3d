// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/rewrite.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/json/strings.hpp"
#include "formats/json/text_file.hpp"
#include "formats/json/window.hpp"
#include "formats/kineto/arrows.hpp"
#include "formats/kineto/packet_events.hpp"
#include "formats/kineto/recent_rows.hpp"
#include "formats/recording.hpp"

namespace entrain::kineto {

namespace fs = std::filesystem;

tl::unexpected<Error> has_changed(const RankFile& file) {
  return formats::has_changed(file.path, file.was_summarised);
}

namespace {

bool is_unchanged(const RankFile& file, const json::Window& window) {
  return window.hash() == file.facts.hash && window.total() == file.facts.bytes;
}

/// Time of an event, ns since 1970 or another origin.
Result<std::uint64_t> moment(std::optional<std::int64_t> ns, const RankFile& file) {
  std::int64_t sum = 0;
  if (!ns || __builtin_add_overflow(*ns, file.facts.base, &sum) || sum < 0) {
    return has_changed(file);
  }
  return static_cast<std::uint64_t>(sum);
}

/// The text of a file from begin to end, with the numbers in it.
class TextCursor {
 public:
  static Result<TextCursor> open(const fs::path& path, std::uint64_t max_unpacked) {
    TRY_ASSIGN(json::Window window, json::Window::open(path, max_unpacked, json::Content::bytes));
    return TextCursor(std::move(window));
  }
  [[nodiscard]] std::uint64_t position() const { return window_.offset() + at_; }
  [[nodiscard]] const json::Window& window() const { return window_; }

  /// Takes the next bytes, at most so many; none at the end only. Valid until the next call.
  Result<std::string_view> take(std::uint64_t most) {
    if (at_ == window_.text().size() && !window_.ended()) TRY(advance());
    const std::string_view bytes = window_.text().substr(at_, most);
    at_ += bytes.size();
    return bytes;
  }
  /// Takes what may be of a decimal number. Valid until the next call.
  Result<std::string_view> number() {
    for (;;) {
      const std::string_view text = window_.text().substr(at_);
      std::size_t size = 0;
      while (size < text.size() && is_of_number(text[size])) ++size;
      if (size < text.size() || window_.ended()) {
        at_ += size;
        return text.substr(0, size);
      }
      TRY(advance());
    }
  }

 private:
  explicit TextCursor(json::Window window) : window_(std::move(window)) {}
  static bool is_of_number(char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; }
  Result<void> advance() {
    TRY(window_.advance(at_));
    at_ = 0;
    return {};
  }

  json::Window window_;
  std::size_t at_ = 0;
};

/// Times of an event as they stand in a text, ns without the base.
struct StoredTimes {
  std::array<std::int64_t, TimeIndex::k_kinds> of{};  ///< index: TimeIndex::Kind
  std::array<bool, TimeIndex::k_kinds> has{};

  [[nodiscard]] std::int64_t time() const { return of[0]; }
  [[nodiscard]] std::int64_t length() const { return of[1]; }
  [[nodiscard]] std::int64_t issued() const { return of[2]; }
};

/// A clock map at times that lie near each other, in any order.
class NearMap {
 public:
  explicit NearMap(const ClockMap& map) : map_(&map) {}
  std::int64_t operator()(std::uint64_t local) {
    if (map_->knots().size() <= 2) return (*map_)(local);
    if (local <= after_ || local > until_) move_to(local);
    return segment_(local);
  }

 private:
  void move_to(std::uint64_t local) {
    const std::span<const ClockKnot> knots = map_->knots();
    const auto end = std::lower_bound(
        knots.begin() + 1, knots.end() - 1, local,
        [](const ClockKnot& knot, std::uint64_t time) { return knot.local < time; });
    after_ = end == knots.begin() + 1 ? 0 : (end - 1)->local;
    until_ = end == knots.end() - 1 ? ~std::uint64_t{0} : end->local;
    segment_ = *ClockMap::from_knots({*(end - 1), *end});
  }

  const ClockMap* map_;
  ClockMap segment_;  ///< holds behind `after_`, up to `until_`
  std::uint64_t after_ = 0, until_ = 0;
};

/// Computes the new times of events, one after the other. `Map`: evaluates a ClockMap.
template <class Map>
class Mover {
 public:
  Mover(const RankFile& file, std::span<const ClockMap> maps)
      : file_(file), maps_(maps.begin(), maps.end()), orders_(file.times->rows.size()) {}

  /// The new times; those that `before` has not mean nothing. Errors: ErrorKind::input for a file
  /// that has changed, and for times before 1970.
  Result<StoredTimes> moved(std::uint32_t row, const StoredTimes& before) {
    const TimeIndex::RowFacts& facts = file_.times->rows[row];
    const FileClock& clock = file_.clocks[facts.clock];
    if (clock.zero_is_none && before.time() == 0) return before;
    TRY_ASSIGN(std::uint64_t begin, moment(before.time(), file_));
    if (!clock.falls.all.empty() && !facts.is_out_of_order) {
      begin += ahead(row, before.time(), before.length(), clock.falls);
    }
    Map& map = maps_[facts.clock];
    const std::int64_t after = map(begin);
    if (after < 0) {
      return fail(ErrorKind::input,
                  fmt::format("{}: a time would move before the year 1970", file_.path.string()));
    }
    StoredTimes result = before;
    result.of[0] = after - file_.facts.base;
    if (before.has[1]) {
      result.of[1] = map(begin + static_cast<std::uint64_t>(before.length())) - after;
    }
    if (before.has[2]) {
      const Result<std::uint64_t> asked = moment(before.issued(), file_);
      result.has[2] = asked.has_value();
      if (asked) result.of[2] = map(*asked) - file_.facts.base;
    }
    return result;
  }

 private:
  std::uint64_t ahead(std::uint32_t row, std::int64_t time, std::int64_t length,
                      const Falls& falls) {
    const std::uint64_t end = static_cast<std::uint64_t>(time) + static_cast<std::uint64_t>(length);
    return falls.ahead(time, orders_[row].see(time, static_cast<std::int64_t>(end)));
  }

  const RankFile& file_;
  std::vector<Map> maps_;
  std::vector<RowOrder> orders_;  ///< of each row, where its clock was set back
};

}  // namespace

std::string corrected_issue_time(const EventText& event, const RankFile& file, const ClockMap& map,
                                 std::int64_t base) {
  bool cut = false;
  const std::string_view time = issue_time_of(event);
  if (time.empty()) return "";
  const auto before = moment(parse_time(time, cut), file);
  return before ? time_text(map(*before) - base) : "";
}

Result<void> for_each_time(const RankFile& file, const SeeTime& see) {
  TRY(for_each_time(file, see, {}));
  return {};
}

Result<FileFacts> for_each_time(const RankFile& file, const SeeTime& see, EventSinks others) {
  std::map<RowOf<std::string>, RowOrder, IsRowBefore> orders;  // of clocks that were set back
  const auto ahead = [&](const EventText& event, std::int64_t length, const Falls& falls) {
    bool cut = false;
    const std::int64_t time = time_of(event, cut).value_or(0);
    const Row row{event.process, event.thread};
    auto at = orders.find(row);
    if (at == orders.end()) {
      const RowOf<std::string> own{std::string(row.process), std::string(row.thread)};
      at = orders.emplace(own, RowOrder()).first;
    }
    const std::uint64_t end = static_cast<std::uint64_t>(time) + static_cast<std::uint64_t>(length);
    return falls.ahead(time, at->second.see(time, static_cast<std::int64_t>(end)));
  };
  RecentRows<std::uint32_t> recent;
  const auto clock_of_event = [&](const EventText& event) {
    const Row row{event.process, event.thread};
    if (const std::uint32_t* const known = recent.find(row)) return *known;
    const std::uint32_t clock = clock_of(file, event);
    recent.keep(row, clock);
    return clock;
  };
  const auto see_other = std::move(others.see);
  others.see = [&](const EventText& event) -> Result<void> {
    const bool has_time = event.has_time() && event.phase != "M";
    const std::uint32_t clock = has_time ? clock_of_event(event) : 0;
    if (!has_time || has_no_time(file.clocks[clock], event)) {
      return see_other ? see_other(event) : Result<void>();
    }
    bool cut = false;
    TRY_ASSIGN(std::uint64_t begin, moment(time_of(event, cut), file));
    const Falls& falls = file.clocks[clock].falls;
    const auto is_apart = [&] {
      return clock == 0 && file.rows.contains(Row{event.process, event.thread});
    };
    const auto length = event.has_length() ? length_of(event, cut).value_or(0) : 0;
    if (!falls.all.empty() && !is_apart()) begin += ahead(event, length, falls);
    return see(event, clock, begin, length);
  };
  TRY_ASSIGN(FileFacts facts,
             for_each_event(file.path, others, file.max_unpacked, file.facts.survey));
  if (facts.hash == file.facts.hash && facts.bytes == file.facts.bytes) return facts;
  return has_changed(file);
}

Result<void> unpack(const RankFile& file, const fs::path& to) {
  TRY_ASSIGN(json::TextWriter writer, json::TextWriter::create(to, json::Packing::none));
  TRY_ASSIGN(json::Window window,
             json::Window::open(file.path, file.max_unpacked, json::Content::bytes));
  for (;;) {
    TRY(writer.write(window.text()));
    if (window.ended()) break;
    TRY(window.advance(window.text().size()));
  }
  if (!is_unchanged(file, window)) return has_changed(file);
  return writer.close();
}

Result<void> write_file(const fs::path& to, const RankFile& file, std::span<const ClockMap> maps) {
  const bool stays = std::ranges::all_of(maps, &ClockMap::is_identity) &&
                     std::ranges::all_of(file.clocks, [](const FileClock& clock) {
                       return clock.falls.all.empty();  // else later times count on
                     });
  if (stays) return duplicate_file(file.path, to);
  if (file.facts.survey != nullptr) return write_packets(to, file, maps);
  constexpr std::size_t k_block = std::size_t{1} << 18;  // bytes written at once
  TRY_ASSIGN(json::TextWriter writer, json::TextWriter::create(to, file.facts.packing));
  TRY_ASSIGN(TextCursor text, TextCursor::open(file.path, file.max_unpacked));
  Mover<NearMap> mover(file, maps);
  TimeIndex::Reader index(*file.times);
  TimeIndex::Entry entry;
  std::string out, rest;
  while (index.next(entry)) {
    StoredTimes before;
    std::array<std::pair<std::size_t, std::size_t>, TimeIndex::k_kinds> pieces;  // begin, end
    for (const TimeIndex::Place& place : entry.all()) {
      while (text.position() < place.at) {
        TRY_ASSIGN(const std::string_view bytes, text.take(place.at - text.position()));
        if (bytes.empty()) return has_changed(file);
        out += bytes;
      }
      TRY_ASSIGN(const std::string_view number, text.number());
      const auto kind = static_cast<std::size_t>(place.kind);
      bool cut = false;
      const auto value = parse_time(number, cut);
      if (!value) return has_changed(file);
      before.of[kind] = *value;
      before.has[kind] = true;
      pieces[kind] = {out.size(), out.size() + number.size()};
      out += number;
    }
    TRY_ASSIGN(const StoredTimes after, mover.moved(entry.row, before));
    for (std::uint32_t p = entry.count; p-- > 0;) {
      const auto kind = static_cast<std::size_t>(entry.places[p].kind);
      const bool is_changed = after.of[kind] != before.of[kind];
      if (!is_changed && (entry.places[p].kind != TimeIndex::Kind::issued || !after.has[kind])) {
        continue;
      }
      const auto [begin, end] = pieces[kind];
      rest.assign(out, end);
      out.resize(begin);
      json::append_decimal(out, after.of[kind], k_ns_per_us);
      out += rest;
    }
    if (out.size() < k_block) continue;
    TRY(writer.write(out));
    out.clear();
  }
  for (std::string_view bytes = out;;) {
    TRY(writer.write(bytes));
    TRY_ASSIGN(bytes, text.take(k_block));
    if (bytes.empty()) break;
  }
  if (!is_unchanged(file, text.window())) return has_changed(file);
  return writer.close();
}

Result<CopyFacts> check_copy(const RankFile& file, const fs::path& copy,
                             std::span<const ClockMap> maps) {
  TRY_ASSIGN(TextCursor text, TextCursor::open(file.path, file.max_unpacked));
  TRY_ASSIGN(TextCursor other, TextCursor::open(copy, file.max_unpacked));
  Mover<ClockMap> mover(file, maps);
  TimeIndex::Reader index(*file.times);
  TimeIndex::Entry entry;
  CopyFacts facts;
  const auto differs = [&](std::uint64_t at) -> Result<CopyFacts> {
    for (std::string_view rest = "more"; !rest.empty();) {
      TRY_ASSIGN(rest, text.take(~std::uint64_t{0}));
    }
    if (!is_unchanged(file, text.window())) return has_changed(file);
    return fail(ErrorKind::output,
                fmt::format("{} differs from the original at byte {}{}: it cannot be its copy; "
                            "write to another disk",
                            copy.string(), at,
                            file.facts.packing == json::Packing::none ? "" : " of its text"));
  };
  std::uint64_t equal_until = 0;  // position in the copy
  /// Compares the bytes up to a position of the original.
  const auto are_equal = [&](std::uint64_t until) -> Result<bool> {
    while (text.position() < until) {
      TRY_ASSIGN(std::string_view bytes, text.take(until - text.position()));
      if (bytes.empty()) break;
      while (!bytes.empty()) {
        TRY_ASSIGN(const std::string_view same, other.take(bytes.size()));
        const auto first = std::ranges::mismatch(same, bytes).in1;
        equal_until = other.position() - static_cast<std::uint64_t>(same.end() - first);
        if (same.empty() || first != same.end()) return false;
        bytes.remove_prefix(same.size());
      }
    }
    return true;
  };
  while (index.next(entry)) {
    StoredTimes before, after;
    std::array<std::uint64_t, TimeIndex::k_kinds> begins{};  // in the copy
    for (const TimeIndex::Place& place : entry.all()) {
      TRY_ASSIGN(const bool equal, are_equal(place.at));
      if (!equal) return differs(equal_until);
      const auto kind = static_cast<std::size_t>(place.kind);
      TRY_ASSIGN(const std::string_view number, text.number());
      bool cut = false;
      const auto value = parse_time(number, cut);
      if (!value) return has_changed(file);
      before.of[kind] = *value;
      before.has[kind] = true;
      begins[kind] = other.position();
      TRY_ASSIGN(const std::string_view written, other.number());
      cut = false;
      const auto new_value = parse_time(written, cut);
      if (!new_value) return differs(begins[kind]);
      after.of[kind] = *new_value;
      if (place.kind == TimeIndex::Kind::issued) continue;
      facts.cut_times += cut ? 1 : 0;
      facts.whole_us = facts.whole_us && written.find('.') == std::string_view::npos;
    }
    TRY_ASSIGN(const StoredTimes wanted, mover.moved(entry.row, before));
    for (std::size_t kind = 0; kind < begins.size(); ++kind) {
      if (wanted.of[kind] != after.of[kind]) return differs(begins[kind]);
    }
  }
  TRY_ASSIGN(const bool equal, are_equal(~std::uint64_t{0}));
  TRY_ASSIGN(const std::string_view more, other.take(1));
  if (!equal) return differs(equal_until);
  if (!more.empty()) return differs(other.position() - 1);
  if (!is_unchanged(file, text.window())) return has_changed(file);
  facts.bytes = other.window().total();
  facts.hash = other.window().hash();
  return facts;
}

Result<void> write_part(const fs::path& to, const RankFile& file, std::span<const ClockMap> maps) {
  TRY_ASSIGN(const RankFile here, read_file(file.path, file.max_unpacked));
  if (here.facts.hash != file.facts.hash || here.facts.bytes != file.facts.bytes ||
      here.clocks.size() > file.clocks.size()) {
    return has_changed(file);
  }
  RankFile known = file;
  known.facts.survey = here.facts.survey;
  known.times = here.times;
  TRY(write_file(to, known, maps));
  if (known.times != nullptr) {
    TRY(check_copy(known, to, maps));
    return {};
  }
  TRY_ASSIGN(const RankFile written, read_file(to, file.max_unpacked));
  if (written.events == here.events && written.calls.size() == here.calls.size()) return {};
  return fail(ErrorKind::output,
              fmt::format("{} does not hold the events of {}, and was not kept; write to another "
                          "disk",
                          to.filename().string(), file.path.string()));
}

}  // namespace entrain::kineto
