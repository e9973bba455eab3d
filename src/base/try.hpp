// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <entrain/error.hpp>

#define ENTRAIN_CONCAT_(a, b) a##b
#define ENTRAIN_CONCAT(a, b) ENTRAIN_CONCAT_(a, b)

/// Evaluates an expression that gives a Result<void>; returns its error from this function.
#define TRY(expression)                                                            \
  do {                                                                             \
    if (auto result_ = (expression); !result_) {                                   \
      return ::tl::unexpected<::entrain::Error>(std::move(result_).error());       \
    }                                                                              \
  } while (false)

/// `TRY_ASSIGN(auto x, f());` declares x from the value of a Result, or returns its error.
#define TRY_ASSIGN(declaration, expression)                                        \
  auto ENTRAIN_CONCAT(try_, __LINE__) = (expression);                              \
  if (!ENTRAIN_CONCAT(try_, __LINE__)) {                                           \
    return ::tl::unexpected<::entrain::Error>(                                     \
        std::move(ENTRAIN_CONCAT(try_, __LINE__)).error());                        \
  }                                                                                \
  declaration = std::move(*ENTRAIN_CONCAT(try_, __LINE__))
