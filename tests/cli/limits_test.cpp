// SPDX-License-Identifier: BSD-3-Clause
//
// What the tool refuses to unpack or to keep, and what it can be told to.
#include <fstream>

#include <gmock/gmock.h>

#include "base/temp_folder_testing.hpp"
#include "cli/tool.hpp"

namespace entrain::test {
namespace {

class LimitsTool : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  /// Spans of Zipkin between two hosts, some 200 bytes each, packed.
  std::string spans(int calls) {
    std::ofstream file(folder_ / "s.json");
    for (int i = 0; i < calls; ++i) {
      const std::string id = std::to_string(i + 1);
      const auto half = [&](const char* kind, const char* host, int begin) {
        return R"({"traceId":")" + id + R"(","id":"1","kind":")" + kind +
               R"(","name":"n","timestamp":)" + std::to_string(1'600'000'000'000'000 + begin) +
               R"(,"duration":5,"localEndpoint":{"serviceName":")" + host + "\"}}";
      };
      file << (i == 0 ? '[' : ',') << half("CLIENT", "a", 20 * i) << ','
           << half("SERVER", "b", 20 * i + 1);
    }
    file << ']';  // one document, which is read as a whole
    file.close();
    EXPECT_EQ(run_shell("gzip -kf " + at("s.json")).exit_code, 0);
    return at("s.json.gz");
  }

  TempFolder folder_;
};

TEST_F(LimitsTool, every_verb_unpacks_as_much_as_it_may) {
  const std::string file = spans(100);
  const std::vector<std::vector<std::string>> verbs{{"info", file},
                                                    {"check", file},
                                                    {"correct", file, "-o", at("c")},
                                                    {"distort", file, "-o", at("d")},
                                                    {"compare", file, file},
                                                    {"edges", file, "-o", at("e.csv")},
                                                    {"export", file, "-o", at("x.pftrace")},
                                                    {"report", file, "-o", at("r.html")}};
  for (std::vector<std::string> verb : verbs) {
    SCOPED_TRACE(verb.front());
    verb.insert(verb.end(), {"--max-unpacked", "1K"});
    expect_refusal(run_tool(verb), "s.json.gz has ");
    verb.back() = "1M";
    EXPECT_NE(run_tool(verb).exit_code, 2);
  }
}

TEST_F(LimitsTool, reading_keeps_to_the_memory_that_it_may_take) {
  const std::string file = spans(300'000);
  expect_refusal(run_tool({"check", file, "--memory", "1M"}),
                 "takes more memory than the 67108864 bytes that --memory leaves it");
  EXPECT_NE(run_tool({"check", file, "--memory", "8G"}).exit_code, 2);
}

TEST_F(LimitsTool, names_that_are_written_can_be_read) {
  const std::string name(3000, 'h');
  std::ofstream(folder_ / "s.json")
      << R"([{"traceId":"1","id":"1","kind":"CLIENT","name":"n","timestamp":1600000000000000,)"
      << R"("duration":50,"localEndpoint":{"serviceName":")" << name
      << R"("}},{"traceId":"1","parentId":"1","id":"2","kind":"SERVER","name":"n",)"
      << R"("timestamp":1600000000000010,"duration":10,"localEndpoint":{"serviceName":"b"}}])";
  EXPECT_EQ(run_tool({"edges", at("s.json"), "-o", at("e.csv")}).exit_code, 0);
  const ChildOutcome outcome = run_tool({"align", at("e.csv")});
  EXPECT_NE(outcome.exit_code, 2) << outcome.summary();
}

}  // namespace
}  // namespace entrain::test
