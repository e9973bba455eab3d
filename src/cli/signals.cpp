// SPDX-License-Identifier: BSD-3-Clause
#include "cli/signals.hpp"

#include <atomic>
#include <csignal>

namespace entrain::cli {
namespace {

std::atomic<bool> asked_to_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "written in a signal handler");

void ask_to_stop(int) { asked_to_stop.store(true, std::memory_order_relaxed); }

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // `ulimit -f`: the write fails and is reported
}

bool interrupted() { return asked_to_stop.load(std::memory_order_relaxed); }

}  // namespace entrain::cli
