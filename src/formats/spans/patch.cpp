// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/source_text.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/try.hpp"
#include "formats/json/strings.hpp"

namespace entrain::spans {
namespace {

constexpr std::int64_t k_ns_per_ms = 1'000'000;

/// The nearest time that can be written: in its unit, or in ns.
std::int64_t rounded(std::int64_t time, const Stamp& stamp) {
  return nearest(time, stamp.fine ? 1 : stamp.unit);
}

/// The 8 bytes of a number, the lowest first.
std::string fixed64_text(std::uint64_t number) {
  std::string text(sizeof number, '\0');
  for (char& byte : text) byte = static_cast<char>(std::exchange(number, number >> 8) & 0xFF);
  return text;
}

/// New digits of a stamp; empty if they stay.
std::string text_of(const Stamp& stamp, std::int64_t time, std::int64_t since) {
  if (stamp.truncated) {
    const std::int64_t ms = rounded(time, stamp) / k_ns_per_ms;
    return ms == static_cast<std::int64_t>(stamp.time) / k_ns_per_ms ? "" : std::to_string(ms);
  }
  const bool is_length = stamp.since != k_no_length;
  const std::uint64_t before = stamp.time - (is_length ? stamp.since : 0);
  const std::int64_t after =
      std::max<std::int64_t>(rounded(time, stamp) - (is_length ? rounded(since, stamp) : 0), 0);
  if (after == static_cast<std::int64_t>(before)) return "";
  if (stamp.form == Stamp::Form::fixed64) return fixed64_text(static_cast<std::uint64_t>(after));
  return json::decimal_text(after, stamp.unit);
}

/// Appends the attribute to a text of JSON, with a list around it if there is none, and the comma
/// after it.
void add_attribute(const Mark& mark, std::int64_t offset, std::string& text) {
  struct Syntax {
    std::string_view open, before, after, close;  // of the list; around the number
  };
  constexpr std::array<Syntax, 4> k_syntax{
      {// index: Mark::Form
       {R"("attributes":[)", R"({"key":"entrain.offset_ns","value":{"intValue":")", R"("}})", "]"},
       {R"("tags":[)", R"({"key":"entrain.offset_ns","type":"int64","value":)", "}", "]"},
       {R"("tags":{)", R"("entrain.offset_ns":")", R"(")", "}"},
       {R"("binaryAnnotations":[)", R"({"key":"entrain.offset_ns","value":")", R"("})", "]"}}};
  const Syntax& syntax = k_syntax[static_cast<std::size_t>(mark.form)];
  fmt::format_to(std::back_inserter(text), "{}{}{}{}{}{}", mark.in_list ? "" : syntax.open,
                 syntax.before, offset, syntax.after, mark.in_list ? "" : syntax.close,
                 mark.alone ? "" : ",");
}

}  // namespace

Result<std::string> patched(std::string_view text, std::span<const Stamp> stamps,
                            std::span<const ClockMap> maps, std::span<const Mark> marks,
                            std::span<std::size_t> sizes) {
  std::string result;
  result.reserve(text.size());
  std::size_t done = 0;
  std::size_t part_end = sizes.empty() ? 0 : sizes.front(), new_begin = 0;
  const auto keep_until = [&](std::size_t at) {
    while (!sizes.empty() && part_end <= at) {
      const std::size_t new_end = result.size() + part_end - done;
      sizes.front() = new_end - std::exchange(new_begin, new_end);
      sizes = sizes.subspan(1);
      if (!sizes.empty()) part_end += sizes.front();
    }
    result += text.substr(done, at - done);
  };
  auto mark = marks.begin();
  const auto add_marks = [&](std::size_t before) {
    for (; mark != marks.end() && mark->at <= before; ++mark) {
      const std::int64_t offset =
          maps[mark->clock](mark->time) - static_cast<std::int64_t>(mark->time);
      if (offset == 0) continue;
      keep_until(mark->at);
      add_attribute(*mark, offset, result);
      done = mark->at;
    }
  };
  for (const Stamp& stamp : stamps) {
    add_marks(stamp.at);
    const ClockMap& map = maps[stamp.clock];
    const std::int64_t time = map(stamp.time);
    const bool is_length = stamp.since != k_no_length;
    const std::int64_t since = is_length ? map(stamp.since) : 0;
    if (time < 0 || since < 0) {
      return input_error("byte {}: the time {} would become negative; is it one?", stamp.at,
                         stamp.form == Stamp::Form::fixed64
                             ? std::to_string(stamp.time)
                             : json::excerpt(text.substr(stamp.at, stamp.size)));
    }
    const bool is_cell = stamp.form == Stamp::Form::cell;
    const bool stays = time == static_cast<std::int64_t>(stamp.time) &&
                       (!is_length || since == static_cast<std::int64_t>(stamp.since));
    if (is_cell && stays) continue;
    const std::string with = is_cell
                                 ? cell_text(stamp, text.substr(stamp.at, stamp.size), time, since)
                                 : text_of(stamp, time, since);
    if (with.empty()) continue;
    keep_until(stamp.at);
    result += with;
    done = stamp.at + stamp.size;
  }
  add_marks(text.size());
  keep_until(text.size());
  return result;
}

}  // namespace entrain::spans
