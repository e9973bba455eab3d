// SPDX-License-Identifier: BSD-3-Clause
#include "base/executor.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/start_thread.hpp"
#include "base/try.hpp"

namespace entrain {

namespace {

std::atomic<unsigned> most_workers{std::numeric_limits<unsigned>::max()};

/// Threads that were started and have not begun yet: on a busy machine that may take longer than
/// the loop that they were started for. They help the newest one then.
std::atomic<std::size_t> late_threads{0};

/// A loop that threads share. Nobody waits for a thread that has not begun, which has no part in
/// it.
class Loop {
 public:
  /// `most`: threads that may help.
  Loop(std::size_t count, const std::function<Result<void>(std::size_t)>& body, std::size_t most)
      : count_(count), body_(body), most_helpers_(most) {}

  /// The part of the calling thread; returns when all is done.
  Result<void> run() {
    work();
    std::unique_lock lock(mutex_);
    is_closed_ = true;
    changed_.wait(lock, [&] { return helpers_ == 0; });
    if (exception_) std::rethrow_exception(exception_);
    if (error_) return tl::unexpected<Error>(std::move(*error_));
    return {};
  }

  /// The part of another thread; false if it came too late, or is one too many.
  bool help() {
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_ || helpers_ == most_helpers_) return false;
      ++helpers_;
    }
    work();
    const std::lock_guard lock(mutex_);
    --helpers_;
    changed_.notify_one();
    return true;
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < count_ && !stop_; i = next_++) {
      try {
        if (auto result = body_(i); !result) {
          const std::lock_guard lock(mutex_);
          if (i < error_index_) {
            error_index_ = i;
            error_ = std::move(result).error();
          }
          stop_ = true;
        }
      } catch (...) {  // out of memory: for the caller's thread to deal with
        const std::lock_guard lock(mutex_);
        exception_ = std::current_exception();
        stop_ = true;
      }
    }
  }

  const std::size_t count_;
  const std::function<Result<void>(std::size_t)>& body_;  ///< lives until run() returns
  const std::size_t most_helpers_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t helpers_ = 0;  ///< threads at work beside that of run()
  bool is_closed_ = false;
  std::optional<Error> error_;
  std::size_t error_index_ = count_;
  std::exception_ptr exception_;
};

/// The newest loop; notes `loop` before if there is one.
std::shared_ptr<Loop> newest_loop(const std::shared_ptr<Loop>& loop = {}) {
  struct Newest {
    std::mutex mutex;
    std::weak_ptr<Loop> loop;
  };
  static auto* const newest = new Newest;  // threads may begin while the program ends
  const std::lock_guard lock(newest->mutex);
  if (loop) newest->loop = loop;
  return newest->loop.lock();
}

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
  const auto loop = std::make_shared<Loop>(count, body, workers - 1);
  newest_loop(loop);
  const std::size_t wanted = workers - 1 - std::min(workers - 1, late_threads.load());
  late_threads += wanted;
  std::vector<std::thread> helpers = start_threads(wanted, [loop](std::size_t) {
    --late_threads;
    if (loop->help()) return;
    if (const std::shared_ptr<Loop> other = newest_loop()) other->help();
  });
  late_threads -= wanted - helpers.size();
  for (std::thread& helper : helpers) helper.detach();
  return loop->run();
}

}  // namespace entrain
