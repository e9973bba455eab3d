// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <entrain/error.hpp>

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
