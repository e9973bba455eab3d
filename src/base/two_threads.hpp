// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>

namespace entrain {

/// Runs the two halves of many short jobs on two threads; a job of ten microseconds is long enough.
/// for_each_in_parallel() starts its threads anew each time; here a helper waits for the next job,
/// at first without rest, then asleep.
///
/// Example: a vector of a million numbers is added up by halves(size, [&](unsigned half) { sums
/// [half] = ...; }), and sums[0] + sums[1] does not depend on who computed which.
///
/// Only one thread may use an object.
class TwoThreads {
 public:
  /// `threads`: 0: all cores. With one there is no helper, and one half comes after the other.
  explicit TwoThreads(unsigned threads);
  ~TwoThreads();
  TwoThreads(const TwoThreads&) = delete;
  TwoThreads& operator=(const TwoThreads&) = delete;

  /// From now on the helper is not asked: another thread needs the core.
  void work_alone(bool alone) { alone_ = alone; }

  /// Calls body(0) and body(1), in any order or at once. `size`: of the job, in numbers that are
  /// touched; small ones are not shared. An exception is passed on.
  template <class Body>
  void operator()(std::size_t size, const Body& body) {
    if (size < k_least || alone_ || !is_ready()) {
      body(0u);
      body(1u);
      return;
    }
    body_ = &body;
    call_ = [](const void* erased) { (*static_cast<const Body*>(erased))(1u); };
    ask();
    std::exception_ptr own;
    try {
      body(0u);
    } catch (...) {  // the helper still uses what belongs to the caller
      own = std::current_exception();
    }
    finish(own);
  }

 private:
  static constexpr std::size_t k_least = 2'000;

  bool is_ready();
  void ask();
  void finish(const std::exception_ptr& own);
  void help();

  bool alone_;
  bool was_started_ = false;
  std::thread helper_;
  const void* body_ = nullptr;
  void (*call_)(const void*) = nullptr;  ///< null: the helper ends
  std::exception_ptr of_helper_;
  std::atomic<std::uint32_t> asked_{0}, done_{0};  ///< jobs
};

}  // namespace entrain
