// SPDX-License-Identifier: BSD-3-Clause
#include "record/cli/launch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "cli/output.hpp"
#include "cli/verbs.hpp"

namespace entrain::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array k_mpis{"openmpi", "mpich"};

std::string base_name(const std::string& path) { return fs::path(path).filename().string(); }

std::vector<char*> pointers_to(const Command& command) {
  std::vector<char*> pointers;
  for (const std::string& word : command) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// The output of a program, both streams; "" if it cannot be run.
std::string output_of(const Command& command) {
  int ends[2];
  if (::pipe(ends) != 0) return "";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execvp(command[0].c_str(), pointers_to(command).data());
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> part;
  while (child > 0) {
    const ssize_t got = ::read(ends[0], part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  if (child > 0) ::waitpid(child, nullptr, 0);
  return text;
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

bool is_slurm(const Command& command) { return base_name(command[0]) == "srun"; }

std::optional<std::string> mpi_of_launcher(const Command& command) {
  if (!is_launcher(command) || is_slurm(command)) return std::nullopt;
  const std::string version = output_of({command[0], "--version"});
  if (contains(version, "Open MPI") || contains(version, "OpenRTE") || contains(version, "PRRTE")) {
    return "openmpi";
  }
  if (contains(version, "HYDRA") || contains(version, "MPICH")) return "mpich";
  return std::nullopt;
}

/// The MPI whose library is in this list of ldd. Several MPIs name their library libmpi.so: version
/// 12 is the binary interface of MPICH and its relatives, version 40 that of Open MPI. For another
/// version, returns the name of the library.
std::optional<std::string> mpi_of_libraries(const std::string& libraries) {
  if (contains(libraries, "libmpich.so")) return "mpich";
  const auto begin = libraries.find("libmpi.so");
  if (begin == std::string::npos) return std::nullopt;
  const std::string name = libraries.substr(begin, libraries.find_first_of(" \n", begin) - begin);
  if (name == "libmpi.so.12") return "mpich";
  if (name == "libmpi.so.40") return "openmpi";
  return name;
}

/// The MPI of the first word that names a program linked with one.
std::optional<std::string> mpi_of_program(const Command& command) {
  for (const std::string& word : command) {
    const std::string path =
        contains(word, "/") ? word : output_of({"sh", "-c", "command -v -- \"$0\"", word});
    if (path.empty() || ::access(path.substr(0, path.find('\n')).c_str(), X_OK) != 0) continue;
    const std::string libraries = output_of({"ldd", path.substr(0, path.find('\n'))});
    if (auto mpi = mpi_of_libraries(libraries)) return mpi;
  }
  return std::nullopt;
}

std::optional<std::string> mpi_around() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) return "openmpi";
  if (std::getenv("PMI_SIZE") != nullptr && std::getenv("PMI_RANK") != nullptr) return "mpich";
  return std::nullopt;
}

std::string library_path(const std::string& mpi) {
  return recorder_folder() + "/libentrain-record-" + mpi + ".so";
}

volatile std::sig_atomic_t running_child = 0;

void pass_on(int signal) {
  if (running_child > 0) ::kill(static_cast<pid_t>(running_child), signal);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

std::string recorder_folder() {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  return (self.parent_path().parent_path() / ENTRAIN_RECORD_LIBDIR).string();
}

bool is_launcher(const Command& command) {
  std::string name = base_name(command.at(0));
  name = name.substr(0, name.find('.'));
  static constexpr std::array k_names{"mpirun", "mpiexec", "orterun", "prterun", "srun"};
  return std::find(k_names.begin(), k_names.end(), name) != k_names.end();
}

std::optional<std::string> mpi_of(const Command& command) {
  if (const auto mpi = mpi_of_launcher(command)) return mpi;
  if (const auto mpi = mpi_of_program(command)) return mpi;
  return mpi_around();
}

std::optional<std::string> other_mpi(const Command& command, const std::string& mpi) {
  auto found = mpi_of_program(command);
  if (!found) found = mpi_of_launcher(command);
  const bool known = found && std::find(k_mpis.begin(), k_mpis.end(), *found) != k_mpis.end();
  return known && *found != mpi ? found : std::nullopt;
}

Result<std::string> recorder_library(const std::optional<std::string>& mpi) {
  std::vector<std::string> built;
  for (const char* name : k_mpis) {
    if (::access(library_path(name).c_str(), R_OK) == 0) built.emplace_back(name);
  }
  if (built.empty()) {
    return fail(ErrorKind::usage,
                fmt::format("there is no recorder in {}; it is built where MPI and the OTF2 "
                            "library are",
                            recorder_folder()));
  }
  if (mpi && std::find(built.begin(), built.end(), *mpi) != built.end()) return library_path(*mpi);
  if (!mpi && built.size() == 1) return library_path(built[0]);
  if (mpi) {
    return fail(ErrorKind::usage,
                fmt::format("this entrain has no recorder for the program's MPI ({}), only for {}; "
                            "if it is one of these in its binary interface, name that with --mpi",
                            *mpi, fmt::join(built, " and ")));
  }
  return fail(ErrorKind::usage, fmt::format("cannot tell the program's MPI; name it with --mpi {}",
                                            fmt::join(built, " or --mpi ")));
}

namespace {

/// The words of `command`, an srun, with LD_PRELOAD given to the program by the option --export: in
/// the environment it would load the recorder into srun itself. The option names the other
/// variables, which are in the environment. Its earlier content, or that of its variable, stays.
Command with_export(const Command& command, const Environment& variables) {
  Command result = command;
  const char* const inherited = std::getenv("SLURM_EXPORT_ENV");
  std::string exported = inherited != nullptr && *inherited != '\0' ? inherited : "ALL";
  for (std::size_t i = 1; i < result.size(); ++i) {
    const bool apart = result[i] == "--export" && i + 1 < result.size();
    if (!apart && !result[i].starts_with("--export=")) continue;
    exported = apart ? result[i + 1] : result[i].substr(std::strlen("--export="));
    const auto first = result.begin() + static_cast<std::ptrdiff_t>(i);
    result.erase(first, first + (apart ? 2 : 1));
    break;
  }
  std::string option = "--export=";
  if (exported != "NONE" && exported != "NIL") option += exported + ',';
  for (const auto& [name, value] : variables) {
    if (name == "LD_PRELOAD") {
      option += name + '=' + value + ',';
    } else {
      ::setenv(name.c_str(), value.c_str(), 1);
      option += name + ',';
    }
  }
  option.pop_back();
  result.insert(result.begin() + 1, option);
  return result;
}

}  // namespace

Command with_variables(const Command& command, const Environment& variables) {
  if (is_slurm(command)) return with_export(command, variables);
  const auto mpi = mpi_of_launcher(command);
  Command options;
  for (const auto& [name, value] : variables) {
    if (mpi == "openmpi") {
      options.insert(options.end(), {"-x", name + "=" + value});
    } else if (mpi == "mpich") {
      options.insert(options.end(), {"-genv", name, value});
    } else {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  Command result;
  for (const std::string& word : command) {
    result.push_back(word);
    // With several programs, Open MPI needs the options for each one.
    const bool next_program = word == ":" && mpi == "openmpi";
    if (result.size() == 1 || next_program) {
      result.insert(result.end(), options.begin(), options.end());
    }
  }
  return result;
}

int run_and_wait(const Command& command) {
  // The terminal interrupts the whole group: the program decides what that means.
  handle(SIGINT, SIG_IGN);
  handle(SIGQUIT, SIG_IGN);
  const pid_t child = ::fork();
  if (child == 0) {
    handle(SIGINT, SIG_DFL);
    handle(SIGQUIT, SIG_DFL);
    ::_exit(become(command));
  }
  if (child < 0) {
    complain(fmt::format("cannot start {}: {}", command[0], std::strerror(errno)));
    return -1;
  }
  running_child = child;
  handle(SIGTERM, pass_on);
  handle(SIGHUP, pass_on);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running_child = 0;
  if (WIFSIGNALED(status)) {
    handle(WTERMSIG(status), SIG_DFL);
    ::raise(WTERMSIG(status));
  }
  return WEXITSTATUS(status);
}

int become(const Command& command) {
  ::execvp(command[0].c_str(), pointers_to(command).data());
  complain_alone(fmt::format("cannot start {}: {}", command[0], std::strerror(errno)));
  return k_exit_failure;
}

}  // namespace entrain::cli
