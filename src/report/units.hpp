// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace entrain::report {

/// Ticks as seconds. Exact to a double's 53 bits. A resolution of 0 counts as 1.
double seconds_of(std::int64_t ticks, std::uint64_t resolution_hz);
double seconds_of(std::uint64_t ticks, std::uint64_t resolution_hz);
double seconds_of(double ticks, std::uint64_t resolution_hz);

/// A duration with three to four significant digits and the unit that suits it: s, ms, us or ns.
/// E.g. "-92.10 us". Below half a picosecond, but not 0: "~0 s". Not finite: "n/a".
std::string format_duration(double seconds);

/// The same for a duration in ticks.
std::string format_ticks(std::int64_t ticks, std::uint64_t resolution_hz);
std::string format_ticks(double ticks, std::uint64_t resolution_hz);

/// A point in time in seconds, with every digit that the resolution has (at most nanoseconds).
/// E.g. "1700000000.123456789 s".
std::string format_time(std::int64_t ticks, std::uint64_t resolution_hz);

/// "1,234,567".
std::string format_count(std::uint64_t count);

/// A fraction as percent, e.g. "4.246 %"; what is above 0 never reads as 0, what is below 1 never
/// as 100 %. Not finite: "n/a".
std::string format_share(double share);

/// `part` of `whole`, 0 of nothing.
double share_of(std::uint64_t part, std::uint64_t whole);

/// "131.2 MiB".
std::string format_bytes(std::uint64_t bytes);

/// "2.7 GHz".
std::string format_frequency(std::uint64_t hz);

/// "1 message", "2 messages". `plural`: null for the singular and an s.
std::string format_number_of(std::uint64_t count, const char* singular,
                             const char* plural = nullptr);

}  // namespace entrain::report
