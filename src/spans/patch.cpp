// SPDX-License-Identifier: BSD-3-Clause
#include "spans/patch.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace entrain::spans {
namespace {

std::int64_t in_units(std::int64_t time, std::uint32_t unit) { return (time + unit / 2) / unit; }

/// With the comma to what follows, and the list around it where there is none yet.
void add_attribute(const Mark& mark, std::int64_t offset, std::string& text) {
  const auto out = std::back_inserter(text);
  const char* const comma = mark.alone ? "" : ",";
  const bool list = !mark.in_list;
  switch (mark.form) {
    case Mark::Form::otlp:
      fmt::format_to(out, R"({}{{"key":"entrain.offset_ns","value":{{"intValue":"{}"}}}}{}{})",
                     list ? R"("attributes":[)" : "", offset, list ? "]" : "", comma);
      break;
    case Mark::Form::jaeger:
      fmt::format_to(out, R"({}{{"key":"entrain.offset_ns","type":"int64","value":{}}}{}{})",
                     list ? R"("tags":[)" : "", offset, list ? "]" : "", comma);
      break;
    case Mark::Form::old_zipkin:
      fmt::format_to(out, R"({}{{"key":"entrain.offset_ns","value":"{}"}}{}{})",
                     list ? R"("binaryAnnotations":[)" : "", offset, list ? "]" : "", comma);
      break;
    case Mark::Form::zipkin:
      fmt::format_to(out, R"({}"entrain.offset_ns":"{}"{}{})", list ? R"("tags":{)" : "", offset,
                     list ? "}" : "", comma);
      break;
  }
}

}  // namespace

Result<std::string> patched(std::string_view text, std::span<const Stamp> stamps,
                            std::span<const ClockMap> maps, std::span<const Mark> marks) {
  std::string result;
  result.reserve(text.size());
  std::size_t done = 0;
  auto mark = marks.begin();
  const auto add_marks = [&](std::size_t before) {
    for (; mark != marks.end() && mark->at <= before; ++mark) {
      const std::int64_t offset =
          maps[mark->clock](mark->time) - static_cast<std::int64_t>(mark->time);
      if (offset == 0) continue;
      result += text.substr(done, mark->at - done);
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
      return fail(ErrorKind::input,
                  fmt::format("byte {}: the time {} would become negative; is it one?", stamp.at,
                              text.substr(stamp.at, stamp.size)));
    }
    result += text.substr(done, stamp.at - done);
    const std::int64_t units = in_units(time, stamp.unit) - in_units(since, stamp.unit);
    result += std::to_string(std::max<std::int64_t>(units, 0));
    done = stamp.at + stamp.size;
  }
  add_marks(text.size());
  result += text.substr(done);
  return result;
}

}  // namespace entrain::spans
