// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/recorded.hpp"

namespace entrain::test {

/// Programs that say themselves what should be recorded of them.
class ToldPrograms : public EveryMpi {
 protected:
  /// Runs `name` on four processes, without the recorder and with it. The results are the same, and
  /// the records those that the program expects, as are the calls that it counted.
  void expect_recorded_as_told(const std::string& name) {
    const ChildOutcome plain = run_program(
        launch(mpi_, 4) + std::vector<std::string>{program(name), scratch_.path().string()},
        tool_limits());
    ASSERT_EQ(plain.exit_code, 0) << plain.summary() << plain.err;
    const auto results = all_lines("results");
    const ChildOutcome outcome =
        record(mpi_, 4, scratch_ / "trace", {program(name), scratch_.path().string()});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
    EXPECT_EQ(plain.out, name + " done\n");
    EXPECT_EQ(outcome.out, plain.out);
    EXPECT_EQ(all_lines("results"), results);
    EXPECT_FALSE(results[0].empty());
    expect_sound(scratch_ / "trace");
    const auto expected = all_lines("expected"), called = all_lines("calls");
    for (std::size_t rank = 0; rank < 4; ++rank) {
      const std::string location = std::to_string(rank);
      EXPECT_EQ(joined(records_of(printed_, location)), joined(expected[rank])) << "rank " << rank;
      auto calls = calls_of(printed_, location);
      std::map<std::string, int> counted;
      for (const std::string& call : called[rank]) ++counted[call];
      for (const auto& [call, count] : counted) EXPECT_EQ(calls[call], count) << call;
    }
  }

  /// As one text, whose first difference the test framework shows.
  static std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    return text;
  }

  /// The files that the program wrote, one per process.
  [[nodiscard]] std::vector<std::vector<std::string>> all_lines(const std::string& what) const {
    std::vector<std::vector<std::string>> lines;
    for (const char* rank : {".0", ".1", ".2", ".3"}) {
      lines.push_back(lines_of(scratch_ / (what + rank)));
    }
    return lines;
  }
};

}  // namespace entrain::test
