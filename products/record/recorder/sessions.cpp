// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder/sessions.hpp"

#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>

#include "record/recorder/state.hpp"

namespace entrain::record {

namespace {

/// Between two steps of a process that waits in a call, ns: the call comes first.
constexpr std::uint64_t k_between_steps = 10'000;
/// After this it gives its core away between two looks, ns.
constexpr std::uint64_t k_impatient = 50'000;
/// In a session a process gives its core away after so many looks in vain: each time makes a round
/// trip longer (4 processes on 2 cores: 4.8 us with 1, 2.7 us with 32), but the other one may need
/// that core.
constexpr std::uint32_t k_rests_per_yield = 32;
/// Longest nap of the recorder's thread, ns, and how many of them at least fall into a period.
constexpr std::uint64_t k_longest_nap = 20'000'000;
constexpr std::uint64_t k_naps_per_period = 20;

void nap(std::uint64_t ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns)); }

}  // namespace

void Sessions::set_up_first() {
  tree_.set_up(setup_.sync, world_.comm(), setup_.clock_identity, journal_);
  const SyncSettings& sync = setup_.sync;
  budget_.set_up(sync.budget_percent / 100, timer.now().truth);
  period_.set_up(
      tree_.any() ? sync.period_s : 0,
      {.every = sync.every, .exchanges = sync.max_messages, .tree_levels = tree_.most_levels()},
      budget_,
      {.decides = world_.rank() == 0,
       .now_ns = [] { return timer.now().truth; },
       .broadcast = [this](int* first, int count) { world_.broadcast(first, count); }});
  periodic = period_.on();
  // Each process asks for a level of threads on its own, but all must count alike.
  world_only_ = !world_.all_agree(!setup_.several_threads);
  if (period_.on() && budget_.share() > 0) set_up_meetings();
}

void Sessions::set_up_meetings() {
  mailbox_.set_up(world_.comm());
  period_ns_ = static_cast<std::uint64_t>(setup_.sync.period_s * 1e9);
  const bool own_thread = setup_.several_threads;
  meetings_.set_up(
      {.period_ns = period_ns_, .exchanges = setup_.sync.max_messages}, budget_, tree_.parent(),
      tree_.children(),
      {.now = [] { return timer.now(); },
       .send = [this](int peer, const Meetings::Message& message) { mailbox_.send(peer, message); },
       .receive = [this](int peer,
                         Meetings::Message& message) { return mailbox_.receive(peer, message); },
       .rest =
           [this] {
             if (++rests_ % k_rests_per_yield == 0) ::sched_yield();
             return !abandoned_.load(std::memory_order_relaxed);
           },
       .keep = [this](std::vector<ClockSample>& samples) { keep(samples); },
       .mark =
           [this, own_thread](bool stops) {
             if (!own_thread) setup_.mark(stops);
           }});
  meets_ = meetings_.any();
}

void Sessions::keep(std::vector<ClockSample>& samples) {
  const std::uint32_t session = count_++;
  for (ClockSample& sample : samples) sample.session = session;
  ClockTree::note(samples, setup_.sync.dropped_share, journal_);
}

void Sessions::measure(const std::optional<SessionSize>& due) {
  const std::lock_guard lock(mutex_);
  const bool first = count_ == 0;
  if (first) set_up_first();
  if (meets_) meetings_.end_waiting();
  const Stamp begin = timer.now();
  const SessionSize size = due.value_or(SessionSize{.exchanges = setup_.sync.max_messages});
  const std::uint64_t exchanges = tree_.measure(count_++, size, journal_);
  const std::uint64_t end = timer.now().truth;
  period_.session_over(end - begin.truth, exchanges, due.has_value());
  if (!meets_) return;
  // Most of the time, most processes waited for the one that served all its children.
  const std::uint64_t children =
      std::min(setup_.sync.fanout, static_cast<std::uint64_t>(std::max(world_.size() - 1, 1)));
  const auto made = static_cast<double>(children * std::max<std::uint64_t>(exchanges, 1));
  meetings_.all_met(end, static_cast<double>(end - begin.truth) / made);
  look_not_before(end + period_ns_);
  if (!first || !setup_.several_threads) return;
  thread_over_ = false;
  thread_ = std::thread([this] { meet_in_thread(); });
}

void Sessions::look_not_before(std::uint64_t time) {
  (setup_.several_threads ? next_step_ : next_look) = time;
}

std::optional<SessionSize> Sessions::due() {
  // Without the lock: a broadcast waits for others, and they may wait for the recorder's thread.
  const std::uint64_t decisions = period_.decisions();
  const std::optional<SessionSize> size = period_.due();
  if (meets_ && period_.decisions() != decisions) look_not_before(timer.now().truth + period_ns_);
  return size;
}

void Sessions::between_calls() {
  if (timer.now().truth < next_look.load(std::memory_order_relaxed)) return;
  meetings_.linger();
  next_look = meetings_.next_look(timer.now().truth);
}

void Sessions::wait(const std::function<bool()>& done) {
  const std::uint64_t begin = timer.now().truth;
  std::uint64_t stepped = 0;
  while (!done()) {
    const std::uint64_t now = timer.now().truth;
    if (now - stepped >= k_between_steps) {
      if (stepped == 0) meetings_.begin_waiting();
      meetings_.step();
      stepped = timer.now().truth;
    }
    if (now - begin >= k_impatient) ::sched_yield();
  }
  if (stepped == 0) return;
  meetings_.end_waiting();
  next_look = meetings_.next_look(timer.now().truth);
}

void Sessions::meet_in_thread() {
  ++this_thread.depth;
  // Signals are for the program's own threads.
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
  const std::uint64_t idle = std::min(period_ns_ / k_naps_per_period, k_longest_nap);
  while (!stop_ && !abandoned_) {
    std::uint64_t next = idle;
    {
      const std::lock_guard lock(mutex_);
      std::uint64_t now = timer.now().truth;
      if (now < next_step_) {
        meetings_.end_waiting();
      } else {
        meetings_.begin_waiting();
        meetings_.step();
        now = timer.now().truth;
        if (meetings_.expects_one()) next = meetings_.next_look(now) - now;
      }
    }
    nap(next);
  }
  thread_over_ = true;
}

void Sessions::end_meetings() {
  if (!meets_) return;
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  next_look = k_never;
  meetings_.close();
  mailbox_.close();
  meets_ = false;
}

void Sessions::abandon() {
  abandoned_ = true;
  next_look = k_never;
  // The thread may wait for a lock of the MPI library that the ending thread holds.
  for (int tries = 0; tries < 50 && !thread_over_; ++tries) nap(1'000'000);
  if (thread_.joinable()) thread_.detach();
}

std::string Sessions::cost() const {
  const std::string meetings = meetings_.cost();
  if (meetings.empty()) return period_.cost(meetings_.was_too_dear());
  return period_.held_any() ? period_.cost() + "; " + meetings : meetings;
}

}  // namespace entrain::record
