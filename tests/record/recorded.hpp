// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cli/tool.hpp"
#include "support/files.hpp"
#include "support/mpi.hpp"
#include "support/otf2_print.hpp"

namespace entrain::test {

/// An MPI that the recorder was built for, with its launcher and compilers ("" if missing).
struct Mpi {
  std::string name, launcher, fortran;
};

/// ENTRAIN_RECORD_MPIS is "openmpi|mpiexec|mpifort;...".
inline std::vector<Mpi> built_mpis() {
  std::vector<Mpi> mpis;
  std::istringstream all(ENTRAIN_RECORD_MPIS);
  for (std::string one; std::getline(all, one, ';');) {
    std::istringstream words(one);
    Mpi mpi;
    std::getline(words, mpi.name, '|');
    std::getline(words, mpi.launcher, '|');
    std::getline(words, mpi.fortran, '|');
    if (!mpi.name.empty()) mpis.push_back(mpi);
  }
  return mpis;
}

inline std::string program_path(const Mpi& mpi, const std::string& program) {
  return std::string(ENTRAIN_RECORD_PROGRAMS) + "/" + mpi.name + "/" + program;
}

/// Sets variables for the programs started while it lives.
class WithVariables {
 public:
  explicit WithVariables(const std::map<std::string, std::string>& variables)
      : variables_(variables) {
    for (const auto& [name, value] : variables_) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~WithVariables() {
    for (const auto& [name, value] : variables_) ::unsetenv(name.c_str());
  }
  WithVariables(const WithVariables&) = delete;
  WithVariables& operator=(const WithVariables&) = delete;

 private:
  std::map<std::string, std::string> variables_;
};

/// The launcher's command for `count` processes, however few cores there are.
inline std::vector<std::string> launch(const Mpi& mpi, int count) {
  prepare_mpi();
  return {mpi.launcher, "-n", std::to_string(count)};
}

inline std::vector<std::string> operator+(std::vector<std::string> a,
                                          const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Runs `entrain record OPTIONS -o FOLDER -- launcher -n COUNT PROGRAM...`.
inline ChildOutcome record(const Mpi& mpi, int count, const std::filesystem::path& folder,
                           const std::vector<std::string>& program,
                           const std::vector<std::string>& options = {}) {
  return run_tool(std::vector<std::string>{"record"} + options +
                  std::vector<std::string>{"-o", folder.string(), "--"} + launch(mpi, count) +
                  program);
}

/// Makes an archive of what an ended program has left. Its last processes may still be ending when
/// its launcher is gone.
inline ChildOutcome repair(const std::filesystem::path& folder) {
  using namespace std::chrono_literals;
  for (int patience = 300;; --patience) {
    ChildOutcome outcome = run_tool({"record", "--repair", folder.string()});
    const bool running = outcome.err.find("is running; repair when") != std::string::npos;
    if (!running || patience == 0) return outcome;
    std::this_thread::sleep_for(100ms);
  }
}

inline std::filesystem::path anchor_of(const std::filesystem::path& folder) {
  return folder / "traces.otf2";
}

/// Record of otf2-print in the form in which the test programs write down what they expect: no
/// times, no request ids, communicators by name; "PARTNERS to ... from ..." for the partners that
/// the record before names. "" for enter, leave, and tests of requests, whose number depends on
/// chance.
inline std::string short_form(const std::string& line) {
  static const std::map<std::string, std::string> k_names{
      {"MPI_SEND", "SEND"},
      {"MPI_ISEND", "ISEND"},
      {"MPI_ISEND_COMPLETE", "ISEND_COMPLETE"},
      {"MPI_RECV", "RECV"},
      {"MPI_IRECV", "IRECV"},
      {"MPI_IRECV_REQUEST", "IRECV_REQUEST"},
      {"MPI_REQUEST_CANCELLED", "CANCELLED"},
      {"MPI_COLLECTIVE_BEGIN", "BEGIN"},
      {"MPI_COLLECTIVE_END", "END"},
      {"NON_BLOCKING_COLLECTIVE_REQUEST", "REQUEST"},
      {"NON_BLOCKING_COLLECTIVE_COMPLETE", "COMPLETE"},
      {"COMM_CREATE", "CREATE"},
      {"COMM_DESTROY", "DESTROY"},
      {"RMA_COLLECTIVE_BEGIN", "RMA_BEGIN"},
      {"RMA_COLLECTIVE_END", "RMA_END"},
      {"RMA_WIN_CREATE", "WIN_CREATE"},
      {"RMA_WIN_DESTROY", "WIN_DESTROY"},
      {"RMA_GROUP_SYNC", "GROUP_SYNC"},
      {"RMA_SYNC", "SYNC"},
      {"RMA_REQUEST_LOCK", "LOCK"},
      {"RMA_RELEASE_LOCK", "UNLOCK"},
      {"RMA_PUT", "PUT"},
      {"RMA_GET", "GET"},
      {"RMA_ATOMIC", "ATOMIC"},
      {"RMA_OP_COMPLETE_NON_BLOCKING", "LOCAL"},
      {"RMA_OP_COMPLETE_REMOTE", "REMOTE"}};
  static const std::regex k_partners("ENTRAIN::PARTNERS\" <[0-9]+>; STRING; \"([^\"]*)\"");
  std::smatch partners;
  if (line.starts_with(' ') && std::regex_search(line, partners, k_partners)) {
    return "PARTNERS " + partners[1].str();
  }
  const auto name = k_names.find(line.substr(0, line.find(' ')));
  if (name == k_names.end()) return "";
  std::string text = name->second;
  static const std::regex k_field(
      "(Operation|Receiver|Sender|Communicator|Root|Tag|Length|Sent|Received|Window|Remote|Bytes|"
      "Type|Level of Synchronicity): (\"([^\"]*)\"|\\{[A-Z_, ]*\\}|[A-Z_]+|[0-9]+)");
  for (std::sregex_iterator field(line.begin(), line.end(), k_field), end; field != end; ++field) {
    text += " " + ((*field)[2].str()[0] == '"' ? (*field)[3].str() : (*field)[2].str());
  }
  return text;
}

/// Records of one location, in order, in short form.
inline std::vector<std::string> records_of(const PrintedArchive& printed,
                                           const std::string& location) {
  std::vector<std::string> records;
  const auto found = printed.events.find(location);
  if (found == printed.events.end()) return records;
  std::istringstream lines(found->second);
  for (std::string line; std::getline(lines, line);) {
    if (std::string text = short_form(line); !text.empty()) records.push_back(text);
  }
  return records;
}

/// How often a location enters each region.
inline std::map<std::string, int> calls_of(const PrintedArchive& printed,
                                           const std::string& location) {
  std::map<std::string, int> calls;
  const auto found = printed.events.find(location);
  if (found == printed.events.end()) return calls;
  static const std::regex k_enter("^ENTER .*Region: \"([^\"]*)\"");
  std::istringstream lines(found->second);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, k_enter)) ++calls[match[1].str()];
  }
  return calls;
}

inline std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// A test for every MPI that the recorder was built for; skipped where there is none.
class EveryMpi : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    for (const Mpi& mpi : built_mpis()) {
      if (mpi.name == GetParam()) mpi_ = mpi;
    }
    if (mpi_.name.empty()) GTEST_SKIP() << "built without the recorder for " << GetParam();
    if (mpi_.launcher.empty()) GTEST_SKIP() << GetParam() << " has no launcher here";
  }

  /// The archive is accepted by the OTF2 library, has no violation, and yields edges from most of
  /// what it recorded. Programs that do nothing but create communicators leave the verdict open.
  void expect_sound(const std::filesystem::path& folder) {
    printed_ = print_archive(anchor_of(folder), true);
    EXPECT_EQ(printed_.exit_code, 0) << printed_.errors;
    const ChildOutcome check = run_tool({"check", folder.string(), "--json"});
    check_ = json_of(check);
    const bool open = check_["checked_edges"] == 0 && !check_["coverage"]["share"].is_null();
    const bool cut = receives_are_cut_ && check_["verdict_reason"] == "low_coverage";
    const int expected = open || cut ? 3 : 0;
    EXPECT_EQ(check.exit_code, expected) << check.out << check.err;
  }

  [[nodiscard]] std::string program(const std::string& name) const {
    return program_path(mpi_, name);
  }

  Mpi mpi_;
  bool receives_are_cut_ = false;  ///< receives tell fewer bytes than were sent, and stay unpaired
  TempFolder scratch_;
  PrintedArchive printed_;
  Json check_;
};

}  // namespace entrain::test
