// SPDX-License-Identifier: BSD-3-Clause
#include "cli/prepared.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <exception>
#include <new>

#include "base/big_vector.hpp"
#include "base/unfinished.hpp"
#include "cli/processes.hpp"
#include "cli/verb.hpp"

namespace entrain::cli {
namespace {

iovec part(const char* text) { return {const_cast<char*>(text), std::strlen(text)}; }

/// Writes "entrain: `what`; " and either `otherwise` or where the result is.
void say(const char* what, const char* otherwise) noexcept {
  const char* const result = noted_result();
  const bool complete = *result != '\0';
  const std::array parts{part("entrain: "), part(what),
                         part(complete ? "; the result is complete: " : otherwise), part(result),
                         part("\n")};
  const ssize_t ignored = ::writev(STDERR_FILENO, parts.data(), static_cast<int>(parts.size()));
  static_cast<void>(ignored);
}

}  // namespace

void say_interrupted() noexcept {
  if (speaks()) say("interrupted", "; nothing was written");
}

void say_no_memory(const std::bad_alloc& exception) noexcept {
  const auto* const room = dynamic_cast<const NoRoomForArrays*>(&exception);
  say(room == nullptr ? "there is not enough memory for this trace" : room->what(), "");
}

void end_by_exception() noexcept {
  try {
    if (const std::exception_ptr exception = std::current_exception()) {
      std::rethrow_exception(exception);
    }
    say_no_memory(std::bad_alloc());  // not even an exception could be made
  } catch (const std::bad_alloc& exception) {
    say_no_memory(exception);
  } catch (...) {
    say("internal error, please report it", "");
  }
  Unfinished::remove_all();
  ::_exit(k_exit_failure);
}

}  // namespace entrain::cli
