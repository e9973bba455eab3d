// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>

#include <entrain/error.hpp>

namespace entrain {

/// Number of threads for an option whose 0 means all cores.
unsigned worker_count(unsigned requested);
/// From now on "all cores" are at most so many, at least 1: several processes share the machine.
void limit_workers(unsigned most);

/// Calls `body(i)` for every i in [0, count), on up to `threads` threads (0: all cores), in any
/// order. Returns the first error seen by the smallest index among those that ran; after an error
/// no further index is begun. Where the system gives fewer threads, fewer are used; an exception of
/// `body` (out of memory) is passed on. `body` must be safe to call concurrently for different
/// indices.
Result<void> parallel_for(unsigned threads, std::size_t count,
                          const std::function<Result<void>(std::size_t)>& body);

/// The same for a body that cannot fail: `body(i)` returns nothing. An exception (out of memory) is
/// passed on here too.
template <class Body>
void for_each_in_parallel(unsigned threads, std::size_t count, const Body& body) {
  static_assert(std::is_void_v<decltype(body(count))>, "use parallel_for for bodies that may fail");
  static_cast<void>(parallel_for(threads, count, [&](std::size_t i) -> Result<void> {
    body(i);
    return {};
  }));
}

}  // namespace entrain
