// SPDX-License-Identifier: BSD-3-Clause
// Pipes, devices, folders and endless files where the tool expects files of an archive: it refuses
// them with one sentence, waits for nothing and leaves nothing behind.
#include <gtest/gtest.h>

#include <csignal>
#include <functional>

#include <sys/stat.h>

#include "base/temp_folder_testing.hpp"
#include "cli/tool.hpp"
#include "support/files.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

struct Special {
  const char* name;
  std::function<void(const fs::path&)> make;
};

const std::vector<Special>& specials() {
  static const std::vector<Special> k_all{
      {"pipe", [](const fs::path& path) { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); }},
      {"folder", [](const fs::path& path) { fs::create_directory(path); }},
      {"device", [](const fs::path& path) { fs::create_symlink("/dev/zero", path); }},
      {"loop", [](const fs::path& path) { fs::create_symlink(path.filename(), path); }},
      {"hole of a terabyte", [](const fs::path& path) {
         write_bytes(path, {});
         fs::resize_file(path, std::uint64_t{1} << 40);
       }}};
  return k_all;
}

class SpecialFiles : public testing::Test {
 protected:
  SpecialFiles() { copy_tree(example("allops-4"), archive_); }

  /// Runs the tool while each kind of special file has the place of `file`.
  void expect_refused(const std::string& file, const std::vector<std::string>& arguments) {
    const fs::path path = archive_ / file;
    for (const Special& special : specials()) {
      SCOPED_TRACE(file + " is a " + special.name + ": " + arguments.front());
      // The tool follows the link of an anchor, and what it leads to has another name.
      if (file == "traces.otf2" && std::string(special.name) == "device") continue;
      fs::remove(path);
      special.make(path);
      expect_refusal(run_tool(arguments), path.filename().string());
      EXPECT_FALSE(fs::exists(output()));
      EXPECT_EQ(entries_of(scratch_.path()), std::vector<std::string>{"in"});
    }
  }
  [[nodiscard]] std::string input() const { return (archive_ / "traces.otf2").string(); }
  [[nodiscard]] std::string output() const { return (scratch_ / "out").string(); }

  TempFolder scratch_;
  fs::path archive_ = scratch_ / "in";
};

TEST_F(SpecialFiles, as_anchor) { expect_refused("traces.otf2", {"info", input()}); }

TEST_F(SpecialFiles, as_what_a_linked_anchor_leads_to) {
  fs::remove(input());
  fs::create_symlink("/dev/zero", input());
  expect_refusal(run_tool({"info", input()}), "/dev/zero is not a regular file");
}

TEST_F(SpecialFiles, as_global_definitions) { expect_refused("traces.def", {"check", input()}); }

TEST_F(SpecialFiles, as_local_definitions) {
  expect_refused("traces/1.def", {"correct", input(), "-o", output()});
}

TEST_F(SpecialFiles, as_events) {
  for (const char* verb : {"info", "check"}) expect_refused("traces/1.evt", {verb, input()});
  for (const char* verb : {"correct", "distort"}) {
    expect_refused("traces/1.evt", {verb, input(), "-o", output()});
  }
  expect_refused("traces/1.evt", {"drop", input(), "-o", output(), "--random", "0.1"});
}

TEST_F(SpecialFiles, as_markers) {
  expect_refused("traces.marker", {"correct", input(), "-o", output()});
}

TEST_F(SpecialFiles, as_snapshots) {
  expect_refused("traces/1.snap", {"correct", input(), "-o", output()});
}

TEST_F(SpecialFiles, as_tables_of_the_recorder) {
  for (const Special& special : specials()) {
    if (special.name == std::string("loop")) continue;  // leads nowhere, like no file at all
    fs::remove(archive_ / "clock_samples.csv");
    special.make(archive_ / "clock_samples.csv");
    expect_refusal(run_tool({"check", input(), "--presync", "regression"}), "clock_samples.csv");
  }
  fs::remove(archive_ / "clock_samples.csv");
  expect_refused("clock_delays.csv", {"check", input(), "--mu", "delays"});
}

TEST_F(SpecialFiles, as_topology_and_parameters) {
  const std::string file = (archive_ / "net.json").string();
  expect_refused("net.json", {"net", "schedule", file});
  expect_refused("net.json", {"net", "schedule", "tree:4x2", "--parameters", file});
}

}  // namespace
}  // namespace entrain::test
