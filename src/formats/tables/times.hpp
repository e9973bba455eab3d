// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace entrain::tables {

/// Largest stamp, ticks: a difference of two corrected times then fits into 64 bits. In nanoseconds
/// the year 2116.
inline constexpr std::uint64_t k_most_stamp = std::uint64_t{1} << 62;

/// Unit of the numbers in a column of times.
enum class Unit : std::uint8_t {
  unnamed,  ///< ticks if they are whole, else seconds
  ticks,
  s,
  ms,
  us,
  ns
};

/// The unit of a word: ticks, s, ms, us or ns.
std::optional<Unit> unit_named(std::string_view word);
/// The unit at the end of a name: `us` of send_us; `unnamed` if there is none.
Unit unit_of_column(std::string_view name);

/// How a time is written.
enum class Notation : std::uint8_t { none, whole, decimal, local_date, date };
inline constexpr std::size_t k_notations = 5;
inline constexpr std::string_view k_mixed_zones =
    "dates with a time zone and without one are mixed, and nothing tells the zone of the latter";
/// True for a number of 2^63 to 2^64 - 1: a negative one that was stored without its sign.
bool is_negative_without_sign(std::string_view text);
/// Decimals of a time; 0 if it is none.
int decimals_of(std::string_view text);

/// Turns times as tables hold them into ticks and back, without losing a digit: whole numbers,
/// decimals, and dates by ISO 8601 or as web servers log them (without an offset they are UTC),
/// which count from 1970.
///
/// Example: with 10^9 ticks per second "1.5" is 1500000000 ticks, and so is
/// "1970-01-01 02:00:01,5+02:00". In the notation of the latter 2500000000 ticks are
/// "1970-01-01 02:00:02,5+02:00".
class Times {
 public:
  Times(std::uint64_t ticks_per_second, Unit unit) : hz_(ticks_per_second), unit_(unit) {}

  /// Parses a time of 0 to 2^62 ticks; Notation::none, with the reason in `why`: "is negative",
  /// or has digits beyond a tick.
  Notation parse(std::string_view text, std::uint64_t& ticks, std::string& why) const;
  /// Parses the time from one stamp to another, more than -2^62 and less than 2^62 ticks.
  bool parse_distance(std::string_view text, std::int64_t& ticks, std::string& why) const;
  /// A time in the notation, unit and number of decimals of `like`, which parse() took, or more
  /// decimals; rounded to nearest.
  [[nodiscard]] std::string written(std::int64_t ticks, std::string_view like,
                                    int decimals = 0) const;
  /// True if whole numbers are ticks because no unit is named.
  [[nodiscard]] bool in_ticks() const { return unit_ == Unit::unnamed; }
  /// Ticks per unit of whole numbers.
  [[nodiscard]] double ticks_per_unit() const;

  friend bool operator==(const Times&, const Times&) = default;

 private:
  std::uint64_t hz_;
  Unit unit_;
};

}  // namespace entrain::tables
