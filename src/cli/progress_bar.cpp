// SPDX-License-Identifier: BSD-3-Clause
#include "cli/progress_bar.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "report/units.hpp"

namespace entrain::cli {
namespace {

constexpr std::chrono::seconds k_patience{1};
constexpr std::chrono::milliseconds k_interval{100};
constexpr std::size_t k_most_columns = 100;
constexpr std::size_t k_least_bar = 10;

std::size_t terminal_columns() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return std::min<std::size_t>(known ? size.ws_col : 80, k_most_columns);
}

/// "12.3 M/s".
std::string rate_text(double per_second) {
  for (const auto& [size, prefix] : {std::pair{1e9, " G"}, {1e6, " M"}, {1e3, " k"}}) {
    if (per_second >= size) return fmt::format("{:.1f}{}/s", per_second / size, prefix);
  }
  return fmt::format("{:.0f} /s", per_second);
}

/// "1:02:03 left", "2:03 left".
std::string remaining_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::clamp(seconds, 0.0, 359999.0));
  const std::uint64_t hours = whole / 3600, minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02} left", hours, minutes, whole % 60);
  return fmt::format("{}:{:02} left", minutes, whole % 60);
}

}  // namespace

std::string progress_line(const PhaseState& state, std::size_t columns) {
  const auto done = static_cast<double>(state.done);
  const double rate = state.elapsed_s > 0 ? done / state.elapsed_s : 0;
  std::string line;
  if (state.total == 0) {
    line =
        fmt::format("{:<9} {}  {}", state.phase, report::format_count(state.done), rate_text(rate));
  } else {
    const double share = std::min(done / static_cast<double>(state.total), 1.0);
    std::string tail = fmt::format(" {:3.0f} %  {:>10}", 100 * share, rate_text(rate));
    if (share > 0)
      tail += fmt::format("  {:>9}", remaining_text(state.elapsed_s * (1 - share) / share));
    line = fmt::format("{:<9} ", state.phase);
    if (const std::size_t used = line.size() + tail.size() + 2; used + k_least_bar <= columns) {
      const std::size_t width = columns - used;
      const auto filled = static_cast<std::size_t>(share * static_cast<double>(width));
      line += fmt::format("[{:=<{}}{:<{}}]", "", filled, "", width - filled);
    }
    line += tail;
  }
  return line.substr(0, columns);
}

ProgressBar::ProgressBar(bool quiet, bool verbose)
    : shown_(!quiet && is_capable_terminal(STDERR_FILENO)),
      verbose_(verbose && !quiet),
      next_draw_((Clock::now() + k_patience).time_since_epoch().count()) {}

ProgressBar::~ProgressBar() {
  const std::lock_guard lock(mutex_);
  end_phase(Clock::now());
}

void ProgressBar::begin(std::string_view phase, std::uint64_t total) {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  end_phase(now);
  phase_ = phase;
  total_ = total;
  phase_begin_ = now;
  done_.store(0, std::memory_order_relaxed);
}

void ProgressBar::advance(std::uint64_t units) {
  done_.fetch_add(units, std::memory_order_relaxed);
  if (!shown_) return;
  const Clock::time_point now = Clock::now();
  if (now.time_since_epoch().count() < next_draw_.load(std::memory_order_relaxed)) return;
  // Another thread that draws at the moment draws for this one too.
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) draw(now);
}

bool ProgressBar::cancelled() const { return interrupted(); }

void ProgressBar::draw(Clock::time_point now) {
  next_draw_.store((now + k_interval).time_since_epoch().count(), std::memory_order_relaxed);
  const double elapsed_s = std::chrono::duration<double>(now - phase_begin_).count();
  const PhaseState state{phase_, done_.load(std::memory_order_relaxed), total_, elapsed_s};
  // One column less than there are: a full line would wrap in some terminals.
  const std::string line = "\r" + progress_line(state, terminal_columns() - 1) + "\x1b[K";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::end_phase(Clock::time_point now) {
  clear_line();
  if (!phase_.empty() && verbose_)
    complain(fmt::format(
        "{} took {}", phase_,
        report::format_duration(std::chrono::duration<double>(now - phase_begin_).count())));
  phase_.clear();
}

void ProgressBar::clear_line() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace entrain::cli
