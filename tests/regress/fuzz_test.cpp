// SPDX-License-Identifier: BSD-3-Clause
// The fuzzers' first inputs and everything that they ever found, without a fuzzer: no crash, no
// rule broken, no disagreement with the OTF2 library.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "fuzz/targets.hpp"
#include "support/files.hpp"
#include "support/process.hpp"

namespace entrain::fuzz {
namespace {

namespace fs = std::filesystem;
using Inputs = std::map<std::string, test::Bytes>;

constexpr unsigned k_time_s = 100;

/// The inputs of one target: those it begins with, and those that are kept in the tree.
Inputs inputs_of(const std::string& target) {
  Inputs inputs;
  for (const auto& [name, bytes] : seeds(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces")) {
    if (name.parent_path() == target) inputs[name.filename().string()] = bytes;
  }
  const fs::path kept = fs::path(ENTRAIN_SOURCE_DIR) / "fuzz" / "corpus" / target;
  if (!fs::is_directory(kept)) return inputs;
  for (const auto& entry : fs::directory_iterator(kept)) {
    inputs["corpus/" + entry.path().filename().string()] = test::read_bytes(entry.path());
  }
  return inputs;
}

/// Runs the inputs in a child process, whose last line on standard error names the one in work.
test::ChildOutcome replay(const std::string& target, const Inputs& inputs) {
  const TempFolder scratch;  // here, so that it goes even if the child crashes
  return test::run_in_child(
      [&] {
        ::setenv("TMPDIR", scratch.path().c_str(), 1);
        for (const auto& [name, bytes] : inputs) {
          std::fprintf(stderr, "%s %s\n", target.c_str(), name.c_str());
          target_of(target)(bytes, Compare::always);
        }
        return 0;
      },
      {.timeout_s = k_time_s});
}

class Fuzz : public testing::TestWithParam<std::string> {};

TEST_P(Fuzz, known_inputs_do_no_harm) {
  const Inputs inputs = inputs_of(GetParam());
  EXPECT_GT(inputs.size(), 10u);
  const auto outcome = replay(GetParam(), inputs);
  const std::size_t end = outcome.err.size();
  EXPECT_EQ(outcome.exit_code, 0) << "signal " << outcome.signal << "\n"
                                  << outcome.err.substr(end - std::min<std::size_t>(end, 2000));
}

INSTANTIATE_TEST_SUITE_P(Targets, Fuzz,
                         testing::Values("event_file", "definitions", "correction", "edge_table",
                                         "mapped_table", "packed_text", "vt_config", "training_run",
                                         "perfetto_run", "spans", "paraver_trace", "ctf_traces",
                                         "part_files", "net_json", "net_dot", "net_parameters",
                                         "net_schedule"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace entrain::fuzz
