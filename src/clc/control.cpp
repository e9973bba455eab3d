// SPDX-License-Identifier: BSD-3-Clause
#include "clc/control.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <optional>
#include <utility>

#include "base/exact.hpp"
#include "base/try.hpp"

namespace entrain::clc {

namespace {

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
  Control(Forward& forward, const Outlook& outlook, const Cycles& cycles, const Upstream& upstream,
          std::span<Decimal9> least_gamma)
      : forward_(forward),
        outlook_(outlook),
        cycles_(cycles),
        upstream_(upstream),
        least_gamma_(least_gamma) {}

  Result<ForwardResult> run() {
    TRY_ASSIGN(std::vector<ForwardTimes> made, forward_.run(std::span(k_order).first(at_first())));
    assert(!made.empty());
    take(std::move(made[0]), k_gammas.front());
    if (made.size() > 2) keep_uniform(std::span(made).subspan(2), 1);
    // Without jumps nothing decays: every gamma gives the same.
    const std::int64_t least = cycles_.tied.empty() ? outlook_.least_error : 0;
    if (result_.pass.jumps == 0) return finish();
    if (!outlook_.epsilon && result_.pass.error <= epsilon_of(least)) return finish();
    std::optional<ForwardTimes> smallest;
    if (outlook_.epsilon) {
      result_.epsilon = outlook_.epsilon;
    } else {
      TRY_ASSIGN(smallest, smallest_pass(std::move(made)));
      result_.epsilon = epsilon_of(smallest->error);
    }
    TRY(lower(smallest));
    return finish();
  }

 private:
  /// The order in which passes are probably needed, if the first does not suffice.
  static constexpr std::array<Decimal9, k_gammas.size()> k_order{
      k_gammas[0], k_gammas[4], k_gammas[1], k_gammas[2], k_gammas[3]};

  /// How many of them are asked for at once.
  [[nodiscard]] std::size_t at_first() const {
    if (outlook_.epsilon) return 1;
    if (outlook_.side_by_side) return k_order.size();
    return outlook_.much_violated ? 2 : 1;
  }

  /// The pass of the smallest gamma, with which all others are compared. `made`: that of the
  /// mildest one, already taken, and perhaps the one that is asked for.
  Result<ForwardTimes> smallest_pass(std::vector<ForwardTimes> made) {
    if (made.size() < 2) {
      const std::size_t count = outlook_.side_by_side ? k_order.size() - 1 : 1;
      TRY_ASSIGN(made, forward_.run(std::span(k_order).subspan(1, count)));
      made.insert(made.begin(), ForwardTimes{});
      keep_uniform(std::span(made).subspan(2), 1);
    }
    result_.passes.push_back(report_of(made[1], k_gammas.back()));
    return std::move(made[1]);
  }

  /// Keeps passes of the gammas from number `first` on, all the same everywhere.
  void keep_uniform(std::span<ForwardTimes> made, std::size_t first) {
    for (std::size_t i = 0; i < made.size(); ++i) uniform_[first + i] = std::move(made[i]);
  }

  /// The pass of gamma number `i` everywhere but where a location keeps its own. Where none does,
  /// and passes are made together, so are those of the gammas that may follow.
  Result<ForwardTimes> pass_of(std::size_t i) {
    const bool mixed = any_kept_;
    if (!mixed && uniform_[i]) return *std::exchange(uniform_[i], std::nullopt);
    const bool together = outlook_.side_by_side && !mixed;
    const std::size_t end = together ? std::max(k_gammas.size() - 1, i + 1) : i + 1;
    TRY_ASSIGN(std::vector<ForwardTimes> made,
               forward_.run(std::span(k_gammas).subspan(i, end - i)));
    keep_uniform(std::span(made).subspan(1), i + 1);
    return std::move(made.front());
  }

  /// Lowers the gammas of the locations that are above epsilon, pass by pass. `smallest`: the pass
  /// with the smallest gamma everywhere, if it was made.
  Result<void> lower(std::optional<ForwardTimes>& smallest) {
    gamma_of_.assign(least_gamma_.size(), k_gammas.front());
    for (std::size_t i = 1; i < k_gammas.size() && is_bad(); ++i) {
      const std::uint64_t lowered = choose_lowered(k_gammas[i]);
      if (smallest && i + 1 == k_gammas.size() && !any_kept_) break;
      result_.pass = {};  // its memory
      TRY_ASSIGN(ForwardTimes made, pass_of(i));
      take(std::move(made), k_gammas[i]);
      if (any_kept_) result_.passes.back().clocks = lowered;
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

  Forward& forward_;
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

Result<ForwardResult> control_gamma(Forward& forward, const Outlook& outlook, const Cycles& cycles,
                                    const Upstream& upstream, std::span<Decimal9> least_gamma) {
  return Control(forward, outlook, cycles, upstream, least_gamma).run();
}

}  // namespace entrain::clc
