// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace entrain {

/// Reason of a failure.
enum class ErrorKind {
  usage,        ///< the caller asked for something impossible (wrong option, existing output)
  input,        ///< unreadable, damaged or unsupported input
  output,       ///< the result could not be written (no space, no permission)
  interrupted,  ///< stopped by the user
  internal,     ///< the library refuted a result of its own: please report it
};

/// An error as one clear sentence: what went wrong, where, and what to do about it.
///
/// Never carries the text of a C++ exception or a bare errno number. Safe to copy between threads.
struct Error {
  ErrorKind kind = ErrorKind::input;
  std::string message;  ///< one sentence, no trailing newline
};

/// Value or Error. No function of this library throws on bad data, prints, or ends the process.
template <class T>
using Result = tl::expected<T, Error>;

/// Makes an error for a function that returns a Result.
inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}

}  // namespace entrain
