// SPDX-License-Identifier: BSD-3-Clause
#include "cli/values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/exact.hpp"
#include "base/try.hpp"

namespace entrain::cli {
namespace {

constexpr double k_most_mu_s = 1000;

/// The whole text as a number of type T, or nothing.
template <class T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_digits(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Billionths of a plain decimal fraction that has no more than 9 decimals.
std::optional<std::int64_t> billionths_of(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  std::string decimals(text.substr(std::min(point + 1, text.size())));
  if (!is_digits(whole) || !is_digits(decimals) || (whole.empty() && decimals.empty()))
    return std::nullopt;
  decimals.erase(decimals.find_last_not_of('0') + 1);
  if (decimals.size() > 9 || whole.size() > 9) return std::nullopt;
  decimals.resize(9, '0');
  return number_in<std::int64_t>(whole).value_or(0) * k_billion +
         *number_in<std::int64_t>(decimals);
}

}  // namespace

Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t least, std::uint64_t most) {
  const auto value = number_in<std::uint64_t>(text);
  if (value && *value >= least && *value <= most) return *value;
  return usage_error("is not a whole number from {} to {}", least, most);
}

Result<std::uint64_t> parse_size(std::string_view text) {
  constexpr std::string_view k_units = "KMGT";
  constexpr std::uint64_t k_most = std::uint64_t{1} << 50;
  std::uint64_t unit = 1;
  std::string_view digits = text;
  if (const auto at = text.empty() ? text.npos : k_units.find(text.back()); at != text.npos) {
    unit = std::uint64_t{1} << 10 * (at + 1);
    digits.remove_suffix(1);
  }
  const auto count = parse_count(digits, 1, k_most / unit);
  if (!count) return fail(ErrorKind::usage, "is not a size such as 500M or 16G, 1 to 1024T");
  return *count * unit;
}

Result<double> parse_number(std::string_view text, double least, double most, const char* unit) {
  const auto value = number_in<double>(text);
  if (value && *value >= least && *value <= most) return *value;
  return usage_error("is not a number {}from {:g} to {:g}",
                     *unit == '\0' ? "" : fmt::format("of {} ", unit), least, most);
}

Result<double> parse_duration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> k_units{
      {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};
  for (const auto& [unit, seconds] : k_units) {
    if (!text.ends_with(unit)) continue;
    std::string_view digits = text.substr(0, text.size() - unit.size());
    while (digits.ends_with(' ')) digits.remove_suffix(1);
    const auto value = number_in<double>(digits);
    if (value && *value >= 0 && *value < 1e12) return *value * seconds;
  }
  return fail(ErrorKind::usage, "is not a duration with a unit, such as 250us, 1ms or 0.5s");
}

Result<double> parse_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  const double most = percent ? 100 : 1;
  const auto value = number_in<double>(text);
  if (value && *value >= 0 && *value <= most) return *value / most;
  return fail(ErrorKind::usage, "is not a share from 0 to 1, or from 0% to 100%");
}

Result<double> parse_percent(std::string_view text) {
  std::string_view digits = text;
  if (!digits.empty() && digits.back() == '%') digits.remove_suffix(1);
  while (!digits.empty() && digits.back() == ' ') digits.remove_suffix(1);
  const auto percent = number_in<double>(digits);
  if (percent && *percent >= 0 && *percent <= 100) return *percent / 100;
  return fail(ErrorKind::usage, "is not a number of percent from 0 to 100, such as 50 or 99.5%");
}

Result<Decimal9> parse_decimal9(std::string_view text, std::int64_t most) {
  const auto billionths = billionths_of(text);
  if (billionths && *billionths > 0 && *billionths <= most * k_billion)
    return Decimal9{*billionths};
  return usage_error(
      "is not a decimal number above 0 and at most {}, with at "
      "most 9 decimals and no exponent",
      most);
}

Result<MuOption> parse_mu(std::string_view text) {
  if (text == "auto") return MuOption{MuSource::automatic, 0};
  if (text == "delays") return MuOption{MuSource::delays, 0};
  if (text == "rtt") return MuOption{MuSource::round_trip, 0};
  if (text == "1tick") return MuOption{MuSource::one_tick, 0};
  const auto seconds = parse_number(text, 0, k_most_mu_s, "seconds");
  if (seconds) return MuOption{MuSource::fixed, std::abs(*seconds)};
  return usage_error(
      "is not auto, delays, rtt, 1tick or a number of seconds from 0 "
      "to {:g}",
      k_most_mu_s);
}

}  // namespace entrain::cli
