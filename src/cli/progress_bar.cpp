// SPDX-License-Identifier: BSD-3-Clause
#include "cli/progress_bar.hpp"

#include <algorithm>
#include <cstdio>
#include <new>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/start_thread.hpp"
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

/// "12.3 M events/s", "1.2 GB/s".
std::string rate_text(double per_second, std::string_view unit) {
  const bool bytes = unit == "B";
  const char* const gap = bytes || unit.empty() ? "" : " ";
  for (const auto& [size, prefix] : {std::pair{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}) {
    if (per_second >= size)
      return fmt::format("{:.1f} {}{}{}/s", per_second / size, prefix, gap, unit);
  }
  return fmt::format("{:.0f} {}/s", per_second, unit);
}

/// "1:02:03", "2:03".
std::string clock_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::clamp(seconds, 0.0, 359999.0));
  const std::uint64_t hours = whole / 3600, minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

}  // namespace

std::string progress_line(const PhaseState& state, std::size_t columns) {
  const auto done = static_cast<double>(state.done);
  const double rate = state.elapsed_s > 0 ? done / state.elapsed_s : 0;
  std::string line;
  if (state.total == 0 && state.done == 0) {
    line = fmt::format("{:<9} {}", state.phase, clock_text(state.elapsed_s));
  } else if (state.total == 0) {
    line = fmt::format("{:<9} {} {}  {}", state.phase, report::format_count(state.done), state.unit,
                       rate_text(rate, state.unit));
  } else {
    const double share = std::min(done / static_cast<double>(state.total), 1.0);
    std::string tail = fmt::format(" {:3.0f} %  {:>10}", 100 * share, rate_text(rate, state.unit));
    if (share > 0) {
      tail += fmt::format("  {:>9}", clock_text(state.elapsed_s * (1 - share) / share) + " left");
    }
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
    : shown_(!quiet && is_capable_terminal(STDERR_FILENO)), verbose_(verbose && !quiet) {
  if (!shown_) return;
  // No thread or no memory, no bar.
  drawer_ = start_thread<std::jthread>([this](const std::stop_token& stop) {
    try {
      draw_until(stop);
    } catch (const std::bad_alloc&) {
    }
  });
}

ProgressBar::~ProgressBar() {
  drawer_ = {};
  const std::lock_guard lock(mutex_);
  end_phase(Clock::now());
}

void ProgressBar::begin(std::string_view phase, std::uint64_t total, std::string_view unit) {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  end_phase(now);
  phase_ = phase;
  unit_ = unit;
  total_ = total;
  phase_begin_ = now;
  done_.store(0, std::memory_order_relaxed);
}

void ProgressBar::advance(std::uint64_t units) {
  done_.fetch_add(units, std::memory_order_relaxed);
}

bool ProgressBar::cancelled() const { return interrupted(); }

void ProgressBar::draw_until(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  std::chrono::milliseconds pause = k_patience;
  while (!stop.stop_requested()) {
    wake_.wait_for(lock, stop, pause, [] { return false; });
    if (stop.stop_requested()) return;
    if (!phase_.empty()) draw(Clock::now());
    pause = k_interval;
  }
}

void ProgressBar::draw(Clock::time_point now) {
  const double elapsed_s = std::chrono::duration<double>(now - phase_begin_).count();
  const PhaseState state{phase_, done_.load(std::memory_order_relaxed), total_, elapsed_s, unit_};
  // Uses all columns but the last: a full line would wrap in some terminals.
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
