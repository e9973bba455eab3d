// SPDX-License-Identifier: BSD-3-Clause
#include "base/two_threads.hpp"

#include <utility>

#include "base/executor.hpp"
#include "base/start_thread.hpp"

namespace entrain {

namespace {

/// Looks at a counter before a thread lets others have the core, and before it sleeps: some ten
/// microseconds and about a millisecond. To be woken takes some ten, more on virtual machines.
constexpr int k_quick_looks = 500, k_patient_looks = 2'000;

void pause() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

/// Waits until `counter` is no longer `old`.
void wait_for_change(const std::atomic<std::uint32_t>& counter, std::uint32_t old) {
  for (int look = 0; look < k_quick_looks; ++look) {
    if (counter.load(std::memory_order_acquire) != old) return;
    pause();
  }
  for (int look = 0; look < k_patient_looks; ++look) {
    if (counter.load(std::memory_order_acquire) != old) return;
    std::this_thread::yield();
  }
  counter.wait(old, std::memory_order_acquire);
}

}  // namespace

TwoThreads::TwoThreads(unsigned threads) : alone_(worker_count(threads) < 2) {}

TwoThreads::~TwoThreads() {
  if (!helper_.joinable()) return;
  call_ = nullptr;
  ask();
  helper_.join();
}

bool TwoThreads::is_ready() {
  if (!was_started_) {
    was_started_ = true;
    helper_ = start_thread([this] { help(); });
  }
  return helper_.joinable();
}

void TwoThreads::ask() {
  asked_.fetch_add(1, std::memory_order_release);
  asked_.notify_one();
}

void TwoThreads::finish(const std::exception_ptr& own) {
  const std::uint32_t job = asked_.load(std::memory_order_relaxed);
  wait_for_change(done_, job - 1);
  const std::exception_ptr other = std::exchange(of_helper_, nullptr);
  if (own) std::rethrow_exception(own);
  if (other) std::rethrow_exception(other);
}

void TwoThreads::help() {
  for (std::uint32_t job = 0;; ++job) {
    wait_for_change(asked_, job);
    if (call_ == nullptr) return;
    try {
      call_(body_);
    } catch (...) {  // out of memory: for the caller's thread to deal with
      of_helper_ = std::current_exception();
    }
    done_.store(job + 1, std::memory_order_release);
    done_.notify_one();
  }
}

}  // namespace entrain
