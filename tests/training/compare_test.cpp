// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include <fmt/format.h>
#include <entrain/entrain.hpp>

#include "base/temp_folder_testing.hpp"

namespace entrain::engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const fs::path k_examples = ENTRAIN_EXAMPLES_DIR;
const fs::path k_training = k_examples / "training";
const fs::path k_services = k_examples / "services" / "ascend.json";

void put(TempFolder& folder, const std::string& name, const std::string& text) {
  folder.put(name, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

/// A rank with a call of 10 us that ends at `end_us`, a piece of work and an instant.
void put_rank(TempFolder& folder, int rank, int end_us, const std::string& work = "work") {
  put(folder, fmt::format("rank{}.json", rank),
      fmt::format(R"([{{"ph": "X", "cat": "kernel", "name": "ncclKernel_AllReduce", "ts": {}, )"
                  R"("dur": 10, "args": {{}}}},
                      {{"ph": "X", "name": "{}", "ts": {}, "dur": 3}},
                      {{"ph": "i", "name": "mark", "ts": 500}}])",
                  end_us - 10, work, end_us + 5));
}

std::string refusal(const fs::path& a, const fs::path& b, const CompareOptions& options = {}) {
  const auto report = entrain::compare(a, b, std::nullopt, options);
  return report ? "compared" : report.error().message;
}

TEST(CompareRecordings, begins_and_ends_are_compared_one_to_one) {
  TempFolder a, b;
  put_rank(a, 0, 1000);
  put_rank(a, 3, 1000);
  put_rank(b, 0, 1000);
  put_rank(b, 3, 1002);
  const auto report = entrain::compare(a.path(), b.path(), std::nullopt, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->all.events, 10U);
  EXPECT_EQ(report->communication.events, 2U);  // the ends of calls
  EXPECT_DOUBLE_EQ(report->communication.max_s, 2e-6);
  EXPECT_DOUBLE_EQ(report->communication.mean_s, 1e-6);
  ASSERT_EQ(report->locations.size(), 2U);
  EXPECT_EQ(report->locations[1].id, 3U);
  EXPECT_EQ(report->locations[1].name, "");  // its number is its name
  EXPECT_DOUBLE_EQ(report->locations[0].difference.max_s, 0);
  EXPECT_DOUBLE_EQ(report->locations[1].difference.mean_s, 4 * 2e-6 / 5);  // the instant stays
  EXPECT_EQ(report->span_source, SpanOrigin::whole_trace);
}

TEST(CompareRecordings, the_truth_tells_what_a_correction_left) {
  const TempFolder folder;
  DistortOptions how;
  how.seed = 7;
  how.offset_s = 0.01;
  ASSERT_TRUE(entrain::distort(k_training, folder / "skewed", how));
  ASSERT_TRUE(entrain::correct(folder / "skewed", folder / "fixed", {}));
  CompareOptions options;
  options.events_per_location = 5;
  const auto report = entrain::compare(folder / "skewed", folder / "fixed", k_training, options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(report->a_error && report->b_error);
  EXPECT_GT(report->a_error->between_clocks.communication.rms_s, 1e-3);
  EXPECT_LT(report->b_error->between_clocks.communication.rms_s, 5e-6);
  EXPECT_LT(report->b_error->common.communication.rms_s,
            report->b_error->between_clocks.communication.rms_s);
  // Events of a file stand in any order of time; those picked are in order.
  ASSERT_EQ(report->events.size(), 8U * 5);  // hosts and devices
  for (std::size_t i = 0; i < report->events.size(); ++i) {
    EXPECT_GE(report->events[i].time_s, i % 5 == 0 ? 0 : report->events[i - 1].time_s);
  }
  options.threads = 1;
  const auto alone = entrain::compare(folder / "skewed", folder / "fixed", k_training, options);
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->b_error->all.rms_s, report->b_error->all.rms_s);
}

TEST(CompareRecordings, a_manifest_that_is_not_applied_is_told) {
  const TempFolder folder;
  CorrectOptions options;
  options.mode = WriteMode::overlay;
  ASSERT_TRUE(entrain::correct(k_training, folder / "shown", options));
  const auto report = entrain::compare(k_training, folder / "shown", std::nullopt, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->all.max_s, 0);
  EXPECT_TRUE(std::any_of(report->notes.begin(), report->notes.end(), [](const auto& note) {
    return note.find("is for Perfetto and not applied here") != std::string::npos;
  }));
}

TEST(CompareRecordings, hosts_of_spans_are_compared_by_name) {
  const TempFolder folder;
  ASSERT_TRUE(entrain::correct(k_services, folder / "right", {}));
  const auto report = entrain::compare(k_services, folder / "right", std::nullopt, {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->all.events, 16U);           // 8 spans
  EXPECT_EQ(report->communication.events, 4U);  // 2 of them are called from another host
  EXPECT_GT(report->all.max_s, 0.009);
  ASSERT_EQ(report->locations.size(), 3U);
  EXPECT_EQ(report->locations[0].name, "mobile-gateway@172.17.0.13");
  EXPECT_EQ(report->locations[0].difference.max_s, 0);
}

TEST(CompareRecordings, traces_that_are_not_the_same_are_told_apart_by_file_and_event) {
  TempFolder a, other_event, fewer, other_name;
  put_rank(a, 0, 1000);
  put_rank(a, 1, 1000);
  put_rank(other_event, 0, 1000);
  put_rank(other_event, 1, 1000, "play");
  EXPECT_THAT(refusal(a.path(), other_event.path()),
              HasSubstr("are not the same trace: event 2 of rank1.json is another one"));
  put_rank(fewer, 0, 1000);
  put(fewer, "rank1.json",
      R"([{"ph": "X", "cat": "kernel", "name": "ncclKernel_AllReduce", )"
      R"("ts": 5, "dur": 10, "args": {}}])");
  EXPECT_THAT(refusal(a.path(), fewer.path()),
              HasSubstr("rank1.json has 3 events with a time in one and 1 in the other"));
  put_rank(other_name, 0, 1000);
  put_rank(other_name, 2, 1000);
  EXPECT_THAT(refusal(a.path(), other_name.path()),
              HasSubstr("rank1.json is not in the second one"));
  put_rank(other_name, 1, 1000);
  EXPECT_THAT(refusal(a.path(), other_name.path()), HasSubstr("2 and 3 files"));
}

TEST(CompareRecordings, files_of_other_ranks_are_refused) {
  TempFolder a, b;
  const auto put_told = [](TempFolder& folder, const char* name, int rank) {
    put(folder, name,
        fmt::format(R"({{"distributedInfo": {{"rank": {}}}, "traceEvents": )"
                    R"([{{"ph": "X", "name": "work", "ts": 1, "dur": 2}}]}})",
                    rank));
  };
  put_told(a, "x.json", 0);
  put_told(a, "y.json", 1);
  put_told(b, "x.json", 1);
  put_told(b, "y.json", 0);
  EXPECT_THAT(refusal(a.path(), b.path()), HasSubstr("x.json is of another rank"));
  EXPECT_THAT(refusal(a / "x.json", b / "x.json"),
              HasSubstr("clock 1 is that of 0 in one and of 1"));
}

TEST(CompareRecordings, formats_are_not_mixed_and_what_needs_archives_is_refused) {
  const fs::path archive = k_examples / "traces" / "lulesh-8";
  EXPECT_THAT(refusal(k_training, archive), HasSubstr("is an OTF2 archive; give traces of one"));
  EXPECT_THAT(refusal(archive, k_training), HasSubstr("is Chrome JSON; give traces of one format"));
  EXPECT_THAT(refusal(k_training, k_services), HasSubstr("give traces of one format"));
  EXPECT_THAT(refusal(k_training, "/nowhere"), HasSubstr("cannot open /nowhere"));
  const auto report = entrain::compare(archive, archive, k_training, {});
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("give traces of one format"));
  EXPECT_THAT(refusal(k_training, k_training, {.raw_a = true}), HasSubstr("--raw needs OTF2"));
}

}  // namespace
}  // namespace entrain::engine
