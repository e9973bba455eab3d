// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <entrain/entrain.hpp>

#include "base/temp_folder_testing.hpp"
#include "formats/registry/open_testing.hpp"

namespace entrain::engine {
namespace {

constexpr std::int64_t k_usec = 1000, k_msec = 1'000'000;
constexpr std::int64_t k_origin = 1'700'000'000'000'000'000;

/// Errors of clocks, and habits of clients.
struct Wrong {
  std::uint32_t hosts = 20;
  int calls = 4000;
  std::vector<std::pair<std::uint32_t, std::int64_t>> offsets;  ///< offsets of hosts, ns
  std::int64_t step = 0;     ///< how far host 0 is set ahead after 60 % of the run, ns
  double near_timeouts = 0;  ///< share of calls that take about as long as their client waits
  double asynchronous = 0;   ///< share of calls that nobody waits for
};

/// Calls between hosts, whose true times are known.
class Calls {
 public:
  explicit Calls(const Wrong& wrong) : wrong_(wrong), own_(wrong.hosts), offset_(wrong.hosts) {
    for (const auto& [host, offset] : wrong.offsets) offset_[host] = offset;
    for (int call = 0; call < wrong.calls; ++call) add(call);
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (std::size_t h = 0; h < own_.size(); ++h) {
      text +=
          fmt::format(R"({{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"host.name",)"
                      R"("value":{{"stringValue":"h{}"}}}}]}},"scopeSpans":[{{"spans":[{}]}}]}})"
                      "]}}\n",
                      h, fmt::join(own_[h], ","));
    }
    return text;
  }

 private:
  static constexpr std::int64_t k_period = 5 * k_msec, k_patience = k_msec;

  void add(int call) {
    const std::uint32_t from = any_host(), to = any_host();
    const std::int64_t begin = call * k_period, served = begin + way();
    const double what = share();
    std::int64_t work = 200 * k_usec + static_cast<std::int64_t>(share() * 300) * k_usec;
    const char* name = "get";
    if (what < wrong_.near_timeouts) {
      name = "near";
      work = 600 * k_usec + static_cast<std::int64_t>(share() * 600) * k_usec;
    }
    std::int64_t end = served + work + way();
    if (what < wrong_.near_timeouts) end = std::min(end, begin + k_patience);
    if (what > 1 - wrong_.asynchronous) {
      name = "tell";
      end = begin + 20 * k_usec;
    }
    put(from, 2 * call + 1, 0, name, 3, begin, end);
    put(to, 2 * call + 2, 2 * call + 1, name, 2, served, served + work);
  }
  void put(std::uint32_t host, int id, int parent, const char* name, int kind, std::int64_t begin,
           std::int64_t end) {
    own_[host].push_back(fmt::format(
        R"({{"traceId":"{0:032x}","spanId":"{0:016x}","parentSpanId":"{1:016x}","name":"{2}",)"
        R"("kind":{3},"startTimeUnixNano":"{4}","endTimeUnixNano":"{5}"}})",
        id, parent, name, kind, shown(host, begin), shown(host, end)));
    // One trace per call.
    std::string& text = own_[host].back();
    text.replace(text.find(R"("traceId":")") + 11, 32, fmt::format("{:032x}", (id + 1) / 2));
  }
  [[nodiscard]] std::int64_t shown(std::uint32_t host, std::int64_t time) const {
    const bool is_set = host == 0 && time > wrong_.calls * k_period * 6 / 10;
    return k_origin + time + offset_[host] + (is_set ? wrong_.step : 0);
  }
  std::uint32_t any_host() { return static_cast<std::uint32_t>(random_() % wrong_.hosts); }
  double share() { return static_cast<double>(random_() % 1'000'000) / 1e6; }
  std::int64_t way() {
    return 80 * k_usec + static_cast<std::int64_t>(-60e3 * std::log(share() + 1e-6));
  }

  Wrong wrong_;
  std::vector<std::vector<std::string>> own_;
  std::vector<std::int64_t> offset_;
  std::mt19937 random_{7};  // NOLINT: the same each time
};

/// How far the clock maps of a correction move each host: least and most, over its events, ns.
std::vector<std::pair<std::int64_t, std::int64_t>> moves_of(const Wrong& wrong) {
  TempFolder folder;
  const std::string text = Calls(wrong).text();
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto file = folder.put("spans.jsonl", {bytes, text.size()});
  EXPECT_TRUE(entrain::correct(file, folder / "right", {}));
  const auto before = formats::open_recording({file}, 1);
  const auto after = formats::open_recording({folder / "right" / "spans.jsonl"}, 1);
  EXPECT_TRUE(before && after);
  const auto from = (*before)->event_times(), to = (*after)->event_times();
  EXPECT_TRUE(from && to);
  std::vector<std::pair<std::int64_t, std::int64_t>> moves;
  for (std::size_t c = 0; c < from->of_clock.size(); ++c) {
    std::vector<std::int64_t> own;
    for (std::size_t e = 0; e < from->of_clock[c].size(); ++e) {
      own.push_back(to->of_clock[c][e].time() - from->of_clock[c][e].time());
    }
    const auto [least, most] = std::minmax_element(own.begin(), own.end());
    moves.emplace_back(*least, *most);
  }
  return moves;  // in order of the hosts
}

TEST(ServicesTruth, clients_that_give_up_move_no_clock) {
  Wrong wrong;
  wrong.near_timeouts = 0.3;
  for (std::uint32_t h = 0; h < wrong.hosts; ++h) {
    wrong.offsets.emplace_back(h, (std::int64_t{h} * 7 % 20 - 10) * 2 * k_usec);
  }
  for (const auto& [least, most] : moves_of(wrong)) {
    EXPECT_EQ(least, 0);
    EXPECT_EQ(most, 0);
  }
}

TEST(ServicesTruth, wrong_clocks_are_set_and_others_stay) {
  Wrong wrong;
  wrong.near_timeouts = wrong.asynchronous = 0.15;
  wrong.offsets = {{3, 4 * k_msec}, {11, -2 * k_msec}};
  const auto moves = moves_of(wrong);
  for (std::uint32_t h = 0; h < wrong.hosts; ++h) {
    const std::int64_t expected = h == 3 ? -4 * k_msec : h == 11 ? 2 * k_msec : 0;
    const std::int64_t most = expected == 0 ? 0 : 80 * k_usec;
    EXPECT_LE(std::abs(moves[h].first - expected), most) << h;
    EXPECT_LE(std::abs(moves[h].second - expected), most) << h;
  }
}

TEST(ServicesTruth, a_clock_that_is_set_meanwhile_bends_no_other) {
  for (const std::int64_t step : {8 * k_msec, -8 * k_msec}) {
    Wrong wrong;
    wrong.asynchronous = 0.5;
    wrong.step = step;
    const auto moves = moves_of(wrong);
    for (std::uint32_t h = 1; h < wrong.hosts; ++h) {
      EXPECT_EQ(moves[h].first, 0) << h;
      EXPECT_EQ(moves[h].second, 0) << h;
    }
    EXPECT_LE(std::abs(moves[0].first - std::min<std::int64_t>(0, -step)), 80 * k_usec);
    EXPECT_LE(std::abs(moves[0].second - std::max<std::int64_t>(0, -step)), 80 * k_usec);
  }
}

/// More clocks than are fitted unasked.
TEST(ServicesTruth, of_thousands_of_hosts_only_wrong_ones_move) {
  Wrong wrong;
  wrong.hosts = 4200;
  wrong.calls = 25'000;
  wrong.offsets = {{5, 5 * k_msec}, {500, -5 * k_msec}};
  const auto moves = moves_of(wrong);
  const auto moved = std::count_if(moves.begin(), moves.end(), [](const auto& move) {
    return move.first != 0 || move.second != 0;
  });
  EXPECT_LE(moved, 2);
}

}  // namespace
}  // namespace entrain::engine
