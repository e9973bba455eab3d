// SPDX-License-Identifier: BSD-3-Clause
#include "report/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace entrain::report {
namespace {

struct Unit {
  const char* name;
  double size;
};

constexpr std::array<Unit, 4> k_time_units{{{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
constexpr std::array<Unit, 5> k_byte_units{{{"TiB", 1099511627776.0},
                                            {"GiB", 1073741824.0},
                                            {"MiB", 1048576.0},
                                            {"KiB", 1024.0},
                                            {"bytes", 1.0}}};
constexpr std::array<Unit, 4> k_frequency_units{
    {{"GHz", 1e9}, {"MHz", 1e6}, {"kHz", 1e3}, {"Hz", 1.0}}};

/// Decimals that leave a value below 1000 four significant digits.
int decimals_of(double value) { return value < 9.9995 ? 3 : value < 99.995 ? 2 : 1; }

std::string with_separators(std::string digits) {
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::uint64_t size_of(std::int64_t ticks) {
  return ticks < 0 ? ~static_cast<std::uint64_t>(ticks) + 1 : static_cast<std::uint64_t>(ticks);
}

}  // namespace

double seconds_of(double ticks, std::uint64_t resolution_hz) {
  return ticks / static_cast<double>(std::max<std::uint64_t>(resolution_hz, 1));
}

double seconds_of(std::uint64_t ticks, std::uint64_t resolution_hz) {
  return seconds_of(static_cast<double>(ticks), resolution_hz);
}

double seconds_of(std::int64_t ticks, std::uint64_t resolution_hz) {
  const double size = seconds_of(size_of(ticks), resolution_hz);
  return ticks < 0 ? -size : size;
}

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds)) return "n/a";
  const double size = std::abs(seconds);
  const char* sign = seconds < 0 ? "-" : "";
  if (size == 0) return "0 s";
  if (size >= 999.95)
    return fmt::format("{}{} s", sign, with_separators(fmt::format("{:.0f}", size)));
  for (const Unit& unit : k_time_units) {
    const double value = size / unit.size;
    const bool smallest = &unit == &k_time_units.back();
    if (value < 0.9995 && !smallest) continue;
    const double nearest = std::round(value);
    if (smallest && nearest >= 1 && std::abs(value - nearest) < 1e-6)
      return fmt::format("{}{:.0f} ns", sign, nearest);
    if (smallest && value < 0.0005) return "~0 s";
    return fmt::format("{}{:.{}f} {}", sign, value, decimals_of(value), unit.name);
  }
  return "n/a";
}

std::string format_ticks(std::int64_t ticks, std::uint64_t resolution_hz) {
  return format_duration(seconds_of(ticks, resolution_hz));
}

std::string format_ticks(double ticks, std::uint64_t resolution_hz) {
  return format_duration(seconds_of(ticks, resolution_hz));
}

std::string format_time(std::int64_t ticks, std::uint64_t resolution_hz) {
  const std::uint64_t hz = std::max<std::uint64_t>(resolution_hz, 1);
  const std::uint64_t size = size_of(ticks);
  int digits = 0;
  std::uint64_t scale = 1;
  for (; digits < 9 && scale < hz; ++digits) scale *= 10;
  std::uint64_t whole = size / hz;
  const long double rest = static_cast<long double>(size % hz) / static_cast<long double>(hz);
  auto fraction = static_cast<std::uint64_t>(std::llround(rest * static_cast<long double>(scale)));
  if (fraction == scale) {
    ++whole;
    fraction = 0;
  }
  const char* sign = ticks < 0 ? "-" : "";
  if (digits == 0) return fmt::format("{}{} s", sign, whole);
  return fmt::format("{}{}.{:0{}} s", sign, whole, fraction, digits);
}

std::string format_count(std::uint64_t count) { return with_separators(fmt::format("{}", count)); }

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string format_share(double share) {
  if (!std::isfinite(share)) return "n/a";
  const char* sign = share < 0 ? "-" : "";
  const double percent = std::abs(share) * 100;
  if (percent == 0) return "0 %";
  if (percent == 100) return fmt::format("{}100 %", sign);
  if (percent < 0.00005) return fmt::format("{}<0.0001 %", sign);
  if (percent > 99.9 && percent < 100) return fmt::format("{}>99.9 %", sign);
  if (percent < 0.1) return fmt::format("{}{:.4f} %", sign, percent);
  if (percent >= 999.95)
    return fmt::format("{}{} %", sign, with_separators(fmt::format("{:.0f}", percent)));
  return fmt::format("{}{:.{}f} %", sign, percent, decimals_of(percent));
}

std::string format_bytes(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  for (const Unit& unit : k_byte_units) {
    if (unit.size > 1 && value >= 0.9995 * unit.size)
      return fmt::format("{:.{}f} {}", value / unit.size, decimals_of(value / unit.size),
                         unit.name);
  }
  return format_number_of(bytes, "byte");
}

std::string format_frequency(std::uint64_t hz) {
  const auto value = static_cast<double>(hz);
  for (const Unit& unit : k_frequency_units) {
    if (value >= unit.size) return fmt::format("{:.7g} {}", value / unit.size, unit.name);
  }
  return "0 Hz";
}

std::string format_number_of(std::uint64_t count, const char* singular, const char* plural) {
  const bool adds_s = count != 1 && plural == nullptr;
  return fmt::format("{} {}{}", format_count(count), count == 1 || adds_s ? singular : plural,
                     adds_s ? "s" : "");
}

}  // namespace entrain::report
