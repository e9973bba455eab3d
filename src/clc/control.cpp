// SPDX-License-Identifier: BSD-3-Clause
#include "clc/control.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <limits>
#include <utility>

#include "base/exact.hpp"
#include "base/try.hpp"

namespace entrain::clc {

namespace {

/// From the mildest to the most distorting (docs/method.md, section 4).
constexpr std::array<Decimal9, 5> k_gammas{
    {{999'990'000}, {999'900'000}, {999'000'000}, {990'000'000}, {900'000'000}}};

/// The largest error that counts as about as small as `reference`.
std::int64_t epsilon_of(std::int64_t reference) {
  constexpr std::int64_t k_most = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min<Int128>(Int128{reference} * 11 / 10, k_most));
}

AmortizationPass report_of(const ForwardTimes& pass, Decimal9 gamma) {
  AmortizationPass report;
  report.gamma = static_cast<double>(gamma.billionths) / static_cast<double>(k_billion);
  report.error_ticks = pass.error;
  report.violations = pass.jumps;
  return report;
}

/// A run of control_gamma().
class Control {
 public:
  Control(const Forward& forward, const Outlook& outlook, const Cycles& cycles,
          const Upstream& upstream, std::span<Decimal9> least_gamma)
      : forward_(forward),
        outlook_(outlook),
        cycles_(cycles),
        upstream_(upstream),
        least_gamma_(least_gamma) {}

  Result<ForwardResult> run() {
    TRY_ASSIGN(ForwardTimes mildest, uniform_pass(0));
    take(std::move(mildest), k_gammas.front());
    // Without jumps nothing decays: every gamma gives the same.
    const std::int64_t least = cycles_.tied.empty() ? outlook_.least_error : 0;
    if (result_.pass.jumps == 0) return finish();
    if (!outlook_.epsilon && result_.pass.error <= epsilon_of(least)) return finish();
    std::optional<ForwardTimes> smallest;
    result_.epsilon = outlook_.epsilon;
    if (!result_.epsilon) {
      TRY_ASSIGN(smallest, uniform_pass(k_smallest));
      result_.passes.push_back(report_of(*smallest, k_gammas.back()));
      result_.epsilon = epsilon_of(smallest->error);
    }
    TRY(lower(smallest));
    return finish();
  }

 private:
  static constexpr std::size_t k_smallest = k_gammas.size() - 1;
  /// Numbers of gammas in the order in which their passes are probably needed.
  static constexpr std::array<std::size_t, k_gammas.size()> k_order{0, k_smallest, 1, 2, 3};

  /// The pass of gamma number `i` everywhere. Where passes are made together, those that may follow
  /// are made with it and kept.
  Result<ForwardTimes> uniform_pass(std::size_t i) {
    if (!uniform_[i]) {
      const std::vector<std::size_t> asked = asked_with(i);
      std::vector<Decimal9> gammas;
      for (const std::size_t number : asked) gammas.push_back(k_gammas[number]);
      TRY_ASSIGN(std::vector<ForwardTimes> made, forward_(gammas));
      assert(!made.empty());
      for (std::size_t m = 0; m < made.size(); ++m) uniform_[asked[m]] = std::move(made[m]);
    }
    return *std::exchange(uniform_[i], std::nullopt);
  }

  /// Numbers of the gammas that are asked for together with number `i`, which is not made yet.
  [[nodiscard]] std::vector<std::size_t> asked_with(std::size_t i) const {
    std::vector<std::size_t> asked{i};
    if (!outlook_.side_by_side || (outlook_.epsilon && (i == 0 || i == k_smallest))) return asked;
    const auto* const place = std::ranges::find(k_order, i);
    std::copy_if(std::next(place), k_order.end(), std::back_inserter(asked),
                 [&](std::size_t number) { return !uniform_[number]; });
    return asked;
  }

  /// Lowers the gammas of the locations that are above epsilon, pass by pass. `smallest`: the pass
  /// with the smallest gamma everywhere, if it was made.
  Result<void> lower(std::optional<ForwardTimes>& smallest) {
    gamma_of_.assign(least_gamma_.size(), k_gammas.front());
    for (std::size_t i = 1; i < k_gammas.size() && is_bad(); ++i) {
      const std::uint64_t lowered = choose_lowered(k_gammas[i]);
      if (smallest && i == k_smallest && !any_kept_) break;
      result_.pass = {};  // its memory
      if (any_kept_) {
        TRY_ASSIGN(std::vector<ForwardTimes> made, forward_(std::span(&k_gammas[i], 1)));
        take(std::move(made.front()), k_gammas[i]);
        result_.passes.back().clocks = lowered;
      } else {
        TRY_ASSIGN(ForwardTimes made, uniform_pass(i));
        take(std::move(made), k_gammas[i]);
      }
    }
    if (smallest && is_bad()) {
      result_.pass = *std::move(smallest);
      result_.gamma = k_gammas.back();
      any_kept_ = false;
      chosen_ = 1;
    }
    return {};
  }

  [[nodiscard]] bool is_bad() const { return result_.pass.error > *result_.epsilon; }

  /// Gives `gamma` to the locations that need it and keeps those of the others; returns how many
  /// moved and need it. Errors only fall as gammas get smaller. Where nothing moves gamma does not
  /// matter.
  std::uint64_t choose_lowered(Decimal9 gamma) {
    const std::vector<std::int64_t>& error_of = result_.pass.error_of;
    std::vector<bool> bad;
    for (const std::int64_t error : error_of) bad.push_back(error > *result_.epsilon);
    upstream_(result_.pass, bad);
    std::uint64_t lowered = 0;
    any_kept_ = false;
    for (LocationIndex l = 0; l < bad.size(); ++l) {
      const bool kept = !bad[l] && error_of[l] > 0;
      if (!kept) gamma_of_[l] = gamma;
      least_gamma_[l] = kept ? gamma_of_[l] : Decimal9{};
      any_kept_ = any_kept_ || kept;
      lowered += bad[l] ? 1 : 0;
    }
    return lowered;
  }

  void take(ForwardTimes pass, Decimal9 gamma) {
    result_.pass = std::move(pass);
    result_.gamma = gamma;
    chosen_ = result_.passes.size();
    result_.passes.push_back(report_of(result_.pass, gamma));
  }

  Result<ForwardResult> finish() {
    result_.passes[chosen_].chosen = true;
    if (any_kept_) result_.gamma_of = std::move(gamma_of_);
    return std::move(result_);
  }

  const Forward& forward_;
  const Outlook& outlook_;
  const Cycles& cycles_;
  const Upstream& upstream_;
  std::span<Decimal9> least_gamma_;  ///< each location's gamma if it keeps it, else 0
  std::vector<Decimal9> gamma_of_;   ///< each location's gamma in the pass taken so far
  /// Per gamma: its pass, with the same gamma everywhere, if it was made early.
  std::array<std::optional<ForwardTimes>, k_gammas.size()> uniform_;
  bool any_kept_ = false;   ///< some location that moves has a larger gamma than the others
  std::size_t chosen_ = 0;  ///< the pass that is taken so far
  ForwardResult result_;
};

}  // namespace

Result<ForwardResult> fixed_gamma(const Forward& forward, Decimal9 gamma) {
  TRY_ASSIGN(std::vector<ForwardTimes> passes, forward(std::span(&gamma, 1)));
  assert(!passes.empty());
  ForwardResult result;
  result.gamma = gamma;
  result.passes.push_back(report_of(passes[0], gamma));
  result.passes[0].chosen = true;
  result.pass = std::move(passes[0]);
  return result;
}

Result<ForwardResult> control_gamma(const Forward& forward, const Outlook& outlook,
                                    const Cycles& cycles, const Upstream& upstream,
                                    std::span<Decimal9> least_gamma) {
  return Control(forward, outlook, cycles, upstream, least_gamma).run();
}

}  // namespace entrain::clc
