// SPDX-License-Identifier: BSD-3-Clause
#include "cli/same_start.hpp"

#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/team.hpp"

namespace entrain::cli {
namespace {

using Words = std::vector<std::string>;

/// Messages to the members of a team that were started with these words, one list per member; ""
/// for the same words.
std::string heard(const std::vector<Words>& starts) {
  std::mutex mutex;
  Words sentences;
  EXPECT_TRUE(run_team(static_cast<unsigned>(starts.size()), [&](Team& team) -> Result<void> {
    const auto same = check_same_start(team, starts[team.rank()]);
    const std::lock_guard lock(mutex);
    sentences.push_back(same ? "" : same.error().message);
    return {};
  }));
  EXPECT_EQ(sentences, Words(starts.size(), sentences.front()));  // all hear the same
  return sentences.front();
}

constexpr const char* k_begin = "all processes of a run need the same command line, but ";

TEST(SameStart, the_same_words_are_no_difference) {
  const Words words{"entrain 1", "correct", "d", "-o", "o"};
  EXPECT_EQ(heard({words}), "");
  EXPECT_EQ(heard({words, words, words}), "");
}

TEST(SameStart, names_the_process_and_what_differs) {
  const Words first{"entrain 1", "correct", "d", "--mu", "1", "-o", "o"};
  const auto told = [&](const Words& other) { return heard({first, first, other, other}); };
  const std::string begin = std::string(k_begin) + "process 2 has ";
  EXPECT_EQ(told({"entrain 1", "correct", "d", "--mu", "2", "-o", "o"}),
            begin + "'--mu 2' where process 0 has '--mu 1'");
  EXPECT_EQ(told({"entrain 1", "correct", "d", "-o", "o"}),
            begin + "nothing where process 0 has '--mu 1'");
  EXPECT_EQ(told({"entrain 1", "correct", "d", "--mu", "1", "-o", "o", "--json"}),
            begin + "'--json' where process 0 has nothing");
  EXPECT_EQ(told({"entrain 1", "check", "d", "--mu", "1", "-o", "o"}),
            begin + "'check' where process 0 has 'correct'");
  EXPECT_EQ(told({"entrain 1", "correct", "d", "e", "--mu", "1", "-o", "o"}),
            begin + "'e' where process 0 has nothing");
  EXPECT_EQ(told({"entrain 2", "correct", "d", "--mu", "1", "-o", "o"}),
            begin + "'entrain 2' where process 0 has 'entrain 1'");
  EXPECT_EQ(told({"entrain 1", "ENTRAIN_PROCESSES=all", "correct", "d", "--mu", "1", "-o", "o"}),
            begin + "'ENTRAIN_PROCESSES=all' where process 0 has nothing");
  EXPECT_EQ(told({"entrain 1", "--help"}),
            begin + "'--help' where process 0 has 'correct d --mu 1 -o o'");
  EXPECT_EQ(told({"entrain 1"}), begin + "nothing where process 0 has 'correct d --mu 1 -o o'");
  EXPECT_EQ(told({"entrain 1", "correct", "d", "--mu", "", "-o", "o"}),
            begin + "'--mu ' where process 0 has '--mu 1'");
}

TEST(SameStart, foreign_words_are_made_printable_and_cut) {
  const std::string sentence = heard(
      {{"entrain 1", "check", "a"}, {"entrain 1", "check", "\x1B" + std::string(100'000, 'x')}});
  EXPECT_EQ(sentence.find('\x1B'), std::string::npos);
  EXPECT_LT(sentence.size(), 300u);
}

TEST(SameStart, one_folder_is_the_same_folder) {
  EXPECT_TRUE(run_team(2, [](Team& team) { return check_same_folder(team); }));
}

}  // namespace
}  // namespace entrain::cli
