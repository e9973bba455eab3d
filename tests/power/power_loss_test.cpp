// SPDX-License-Identifier: BSD-3-Clause
// A loss of power between any two system calls of a run leaves, under the name of the output, what
// was there before or the whole new archive. The calls of a real run are recorded (log_calls.c) and
// replayed on a model of a disk that loses everything it may lose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "page/html/html.hpp"
#include "support/files.hpp"
#include "support/process.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

/// A line of the log: what was done, and to which path or paths.
struct Call {
  std::string what, path, second;
};

/// Files and folders as programs see them, and what of them is certain to survive.
class Disk {
 public:
  explicit Disk(fs::path top) : top_(std::move(top)) { nodes_.push_back({.is_folder = true}); }

  /// Takes a file or folder of the real disk as it is; all of it has been there for long.
  void add(const fs::path& folder) {
    const auto add_one = [&](const fs::path& path) {
      apply({fs::is_directory(path) ? "mkdir" : "write", path.string(), ""});
    };
    add_one(folder);
    if (fs::is_directory(folder)) {
      for (const auto& entry : fs::recursive_directory_iterator(folder)) add_one(entry.path());
    }
    for (Node& node : nodes_) settle(node);
  }

  void apply(const Call& call) {
    if (call.what == "exchange") return exchange(call.path, call.second);
    const Place place = find(call.path);
    if (place.folder == k_nowhere) return;  // not below the top
    const std::size_t node = node_at(place);
    if (call.what == "sync") {
      settle(nodes_[node]);
    } else if (call.what == "sync all") {
      for (Node& one : nodes_) settle(one);
    } else if (call.what == "rename") {
      set(place, k_nowhere);
      set(find(call.second), node);
    } else if (call.what == "unlink" || call.what == "rmdir") {
      set(place, k_nowhere);
    } else if (node == k_nowhere) {
      nodes_.push_back({.is_folder = call.what == "mkdir", .durable = call.what == "link"});
      set(place, nodes_.size() - 1);
    } else if (call.what == "write") {
      nodes_[node].durable = false;
    }
  }

  /// The files below NAME in the top folder that survive a loss of power for certain, in every
  /// state that the top folder may be found in. A state without the name: no set.
  [[nodiscard]] std::set<std::optional<std::set<std::string>>> survivors(
      const std::string& name) const {
    std::set<std::optional<std::set<std::string>>> found;
    for (const Names& state : nodes_[0].states) {
      const auto at = state.find(name);
      if (at == state.end()) {
        found.insert(std::nullopt);
        continue;
      }
      std::set<std::string> files;
      collect(at->second, "", files);
      found.insert(files);
    }
    return found;
  }

 private:
  static constexpr std::size_t k_nowhere = ~std::size_t{0};
  using Names = std::map<std::string, std::size_t>;
  struct Node {
    bool is_folder = false;
    bool durable = false;           ///< of a file: its content
    std::vector<Names> states{{}};  ///< of a folder: on the disk, then after each change
  };
  struct Place {
    std::size_t folder = k_nowhere;
    std::string name;
  };

  static void settle(Node& node) {
    node.durable = true;
    node.states = {node.states.back()};
  }
  [[nodiscard]] Place find(const fs::path& path) const {
    const fs::path relative = path.lexically_relative(top_);
    if (relative.empty() || *relative.begin() == "..") return {};
    if (relative == ".") return {0, "."};
    std::size_t folder = 0;
    for (const fs::path& part : relative.parent_path()) {
      const auto next = nodes_[folder].states.back().find(part.string());
      if (next == nodes_[folder].states.back().end()) return {};
      folder = next->second;
    }
    return {folder, relative.filename().string()};
  }
  [[nodiscard]] std::size_t node_at(const Place& place) const {
    if (place.name == ".") return place.folder;
    const Names& names = nodes_[place.folder].states.back();
    const auto at = names.find(place.name);
    return at == names.end() ? k_nowhere : at->second;
  }
  void set(const Place& place, std::size_t node) {
    Names names = nodes_[place.folder].states.back();
    if (node == k_nowhere) {
      names.erase(place.name);
    } else {
      names[place.name] = node;
    }
    nodes_[place.folder].states.push_back(std::move(names));
  }
  /// Both names of one folder change at once. Of two folders one may be on the disk without the
  /// other.
  void exchange(const std::string& a, const std::string& b) {
    const Place first = find(a), second = find(b);
    const std::size_t first_node = node_at(first), second_node = node_at(second);
    if (first.folder != second.folder) {
      set(first, second_node);
      set(second, first_node);
      return;
    }
    Names names = nodes_[first.folder].states.back();
    names[first.name] = second_node;
    names[second.name] = first_node;
    nodes_[first.folder].states.push_back(std::move(names));
  }

  /// Names that are in all states of a folder, and files whose content is on the disk.
  void collect(std::size_t node, const std::string& path, std::set<std::string>& files) const {
    if (!nodes_[node].is_folder) {
      if (nodes_[node].durable) files.insert(path);
      return;
    }
    for (const auto& [name, child] : nodes_[node].states.front()) {
      const bool always = std::all_of(nodes_[node].states.begin(), nodes_[node].states.end(),
                                      [&](const Names& state) {
                                        const auto at = state.find(name);
                                        return at != state.end() && at->second == child;
                                      });
      if (always) collect(child, path + '/' + name, files);
    }
  }

  fs::path top_;
  std::vector<Node> nodes_;
};

/// A file by itself has the name "".
std::set<std::string> files_below(const fs::path& folder) {
  std::set<std::string> files;
  if (fs::is_regular_file(folder)) return {""};
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory() || entry.is_symlink()) {
      files.insert('/' + entry.path().lexically_relative(folder).string());
    }
  }
  return files;
}

class PowerLoss : public testing::Test {
 protected:
  void SetUp() override {
#ifndef ENTRAIN_LOG_CALLS
    GTEST_SKIP() << "the calls of this build cannot be recorded";
#endif
    fs::create_directory(top());
  }

  [[nodiscard]] fs::path top() const { return folder_ / "top"; }
  [[nodiscard]] fs::path output() const { return top() / "out"; }

  /// Runs a verb that writes an archive with its output in out; returns its calls.
  std::vector<Call> record(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"-o", output().string(), "--threads", "1"});
    return record_calls(arguments);
  }

  /// The output of an earlier run, as it is on the disk: `arguments` write it.
  Disk disk_with(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), ENTRAIN_BINARY);
    arguments.insert(arguments.end(), {"-o", output().string()});
    EXPECT_EQ(run_program(arguments, {}).exit_code, 0);
    Disk disk(top());
    disk.add(output());
    return disk;
  }

  /// Runs the tool; returns its calls.
  std::vector<Call> record_calls(const std::vector<std::string>& arguments) {
    std::vector<std::string> command{"env"};
#ifdef ENTRAIN_LOG_CALLS
    command.emplace_back("LD_PRELOAD=" ENTRAIN_LOG_CALLS);
#endif
    command.push_back("LOG_CALLS=" + (folder_ / "calls").string());
    command.emplace_back(ENTRAIN_BINARY);
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ChildOutcome outcome = run_program(command, {.timeout_s = 100});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<Call> calls;
    std::ifstream log(folder_ / "calls");
    for (std::string line; std::getline(log, line);) {
      std::istringstream words(line);
      Call& call = calls.emplace_back();
      std::getline(words, call.what, '\t');
      std::getline(words, call.path, '\t');
      std::getline(words, call.second, '\t');
    }
    EXPECT_GT(calls.size(), 3u);
    return calls;
  }

  /// Number of moments at which a loss of power leaves neither the old state nor the new one, and
  /// one more if the new one is not certain at the end.
  [[nodiscard]] int bad_moments(const std::vector<Call>& calls, Disk disk) const {
    const auto before = disk.survivors("out");
    const std::optional<std::set<std::string>> after = files_below(output());
    int bad = 0;
    for (const Call& call : calls) {
      disk.apply(call);
      const auto now = disk.survivors("out");
      bad +=
          std::all_of(now.begin(), now.end(),
                      [&](const auto& state) { return state == *before.begin() || state == after; })
              ? 0
              : 1;
    }
    const auto last = disk.survivors("out");
    return bad + (last.size() == 1 && *last.begin() == after ? 0 : 1);
  }

  void expect_safe(std::vector<std::string> arguments) {
    const std::vector<Call> calls = record(std::move(arguments));
    EXPECT_EQ(bad_moments(calls, Disk(top())), 0);
  }

  TempFolder folder_;
};

const std::string k_archive = ENTRAIN_EXAMPLES_DIR "/traces/allops-4";

TEST_F(PowerLoss, correct_leaves_nothing_or_all) { expect_safe({"correct", k_archive}); }

TEST_F(PowerLoss, overlay_leaves_nothing_or_all) {
  expect_safe({"correct", k_archive, "--mode", "overlay"});
}

TEST_F(PowerLoss, distort_leaves_nothing_or_all) { expect_safe({"distort", k_archive}); }

TEST_F(PowerLoss, drop_leaves_nothing_or_all) {
  expect_safe({"drop", k_archive, "--random", "0.1"});
}

TEST_F(PowerLoss, synth_leaves_nothing_or_all) {
  expect_safe({"synth", "--events", "1000", "--locations", "2"});
}

TEST_F(PowerLoss, many_files_leave_nothing_or_all) {
  expect_safe({"synth", "--events", "10000", "--locations", "64"});
}

TEST_F(PowerLoss, an_archive_that_is_replaced_stays_until_the_new_one_is_certain) {
  const Disk disk = disk_with({"distort", k_archive});
  const std::vector<Call> calls = record({"correct", k_archive, "--force"});
  EXPECT_TRUE(std::any_of(calls.begin(), calls.end(),
                          [](const Call& call) { return call.what == "exchange"; }));
  EXPECT_EQ(bad_moments(calls, disk), 0);
}

TEST_F(PowerLoss, a_table_is_there_or_not) {
  const std::vector<Call> calls =
      record_calls({"compare", k_archive, k_archive, "--csv", output().string()});
  EXPECT_EQ(bad_moments(calls, Disk(top())), 0);
}

TEST_F(PowerLoss, a_page_that_is_replaced_stays_until_the_new_one_is_certain) {
  if (!page::can_write_pages()) GTEST_SKIP() << "this build has no page";
  const std::string truth = (folder_ / "truth").string();
  ASSERT_EQ(run_program({ENTRAIN_BINARY, "synth", "-o", truth, "--events", "1000"}, {}).exit_code,
            0);
  const Disk disk = disk_with({"report", truth});
  EXPECT_EQ(bad_moments(record_calls({"report", truth, "-o", output().string(), "--force",
                                      "--threads", "1"}),
                        disk),
            0);
}

/// The model must find what a run without its waits would risk.
TEST_F(PowerLoss, the_model_misses_no_wait) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"correct", k_archive, "--force"},
        {"synth", "--events", "10000", "--locations", "64", "--force"}}) {
    fs::remove(folder_ / "calls");
    fs::remove_all(output());
    const Disk disk = disk_with({"distort", k_archive});
    const std::vector<Call> calls = record(command);
    int waits = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (!calls[i].what.starts_with("sync")) continue;
      ++waits;
      std::vector<Call> without = calls;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_GT(bad_moments(without, disk), 0) << calls[i].path;
    }
    EXPECT_GT(waits, 1);
  }
}

}  // namespace
}  // namespace entrain::test
