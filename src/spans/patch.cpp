// SPDX-License-Identifier: BSD-3-Clause
#include "spans/patch.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace entrain::spans {
namespace {

std::int64_t in_units(std::int64_t time, std::uint32_t unit) { return (time + unit / 2) / unit; }

}  // namespace

Result<std::string> patched(std::string_view text, std::span<const Stamp> stamps,
                            std::span<const ClockMap> maps) {
  std::string result;
  result.reserve(text.size());
  std::size_t done = 0;
  for (const Stamp& stamp : stamps) {
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
  result += text.substr(done);
  return result;
}

}  // namespace entrain::spans
