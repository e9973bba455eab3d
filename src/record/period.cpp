// SPDX-License-Identifier: BSD-3-Clause
#include "record/period.hpp"

#include <algorithm>
#include <cstdio>

#include "record/timer.hpp"

namespace entrain::record {

namespace {

constexpr std::uint64_t k_words_per_period = 10;

std::uint64_t now_ns() { return timer.now().truth; }

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

void Period::set_up(double seconds, std::uint64_t every, MPI_Comm world) {
  period_ns_ = static_cast<std::uint64_t>(seconds * 1e9);
  every_ = every;
  world_ = world;
  real.MPI_Comm_rank(world, &rank_);
  begin_ns_ = last_word_ns_ = last_session_ns_ = now_ns();
}

Period::Word Period::decide(std::uint64_t now) const {
  Word word;
  word.session = now - last_session_ns_ >= period_ns_ ? 1 : 0;
  const std::uint64_t between_calls = std::max<std::uint64_t>((now - last_word_ns_) / interval_, 1);
  const std::uint64_t wanted = period_ns_ / k_words_per_period / between_calls;
  // A short burst of calls must not make words rare at once.
  word.next =
      static_cast<int>(std::clamp<std::uint64_t>(std::min(wanted, 2 * interval_), 1, every_));
  return word;
}

bool Period::due() {
  if (period_ns_ == 0 || --left_ > 0) return false;
  const std::uint64_t begin = now_ns();
  Word word;
  if (rank_ == 0) word = decide(begin);
  int both[2] = {word.session, word.next};
  real.MPI_Bcast(both, 2, MPI_INT, 0, world_);
  interval_ = left_ = static_cast<std::uint64_t>(both[1]);
  last_word_ns_ = now_ns();
  ++words_;
  words_ns_ += last_word_ns_ - begin;
  return both[0] != 0;
}

void Period::session_over(std::uint64_t now, std::uint64_t duration_ns, bool own) {
  last_session_ns_ = last_word_ns_ = now;
  if (!own) return;
  ++sessions_;
  sessions_ns_ += duration_ns;
}

std::string Period::cost(std::uint64_t now) const {
  if (period_ns_ == 0) return "";
  const std::uint64_t run = std::max<std::uint64_t>(now - begin_ns_, 1);
  if (words_ == 0) {
    return "no clock session in between: the program has no blocking collective call over all "
           "processes to put one behind; let it call entrain_timesync";
  }
  char text[256];
  std::snprintf(text, sizeof text,
                "%llu clock sessions in between took %.3f s, and %llu words about them %.3f s: "
                "%.2f %% of %.3f s",
                static_cast<unsigned long long>(sessions_), seconds(sessions_ns_),
                static_cast<unsigned long long>(words_), seconds(words_ns_),
                100 * seconds(sessions_ns_ + words_ns_) / seconds(run), seconds(run));
  return text;
}

}  // namespace entrain::record
