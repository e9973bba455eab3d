// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/times.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/exact.hpp"
#include "formats/tables/reader.hpp"

namespace entrain::tables {
namespace {

/// Decimals that a tick of 1 as and a unit of 1 s need.
constexpr int k_most_decimals = 18;
/// Digits before the point: with the decimals 128 bits hold them in any case.
constexpr int k_most_digits = 20;

constexpr std::array<std::pair<std::string_view, Unit>, 5> k_units{
    {{"ticks", Unit::ticks}, {"ms", Unit::ms}, {"us", Unit::us}, {"ns", Unit::ns}, {"s", Unit::s}}};

/// Forms of a day, as strftime has them: by ISO 8601, as people write them, and as web servers log.
constexpr std::array<std::string_view, 6> k_days{"Y-m-dT", "Y-m-d ", "Y-m-dt",
                                                 "Y/m/d ", "d/b/Y:", "[d/b/Y:"};
constexpr std::string_view k_months = "JanFebMarAprMayJunJulAugSepOctNovDec";

Int128 power_of_ten(int exponent) {
  Int128 power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

/// Decimal places of a unit below the second.
int places_of(Unit unit) {
  constexpr std::array<int, 6> k_places{0, 0, 0, 3, 6, 9};
  return k_places[static_cast<std::size_t>(unit)];
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes characters off the front of a text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  [[nodiscard]] std::string_view rest() const { return rest_; }
  bool skip(std::string_view one_of, char* which = nullptr) {
    if (rest_.empty() || one_of.find(rest_.front()) == std::string_view::npos) return false;
    if (which != nullptr) *which = rest_.front();
    rest_.remove_prefix(1);
    return true;
  }
  /// Appends all digits that follow to a number; returns how many, k_most_digits at most.
  int digits(Int128& number) {
    int count = 0;
    for (; !rest_.empty() && is_digit(rest_.front()) && count < k_most_digits; ++count) {
      number = number * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    return count;
  }
  void drop(std::size_t count) { rest_.remove_prefix(count); }
  bool skip_word(std::string_view word) {
    const bool is_it = rest_.starts_with(word);
    if (is_it) drop(word.size());
    return is_it;
  }
  /// Reads three letters of a month.
  bool month(int& value) {
    const std::size_t place = k_months.find(rest_.substr(0, 3));
    if (place >= k_months.size() || place % 3 != 0) return false;
    value = static_cast<int>(place / 3) + 1;
    return skip_word(k_months.substr(place, 3));
  }
  /// Reads a number of exactly `width` digits.
  bool number(std::size_t width, int& value) {
    if (rest_.size() < width) return false;
    const auto [at, error] = std::from_chars(rest_.data(), rest_.data() + width, value);
    const bool all = error == std::errc() && at == rest_.data() + width && is_digit(rest_[0]);
    if (all) rest_.remove_prefix(width);
    return all;
  }

 private:
  std::string_view rest_;
};

/// A time as text: `number` / 10^decimals units, and what else writes it again.
struct Text {
  Notation notation = Notation::none;
  Int128 number = 0;
  int decimals = 0;
  char point = '.';
  std::string_view day{};  ///< one of k_days
  bool has_zone = false;
  std::string_view zone{};                                             ///< all behind the decimals
  int zone_minutes = 0;                                                ///< east of UTC
  bool is_leap = false;                                                ///< a leap second
  const char* problem = "is neither a number nor a date with a time";  ///< if it is none
};

/// Beyond k_most_decimals, `decimals` says only that there are so many: none of them fits.
bool take_decimals(Cursor& at, Text& text, std::string_view points) {
  if (!at.skip(points, &text.point)) return true;
  const std::string_view rest = at.rest();
  const std::size_t all = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const std::string_view last = rest.substr(0, all);
  const std::size_t least = std::min<std::size_t>(all, k_most_decimals);
  const std::size_t used = std::max(least, last.find_last_not_of('0') + 1);
  text.decimals = static_cast<int>(std::min<std::size_t>(used, k_most_decimals + 1));
  for (int i = 0; i < std::min(text.decimals, k_most_decimals); ++i) {
    text.number = text.number * 10 + (last[static_cast<std::size_t>(i)] - '0');
  }
  at.drop(all);
  return all > 0;
}

bool take_zone(Cursor& at, Text& text) {
  text.zone = at.rest();
  const bool has_blank = at.skip(" ");
  char sign = '+';
  int hours = 0, minutes = 0;
  text.has_zone = at.skip("Zz") || at.skip_word("UTC") || at.skip_word("GMT");
  if (text.has_zone) return true;
  text.has_zone = at.skip("+-", &sign);
  if (!text.has_zone) return !has_blank;
  if (!at.number(2, hours)) return false;
  const bool has_colon = at.skip(":");
  if (!at.number(2, minutes) && has_colon) return false;
  text.zone_minutes = (60 * hours + minutes) * (sign == '-' ? -1 : 1);
  return hours < 24 && minutes < 60;
}

/// True for a name of a time zone, as CET or Europe/Berlin, behind a blank.
bool names_zone(std::string_view text) {
  const auto is_in = [](char c, char first, char last) { return c >= first && c <= last; };
  return text.size() > 2 && text[0] == ' ' && is_in(text[1], 'A', 'Z') &&
         (text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1) == text.npos ||
          text.find('/') != text.npos);
}

/// A date that cannot be read.
Text no_date(const char* why) {
  Text text;
  text.problem = why;
  return text;
}

/// Reads a day of this form.
bool take_day(Cursor& at, std::string_view form, int& year, int& month, int& day) {
  return std::ranges::all_of(form, [&](const char& c) {
    return c == 'Y'   ? at.number(4, year)
           : c == 'm' ? at.number(2, month)
           : c == 'd' ? at.number(2, day)
           : c == 'b' ? at.month(month)
                      : at.skip({&c, 1});
  });
}

/// Reads a day, hh:mm:ss, decimals and an offset.
Text date_of(std::string_view text) {
  Text date;
  Cursor at(text);
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  for (const std::string_view form : k_days) {
    at = Cursor(text);
    if (!take_day(at, form, year, month, day)) continue;
    date.day = form;
    break;
  }
  if (Cursor other(text); date.day.empty() && take_day(other, "d/m/Y", year, month, day)) {
    return no_date(day > 12 || month > 12
                       ? "has the year last; write it first"
                       : "may have the day or the month first; write the year first");
  }
  const bool whole = !date.day.empty() && at.number(2, hour) && at.skip(":") &&
                     at.number(2, minute) && at.skip(":") && at.number(2, second);
  namespace chrono = std::chrono;
  const chrono::year_month_day days{chrono::year(year), chrono::month(static_cast<unsigned>(month)),
                                    chrono::day(static_cast<unsigned>(day))};
  if (!whole || !days.ok() || hour > 23 || minute > 59 || second > 60) return {};
  date.is_leap = second == 60;
  const Int128 local =
      ((chrono::sys_days(days).time_since_epoch().count() * Int128{24} + hour) * 60 + minute) * 60 +
      second;
  if (!take_decimals(at, date, ".,")) return {};
  const bool is_zone = take_zone(at, date),
             lacks_bracket = date.day.front() == '[' && !at.skip("]");
  if (!is_zone && names_zone(date.zone)) {
    return no_date("has a time zone that is no offset such as +01:00");
  }
  if (!is_zone && date.has_zone) return {};
  if (is_zone && lacks_bracket && at.rest().empty()) return no_date("lacks its closing bracket");
  if (!is_zone || lacks_bracket || !at.rest().empty()) return no_date("has text behind its time");
  date.number += (local - date.zone_minutes * Int128{60}) * power_of_ten(date.decimals);
  date.notation = date.has_zone ? Notation::date : Notation::local_date;
  return date;
}

Text text_of(std::string_view text) {
  Text number;
  Cursor at(text);
  if (at.digits(number.number) > 0 && take_decimals(at, number, ".") && at.rest().empty()) {
    number.notation = number.decimals == 0 ? Notation::whole : Notation::decimal;
    return number;
  }
  return date_of(text);
}

/// Ticks per last digit of a text, as a reduced fraction.
struct Scale {
  Int128 ticks, digits;

  Scale(std::uint64_t ticks_per_second, const Text& text, Unit unit)
      : ticks(ticks_per_second), digits(1) {
    const int places =
        text.decimals + (text.notation >= Notation::local_date ? 0 : places_of(unit));
    for (int i = 0; i < places; ++i) digits *= 10;
    for (const int prime : {2, 5}) {
      while (ticks % prime == 0 && digits % prime == 0) ticks /= prime, digits /= prime;
    }
  }
};

/// A date, given its last digits since 1970.
std::string date_text(Int128 number, const Text& form) {
  namespace chrono = std::chrono;
  const Int128 unit = power_of_ten(form.decimals);
  const auto seconds =
      chrono::seconds(static_cast<std::int64_t>(floor_div(number, unit)) + 60 * form.zone_minutes);
  const auto fraction = static_cast<std::uint64_t>(number - floor_div(number, unit) * unit);
  const auto day = chrono::floor<chrono::days>(seconds);
  const chrono::year_month_day date{chrono::sys_days(day)};
  const chrono::hh_mm_ss time(seconds - day);
  std::string text;
  for (const char c : form.day) {
    const auto month = static_cast<unsigned>(date.month());
    text += c == 'Y'   ? fmt::format("{:04}", static_cast<int>(date.year()))
            : c == 'm' ? fmt::format("{:02}", month)
            : c == 'd' ? fmt::format("{:02}", static_cast<unsigned>(date.day()))
            : c == 'b' ? std::string(k_months.substr(3 * month - 3, 3))
                       : std::string(1, c);
  }
  text += fmt::format("{:02}:{:02}:{:02}", time.hours().count(), time.minutes().count(),
                      time.seconds().count());
  if (form.decimals > 0) text += fmt::format("{}{:0{}}", form.point, fraction, form.decimals);
  return text.append(form.zone);
}

}  // namespace

std::optional<Unit> unit_named(std::string_view word) {
  for (const auto& [name, unit] : k_units) {
    if (word == name) return unit;
  }
  return std::nullopt;
}

bool is_negative_without_sign(std::string_view text) {
  return whole_number(text).value_or(0) >> 63 != 0;
}

Unit unit_of_column(std::string_view name) {
  const std::size_t mark = name.find_last_of("_. (");
  if (mark == std::string_view::npos) return Unit::unnamed;
  std::string_view word = name.substr(mark + 1);
  if (word.ends_with(')')) word.remove_suffix(1);
  return unit_named(word).value_or(Unit::unnamed);
}

Notation Times::parse(std::string_view text, std::uint64_t& ticks, std::string& why) const {
  if (unit_ <= Unit::ticks) {
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, ticks);
    if (error == std::errc() && at == end && ticks <= k_most_stamp) return Notation::whole;
  }
  const Text read = text_of(text);
  const auto no_time = [&](const char* reason) {
    refuse(text, reason, why);
    return Notation::none;
  };
  if (text.starts_with('-') && text_of(text.substr(1)).notation != Notation::none) {
    return no_time("is negative");
  }
  if (!text.empty() && text.find_first_not_of("0123456789") == text.npos &&
      (read.notation == Notation::none || unit_ <= Unit::ticks)) {
    return no_time("is too large");
  }
  if (read.notation == Notation::none) return no_time(read.problem);
  if (read.notation == Notation::decimal && unit_ == Unit::ticks) {
    return no_time("is no whole number");
  }
  if (read.number < 0) return no_time("is before 1970");
  if (read.is_leap) return no_time("is a leap second, which times do not count");
  if (read.decimals > k_most_decimals) return no_time("has digits below a tick");
  const Scale scale(hz_, read, unit_);
  if (scale.digits > power_of_ten(k_most_decimals) || read.number % scale.digits != 0) {
    return no_time("has digits below a tick; name more ticks per second");
  }
  Int128 product = 0;
  if (__builtin_mul_overflow(read.number / scale.digits, scale.ticks, &product) ||
      product > k_most_stamp) {
    return no_time("is too large");
  }
  ticks = static_cast<std::uint64_t>(product);
  return read.notation;
}

bool Times::parse_distance(std::string_view text, std::int64_t& ticks, std::string& why) const {
  const bool negative = text.starts_with('-');
  std::uint64_t size = 0;
  const Notation notation = parse(text.substr(negative ? 1 : 0), size, why);
  if (notation == Notation::none || notation >= Notation::local_date || size >> 62 != 0) {
    return refuse(text, size >> 62 != 0 ? "is too large" : "is no number", why);
  }
  ticks = negative ? -static_cast<std::int64_t>(size) : static_cast<std::int64_t>(size);
  return true;
}

std::string Times::written(std::int64_t ticks, std::string_view like, int decimals) const {
  Text form = text_of(like);
  form.decimals = std::max(form.decimals, decimals);
  if (form.notation == Notation::whole && unit_ <= Unit::ticks) return fmt::format("{}", ticks);
  const Scale scale(hz_, form, unit_);
  const Int128 number = floor_div(2 * ticks * scale.digits + scale.ticks, 2 * scale.ticks);
  if (form.notation >= Notation::local_date) return date_text(number, form);
  const Int128 size = number < 0 ? -number : number, unit = power_of_ten(form.decimals);
  std::string text =
      fmt::format("{}{}", number < 0 ? "-" : "", static_cast<std::uint64_t>(size / unit));
  if (form.decimals == 0) return text;
  return text + fmt::format(".{:0{}}", static_cast<std::uint64_t>(size % unit), form.decimals);
}

int decimals_of(std::string_view text) { return text_of(text).decimals; }

double Times::ticks_per_unit() const {
  if (unit_ <= Unit::ticks) return 1;
  return static_cast<double>(hz_) / static_cast<double>(power_of_ten(places_of(unit_)));
}

}  // namespace entrain::tables
