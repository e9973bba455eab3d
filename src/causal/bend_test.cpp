// SPDX-License-Identifier: BSD-3-Clause
#include "causal/bend.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "constraints/testing.hpp"
#include "trace/testing.hpp"

namespace entrain::causal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using trace::testing::TraceBuilder;

clocks::Presynchronised bent(const TraceBuilder& builder, clocks::Presynchronised presync) {
  constraints::testing::WholeTrace whole(builder.trace());
  const auto done = bend_by_edges(whole.context(), whole.processes(), presync);
  EXPECT_TRUE(done) << done.error().message;
  return presync;
}

/// Bent from time stamps as they are.
clocks::Presynchronised bent_from_nothing(const TraceBuilder& builder) {
  const auto none = clocks::presynchronise(builder.trace(), Presync::none);
  EXPECT_TRUE(none);
  return bent(builder, *none);
}

/// Two clocks 1,000,000 ticks apart of which one only writes and the other only reads.
TEST(BendByEdges, one_way_traffic_moves_a_clock_that_nobody_measured_but_does_not_bend_it) {
  TraceBuilder b(2);
  for (std::uint64_t t = 0; t < 50; ++t) {
    b.message(trace::EventKind::send, 0, 2'000'000 + t * 10'000, 1);
    b.message(trace::EventKind::recv, 1, 1'000'000 + t * 10'000 + t % 7 * 500, 0);
  }
  const clocks::Presynchronised causal = bent_from_nothing(b);
  EXPECT_EQ(causal.maps[0], ClockMap());
  for (const trace::Event& event : b.trace().locations[1].events) {
    EXPECT_EQ(causal.maps[1](event.time), static_cast<std::int64_t>(event.time) + 1'000'000);
  }
  EXPECT_THAT(causal.clocks.reason,
              HasSubstr("in 2 groups, between which nothing was seen to go both ways"));
}

TEST(BendByEdges, clocks_that_nobody_measured_get_no_times_before_zero) {
  TraceBuilder b(2);
  b.message(trace::EventKind::send, 1, 5'000'000'000, 0, 1);  // 3 ms before the first event of 0
  for (std::uint64_t t = 0; t < 50; ++t) {
    const std::uint64_t time = 10'000 * t;
    b.message(trace::EventKind::recv, 0, time, 1);
    b.message(trace::EventKind::send, 0, time + 1'000, 1);
    b.message(trace::EventKind::recv, 1, 5'003'001'500 + time, 0);
    b.message(trace::EventKind::send, 1, 5'003'002'000 + time, 0);
  }
  const clocks::Presynchronised causal = bent_from_nothing(b);
  EXPECT_GE(causal.maps[1](b.trace().locations[1].first), 0);
  EXPECT_GE(causal.maps[0](0), 2'900'000);
}

/// A barrier shows the latest and the earliest clock only, and these are always the same as long as
/// clocks are far apart.
TEST(BendByEdges, collectives_alone_bring_all_clocks_together) {
  constexpr LocationIndex k_locations = 6;
  RandomStream random(3, 9);
  TraceBuilder b(k_locations);
  const auto reading = [](LocationIndex l, std::uint64_t time) {
    return time + std::uint64_t{l * 7 % k_locations} * 1'000'000'000;
  };
  for (std::uint64_t t = 1'000'000; t < 60'000'000; t += 100'000) {
    std::vector<std::uint64_t> begins;
    for (LocationIndex l = 0; l < k_locations; ++l) begins.push_back(t + random.below(20'000));
    const std::uint64_t last = *std::max_element(begins.begin(), begins.end());
    for (LocationIndex l = 0; l < k_locations; ++l) {
      b.collective(l, reading(l, begins[l]), reading(l, last + 100 + random.below(2'000)),
                   trace::op::barrier, trace::k_root_none);
    }
  }
  const clocks::Presynchronised causal = bent_from_nothing(b);
  EXPECT_THAT(causal.clocks.reason, Not(HasSubstr("groups")));
  const std::uint64_t time = 30'000'000;
  for (LocationIndex l = 1; l < k_locations; ++l) {
    EXPECT_NEAR(static_cast<double>(causal.maps[l](reading(l, time))),
                static_cast<double>(causal.maps[0](reading(0, time))), 3'000)
        << l;
  }
}

/// Barriers that the first clock enters last and that all leave together: edges leave wide room,
/// ends do not. Each clock wanders by up to 8,000 ticks.
class Barriers {
 public:
  /// `late`: largest delay of an end.
  explicit Barriers(std::uint64_t late) {
    RandomStream random(3, 9);
    for (std::uint64_t t = 0; t < 6'000'000'000; t += 10'000'000) {
      std::vector<std::uint64_t> begins;
      for (LocationIndex l = 0; l < k_locations; ++l) begins.push_back(t + random.below(40'000));
      begins.front() = t + 60'000;
      const std::uint64_t last = *std::max_element(begins.begin(), begins.end());
      for (LocationIndex l = 0; l < k_locations; ++l) {
        builder_.collective(l, reading(l, begins[l]), reading(l, last + 100 + random.below(late)),
                            trace::op::barrier, trace::k_root_none);
      }
    }
  }
  [[nodiscard]] const TraceBuilder& builder() const { return builder_; }

  /// Largest difference between two clocks that show one time.
  [[nodiscard]] static std::int64_t worst(const clocks::Presynchronised& presync) {
    std::int64_t worst = 0;
    for (std::uint64_t time = 100'000'000; time < 5'900'000'000; time += 50'000'000) {
      std::vector<std::int64_t> shown;
      for (LocationIndex l = 0; l < k_locations; ++l) {
        shown.push_back(presync.maps[l](reading(l, time)));
      }
      const auto [low, high] = std::ranges::minmax_element(shown);
      worst = std::max(worst, *high - *low);
    }
    return worst;
  }

 private:
  static constexpr LocationIndex k_locations = 6;

  static std::uint64_t reading(LocationIndex l, std::uint64_t time) {
    const double turns = static_cast<double>(time) * (2 + l) * 1e-9;
    return time + 10'000 + static_cast<std::uint64_t>(std::llround(8'000 * std::sin(turns)));
  }

  TraceBuilder builder_{k_locations};
};

TEST(BendByEdges, ends_that_coincide_bend_clocks_that_edges_leave_wide_room) {
  const clocks::Presynchronised causal = bent_from_nothing(Barriers(100).builder());
  EXPECT_THAT(causal.clocks.reason, HasSubstr("bent by ends of collectives, which coincide"));
  EXPECT_LT(Barriers::worst(causal), 2'000);
}

TEST(BendByEdges, ends_that_do_not_coincide_bend_no_clock) {
  const clocks::Presynchronised causal = bent_from_nothing(Barriers(60'000).builder());
  EXPECT_THAT(causal.clocks.reason, Not(HasSubstr("bent by ends")));
}

/// Measured clocks of which one wanders, and writes only: how far it is to move at least is known,
/// how far at most is not.
TEST(BendByEdges, one_way_traffic_bends_no_clock_that_was_measured) {
  TraceBuilder b(2);
  for (std::uint64_t t = 0; t < 50; ++t) {
    const std::uint64_t wander = t * (49 - t);
    b.message(trace::EventKind::send, 0, 2'000'000 + t * 10'000 + wander, 1);
    b.message(trace::EventKind::recv, 1, 2'000'100 + t * 10'000, 0);
  }
  for (auto& location : b.trace().locations) {
    location.clock_offsets = {{location.first, 0, 0}, {location.last, 0, 0}};
  }
  const auto linear = clocks::presynchronise(b.trace(), Presync::linear);
  ASSERT_TRUE(linear);
  const clocks::Presynchronised causal = bent(b, *linear);
  EXPECT_EQ(causal.maps, linear->maps);
}

/// Measured clocks of which one wanders by 4,000 ticks, with messages that take `there` and `back`,
/// and `late` more in all but the first eighth of the run.
clocks::Presynchronised bent_while_wandering(std::uint64_t there, std::uint64_t back,
                                             const char** was_bent, std::uint64_t late = 0) {
  constexpr std::uint64_t k_count = 600, k_period = 1'000'000;
  RandomStream random(1, 7);
  TraceBuilder b(2);
  const auto reading = [](std::uint64_t t) {
    const double turns = static_cast<double>(t) / static_cast<double>(k_count * k_period / 3);
    return t + 10'000 +
           static_cast<std::uint64_t>(
               std::llround(4'000 * (1 + std::sin(6.283185307 * turns)) - 4'000));
  };
  for (std::uint64_t i = 1; i <= k_count; ++i) {
    const std::uint64_t sent = i * k_period, received = sent + there + random.below(2'000);
    b.message(trace::EventKind::send, 0, sent + 10'000, 1);
    b.message(trace::EventKind::recv, 1, reading(received), 0);
    const std::uint64_t answer = received + 200'000;
    b.message(trace::EventKind::send, 1, reading(answer), 0);
    const std::uint64_t waits = i > k_count / 8 ? late : 0;
    b.message(trace::EventKind::recv, 0, answer + back + waits + random.below(2'000) + 10'000, 1);
  }
  for (auto& location : b.trace().locations) {
    location.clock_offsets = {{location.first, 0, 0}, {location.last, 0, 0}};
  }
  const auto linear = clocks::presynchronise(b.trace(), Presync::linear);
  EXPECT_TRUE(linear);
  const clocks::Presynchronised causal = bent(b, *linear);
  *was_bent = causal.maps == linear->maps ? "no" : "yes";
  return causal;
}

TEST(BendByEdges, a_slow_way_back_says_nothing_of_how_far_a_clock_may_bend) {
  const char* was_bent = "";
  for (const std::uint64_t back : {20'000u, 50'000u, 100'000u}) {
    EXPECT_THAT(bent_while_wandering(2'000, back, &was_bent).clocks.reason, HasSubstr("no edge"));
    EXPECT_STREQ(was_bent, "no") << back;
  }
  std::ignore = bent_while_wandering(2'000, 2'000, &was_bent);
  EXPECT_STREQ(was_bent, "yes");
}

TEST(BendByEdges, a_way_back_that_is_narrow_once_counts_all_the_time) {
  const char* was_bent = "";
  std::ignore = bent_while_wandering(2'000, 2'000, &was_bent, 50'000);
  EXPECT_STREQ(was_bent, "yes");
}

/// Two clocks that exchange messages both ways for a second; the second one is 4 ms late and 50 ppm
/// slow. Both were measured at the begin only.
TraceBuilder measured_once() {
  TraceBuilder b(2);
  const auto reading = [](std::uint64_t time) { return time - 4'000'000 - time / 20'000; };
  for (std::uint64_t t = 10'000'000; t < 1'010'000'000; t += 2'000'000) {
    b.message(trace::EventKind::send, 0, t, 1);
    b.message(trace::EventKind::recv, 1, reading(t + 5'000), 0);
    b.message(trace::EventKind::send, 1, reading(t + 1'000'000), 0);
    b.message(trace::EventKind::recv, 0, t + 1'005'000, 1);
  }
  b.trace().locations[0].clock_offsets = {{10'000'000, 0, 0}};
  b.trace().locations[1].clock_offsets = {{reading(10'000'000), 4'000'500, 1'000}};
  return b;
}

TEST(BendByEdges, clocks_that_were_measured_once_take_their_rate_from_messages) {
  const TraceBuilder b = measured_once();
  const auto linear = clocks::presynchronise(b.trace(), Presync::linear);
  ASSERT_TRUE(linear);
  const clocks::Presynchronised causal = bent(b, *linear);
  EXPECT_THAT(causal.clocks.reason, Not(HasSubstr("no clock was measured")));
  const auto error = [&](const std::vector<ClockMap>& maps, std::uint64_t time) {
    return std::abs(static_cast<double>(maps[1](time - 4'000'000 - time / 20'000)) -
                    static_cast<double>(maps[0](time)));
  };
  EXPECT_GT(error(linear->maps, 1'000'000'000), 45'000);
  for (std::uint64_t t = 10'000'000; t < 1'000'000'000; t += 90'000'000) {
    EXPECT_LT(error(causal.maps, t), 5'000) << t;
  }
}

/// The second clock wanders, the first one is the reference.
TEST(BendByEdges, a_reference_that_was_chosen_does_not_bend) {
  TraceBuilder b(2);
  const auto reading = [](std::uint64_t time) {
    return time + 1'000'000 +
           static_cast<std::uint64_t>(100'000 * (1 + std::sin(static_cast<double>(time) / 2e8)));
  };
  for (std::uint64_t t = 10'000'000; t < 1'010'000'000; t += 2'000'000) {
    b.message(trace::EventKind::send, 0, t, 1);
    b.message(trace::EventKind::recv, 1, reading(t + 5'000), 0);
    b.message(trace::EventKind::send, 1, reading(t + 1'000'000), 0);
    b.message(trace::EventKind::recv, 0, t + 1'005'000, 1);
  }
  constraints::testing::WholeTrace whole(b.trace());
  constraints::Context context = whole.context();
  context.reference.location = 0;
  auto presync = clocks::presynchronise(b.trace(), Presync::none);
  ASSERT_TRUE(presync);
  ASSERT_TRUE(bend_by_edges(context, whole.processes(), *presync));
  EXPECT_EQ(presync->maps[0], ClockMap());
  for (std::uint64_t t = 10'000'000; t < 1'000'000'000; t += 90'000'000) {
    EXPECT_NEAR(static_cast<double>(presync->maps[1](reading(t))), static_cast<double>(t), 5'000);
  }
}

TEST(BendByEdges, a_trace_without_messages_keeps_its_maps) {
  for (const int locations : {1, 3}) {
    TraceBuilder b(static_cast<std::uint32_t>(locations));
    b.request(trace::EventKind::irecv_request, 0, 1'000, 1);
    b.request(trace::EventKind::irecv_request, 0, 2'000, 2);
    EXPECT_EQ(bent_from_nothing(b).maps, std::vector<ClockMap>(b.trace().locations.size()));
  }
}

}  // namespace
}  // namespace entrain::causal
