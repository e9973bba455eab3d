// SPDX-License-Identifier: BSD-3-Clause
#include "base/executor.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/start_thread.hpp"
#include "base/try.hpp"

namespace entrain {

namespace {

std::atomic<unsigned> most_workers{std::numeric_limits<unsigned>::max()};

}  // namespace

unsigned worker_count(unsigned requested) {
  if (requested > 0) return requested;
  return std::clamp(std::thread::hardware_concurrency(), 1u, most_workers.load());
}

void limit_workers(unsigned most) { most_workers = most; }

Result<void> parallel_for(unsigned threads, std::size_t count,
                          const std::function<Result<void>(std::size_t)>& body) {
  const std::size_t workers = std::min<std::size_t>(worker_count(threads), count);
  if (workers <= 1) {
    for (std::size_t i = 0; i < count; ++i) TRY(body(i));
    return {};
  }
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::optional<Error> error;
  std::size_t error_index = count;
  std::exception_ptr exception;
  const auto work = [&] {
    for (std::size_t i = next++; i < count && !stop; i = next++) {
      try {
        if (auto result = body(i); !result) {
          const std::lock_guard lock(mutex);
          if (i < error_index) {
            error_index = i;
            error = std::move(result).error();
          }
          stop = true;
        }
      } catch (...) {  // out of memory: for the caller's thread to deal with
        const std::lock_guard lock(mutex);
        exception = std::current_exception();
        stop = true;
      }
    }
  };
  std::vector<std::thread> pool = start_threads(workers - 1, [&](std::size_t) { work(); });
  work();
  for (std::thread& thread : pool) thread.join();
  if (exception) std::rethrow_exception(exception);
  if (error) return tl::unexpected<Error>(std::move(*error));
  return {};
}

}  // namespace entrain
