// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <time.h>

#include <cstdint>
#include <string>

#include "record/base/settings.hpp"

namespace entrain::record {

/// An instant. Times are nanoseconds of the clock that was chosen, most often since the machine
/// was started.
struct Stamp {
  /// By this process's clock, ticks: nanoseconds, unless the timer gives counts.
  std::uint64_t local = 0;
  /// By the machine's clock, nanoseconds; differs from local on a virtual node.
  std::uint64_t truth = 0;
};

/// Reads the clock that stamps events. Set it up once, before the first reading; then any thread
/// may read it. For each thread the readings never fall.
class Timer {
 public:
  /// If there is no such timer, takes CLOCK_MONOTONIC_RAW, and `problem` gets a sentence.
  /// `counts`: the stamps of TimerKind::tsc are the counter itself, as other tracers store it.
  void set_up(TimerKind kind, std::string& problem, bool counts = false);
  /// From now on this process is on virtual node `node`, whose clock runs wrong from `epoch` on
  /// (true time, ns; the same in all processes). Node 0 keeps true time.
  void make_virtual(const VirtualCluster& cluster, std::uint64_t node, std::uint64_t epoch);

  [[nodiscard]] Stamp now() const {
    if (counts_) [[unlikely]]
      return counted();
    const std::uint64_t time = kind_ == TimerKind::tsc ? tsc() : system_time(clock_);
    return virtual_ ? Stamp{skewed(time), time} : Stamp{time, time};
  }
  /// The reading of the virtual clock at true time `time`.
  [[nodiscard]] std::uint64_t skewed(std::uint64_t time) const;

  [[nodiscard]] bool is_virtual() const { return virtual_; }
  /// The step by which the clock advances, ns.
  [[nodiscard]] std::uint64_t granularity() const { return virtual_ ? resolution_ : 1; }
  /// Ticks of Stamp::local per second; of a counter, as measured since set_up.
  [[nodiscard]] std::uint64_t ticks_per_second() const;
  /// Name of the clock, for the archive's properties.
  [[nodiscard]] const char* name() const;
  /// Offset, rate and wander of the virtual clock, in words.
  [[nodiscard]] std::string description() const;

 private:
  static std::uint64_t system_time(clockid_t clock) {
    timespec time;
    clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(time.tv_nsec);
  }
  [[nodiscard]] Stamp counted() const;
  [[nodiscard]] std::uint64_t tsc() const;
  [[nodiscard]] std::uint64_t time_of(std::uint64_t count) const;
  void calibrate_tsc();

  TimerKind kind_ = TimerKind::monotonic_raw;
  clockid_t clock_ = CLOCK_MONOTONIC_RAW;
  bool counts_ = false;
  // Time of the counter: base_ns_ + (counter - base_count_) * rate_ / 2^32.
  std::uint64_t base_ns_ = 0, base_count_ = 0, rate_ = 0;
  bool virtual_ = false;
  std::uint64_t epoch_ = 0, resolution_ = 1;
  std::int64_t offset_ns_ = 0;
  double rate_error_ = 0;                      ///< fraction
  double wander_ns_ = 0;                       ///< amplitude of the offset that wander makes
  double wander_rate_ = 0, wander_phase_ = 0;  ///< radians per ns, radians
};

extern Timer timer;

}  // namespace entrain::record
