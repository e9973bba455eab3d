// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <entrain/error.hpp>

namespace entrain::net {

/// Time in a network, exact. A clock that is 1 ppm too slow loses 1 fs per ns, so femtoseconds keep
/// the character period of a drifting interface exact; picoseconds would not. 64 bits last for two
/// and a half hours of simulated time.
using Femtoseconds = std::chrono::duration<std::int64_t, std::femto>;

inline constexpr std::int64_t k_fs_per_ns = 1'000'000;

constexpr double ns_of(Femtoseconds time) {
  return static_cast<double>(time.count()) / static_cast<double>(k_fs_per_ns);
}
constexpr double seconds_of(Femtoseconds time) { return static_cast<double>(time.count()) * 1e-15; }

/// Reads "17ns", "6.25 ns", "12.5us", "250ps", "1fs", "0.1ms", "2s": 0 to 1000 s, no finer than
/// femtoseconds. Errors: ErrorKind::usage; the message is the end of a sentence that begins with
/// the text ("has no unit ...").
Result<Femtoseconds> parse_time(std::string_view text);

/// Reads the time of one flit of `flit_bytes` on a link: a time as above, or the rate of the link
/// in bits per second ("1.28Gbps", "640Mbps", "0.4Tbps"), above 0. Rounded to femtoseconds. E.g.
/// "1.28Gbps" with flits of one byte is 6.25 ns.
Result<Femtoseconds> parse_period(std::string_view text, std::int64_t flit_bytes);

/// Reads a drift rate, "300ppm" or "50ppb", 0 to 10,000 ppm; the result is in parts per billion.
Result<std::int64_t> parse_drift_ppb(std::string_view text);

/// Reads a whole number from `least` to `most`.
Result<std::int64_t> parse_whole(std::string_view text, std::int64_t least, std::int64_t most);

/// `time` in the unit that is `unit` long, with `decimals` places, rounded half away from zero.
/// E.g. decimal_text(237480000fs, 1us, 3) is "0.237".
std::string decimal_text(Femtoseconds time, Femtoseconds unit, int decimals);

/// The fraction dividend / divisor with `decimals` places, cut off or rounded half up. Both >= 0,
/// divisor > 0.
std::string ratio_text(std::int64_t dividend, std::int64_t divisor, int decimals, bool truncated);

}  // namespace entrain::net
