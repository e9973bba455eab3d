// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace entrain {

/// Starts a thread: the one way to do so. Where the system gives none (its limit is reached, there
/// is no memory), the result is not joinable(), and whoever wanted the thread does without it.
/// `Thread` is std::thread or std::jthread.
template <class Thread = std::thread, class Body>
Thread start_thread(Body&& body) noexcept {
  try {
    return Thread(std::forward<Body>(body));
  } catch (const std::exception&) {  // std::system_error or std::bad_alloc
    return {};
  }
}

/// True once start_threads() got fewer threads than it wanted. May be called from any thread.
inline std::atomic<bool>& threads_were_refused() {
  static std::atomic<bool> refused{false};
  return refused;
}

/// Starts up to `count` threads of body(i), with i from 0: as many as the system gives. Each has a
/// copy of `body`. The caller joins them.
template <class Body>
std::vector<std::thread> start_threads(std::size_t count, const Body& body) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  while (threads.size() < count) {
    std::thread thread = start_thread([body, i = threads.size()] { body(i); });
    if (!thread.joinable()) {
      threads_were_refused() = true;
      break;
    }
    threads.push_back(std::move(thread));
  }
  return threads;
}

}  // namespace entrain
