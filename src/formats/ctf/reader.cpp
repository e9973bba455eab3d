// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ctf/reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/flat_map.hpp"
#include "base/try.hpp"
#include "formats/ctf/decode.hpp"
#include "formats/ctf/wire.hpp"

namespace entrain::ctf {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_most_memory = std::uint64_t{4} << 30;  ///< of the reading process, bytes
constexpr std::uint64_t k_most_clocks = 65'536;

/// Reads in a process of its own, which ends with its parent and says nothing but by the wire.
[[noreturn]] void live(const fs::path& folder, std::span<const Rule> rules, bool all, int output) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  const rlimit none{0, 0}, memory{k_most_memory, k_most_memory};
  ::setrlimit(RLIMIT_CORE, &none);
  ::setrlimit(RLIMIT_DATA, &memory);
  ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
  Wire wire(output, "w");
  decode(folder, rules, all, wire);
  wire.close();
  ::_exit(0);
}

/// Waits for the end of a process. Returns the signal that ended it, or 0.
int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

tl::unexpected<Error> broken(const fs::path& folder, int signal) {
  if (signal == SIGINT || signal == SIGTERM) return fail(ErrorKind::interrupted, "interrupted");
  return fail(
      ErrorKind::input,
      fmt::format("libbabeltrace2 broke down while it read the CTF trace {}{}: the trace is "
                  "damaged, or needs more than 4 GiB of memory",
                  folder.string(), signal == 0 ? "" : fmt::format(" ({})", ::strsignal(signal))));
}

TraceFacts facts_from(Wire& wire) {
  TraceFacts facts;
  facts.hostname = wire.text();
  for (auto clocks = std::min(wire.number(), k_most_clocks); clocks > 0; --clocks) {
    ClockClass& clock = facts.clocks.emplace_back();
    clock.name = wire.text();
    clock.uuid = wire.text();
    const auto [frequency, offset_s, offset, first, last] = wire.numbers<5>();
    clock.frequency = frequency;
    clock.offset_s = static_cast<std::int64_t>(offset_s);
    clock.offset = offset;
    facts.spans.emplace_back();
    if (first <= last) facts.spans.back() = {first, last};
  }
  const auto [events, without_clock, out_of_range, discarded] = wire.numbers<4>();
  facts.events = events;
  facts.without_clock = without_clock;
  facts.out_of_range = out_of_range;
  facts.discarded = discarded;
  return facts;
}

/// Shows the events that come by the wire. Empty: they end too early.
Result<std::optional<TraceFacts>> take_all(Wire& wire, std::size_t rules,
                                           const std::function<Result<void>(const Event&)>& see) {
  std::vector<std::string> names;
  std::vector<MessageEnd> ends;
  std::string stream;
  for (;;) {
    const Record record = wire.record();
    if (record == Record::facts) return facts_from(wire);
    if (record == Record::failed) {
      const auto kind = static_cast<ErrorKind>(wire.number());
      return fail(kind, wire.text());
    }
    if (record == Record::stream) {
      stream = wire.text();
    } else if (record == Record::name) {
      names.push_back(wire.text());
    } else if (record == Record::event) {
      const auto [name, clock, time, contents, size] = wire.numbers<5>();
      if (name >= names.size() || clock >= k_most_clocks || size > 2 * rules) break;
      ends.resize(size);
      for (MessageEnd& end : ends) {
        const auto [a, b, rule, is_send, place] = wire.numbers<5>();
        if (rule >= rules) return std::nullopt;
        end = {{a, b}, static_cast<std::uint32_t>(rule), is_send != 0, place};
      }
      TRY(see({.clock = static_cast<std::uint32_t>(clock),
               .time = time,
               .name = names[name],
               .stream = stream,
               .contents = contents,
               .ends = ends}));
    } else {
      break;
    }
  }
  return std::nullopt;
}

}  // namespace

void Key::add(std::uint64_t value) {
  a = mix(a + value + 0xd1b54a32d192ed03U);
  b = mix(b ^ std::rotl(value, 32) ^ 0x9e3779b97f4a7c15U);
}

void Key::add(std::string_view text) {
  add(text.size());
  for (std::size_t at = 0; at < text.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min(sizeof word, text.size() - at));
    add(word);
  }
}

Result<TraceFacts> read_trace(const fs::path& folder, std::span<const Rule> rules, bool all,
                              const std::function<Result<void>(const Event&)>& see) {
  std::array<int, 2> ends{-1, -1};
  const bool has_pipe = ::pipe2(ends.data(), O_CLOEXEC) == 0;
  const pid_t process = has_pipe ? ::fork() : -1;
  if (process == 0) live(folder, rules, all, ends[1]);
  const int number = errno;
  if (has_pipe) ::close(ends[1]);
  Wire wire(ends[0], "r");
  if (process < 0) {
    return fail(ErrorKind::input, fmt::format("cannot read {}: no process can be made: {}",
                                              folder.string(), reason(number)));
  }
  auto result = take_all(wire, rules.size(), see);
  wire.close();
  if (!result || !*result) ::kill(process, SIGTERM);  // it may go on without an end
  const int signal = wait_for(process);
  TRY(result);
  if (*result) return **std::move(result);
  return broken(folder, signal);
}

}  // namespace entrain::ctf
