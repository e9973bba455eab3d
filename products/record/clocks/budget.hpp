// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

namespace entrain::record {

/// The part of a run that clock sessions between begin and end may take in one process. Any thread
/// may call its functions.
///
/// Example: with a share of 0.01, 0.6 s may have been spent after 60 s. If 0.2 s were, 0.4 s are
/// left.
class Budget {
 public:
  /// `share`: of the run, 0 to 1; 1: no limit.
  void set_up(double share, std::uint64_t now_ns) {
    share_ = share;
    begin_ns_ = now_ns;
  }
  [[nodiscard]] bool limited() const { return share_ < 1; }
  [[nodiscard]] double share() const { return share_; }
  /// Returns the rest of the budget, ns; negative if more was spent.
  [[nodiscard]] double left_ns(std::uint64_t now_ns) const {
    if (!limited()) return std::numeric_limits<double>::max();
    return share_ * static_cast<double>(now_ns - begin_ns_) - static_cast<double>(spent_ns_);
  }
  /// The exchanges of a session that it pays for now: `wanted` of them, or fewer, down to a tenth;
  /// 0: none. `exchange_ns`: what one took in the latest session, 0: unknown. The session may take
  /// half as long again.
  ///
  /// Example: 0.4 s are left, and an exchange took 5 ms, which with the reserve is 7.5 ms. So 53
  /// are paid for.
  [[nodiscard]] std::uint64_t exchanges(std::uint64_t wanted, double exchange_ns,
                                        std::uint64_t now_ns) const {
    if (!limited()) return wanted;
    const double left = left_ns(now_ns);
    const auto least = static_cast<double>(std::max<std::uint64_t>(wanted / k_shortest, 1));
    const auto most = static_cast<double>(wanted);
    const double fitting = exchange_ns > 0 ? left / (k_reserve * exchange_ns) : most;
    if (left <= 0 || fitting < least) return 0;
    return static_cast<std::uint64_t>(std::min(fitting, most));
  }
  void spend(std::uint64_t ns) { spent_ns_ += ns; }
  [[nodiscard]] std::uint64_t spent_ns() const { return spent_ns_; }
  [[nodiscard]] std::uint64_t begin_ns() const { return begin_ns_; }

 private:
  static constexpr std::uint64_t k_shortest = 10;
  static constexpr double k_reserve = 1.5;

  double share_ = 1;
  std::uint64_t begin_ns_ = 0;
  std::atomic<std::uint64_t> spent_ns_{0};
};

}  // namespace entrain::record
