// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
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
Result<std::optional<double>> parse_duration(std::string_view text);

/// Share from 0 to 1, or as percent with % after it, 0% to 100%.
Result<double> parse_share(std::string_view text);
/// A share, 0 to 1, from percent: a number from 0 to 100, alone or with % after it.
Result<double> parse_percent(std::string_view text);

/// Decimal fraction above 0 and at most `most`, exact: no exponent, at most 9 decimals.
Result<Decimal9> parse_decimal9(std::string_view text, std::int64_t most);

/// "auto" (empty) or a number above 0 and at most 1.
Result<std::optional<Decimal9>> parse_gamma(std::string_view text);

/// "auto", "delays", "rtt", "1tick", or seconds from 0 to 1000.
Result<MuOption> parse_mu(std::string_view text);

/// "auto", "none", "linear", "regression", "spline" or "causal".
Result<Presync> parse_presync(std::string_view text);

/// "shortest", "mean" or "weighted".
Result<Condensing> parse_condensing(std::string_view text);

/// "on" or "off".
Result<bool> parse_switch(std::string_view text);

/// Accepts exactly one of a few words.
template <class T, std::size_t N>
Result<T> parse_choice(std::string_view text,
                       const std::array<std::pair<const char*, T>, N>& choices) {
  std::string names;
  for (std::size_t i = 0; i < N; ++i) {
    if (text == choices[i].first) return choices[i].second;
    names += fmt::format("{}{}", i == 0 ? "" : i + 1 == N ? " or " : ", ", choices[i].first);
  }
  return fail(ErrorKind::usage, "is not " + names);
}

}  // namespace entrain::cli
