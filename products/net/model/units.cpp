// SPDX-License-Identifier: BSD-3-Clause
#include "net/model/units.hpp"

#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/exact.hpp"

namespace entrain::net {
namespace {

struct Unit {
  std::string_view name;
  int exponent;  ///< power of ten, relative to the smallest unit of its kind
};

constexpr std::array<Unit, 6> k_times{
    {{"fs", 0}, {"ps", 3}, {"ns", 6}, {"us", 9}, {"ms", 12}, {"s", 15}}};
constexpr std::array<Unit, 5> k_rates{
    {{"bps", 0}, {"kbps", 3}, {"Mbps", 6}, {"Gbps", 9}, {"Tbps", 12}}};
constexpr std::array<Unit, 2> k_drifts{{{"ppb", 0}, {"ppm", 3}}};

constexpr std::int64_t k_most_time_fs = 1'000'000'000'000'000'000;  // 1000 s
constexpr std::int64_t k_most_rate_bps = 1'000'000'000'000'000;
constexpr std::int64_t k_most_drift_ppb = 10'000'000;

constexpr std::int64_t power_of_ten(int exponent) {
  std::int64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Quantity {
  std::string_view number;
  std::string_view unit;
};

Quantity split(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
  std::size_t unit = end;
  while (unit < text.size() && text[unit] == ' ') ++unit;
  return {text.substr(0, end), text.substr(unit)};
}

/// The decimal number times 10^exponent as a whole number. Nothing if the text is no number, has
/// more decimals than `exponent`, or exceeds `most`.
std::optional<std::int64_t> scaled(std::string_view number, int exponent, std::int64_t most) {
  const std::size_t point = std::min(number.find('.'), number.size());
  std::string digits(number.substr(0, point));
  std::string decimals(number.substr(std::min(point + 1, number.size())));
  if (digits.empty() && decimals.empty()) return std::nullopt;
  if (decimals.find('.') != std::string::npos) return std::nullopt;
  while (!decimals.empty() && decimals.back() == '0') decimals.pop_back();
  if (decimals.size() > static_cast<std::size_t>(exponent)) return std::nullopt;
  decimals.resize(static_cast<std::size_t>(exponent), '0');
  digits += decimals;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value > most)
    return std::nullopt;
  return value;
}

template <std::size_t N>
const Unit* find_unit(std::string_view name, const std::array<Unit, N>& units) {
  for (const Unit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

}  // namespace

Result<Femtoseconds> parse_time(std::string_view text) {
  if (text.starts_with('-')) return fail(ErrorKind::usage, "is negative");
  const Quantity quantity = split(text);
  if (!quantity.number.empty() && quantity.unit.empty())
    return fail(ErrorKind::usage, "has no unit: write it as in 17ns (fs, ps, ns, us, ms, s)");
  const Unit* const unit = find_unit(quantity.unit, k_times);
  if (unit != nullptr) {
    if (const auto value = scaled(quantity.number, unit->exponent, k_most_time_fs))
      return Femtoseconds(*value);
  }
  return fail(ErrorKind::usage, "is not a time such as 17ns or 6.25ns, at most 1000s");
}

Result<Femtoseconds> parse_period(std::string_view text, std::int64_t flit_bytes) {
  const Quantity quantity = split(text);
  const Unit* const unit = find_unit(quantity.unit, k_rates);
  if (unit == nullptr) {
    auto time = parse_time(text);
    if (!time && !text.starts_with('-') && !quantity.unit.empty())
      return fail(ErrorKind::usage, "is neither a time such as 6.25ns nor a rate such as 1.28Gbps");
    return time;
  }
  const auto rate_bps = scaled(quantity.number, unit->exponent, k_most_rate_bps);
  if (!rate_bps || *rate_bps == 0)
    return fail(ErrorKind::usage, "is not a rate such as 1.28Gbps, above 0, at most 1000Tbps");
  const Int128 twice = Int128{2} * flit_bytes * 8 * power_of_ten(15);
  return Femtoseconds(static_cast<std::int64_t>((twice / *rate_bps + 1) / 2));
}

Result<std::int64_t> parse_drift_ppb(std::string_view text) {
  const Quantity quantity = split(text);
  if (const Unit* const unit = find_unit(quantity.unit, k_drifts)) {
    if (const auto value = scaled(quantity.number, unit->exponent, k_most_drift_ppb)) return *value;
  }
  return fail(ErrorKind::usage, "is not a drift such as 300ppm or 50ppb, from 0 to 10000ppm");
}

Result<std::int64_t> parse_whole(std::string_view text, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= least && value <= most)
    return value;
  return fail(ErrorKind::usage, fmt::format("is not a whole number from {} to {}", least, most));
}

std::string decimal_text(Femtoseconds time, Femtoseconds unit, int decimals) {
  const bool negative = time.count() < 0;
  const Int128 size = negative ? -Int128{time.count()} : Int128{time.count()};
  const std::int64_t scale = power_of_ten(decimals);
  const Int128 rounded = (size * scale * 2 / unit.count() + 1) / 2;
  const auto whole = static_cast<std::int64_t>(rounded / scale);
  const auto rest = static_cast<std::int64_t>(rounded % scale);
  const char* sign = negative && rounded != 0 ? "-" : "";
  if (decimals == 0) return fmt::format("{}{}", sign, whole);
  return fmt::format("{}{}.{:0{}}", sign, whole, rest, decimals);
}

std::string ratio_text(std::int64_t dividend, std::int64_t divisor, int decimals, bool truncated) {
  const std::int64_t scale = power_of_ten(decimals);
  const Int128 scaled_up = Int128{dividend} * scale;
  const Int128 value = truncated ? scaled_up / divisor : (2 * scaled_up / divisor + 1) / 2;
  const auto whole = static_cast<std::int64_t>(value / scale);
  if (decimals == 0) return fmt::format("{}", whole);
  return fmt::format("{}.{:0{}}", whole, static_cast<std::int64_t>(value % scale), decimals);
}

}  // namespace entrain::net
