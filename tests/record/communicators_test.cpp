// SPDX-License-Identifier: BSD-3-Clause
// Communicators are recorded with the one that each was made from.
#include <set>

#include <gmock/gmock.h>

#include "record/recorded.hpp"

namespace entrain::test {
namespace {

/// A definition, as far as otf2-print tells.
struct Definition {
  std::string name, parent;  ///< "UNDEFINED" if there is none
  int number = 0, parent_number = -1;
};

std::vector<Definition> communicators_in(const std::string& definitions) {
  static const std::regex k_line(
      "^(?:INTER_)?COMM +([0-9]+) +[Nn]ame: \"([^\"]*)\".*(?:Parent|Common Communicator): "
      "(?:(UNDEFINED)|\"([^\"]*)\" <([0-9]+)>)");
  std::vector<Definition> all;
  std::istringstream lines(definitions);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (!std::regex_search(line, match, k_line)) continue;
    Definition one{match[2], match[3].matched ? match[3] : match[4], std::stoi(match[1])};
    if (match[5].matched) one.parent_number = std::stoi(match[5]);
    all.push_back(one);
  }
  return all;
}

class Communicators : public EveryMpi {
 protected:
  /// The names in the program family say which parent each has.
  void expect_family(const std::filesystem::path& folder) {
    expect_sound(folder);
    std::set<std::string> named;
    for (const Definition& one : communicators_in(printed_.definitions)) {
      EXPECT_LT(one.parent_number, one.number) << one.name;
      const std::size_t mark = one.name.find('<');
      if (mark == std::string::npos) continue;
      named.insert(one.name.substr(0, mark));
      EXPECT_EQ(one.name.substr(mark + 1), one.parent.substr(0, one.parent.find('<'))) << one.name;
    }
    EXPECT_EQ(named, (std::set<std::string>{"dup",    "dup_with_info", "idup",       "own",
                                            "even",   "odd",           "node_even",  "node_odd",
                                            "create", "create_group",  "cart",       "row0",
                                            "row1",   "graph",         "dist_graph", "adjacent",
                                            "bridge", "inter",         "merged",     "copy"}));
  }
};

TEST_P(Communicators, have_their_parents) {
  const ChildOutcome outcome = record(mpi_, 4, scratch_ / "trace", {program("family")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
  expect_family(scratch_ / "trace");
}

TEST_P(Communicators, have_their_parents_after_a_repair) {
  record(mpi_, 4, scratch_ / "trace", {program("family"), "exit"});
  const ChildOutcome repaired = repair(scratch_ / "trace");
  ASSERT_EQ(repaired.exit_code, 0) << repaired.summary() << repaired.err;
  expect_family(scratch_ / "trace");
}

TEST_P(Communicators, of_connections_have_none) {
  const ChildOutcome plain =
      run_program(launch(mpi_, 3) + std::vector<std::string>{program("connect")}, tool_limits());
  if (plain.exit_code != 0) GTEST_SKIP() << mpi_.name << " cannot connect here: " << plain.err;
  const ChildOutcome outcome = record(mpi_, 3, scratch_ / "trace", {program("connect")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
  expect_sound(scratch_ / "trace");
  int connections = 0;
  for (const Definition& one : communicators_in(printed_.definitions)) {
    if (one.number < 2) continue;
    EXPECT_EQ(one.parent, "UNDEFINED") << one.name;
    ++connections;
  }
  EXPECT_EQ(connections, 3);
}

INSTANTIATE_TEST_SUITE_P(Mpi, Communicators, testing::Values("openmpi", "mpich"),
                         [](const auto& which) { return which.param; });

}  // namespace
}  // namespace entrain::test
