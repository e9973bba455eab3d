// SPDX-License-Identifier: BSD-3-Clause
#include "cli/signals.hpp"

#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <exception>
#include <thread>

#include "base/big_vector.hpp"
#include "base/start_thread.hpp"
#include "base/unfinished.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"

namespace entrain::cli {
namespace {

/// Time that a run has to end by itself once it is asked to.
constexpr timespec k_signal_wait{0, 500'000'000};
/// Time that removing what is unfinished may take after it: the file system may hang.
constexpr timespec k_removal{1, 0};
/// Launchers send a signal to the process and to its group: this soon the second one is the same.
constexpr timespec k_echo{0, 20'000'000};

std::atomic<bool> asked_to_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "written in a signal handler");

sigset_t stop_signals() {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  return both;
}

/// Gives a signal its usual meaning in this thread: it ends the process.
void make_deadly(int signal) {
  std::signal(signal, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

/// Ends the run, which has not ended by itself. Safe in a signal handler.
[[noreturn]] void give_up(int signal) {
  // However long the file system takes to remove something: then the signal itself ends the run.
  make_deadly(signal);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = signal;
  timer_t timer{};
  const bool timed = ::timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
  const auto end_after = [&](const timespec& time) {
    const itimerspec at{{}, time};
    if (timed) ::timer_settime(timer, 0, &at, nullptr);
  };
  end_after(k_removal);
  Unfinished::remove_all();
  say_interrupted();
  end_after({});  // never: a thread sanitizer sleeps for a second in the exit
  ::_exit(k_exit_interrupted);
}

/// Waits for a signal that asks to stop; 0 if none comes in `time`.
int wait_for_signal(const timespec& time) {
  const sigset_t both = stop_signals();
  int signal = -1;
  do {
    signal = ::sigtimedwait(&both, nullptr, &time);
  } while (signal < 0 && errno == EINTR);
  return signal < 0 ? 0 : signal;
}

/// The thread that takes the signals: the others may wait in the system where no signal reaches
/// them.
void watch() {
  int signal = 0;
  while (signal == 0) signal = wait_for_signal({3600, 0});
  asked_to_stop = true;
  ::nanosleep(&k_echo, nullptr);
  while (wait_for_signal({0, 0}) != 0) {
  }
  const int second = wait_for_signal(k_signal_wait);
  if (second == 0) give_up(signal);
  make_deadly(second);
  ::kill(::getpid(), second);
}

// Without that thread: a handler starts a timer, and that one's signal ends the run.
volatile std::sig_atomic_t first_signal = SIGINT;

void ask_to_stop(int signal) {
  first_signal = signal;
  asked_to_stop = true;
  const itimerval time{{}, {0, k_signal_wait.tv_nsec / 1000}};
  ::setitimer(ITIMER_REAL, &time, nullptr);
}

void patience_ends(int) { give_up(first_signal); }

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second signal ends the process
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

iovec part(const char* text) { return {const_cast<char*>(text), std::strlen(text)}; }

/// Writes "entrain: `what`; " and either `otherwise` or where the result is.
void say(const char* what, const char* otherwise) noexcept {
  const char* const result = noted_result();
  const bool complete = *result != '\0';
  const std::array parts{part("entrain: "), part(what),
                         part(complete ? "; the result is complete: " : otherwise), part(result),
                         part("\n")};
  const ssize_t ignored = ::writev(STDERR_FILENO, parts.data(), static_cast<int>(parts.size()));
  static_cast<void>(ignored);
}

}  // namespace

void install_signal_handlers() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // `ulimit -f`: the write fails and is reported
  const sigset_t both = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &both, nullptr);  // in threads that this one starts, too
  if (std::thread watcher = start_thread(watch); watcher.joinable()) {
    watcher.detach();
    return;
  }
  handle(SIGALRM, patience_ends);
  handle(SIGINT, ask_to_stop);
  handle(SIGTERM, ask_to_stop);
  ::pthread_sigmask(SIG_UNBLOCK, &both, nullptr);
}

bool interrupted() { return asked_to_stop.load(std::memory_order_relaxed); }

void say_interrupted() noexcept {
  if (speaks()) say("interrupted", "; nothing was written");
}

void say_no_memory(const std::bad_alloc& exception) noexcept {
  const auto* const room = dynamic_cast<const NoRoomForArrays*>(&exception);
  say(room == nullptr ? "there is not enough memory for this trace" : room->what(), "");
}

void end_by_exception() noexcept {
  try {
    if (const std::exception_ptr exception = std::current_exception()) {
      std::rethrow_exception(exception);
    }
    say_no_memory(std::bad_alloc());  // not even an exception could be made
  } catch (const std::bad_alloc& exception) {
    say_no_memory(exception);
  } catch (...) {
    say("internal error, please report it", "");
  }
  Unfinished::remove_all();
  ::_exit(k_exit_failure);
}

}  // namespace entrain::cli
