// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <entrain/error.hpp>
#include <entrain/options.hpp>

/// Values of options. Every parser takes the whole text or nothing, in any locale; its error is the
/// end of a sentence that begins with the option and the text: "is not a whole number ...".
namespace entrain::cli {

/// Integer from `least` to `most`, decimal.
Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t least, std::uint64_t most);

/// Bytes: a whole number, alone or with K, M, G or T (powers of 1024) after it; at least 1.
Result<std::uint64_t> parse_size(std::string_view text);

/// Number from `least` to `most`; `unit` is for the error, e.g. "seconds".
Result<double> parse_number(std::string_view text, double least, double most, const char* unit);

/// A duration of at least 0 with its unit, in seconds: "250us", "1 ms", "0.5s"; ns, us, ms or s.
Result<double> parse_duration(std::string_view text);

/// Share from 0 to 1, or as percent with % after it, 0% to 100%.
Result<double> parse_share(std::string_view text);
/// A share, 0 to 1, from percent: a number from 0 to 100, alone or with % after it.
Result<double> parse_percent(std::string_view text);

/// Decimal fraction above 0 and at most `most`, exact: no exponent, at most 9 decimals.
Result<Decimal9> parse_decimal9(std::string_view text, std::int64_t most);

/// "auto", "delays", "rtt", "1tick", or seconds from 0 to 1000.
Result<MuOption> parse_mu(std::string_view text);

/// Parsers for OptionSet::value().
inline auto count(std::uint64_t least, std::uint64_t most) {
  return [=](std::string_view text) { return parse_count(text, least, most); };
}
inline const auto k_any_count = count(0, std::numeric_limits<std::uint64_t>::max());
inline auto number(double least, double most, const char* unit) {
  return [=](std::string_view text) { return parse_number(text, least, most, unit); };
}
inline auto decimal9(std::int64_t most) {
  return [=](std::string_view text) { return parse_decimal9(text, most); };
}
/// "auto", which is empty, or what `parse` takes.
template <class Parse>
auto or_auto(Parse parse) {
  using Value = typename decltype(parse(std::string_view()))::value_type;
  return [=](std::string_view text) -> Result<std::optional<Value>> {
    if (text == "auto") return std::optional<Value>();
    auto value = parse(text);
    if (value) return std::optional<Value>(*std::move(value));
    constexpr std::string_view k_negation = "is not ";
    return fail(ErrorKind::usage,
                "is neither auto nor " + value.error().message.substr(k_negation.size()));
  };
}

}  // namespace entrain::cli
