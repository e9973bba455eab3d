// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/rewrite.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/json/document.hpp"
#include "formats/json/text_file.hpp"
#include "formats/json/window.hpp"
#include "formats/kineto/arrows.hpp"
#include "formats/kineto/packet_events.hpp"
#include "formats/recording.hpp"

namespace entrain::kineto {

namespace fs = std::filesystem;

tl::unexpected<Error> has_changed(const RankFile& file) {
  return formats::has_changed(file.path, file.was_summarised);
}

namespace {

/// Replacement of a piece of a text.
struct Change {
  std::string_view piece;
  std::string with;
};

/// Applies changes to a part of a text that contains all their pieces.
std::string patched(std::string_view text, const std::vector<Change>& changes) {
  std::vector<json::Replacement> replacements;
  replacements.reserve(changes.size());
  for (const Change& change : changes) {
    replacements.push_back({.at = static_cast<std::size_t>(change.piece.data() - text.data()),
                            .size = change.piece.size(),
                            .with = change.with});
  }
  std::sort(replacements.begin(), replacements.end(),
            [](const auto& a, const auto& b) { return a.at < b.at; });
  return json::patch(text, replacements);
}

/// Time of an event, ns since 1970 or another origin.
Result<std::uint64_t> moment(std::optional<std::int64_t> ns, const RankFile& file) {
  std::int64_t sum = 0;
  if (!ns || __builtin_add_overflow(*ns, file.facts.base, &sum) || sum < 0) {
    return has_changed(file);
  }
  return static_cast<std::uint64_t>(sum);
}

/// Numbers and hash of times as a file holds them, ns without the base.
struct StoredTimes {
  formats::FileFingerprint fingerprint{};

  void add(std::int64_t time, std::int64_t length) {
    fingerprint.add(static_cast<std::uint64_t>(time));
    fingerprint.add(static_cast<std::uint64_t>(length));
  }
};

/// The times of a file that was written like `file`.
Result<StoredTimes> stored_times(const fs::path& path, const RankFile& file) {
  StoredTimes times;
  const auto see = [&](const EventText& event) -> Result<void> {
    if (!event.has_time() || event.phase == "M") return {};
    if (has_no_time(file.clocks[clock_of(file, event)], event)) return {};
    bool cut = false;
    times.add(time_of(event, cut).value_or(-1),
              event.has_length() ? length_of(event, cut).value_or(-1) : 0);
    return {};
  };
  TRY(for_each_event(path, {.see = see}, file.max_unpacked));
  return times;
}

/// Writes a file of JSON; `times`: those that it then holds.
Result<void> write_json(const fs::path& to, const RankFile& file, std::span<const ClockMap> maps,
                        StoredTimes& times) {
  TRY_ASSIGN(json::TextWriter writer, json::TextWriter::create(to, file.facts.packing));
  std::vector<Change> changes;
  const auto replace = [&changes](std::string_view piece, std::int64_t before, std::int64_t after) {
    if (before != after) changes.push_back({piece, time_text(after)});
  };
  const auto see = [&](const EventText& event, std::uint32_t clock, std::uint64_t begin,
                       std::int64_t duration) -> Result<void> {
    const ClockMap& map = maps[clock];
    const std::int64_t moved = map(begin);
    bool cut = false;
    const std::int64_t stored = parse_time(event.time, cut).value_or(0);
    if (moved < 0) {
      return fail(ErrorKind::input,
                  fmt::format("{}: a time would move before the year 1970", file.path.string()));
    }
    replace(event.time, stored, moved - file.facts.base);
    const std::string issued = corrected_issue_time(event, file, map, file.facts.base);
    if (!issued.empty()) changes.push_back({issue_time_of(event), issued});
    const std::int64_t length =
        event.has_length() ? map(begin + static_cast<std::uint64_t>(duration)) - moved : 0;
    times.add(moved - file.facts.base, length);
    if (event.has_length()) replace(event.duration, duration, length);
    return {};
  };
  const auto pass = [&](std::string_view text) -> Result<void> {
    TRY(writer.write(patched(text, changes)));
    changes.clear();
    return {};
  };
  TRY(for_each_time(file, see, {.pass = pass}));
  return writer.close();
}

bool are_identities(std::span<const ClockMap> maps) {
  return std::ranges::all_of(maps, [](const ClockMap& map) { return map.is_identity(); });
}

tl::unexpected<Error> is_no_copy(const fs::path& written, const RankFile& file) {
  return fail(ErrorKind::output,
              fmt::format("{} does not hold the events of {} with their new times, and was not "
                          "kept; write to another disk",
                          written.filename().string(), file.path.string()));
}

/// write_part() of a Perfetto trace: what was learned of its packets was left out of the summary.
Result<void> write_packets_of_part(const fs::path& to, const RankFile& file,
                                   std::span<const ClockMap> maps) {
  TRY_ASSIGN(const RankFile here, read_file(file.path, file.max_unpacked));
  if (here.facts.hash != file.facts.hash || here.facts.bytes != file.facts.bytes) {
    return has_changed(file);
  }
  RankFile known = file;
  known.facts.survey = here.facts.survey;
  TRY(are_identities(maps) ? duplicate_file(file.path, to) : write_packets(to, known, maps));
  TRY_ASSIGN(const RankFile written, read_file(to, file.max_unpacked));
  const bool is_copy = written.events == here.events && written.calls.size() == here.calls.size();
  return is_copy ? Result<void>() : is_no_copy(to, file);
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
  const auto see_other = std::move(others.see);
  others.see = [&](const EventText& event) -> Result<void> {
    const bool has_time = event.has_time() && event.phase != "M";
    const std::uint32_t clock = has_time ? clock_of(file, event) : 0;
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
  if (window.hash() != file.facts.hash || window.total() != file.facts.bytes) {
    return has_changed(file);
  }
  return writer.close();
}

Result<void> write_file(const fs::path& to, const RankFile& file, std::span<const ClockMap> maps) {
  if (are_identities(maps)) return duplicate_file(file.path, to);
  if (file.facts.survey != nullptr) return write_packets(to, file, maps);
  StoredTimes times;
  return write_json(to, file, maps, times);
}

Result<void> write_part(const fs::path& to, const RankFile& file, std::span<const ClockMap> maps) {
  if (file.facts.survey != nullptr) return write_packets_of_part(to, file, maps);
  if (are_identities(maps)) {
    const auto nothing = [](auto&&...) -> Result<void> { return {}; };
    TRY(for_each_time(file, nothing));  // refuses a file that has changed
    return duplicate_file(file.path, to);
  }
  StoredTimes times;
  TRY(write_json(to, file, maps, times));
  TRY_ASSIGN(const StoredTimes written, stored_times(to, file));
  return written.fingerprint == times.fingerprint ? Result<void>() : is_no_copy(to, file);
}

}  // namespace entrain::kineto
