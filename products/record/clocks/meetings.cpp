// SPDX-License-Identifier: BSD-3-Clause
#include "record/clocks/meetings.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace entrain::record {

namespace {

/// Time between two calls of the program for which a child waits for its parent, ns: at first, and
/// after it waited in vain again and again. On a busy machine a parent looks seldom.
constexpr double k_first_lingering = 2e6;
constexpr double k_longest_lingering = 32e6;
/// Shortest time between two looks, ns; and the part of the budget that looks may take.
constexpr std::uint64_t k_between_looks = 200'000;
constexpr double k_share_of_looks = 0.25;

}  // namespace

void Meetings::set_up(const Limits& limits, Budget& budget, int parent, std::vector<int> children,
                      Process process) {
  limits_ = limits;
  lingering_ns_ = k_first_lingering;
  budget_ = &budget;
  process_ = std::move(process);
  parent_ = parent;
  const std::uint64_t now = process_.now().truth;
  for (const int child : children) children_.push_back({.rank = child, .last_ns = now});
}

std::uint64_t Meetings::affordable(std::uint64_t now) const {
  return budget_->exchanges(limits_.exchanges, exchange_ns_, now);
}

void Meetings::step() {
  const std::uint64_t begin = process_.now().truth;
  const std::uint64_t sessions = sessions_;
  for (Peer& child : children_) {
    receive_from(child);
    if (child.ready != 0) serve(child);
    if (!child.invited && begin - std::min(begin, child.last_ns) >= limits_.period_ns) {
      invite(child, begin);
    }
  }
  if (parent_ >= 0) receive_from_parent();
  if (sessions_ != sessions) return;
  const auto took = static_cast<double>(process_.now().truth - begin);
  look_ns_ = look_ns_ == 0 ? took : look_ns_ + (took - look_ns_) / 16;
}

void Meetings::invite(Peer& child, std::uint64_t now) {
  too_dear_ = affordable(now) == 0;
  if (too_dear_) return;
  child.invited = true;
  process_.send(child.rank, {.kind = Kind::invite});
}

void Meetings::receive_from(Peer& child) {
  Message message;
  while (!child.ended && process_.receive(child.rank, message)) {
    if (message.kind == Kind::ready) child.ready = message.attempt;
    if (message.kind == Kind::gone) child.ready = 0;
    if (message.kind == Kind::end) child.ended = true;
  }
  if (child.ended) child.ready = 0;
}

void Meetings::serve(Peer& child) {
  const Stamp begin = process_.now();
  const std::uint64_t exchanges = affordable(begin.truth);
  if (exchanges == 0) return;  // the child waits until its time is over
  const bool stops = !marked_;
  if (stops) process_.mark(true);
  const std::uint64_t attempt = std::exchange(child.ready, 0);
  process_.send(child.rank, {.kind = Kind::go, .attempt = attempt, .value = exchanges});
  std::uint64_t made = 0;
  for (bool here = true; here;) {
    Message message;
    if (!process_.receive(child.rank, message)) {
      here = process_.rest();
      continue;
    }
    if (message.kind == Kind::ask) {
      process_.send(child.rank, {Kind::answer, attempt, process_.now().local});
      ++made;
    }
    here = message.kind != Kind::done && message.kind != Kind::gone && message.kind != Kind::end;
    child.ended = child.ended || message.kind == Kind::end;
  }
  const std::uint64_t end = process_.now().truth;
  if (stops) process_.mark(false);
  budget_->spend(end - begin.truth);
  if (made == 0) return;
  child.invited = false;
  child.last_ns = end;
  session_over(end - begin.truth, made);
}

void Meetings::receive_from_parent() {
  Message message;
  while (!parent_ended_ && process_.receive(parent_, message)) {
    if (message.kind == Kind::invite) invited_ = true;
    if (message.kind == Kind::end) parent_ended_ = true;
    if (message.kind == Kind::go && ready_ && message.attempt == attempt_) {
      ask_parent(message.value);
    }
  }
  if (has_time_ && invited_ && !ready_ && !parent_ended_) {
    ready_ = true;
    process_.send(parent_, {.kind = Kind::ready, .attempt = ++attempt_});
  }
}

void Meetings::ask_parent(std::uint64_t exchanges) {
  const Stamp begin = process_.now();
  const bool stops = !marked_;
  if (stops) process_.mark(true);
  // At least one exchange: the parent is here for it.
  const double left = std::max(budget_->left_ns(begin.truth), 1.0);
  std::vector<ClockSample> samples;
  bool here = true;
  while (here && samples.size() < exchanges) {
    const Stamp sent = process_.now();
    if (!samples.empty() && static_cast<double>(sent.truth - begin.truth) >= left) break;
    process_.send(parent_, {.kind = Kind::ask, .attempt = attempt_});
    Message message;
    while (here && !(process_.receive(parent_, message) && message.kind == Kind::answer)) {
      here = process_.rest();
    }
    if (!here) break;
    ClockSample sample;
    sample.parent = message.value;
    sample.round_trip = process_.now().local - sent.local;
    sample.local = sent.local + sample.round_trip / 2;
    samples.push_back(sample);
  }
  process_.send(parent_, {.kind = Kind::done, .attempt = attempt_});
  invited_ = ready_ = false;
  const std::uint64_t took = process_.now().truth - begin.truth;
  if (stops) process_.mark(false);
  budget_->spend(took);
  if (samples.empty()) return;
  session_over(took, samples.size());
  process_.keep(samples);
}

void Meetings::session_over(std::uint64_t took, std::uint64_t exchanges) {
  ++sessions_;
  sessions_took_ns_ += took;
  exchange_ns_ = static_cast<double>(took) / static_cast<double>(exchanges);
}

void Meetings::end_waiting() {
  has_time_ = false;
  if (!ready_) return;
  ready_ = false;
  process_.send(parent_, {.kind = Kind::gone, .attempt = attempt_});
}

void Meetings::linger() {
  const std::uint64_t begin = process_.now().truth;
  const std::uint64_t sessions_took = sessions_took_ns_;
  step();
  const double time = std::min(budget_->left_ns(begin), lingering_ns_);
  if (invited_ && !parent_ended_ && affordable(begin) > 0 &&
      time >= static_cast<double>(k_between_looks)) {
    wait_for_parent(begin + static_cast<std::uint64_t>(time));
  }
  // Sessions have paid for themselves.
  const std::uint64_t took = process_.now().truth - begin;
  const std::uint64_t paid = sessions_took_ns_ - sessions_took;
  budget_->spend(took - std::min(took, paid));
}

void Meetings::wait_for_parent(std::uint64_t until_ns) {
  process_.mark(true);
  marked_ = true;
  begin_waiting();
  step();
  while (ready_ && process_.now().truth < until_ns && process_.rest()) step();
  // Whoever still waits was not met.
  lingering_ns_ = ready_ ? std::min(2 * lingering_ns_, k_longest_lingering) : k_first_lingering;
  end_waiting();
  marked_ = false;
  process_.mark(false);
}

void Meetings::all_met(std::uint64_t now, double exchange_ns) {
  exchange_ns_ = exchange_ns;
  for (Peer& child : children_) child.last_ns = now;
}

bool Meetings::expects_one() const {
  return invited_ || std::any_of(children_.begin(), children_.end(),
                                 [](const Peer& one) { return one.invited; });
}

std::uint64_t Meetings::next_look(std::uint64_t now) const {
  double apart = k_between_looks;
  if (budget_->limited() && budget_->share() > 0) {
    apart = std::max(apart, look_ns_ / (k_share_of_looks * budget_->share()));
  }
  return now + static_cast<std::uint64_t>(apart);
}

void Meetings::close() {
  end_waiting();
  for (const Peer& child : children_) process_.send(child.rank, {.kind = Kind::end});
  if (parent_ >= 0) process_.send(parent_, {.kind = Kind::end});
  const auto all_ended = [this] {
    return (parent_ < 0 || parent_ended_) && std::all_of(children_.begin(), children_.end(),
                                                         [](const Peer& one) { return one.ended; });
  };
  for (bool here = true; here && !all_ended(); here = all_ended() || process_.rest()) {
    for (Peer& child : children_) receive_from(child);
    if (parent_ >= 0) receive_from_parent();
  }
}

std::string Meetings::cost() const {
  if (sessions_ == 0) return "";
  const auto seconds = [](std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; };
  const std::uint64_t run = std::max<std::uint64_t>(process_.now().truth - budget_->begin_ns(), 1);
  char text[256];
  std::snprintf(text, sizeof text,
                "%llu clock sessions of two processes each took rank 0 %.3f s; all that periodic "
                "sessions took it, waiting included, is %.2f %% of %.3f s",
                static_cast<unsigned long long>(sessions_), seconds(sessions_took_ns_),
                100 * seconds(budget_->spent_ns()) / seconds(run), seconds(run));
  return text;
}

}  // namespace entrain::record
