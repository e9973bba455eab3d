// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/mpi.hpp"
#include "support/process.hpp"

/// Runs of the tool by one and by several processes.
namespace entrain::test {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

inline constexpr unsigned k_timeout_s = 100;

#ifdef ENTRAIN_MPIEXEC
/// Several processes of the tool on this machine, however few cores it has.
inline ChildOutcome run_processes(unsigned count, const Arguments& arguments) {
  prepare_mpi();
  Arguments command{ENTRAIN_MPIEXEC, "-n", std::to_string(count), ENTRAIN_BINARY};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_program(command, {.timeout_s = k_timeout_s});
}
#endif

inline ChildOutcome run_alone(const Arguments& arguments) {
  Arguments command{ENTRAIN_BINARY};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_program(command, {.timeout_s = k_timeout_s});
}

/// A report without what differs from run to run.
inline nlohmann::json comparable(const std::string& text, const fs::path& output) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return text;
  json.erase("phases_s");
  json.erase("peak_memory_bytes");
  std::string plain = json.dump();
  const std::string name = output.string();
  for (std::size_t at = plain.find(name); at != std::string::npos; at = plain.find(name, at)) {
    plain.replace(at, name.size(), "OUTPUT");
  }
  return nlohmann::json::parse(plain);
}

#ifdef ENTRAIN_MPIEXEC
/// Lines of the tool itself: launchers add some of their own when a process fails.
inline std::vector<std::string> own_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (text.compare(begin, 9, "entrain: ") == 0) lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}
#endif

/// The archive was written and nothing in it is violated. Archives of every record there is pair
/// too little to be clean.
inline bool corrects(const ChildOutcome& outcome) {
  return outcome.exit_code == 0 || outcome.exit_code == 3;
}

}  // namespace entrain::test
