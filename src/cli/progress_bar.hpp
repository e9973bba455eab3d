// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <entrain/progress.hpp>

namespace entrain::cli {

/// State of a phase as the bar shows it.
struct PhaseState {
  std::string_view phase;
  std::uint64_t done = 0;
  std::uint64_t total = 0;  ///< 0: unknown
  double elapsed_s = 0;     ///< time since the phase began
  std::string_view unit{};  ///< unit of the count
};

/// A line of at most `columns`: phase, bar, percent, rate, remaining time. Without a total:
/// phase, units done, rate. If nothing is counted: phase, elapsed time.
std::string progress_line(const PhaseState& state, std::size_t columns);

/// Shows on standard error how far long work is, and passes on the user's wish to stop.
///
/// Nothing is drawn unless standard error is a terminal, nor in the first second. With `verbose`
/// every finished phase leaves a line with the time it took, terminal or not. All functions may be
/// called from several threads at once; advance() costs an addition. A thread of its own draws, so
/// that a phase which counts nothing is seen to go on too.
class ProgressBar : public Progress {
 public:
  ProgressBar(bool quiet, bool verbose);
  /// Ends the last phase and removes the bar.
  ~ProgressBar() override;
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void begin(std::string_view phase, std::uint64_t total, std::string_view unit) override;
  void advance(std::uint64_t units) override;
  [[nodiscard]] bool cancelled() const override;

 private:
  using Clock = std::chrono::steady_clock;
  void draw_until(const std::stop_token& stop);
  void draw(Clock::time_point now);
  void end_phase(Clock::time_point now);
  void clear_line();

  const bool shown_;
  const bool verbose_;
  std::atomic<std::uint64_t> done_{0};

  std::mutex mutex_;  // guards what follows, and standard error
  std::string phase_;
  std::string unit_;
  std::uint64_t total_ = 0;
  Clock::time_point phase_begin_;
  bool drawn_ = false;

  std::condition_variable_any wake_;
  std::jthread drawer_;
};

}  // namespace entrain::cli
