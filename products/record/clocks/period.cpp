// SPDX-License-Identifier: BSD-3-Clause
#include "record/clocks/period.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

namespace entrain::record {

namespace {

constexpr std::uint64_t k_decisions_per_period = 10;
/// Decisions may take 1 / k_share_of_decisions of the budget.
constexpr double k_share_of_decisions = 4;
/// Most calls from one decision to the next, whatever decisions cost.
constexpr double k_most_calls = 1e6;

double seconds_of(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

void Period::set_up(double seconds, const Limits& limits, Budget& budget, Process process) {
  process_ = std::move(process);
  budget_ = &budget;
  period_ns_ = static_cast<std::uint64_t>(seconds * 1e9);
  limits_ = limits;
  last_decision_ns_ = last_session_ns_ = process_.now_ns();
}

SessionSize Period::affordable(std::uint64_t now) const {
  if (!budget_->limited()) return {.exchanges = limits_.exchanges};
  const std::uint64_t exchanges = budget_->exchanges(limits_.exchanges, exchange_ns_, now);
  if (exchanges == 0) return {};
  const auto left = static_cast<std::uint64_t>(budget_->left_ns(now));
  return {.exchanges = exchanges, .limit_ns = left / limits_.tree_levels};
}

std::uint64_t Period::next_interval(std::uint64_t now) const {
  const std::uint64_t between_calls =
      std::max<std::uint64_t>((now - last_decision_ns_) / interval_, 1);
  const std::uint64_t wanted = period_ns_ / k_decisions_per_period / between_calls;
  // A short burst of calls must not make decisions rare at once.
  const std::uint64_t next =
      std::clamp<std::uint64_t>(std::min(wanted, 2 * interval_), 1, limits_.every);
  if (decisions_ == 0 || !budget_->limited() || budget_->share() <= 0) return next;
  const double mean = static_cast<double>(decisions_took_ns_) / static_cast<double>(decisions_);
  const double apart = mean * k_share_of_decisions / budget_->share();
  const double least = std::min(apart / static_cast<double>(between_calls), k_most_calls);
  return std::max(next, static_cast<std::uint64_t>(least));
}

Period::Decision Period::decide(std::uint64_t now) const {
  Decision decision{.next = static_cast<int>(next_interval(now))};
  if (now - last_session_ns_ < period_ns_) return decision;
  const SessionSize size = affordable(now);
  decision.exchanges = static_cast<int>(size.exchanges);
  constexpr std::uint64_t k_most_us = std::numeric_limits<int>::max();
  decision.limit_us = static_cast<int>(std::min(size.limit_ns / 1000, k_most_us));
  return decision;
}

std::optional<SessionSize> Period::due() {
  if (period_ns_ == 0 || --left_ > 0) return std::nullopt;
  const std::uint64_t begin = process_.now_ns();
  Decision decision;
  if (process_.decides) decision = decide(begin);
  int numbers[3] = {decision.exchanges, decision.limit_us, decision.next};
  if (process_.decides && decision.exchanges == 0 && begin - last_session_ns_ >= period_ns_) {
    ++put_off_;
  }
  process_.broadcast(numbers, 3);
  interval_ = left_ = static_cast<std::uint64_t>(numbers[2]);
  last_decision_ns_ = process_.now_ns();
  ++decisions_;
  decisions_took_ns_ += last_decision_ns_ - begin;
  budget_->spend(last_decision_ns_ - begin);
  if (numbers[0] == 0) return std::nullopt;
  return SessionSize{.exchanges = static_cast<std::uint64_t>(numbers[0]),
                     .limit_ns = static_cast<std::uint64_t>(numbers[1]) * 1000};
}

void Period::session_over(std::uint64_t duration_ns, std::uint64_t exchanges, bool own) {
  last_session_ns_ = last_decision_ns_ = process_.now_ns();
  exchange_ns_ =
      static_cast<double>(duration_ns) / static_cast<double>(std::max<std::uint64_t>(exchanges, 1));
  if (!own) return;
  ++sessions_;
  sessions_took_ns_ += duration_ns;
  budget_->spend(duration_ns);
}

std::string Period::cost(bool too_dear) const {
  if (period_ns_ == 0) return "";
  const std::uint64_t run = std::max<std::uint64_t>(process_.now_ns() - budget_->begin_ns(), 1);
  if (sessions_ == 0 && (put_off_ > 0 || too_dear)) {
    return "no periodic clock session was held: one would have taken more of the run than "
           "--sync-budget allows";
  }
  if (decisions_ == 0 && run < period_ns_) {
    return "no periodic clock session was held: the run was shorter than --sync-period";
  }
  if (decisions_ == 0) {
    return "no periodic clock session was held: the program makes no blocking collective call over "
           "all processes, and rank 0 and a process that it measures never had time at once; let "
           "it "
           "call entrain_timesync";
  }
  char text[256];
  std::snprintf(text, sizeof text,
                "%llu periodic clock sessions took %.3f s, and %llu broadcasts about them %.3f s: "
                "%.2f %% of %.3f s",
                static_cast<unsigned long long>(sessions_), seconds_of(sessions_took_ns_),
                static_cast<unsigned long long>(decisions_), seconds_of(decisions_took_ns_),
                100 * seconds_of(sessions_took_ns_ + decisions_took_ns_) / seconds_of(run),
                seconds_of(run));
  return text;
}

}  // namespace entrain::record
