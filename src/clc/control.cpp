// SPDX-License-Identifier: BSD-3-Clause
#include "clc/control.hpp"

#include <array>
#include <cassert>
#include <utility>

#include "base/exact.hpp"
#include "base/try.hpp"

namespace entrain::clc {

namespace {

constexpr std::array<Decimal9, 5> k_gammas{
    {{999'990'000}, {999'900'000}, {999'000'000}, {990'000'000}, {900'000'000}}};

/// True if `error` is at most 1.1 times `reference`.
bool good(std::int64_t error, std::int64_t reference) {
  return Int128{error} * 10 <= Int128{reference} * 11;
}

AmortizationPass report_of(const ForwardTimes& pass, Decimal9 gamma) {
  AmortizationPass report;
  report.gamma = static_cast<double>(gamma.billionths) / static_cast<double>(k_billion);
  report.error_ticks = pass.error;
  report.violations = pass.jumps;
  return report;
}

/// Passes for a list of gammas, one after the other; some are made before they are asked for.
class Passes {
 public:
  Passes(Forward& forward, std::vector<Decimal9> gammas)
      : forward_(forward), gammas_(std::move(gammas)) {}

  /// A pass that was made already, for the next gamma.
  void add(ForwardTimes pass) { ready_.push_back(std::move(pass)); }

  /// The pass for the next gamma.
  Result<ForwardTimes> next() {
    if (taken_ == ready_.size()) {
      TRY_ASSIGN(ready_, forward_.run(std::span(gammas_).subspan(begin_)));
      assert(!ready_.empty());
      taken_ = 0;
    }
    ++begin_;
    return std::move(ready_[taken_++]);
  }

 private:
  Forward& forward_;
  std::vector<Decimal9> gammas_;
  std::size_t begin_ = 0;  ///< the next gamma
  std::vector<ForwardTimes> ready_;
  std::size_t taken_ = 0;  ///< of these
};

/// A run of control_gamma().
class Control {
 public:
  Control(Forward& forward, const Outlook& outlook, const Cycles& cycles)
      : forward_(forward), outlook_(outlook), cycles_(cycles) {}

  Result<ForwardResult> run() {
    const std::array<Decimal9, 2> first{k_gammas.front(), k_gammas.back()};
    TRY_ASSIGN(std::vector<ForwardTimes> made,
               forward_.run(std::span(first).first(outlook_.much_violated ? 2 : 1)));
    assert(!made.empty());
    ForwardTimes largest = std::move(made[0]);
    report(largest, k_gammas.front());
    // Without jumps nothing decays: every gamma gives the same.
    const std::int64_t least = cycles_.tied.empty() ? outlook_.least_error : 0;
    if (largest.jumps == 0 || good(largest.error, least)) {
      return take(std::move(largest), k_gammas.front(), 0);
    }
    // All others are compared with the smallest one.
    Passes passes(forward_, {k_gammas[4], k_gammas[1], k_gammas[2], k_gammas[3]});
    if (made.size() > 1) passes.add(std::move(made[1]));
    TRY_ASSIGN(ForwardTimes smallest, passes.next());
    report(smallest, k_gammas.back());
    if (good(largest.error, smallest.error)) {
      return take(std::move(largest), k_gammas.front(), 0);
    }
    largest = {};  // its memory
    for (std::size_t i = 1; i + 1 < k_gammas.size(); ++i) {
      TRY_ASSIGN(ForwardTimes pass, passes.next());
      report(pass, k_gammas[i]);
      if (good(pass.error, smallest.error)) return take(std::move(pass), k_gammas[i], i + 1);
    }
    return take(std::move(smallest), k_gammas.back(), 1);
  }

 private:
  void report(const ForwardTimes& pass, Decimal9 gamma) {
    result_.passes.push_back(report_of(pass, gamma));
  }
  ForwardResult take(ForwardTimes pass, Decimal9 gamma, std::size_t reported) {
    result_.pass = std::move(pass);
    result_.gamma = gamma;
    result_.passes[reported].chosen = true;
    return std::move(result_);
  }

  Forward& forward_;
  const Outlook& outlook_;
  const Cycles& cycles_;
  ForwardResult result_;
};

}  // namespace

std::span<const Decimal9> control_gammas() { return k_gammas; }

Result<ForwardResult> fixed_gamma(Forward& forward, Decimal9 gamma) {
  TRY_ASSIGN(std::vector<ForwardTimes> passes, forward.run(std::span(&gamma, 1)));
  assert(!passes.empty());
  ForwardResult result;
  result.gamma = gamma;
  result.passes.push_back(report_of(passes[0], gamma));
  result.passes[0].chosen = true;
  result.pass = std::move(passes[0]);
  return result;
}

Result<ForwardResult> control_gamma(Forward& forward, const Outlook& outlook,
                                    const Cycles& cycles) {
  return Control(forward, outlook, cycles).run();
}

}  // namespace entrain::clc
