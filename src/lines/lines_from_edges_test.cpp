// SPDX-License-Identifier: BSD-3-Clause
#include "lines/lines_from_edges.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "constraints/testing.hpp"

namespace entrain::lines {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using trace::testing::TraceBuilder;

/// Runs align_unmeasured() on the clocks of a trace, one per location, with the identity as map.
struct Aligned {
  explicit Aligned(const TraceBuilder& b, const clocks::Reference& reference = {})
      : whole(b.trace()) {
    domains = trace::separate_domains(b.trace().locations.size());
    maps.resize(domains.count());
    constraints::Context context = whole.context();
    context.reference = reference;
    constraints::ConstrainedClocks clocks(context, domains, maps);
    clocks.evaluate();
    const Alignment alignment = align_unmeasured(clocks).value();
    sentence = alignment.sentence;
    by_ends = alignment.by_ends;
    component_of = clocks.component_of;
  }
  constraints::testing::WholeTrace whole;
  trace::ClockDomains domains;
  std::vector<ClockMap> maps;
  std::vector<std::uint32_t> component_of;
  std::string sentence;
  bool by_ends = false;
};

/// Messages there and back between two clocks, the second `ahead` ticks ahead and `rate` too fast.
void ping_pong(TraceBuilder& b, LocationIndex one, LocationIndex other, std::uint64_t ahead,
               double rate = 0) {
  const auto reading = [&](std::uint64_t time) {
    return time + ahead +
           static_cast<std::uint64_t>(std::llround(rate * static_cast<double>(time)));
  };
  for (std::uint64_t i = 0; i < 40; ++i) {
    const std::uint64_t t = 100'000 + i * 10'000;
    b.message(trace::EventKind::send, one, t, other);
    b.message(trace::EventKind::recv, other, reading(t + 20), one);
    b.message(trace::EventKind::send, other, reading(t + 5'000), one);
    b.message(trace::EventKind::recv, one, t + 5'020, other);
  }
}

TEST(AlignUnmeasured, messages_both_ways_give_offset_and_rate) {
  TraceBuilder b(2);
  ping_pong(b, 0, 1, 3'000'000, 1e-4);
  const Aligned aligned(b);
  EXPECT_THAT(aligned.component_of, ElementsAre(0, 0));
  EXPECT_FALSE(aligned.by_ends);
  EXPECT_THAT(aligned.sentence, Not(HasSubstr("groups")));
  for (const std::uint64_t t : {100'000, 300'000, 490'000}) {
    const auto stamp = 3'000'000 + t + t / 10'000;
    EXPECT_NEAR(static_cast<double>(aligned.maps[1](stamp)),
                static_cast<double>(aligned.maps[0](t)), 25)
        << t;
  }
}

TEST(AlignUnmeasured, clocks_that_never_talk_stay_apart) {
  TraceBuilder b(4);
  ping_pong(b, 0, 1, 1'000);
  ping_pong(b, 2, 3, 2'000);
  const Aligned aligned(b);
  EXPECT_THAT(aligned.component_of, ElementsAre(0, 0, 2, 2));
  EXPECT_THAT(aligned.sentence, HasSubstr("in 2 groups"));
}

TEST(AlignUnmeasured, without_edges_nothing_moves) {
  TraceBuilder b(2);
  for (const LocationIndex l : {0u, 1u}) {
    b.request(trace::EventKind::irecv_request, l, 1'000, 1);
    b.request(trace::EventKind::irecv_request, l, 2'000, 2);
  }
  const Aligned aligned(b);
  EXPECT_THAT(aligned.component_of, ElementsAre(0, 1));
  EXPECT_THAT(aligned.maps, ElementsAre(ClockMap(), ClockMap()));
}

TEST(AlignUnmeasured, a_consensus_moves_only_the_clock_that_is_wrong) {
  TraceBuilder b(4);
  for (const LocationIndex other : {1u, 2u, 3u}) ping_pong(b, 0, other, 1'000'000 + other % 2 * 5);
  const Aligned aligned(b, {.consensus = true});
  EXPECT_THAT(aligned.sentence, HasSubstr("3 of 4 clocks can stay as they are"));
  for (const LocationIndex l : {1u, 2u, 3u}) EXPECT_EQ(aligned.maps[l], ClockMap()) << l;
  EXPECT_NEAR(static_cast<double>(aligned.maps[0](200'000)), 1'200'000, 20);
}

TEST(AlignUnmeasured, the_reference_keeps_its_time) {
  TraceBuilder b(2);
  ping_pong(b, 0, 1, 3'000'000, 1e-4);
  const Aligned aligned(b, {.location = 1});
  EXPECT_EQ(aligned.maps[1], ClockMap());
  EXPECT_NEAR(static_cast<double>(aligned.maps[0](300'000)), 3'300'030, 25);
}

/// Messages for a millisecond, a second after the first event of both clocks.
TEST(AlignUnmeasured, a_clock_is_not_turned_by_messages_of_a_short_time) {
  TraceBuilder b(2);
  for (const LocationIndex l : {0u, 1u}) b.request(trace::EventKind::irecv_request, l, 1'000, 1);
  for (std::uint64_t t = 1'000'000'000; t < 1'001'000'000; t += 100'000) {
    const std::uint64_t slower = (t - 1'000'000'000) / 100;  // as if at 10,000 ppm
    b.message(trace::EventKind::send, 0, t, 1);
    b.message(trace::EventKind::recv, 1, t + 5'010'000 + slower, 0);
    b.message(trace::EventKind::send, 1, t + 5'050'000, 0);
    b.message(trace::EventKind::recv, 0, t + 60'000, 1);
  }
  const Aligned aligned(b);
  const auto begin = static_cast<double>(aligned.maps[1](1'000));
  EXPECT_NEAR(begin, static_cast<double>(aligned.maps[0](1'000)) - 5'000'000, 60'000);
}

/// Clocks up to 8 s apart that wander by 20 us, and barriers that all leave within 2 us.
TEST(AlignUnmeasured, clocks_that_wander_are_aligned_by_ends_that_coincide) {
  constexpr std::uint32_t k_clocks = 12;
  RandomStream random(5, 1);
  TraceBuilder b(k_clocks);
  const auto reading = [](LocationIndex l, std::uint64_t time) {
    const double wander = 20'000 * std::sin(static_cast<double>(time) / 4e9 + l);
    return time + l * 700'000'000 + static_cast<std::uint64_t>(20'000 + wander);
  };
  for (std::uint64_t t = 1'000'000; t < 60'000'000'000; t += 600'000'000) {
    std::uint64_t last = 0;
    std::vector<std::uint64_t> come(k_clocks);
    for (std::uint64_t& one : come) last = std::max(last, one = t + random.below(2'000'000));
    for (LocationIndex l = 0; l < k_clocks; ++l) {
      b.collective(l, reading(l, come[l]), reading(l, last + 2'000 + random.below(2'000)),
                   trace::op::barrier, trace::k_root_none);
    }
  }
  const Aligned aligned(b);
  EXPECT_THAT(aligned.sentence, HasSubstr("ends of collectives"));
  EXPECT_TRUE(aligned.by_ends);
  EXPECT_THAT(aligned.component_of, Each(0));
  for (std::uint64_t t = 1'000'000'000; t < 60'000'000'000; t += 3'000'000'000) {
    for (LocationIndex l = 1; l < k_clocks; ++l) {
      EXPECT_NEAR(static_cast<double>(aligned.maps[l](reading(l, t))),
                  static_cast<double>(aligned.maps[0](reading(0, t))), 60'000)
          << l << " at " << t;
    }
  }
}

}  // namespace
}  // namespace entrain::lines
