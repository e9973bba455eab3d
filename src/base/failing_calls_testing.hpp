// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <thread>
#include <vector>

namespace entrain {

/// A call of the system that fails.
struct FailingCall {
  std::uint32_t number;    ///< as SYS_fsync
  std::uint32_t error;     ///< as EIO
  unsigned argument = 0;   ///< position of the argument that decides, from 0
  std::uint32_t bits = 0;  ///< it fails where the argument has one of these bits; 0: always
};

/// Runs `body` in a thread whose calls of the system pass this filter. False, without running it,
/// where the kernel has none.
template <class Body>
[[nodiscard]] bool run_behind(std::vector<sock_filter>& filter, const Body& body) {
  bool ran = false;
  std::thread([&] {
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
      return;
    }
    ran = true;
    body();
  }).join();
  return ran;
}

inline sock_filter load_word(std::size_t at) {
  return sock_filter(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(at)));
}

/// The filter that allows all calls, but for what is added behind it.
inline std::vector<sock_filter> calls_of_this_machine() {
#if defined(__aarch64__)
  constexpr std::uint32_t k_machine = AUDIT_ARCH_AARCH64;
#else
  constexpr std::uint32_t k_machine = AUDIT_ARCH_X86_64;
#endif
  return {load_word(offsetof(seccomp_data, arch)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k_machine, 1, 0),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
}

/// Runs `body` in a thread of its own in which these calls fail, as on a full disk or a file system
/// that does not know them. False, without running it, where the kernel has no filters of calls.
/// `body` must not print.
template <class Body>
[[nodiscard]] bool run_while_failing(std::initializer_list<FailingCall> calls, const Body& body) {
  std::vector<sock_filter> filter = calls_of_this_machine();
  for (const FailingCall& call : calls) {  // each one is five instructions long
    filter.push_back(load_word(offsetof(seccomp_data, nr)));
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call.number, 0, 3));
    // The lower half of the argument: these machines have it first.
    filter.push_back(load_word(offsetof(seccomp_data, args) + 8 * call.argument));
    const std::uint8_t otherwise = call.bits == 0 ? 0 : 1;
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, call.bits, 0, otherwise));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | call.error));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  return run_behind(filter, body);
}

/// Runs `body` in a thread of its own, and `meddle` right before each call `number` that it makes,
/// as if somebody else did something at that moment. The call fails with the error number that
/// `meddle` returns, if that is not 0; `meddle` makes no such call. False, without running
/// anything, where that is not possible.
template <class Body>
[[nodiscard]] bool run_while_meddling(std::uint32_t number, const std::function<int()>& meddle,
                                      const Body& body) {
#if defined(__x86_64__)
  static const std::function<int()>* act = nullptr;
  // Marks the call that the handler makes, in the half of an argument that no call looks at.
  static constexpr std::uint32_t k_known = 0x656E7472;
  act = &meddle;
  struct sigaction action {
  }, before{};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t* call, void* context) {
    greg_t* const words = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    const int error = (*act)();
    const long result = error != 0 ? -1
                                   : ::syscall(call->si_syscall, words[REG_RDI], words[REG_RSI],
                                               words[REG_RDX], words[REG_R10], words[REG_R8],
                                               static_cast<std::uint64_t>(k_known) << 32);
    words[REG_RAX] = result >= 0 ? result : error != 0 ? -error : -errno;
  };
  if (::sigaction(SIGSYS, &action, &before) != 0) return false;
  std::vector<sock_filter> filter = calls_of_this_machine();
  filter.push_back(load_word(offsetof(seccomp_data, nr)));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3));
  filter.push_back(load_word(offsetof(seccomp_data, args) + 8 * 5 + 4));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k_known, 1, 0));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const bool ran = run_behind(filter, body);
  ::sigaction(SIGSYS, &before, nullptr);
  return ran;
#else
  static_cast<void>(number), static_cast<void>(meddle), static_cast<void>(body);
  return false;
#endif
}

}  // namespace entrain
