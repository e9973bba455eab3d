// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/rewrite.hpp"

#include <cctype>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/file.hpp"
#include "formats/json/document.hpp"
#include "formats/kineto/kineto_testing.hpp"

namespace entrain::kineto {
namespace {

class Copies : public Chrome {
 protected:
  /// Writes a text as a file of a run, reads it, and writes its copy with the times of the maps.
  void copy(const std::string& text, json::Packing packing = json::Packing::none) {
    files_.push_back(folder_ / fmt::format("rank{}.json", files_.size()));
    ASSERT_TRUE(json::save(files_.back(), text, packing));
    file_ = *read_file(files_.back());
    ASSERT_TRUE(write_file(to_, file_, maps_)) << text;
  }
  /// The error of the comparison after a change of the copy; "" for none.
  std::string error_after(const std::function<void(std::string&)>& change) {
    std::string text = json::load(to_)->text;
    change(text);
    std::filesystem::remove(to_);
    EXPECT_TRUE(json::save(to_, text, json::Packing::none));
    RankFile written = file_;
    written.path = to_;
    const auto checked = check_copy(file_, written, maps_);
    return checked ? "" : checked.error().message;
  }

  std::filesystem::path to_ = folder_ / "copy.json";
  std::vector<ClockMap> maps_{ClockMap().shifted(2'500)};
  RankFile file_;
};

TEST_F(Copies, hold_other_times_wherever_these_stand) {
  const char* const trace = R"({{"traceEvents": [
{{"ph": "X", "dur": 7, "args": {{"ts": 1}}, "ts": {}, "name": "a"}},
{{"ts": "{}", "ph": "i", "name": "b"}}, {{"ph": "M", "ts": 5, "name": "c"}},
{{"ph": "c", "name": "clock_sync", "args": {{"issue_ts": {}, "sync_id": "1"}}, "t\u0073": {}}}
], "ts": 3}})";
  copy(fmt::format(fmt::runtime(trace), "1000.0009", "0002000", "17.50", "20"));
  EXPECT_EQ(json::load(to_)->text,
            fmt::format(fmt::runtime(trace), "1002.5", "2002.5", "20", "22.5"));
  EXPECT_EQ(error_after([](std::string&) {}), "");
}

/// An `issue_ts` after the year 2116 is none.
TEST_F(Copies, keep_times_that_no_clock_shows) {
  const char* const trace =
      R"([{{"ph": "c", "name": "clock_sync", )"
      R"("args": {{"issue_ts": 4700000000000000, "sync_id": "1"}}, "ts": {}}}, )"
      R"({{"ph": "X", "ts": 1e30, "dur": 7}}, {{"ph": "i", "ts": {}}}])";
  copy(fmt::format(fmt::runtime(trace), "20", "3e1"));
  EXPECT_EQ(json::load(to_)->text, fmt::format(fmt::runtime(trace), "22.5", "32.5"));
  EXPECT_EQ(error_after([](std::string&) {}), "");
}

TEST_F(Copies, of_events_in_many_blocks_are_whole) {
  std::string before = "[", after = "[";
  for (int i = 0; i < 20'000; ++i) {
    const std::string event = R"({{"ph": "X", "name": "{}", "ts": {}, "dur": 5}}, )";
    const std::string name(static_cast<std::size_t>(i % 97), 'x');
    before += fmt::format(fmt::runtime(event), name, i + 1);
    after += fmt::format(fmt::runtime(event), name, fmt::format("{}.5", i + 3));
  }
  const std::string end = R"({"ph": "M", "name": ")" + std::string(1 << 20, 'y') + "\"}]";
  copy(before + end);
  EXPECT_TRUE(json::load(to_)->text == after + end);
  EXPECT_EQ(error_after([](std::string&) {}), "");
}

/// Events in several blocks of a file.
std::string many_events() {
  std::string text = "[";
  for (int i = 0; i < 20'000; ++i) {
    text += fmt::format(R"({{"ph": "X", "ts": {}, "dur": 5, "args": {{"k": "{}"}}}}, )", i + 1,
                        std::string(static_cast<std::size_t>(i % 61), 'z'));
  }
  return text + R"({"ph": "M", "name": "end"}])";
}

TEST_F(Copies, of_parts_are_those_of_whole_runs) {
  const std::filesystem::path part = folder_ / "part.json";
  for (const auto packing : {json::Packing::none, json::Packing::gzip}) {
    for (const std::int64_t shift : {2'500, 0}) {
      std::filesystem::remove(to_);
      std::filesystem::remove(part);
      maps_ = {ClockMap().shifted(shift)};
      copy(many_events(), packing);
      const auto written = write_part(part, file_, maps_);
      ASSERT_TRUE(written) << written.error().message;
      const auto bytes_of = [](const std::filesystem::path& path) {
        return entrain::read_file(path, json::k_most_text).value();
      };
      EXPECT_TRUE(bytes_of(part) == bytes_of(to_));
    }
  }
}

TEST_F(Copies, of_parts_that_have_changed_are_refused) {
  copy(many_events());
  file_.was_summarised = true;
  std::string text = many_events();
  const auto change = [&](const std::string& old, const std::string& text_now) {
    text.replace(text.find(old), old.size(), text_now);
    std::filesystem::remove(files_.back());
    EXPECT_TRUE(json::save(files_.back(), text, json::Packing::none));
    std::filesystem::remove(to_);
    return write_part(to_, file_, maps_).error().message;
  };
  const std::string changed =
      files_.back().string() +
      " has changed since it was summarised: summarise it, and fit the clocks of all parts again";
  EXPECT_EQ(change("\"ts\": 19999,", "\"ts\": 29999,"), changed);
  EXPECT_EQ(change("\"ts\": 1,", "\"ts\": -9,"), changed);  // before 1970
  EXPECT_EQ(change("\"ts\": 7,", "\"ts\": \"\","), changed);
  EXPECT_EQ(change("\"ts\": 8,", "\"ts\"; 8,"), changed);
}

std::string work_of(const char* category, int process, std::int64_t begin, int correlation) {
  return fmt::format(R"({{"ph": "X", "cat": "{}", "name": "x", "pid": {}, "tid": 7, "ts": {}, )"
                     R"("dur": 5, "args": {{"correlation": {}}}}})",
                     category, process, begin, correlation);
}

/// Launches and kernels every 2 ms; later times are shifted, us.
std::string launches_and_kernels(std::int64_t later) {
  std::vector<std::string> events;
  for (int k = 1; k <= 40; ++k) {
    const std::int64_t time = 1'000'000 + 2'000 * k + (k > 20 ? later : 0);
    events.push_back(work_of("cuda_runtime", 900, time, k));
    events.push_back(work_of("kernel", 0, time + 20, k));
  }
  return file_of(events);
}

TEST_F(Copies, let_times_count_on_where_a_clock_was_set_back) {
  maps_ = {ClockMap(), ClockMap()};
  for (const auto packing : {json::Packing::none, json::Packing::gzip}) {
    std::filesystem::remove(to_);
    copy(launches_and_kernels(-5'000), packing);
    ASSERT_EQ(file_.clocks.size(), 2U);
    ASSERT_EQ(file_.clocks[0].falls.all.size(), 1U);
    EXPECT_EQ(json::load(to_)->text, launches_and_kernels(48'005));
    EXPECT_EQ(error_after([](std::string&) {}), "");
  }
}

TEST_F(Copies, keep_a_zero_that_is_no_time) {
  maps_ = {ClockMap(), ClockMap().shifted(2'000'000)};
  const auto text = [](std::int64_t host, std::int64_t device) {
    return file_of({work_of("cuda_runtime", 900, host, 1), work_of("kernel", 0, device, 1),
                    work_of("cuda_runtime", 900, host + 50, 2), work_of("kernel", 0, 0, 2)});
  };
  constexpr std::int64_t k_day = 86'400'000'000;
  copy(text(k_day, k_day + 9));
  ASSERT_TRUE(file_.clocks[1].is_none(0));
  EXPECT_EQ(json::load(to_)->text, text(k_day, k_day + 2'009));
  EXPECT_EQ(error_after([](std::string&) {}), "");
}

TEST_F(Copies, keep_a_time_that_is_a_day_from_all_others) {
  maps_ = {ClockMap(), ClockMap().shifted(2'000'000)};
  constexpr std::int64_t k_day = 86'400'000'000;
  const auto text = [](std::int64_t later) {
    std::vector<std::string> events;
    for (int k = 1; k <= 20; ++k) {
      const std::int64_t begin = 9 * k_day + 100 * k;
      events.push_back(work_of("cuda_runtime", 900, begin, k));
      events.push_back(work_of("kernel", 0, k == 7 ? k_day : begin + 9 + later, k));
    }
    return file_of(events);
  };
  copy(text(0));
  ASSERT_TRUE(file_.clocks[1].is_none(k_day * 1000));
  EXPECT_EQ(json::load(to_)->text, text(2'000));
  EXPECT_EQ(error_after([](std::string&) {}), "");
}

TEST_F(Copies, are_compared_byte_by_byte_and_time_by_time) {
  copy(file_of({kernel(1000), kernel(2000)}));
  const std::string whole = json::load(to_)->text;
  const auto fails = [&](const std::function<void(std::string&)>& change) {
    std::uint64_t at = 0;  // of a number its begin
    const std::string error = error_after([&](std::string& text) {
      change(text);
      while (at < text.size() && at < whole.size() && text[at] == whole[at]) ++at;
      while (at > 0 && (whole[at - 1] == '.' || std::isdigit(whole[at - 1]) != 0)) --at;
    });
    return error.find(fmt::format("at byte {}: it cannot be its copy", at)) != std::string::npos;
  };
  EXPECT_EQ(error_after([](std::string&) {}), "");
  const auto put = [&](const std::string& old, const std::string& text) {
    return [&whole, old, text](std::string& copy) {
      copy = whole;
      copy.replace(copy.find(old), old.size(), text);
    };
  };
  EXPECT_TRUE(fails(put("992.5", "992.6")));
  EXPECT_TRUE(fails(put("992.5", "990")));
  EXPECT_TRUE(fails(put("992.5", "\"992.5\"")));
  EXPECT_TRUE(fails(put("\"dur\": 10", "\"dur\": 11")));
  EXPECT_TRUE(fails(put("AllReduce", "AllGather")));
  EXPECT_TRUE(fails(put("]}", "]} ")));
  EXPECT_TRUE(fails(put("]}", "]")));
  EXPECT_TRUE(fails([](std::string& copy) { copy.clear(); }));
  std::filesystem::remove(files_.back());
  ASSERT_TRUE(
      json::save(files_.back(), file_of({kernel(1001), kernel(2000)}), json::Packing::none));
  EXPECT_EQ(error_after([](std::string&) {}),
            files_.back().string() + " has changed while it was read");
}

}  // namespace
}  // namespace entrain::kineto
