// SPDX-License-Identifier: BSD-3-Clause
#include "record/clocks/period.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace entrain::record {

namespace {

constexpr std::uint64_t k_decisions_per_period = 10;

double seconds_of(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

void Period::set_up(double seconds, std::uint64_t every, Process process) {
  process_ = std::move(process);
  period_ns_ = static_cast<std::uint64_t>(seconds * 1e9);
  every_ = every;
  begin_ns_ = last_decision_ns_ = last_session_ns_ = process_.now_ns();
}

Period::Decision Period::decide(std::uint64_t now) const {
  Decision decision;
  decision.session = now - last_session_ns_ >= period_ns_ ? 1 : 0;
  const std::uint64_t between_calls =
      std::max<std::uint64_t>((now - last_decision_ns_) / interval_, 1);
  const std::uint64_t wanted = period_ns_ / k_decisions_per_period / between_calls;
  // A short burst of calls must not make decisions rare at once.
  decision.next =
      static_cast<int>(std::clamp<std::uint64_t>(std::min(wanted, 2 * interval_), 1, every_));
  return decision;
}

bool Period::due() {
  if (period_ns_ == 0 || --left_ > 0) return false;
  const std::uint64_t begin = process_.now_ns();
  Decision decision;
  if (process_.decides) decision = decide(begin);
  int numbers[2] = {decision.session, decision.next};
  process_.broadcast(numbers, 2);
  interval_ = left_ = static_cast<std::uint64_t>(numbers[1]);
  last_decision_ns_ = process_.now_ns();
  ++decisions_;
  decisions_took_ns_ += last_decision_ns_ - begin;
  return numbers[0] != 0;
}

void Period::session_over(std::uint64_t duration_ns, bool own) {
  last_session_ns_ = last_decision_ns_ = process_.now_ns();
  if (!own) return;
  ++sessions_;
  sessions_took_ns_ += duration_ns;
}

std::string Period::cost() const {
  if (period_ns_ == 0) return "";
  const std::uint64_t run = std::max<std::uint64_t>(process_.now_ns() - begin_ns_, 1);
  if (decisions_ == 0) {
    return "no periodic clock session was held: the program makes no blocking collective call over "
           "all processes; let it call entrain_timesync";
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
