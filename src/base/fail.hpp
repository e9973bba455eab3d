// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <fmt/core.h>

#include <entrain/error.hpp>

namespace entrain {

// Errors whose sentences fmt::format() makes of values.

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
