// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <fmt/core.h>

#include <entrain/error.hpp>

// Errors: TRY and TRY_ASSIGN pass them on, and these make one, with a sentence that fmt::format()
// makes of values.

namespace entrain {

template <class... Values>
tl::unexpected<Error> usage_error(fmt::format_string<Values...> sentence, Values&&... values) {
  return fail(ErrorKind::usage, fmt::format(sentence, std::forward<Values>(values)...));
}
template <class... Values>
tl::unexpected<Error> input_error(fmt::format_string<Values...> sentence, Values&&... values) {
  return fail(ErrorKind::input, fmt::format(sentence, std::forward<Values>(values)...));
}
template <class... Values>
tl::unexpected<Error> output_error(fmt::format_string<Values...> sentence, Values&&... values) {
  return fail(ErrorKind::output, fmt::format(sentence, std::forward<Values>(values)...));
}

}  // namespace entrain

#define ENTRAIN_CONCAT_(a, b) a##b
#define ENTRAIN_CONCAT(a, b) ENTRAIN_CONCAT_(a, b)
#define ENTRAIN_UNIQUE(name) ENTRAIN_CONCAT(name, __COUNTER__)

#define ENTRAIN_TRY_(name, expression)                                    \
  do {                                                                    \
    if (auto name = (expression); !name) {                                \
      return ::tl::unexpected<::entrain::Error>(std::move(name).error()); \
    }                                                                     \
  } while (false)
#define ENTRAIN_TRY_ASSIGN_(name, declaration, expression)                       \
  auto name = (expression);                                                      \
  if (!name) return ::tl::unexpected<::entrain::Error>(std::move(name).error()); \
  declaration = std::move(*name)

/// Evaluates an expression that gives a Result<void>; returns its error from this function.
#define TRY(...) ENTRAIN_TRY_(ENTRAIN_UNIQUE(try_), (__VA_ARGS__))

/// `TRY_ASSIGN(auto x, f());` declares x from the value of a Result, or returns its error.
#define TRY_ASSIGN(declaration, ...) \
  ENTRAIN_TRY_ASSIGN_(ENTRAIN_UNIQUE(try_), declaration, (__VA_ARGS__))
