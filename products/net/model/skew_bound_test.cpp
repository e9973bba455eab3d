// SPDX-License-Identifier: BSD-3-Clause
#include "net/model/skew_bound.hpp"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

namespace entrain::net {
namespace {

constexpr std::int64_t k_ppm = 1000;  // parts per billion

Parameters with(const std::map<std::string, std::string>& values) {
  return with_values(Parameters{}, values).value();
}

TEST(Bound, equations_term_by_term) {
  const Parameters myrinet;
  EXPECT_EQ(gap1(myrinet, 1).count(), 64 * 6'250'000);
  EXPECT_EQ(gap1(myrinet, 3).count(), 3 * 64 * 6'250'000);
  EXPECT_EQ(gap2(myrinet, 1).least.count(), 19'000'000);
  EXPECT_EQ(gap2(myrinet, 1).most.count(), 17'000'000 + 52 * 2'000'000);
  EXPECT_EQ(gap2(myrinet, 2).most.count(), 2 * gap2(myrinet, 1).most.count());
  EXPECT_EQ(gap3(myrinet, 1, Reading::published).count(),
            100'000'000 + 10 * 2'000'000 + 23'520'000);
  EXPECT_EQ(gap3(myrinet, 1, Reading::printed).count(), 100'000'000 + 46 * 2'000'000 + 23'520'000);
  EXPECT_EQ(gap3(myrinet, 2, Reading::published).count(),
            100'000'000 + 21 * 2'000'000 + 2 * 23'520'000);
}

TEST(Bound, lead_and_lag_count_the_links_of_both) {
  const auto ns = [](std::int64_t count) { return std::chrono::nanoseconds(count); };
  const PairLinks alike{{ns(17)}, {ns(17)}}, far_fast{{ns(17)}, {ns(1017)}},
      far_slow{{ns(1017)}, {ns(17)}};
  const auto lead = [](const PairLinks& links, const Sending& sending) {
    return lead_of_pair({}, 1, 1, links, {.sending = sending});
  };
  // Where ld cancels out: 237.48 ns and 2 ld.
  EXPECT_EQ(lead(alike, {}).count(), 237'480'000 + 2 * 17'000'000);
  EXPECT_EQ(lead(far_fast, {}), lead(alike, {}) + ns(1000));
  EXPECT_EQ(lead(far_slow, {}), lead(alike, {}) - ns(1000));
  EXPECT_EQ(lead(alike, {LinkModel::at_link, 20}), lead(alike, {}) + ns(25));
  // A held pair ends as the manual says, to a flit: 59 in the buffer, or guard and kg.
  EXPECT_EQ(lag_of_held({}, alike, {}).count(),
            40'520'000 + 102'000'000 + 41 * 2'000'000 - 59 * 6'250'000);
  EXPECT_EQ(lag_of_held({}, alike, {LinkModel::at_link, 20}).count(),
            240'520'000 - (20 + 17 + 2) * 6'250'000);
  EXPECT_EQ(lag_of_held({}, far_slow, {}), lag_of_held({}, alike, {}) + ns(1000));
  // The largest values there are, over 20,000 links.
  const std::vector<Femtoseconds> chain(20'000, std::chrono::milliseconds(1));
  const Parameters slow = with({{"cp", "1fs"}, {"sd", "1us"}, {"slot-flits", "1000000"}});
  EXPECT_EQ(lag_of_held(slow, {chain, chain}, {}), k_longest_lag);
}

TEST(Bound, reference_values_of_the_single_switch) {
  EXPECT_EQ(skew_of_sss(Parameters{}, Reading::published).count(), 237'480'000);
  EXPECT_EQ(skew_of_sss(Parameters{}, Reading::printed).count(), 165'480'000);
  EXPECT_EQ(skew_of_sss(with({{"bl", "256"}}), Reading::published).count(), 1'053'480'000);
  EXPECT_EQ(skew_of_sss(with({{"rd", "50ns"}}), Reading::published).count(), 287'480'000);
  EXPECT_EQ(skew_of_sss(with({{"rd", "140ns"}}), Reading::published).count(), 197'480'000);
}

TEST(Bound, reference_values_of_trees) {
  EXPECT_EQ(skew_of_hss(Parameters{}, 2, Reading::published), skew_of_sss({}, Reading::published));
  EXPECT_EQ(skew_of_hss(Parameters{}, 3, Reading::published).count(), 1'421'400'000);
  EXPECT_EQ(skew_of_hss(Parameters{}, 4, Reading::published).count(), 4'023'240'000);
  EXPECT_EQ(skew_of_hss(with({{"cp", "640Mbps"}}), 4, Reading::published).count(), 9'223'240'000);
}

TEST(Bound, intervals_of_the_tables) {
  const Femtoseconds sss = skew_of_sss({}, Reading::published);
  const Femtoseconds hss = skew_of_hss({}, 4, Reading::published);
  const std::array<std::int64_t, 5> single{4810, 2405, 1603, 1202, 962};
  const std::array<std::int64_t, 5> tree{1781, 890, 593, 445, 356};
  for (std::size_t i = 0; i < 5; ++i) {
    const std::int64_t drift_ppb = 100 * k_ppm * static_cast<std::int64_t>(i + 1);
    EXPECT_EQ(interval_slots({}, sss, drift_ppb), single[i]);
    EXPECT_EQ(interval_slots({}, hss, drift_ppb), tree[i]);
  }
  EXPECT_EQ(full_tree_slots(4, 4), 16);
  EXPECT_EQ(full_tree_slots(8, 4), 36);
}

TEST(Bound, no_interval_where_the_skew_is_more_than_half_a_slot) {
  const Parameters parameters;
  EXPECT_EQ(interval_slots(parameters, parameters.slot() / 2, 100 * k_ppm), 0);
  EXPECT_EQ(interval_slots(parameters, parameters.slot(), 100 * k_ppm), 0);
  EXPECT_TRUE(std::isinf(overhead_share(8, 0)));
  EXPECT_GT(interval_slots(parameters, Femtoseconds(0), 0), 1'000'000);
}

TEST(Parameters, every_mistake_is_one_sentence) {
  const auto error = [](const char* name, const char* value) {
    const auto result = with_values(Parameters{}, {{name, value}});
    return result ? std::string("accepted") : result.error().message;
  };
  EXPECT_EQ(error("ld", "-1ns"), "parameter ld: '-1ns' is negative");
  EXPECT_NE(error("kg", "54").find("parameter kg: GO at 54 flits"), std::string::npos);
  EXPECT_NE(error("ks", "65").find("parameter ks: STOP at 65 flits"), std::string::npos);
  EXPECT_NE(error("ks", "0").find("parameter ks"), std::string::npos);
  EXPECT_NE(error("slot-flits", "64").find("not above the buffer of 64"), std::string::npos);
  EXPECT_NE(error("cp", "0ns").find("parameter cp"), std::string::npos);
  EXPECT_NE(error("sd", "2us").find("not between 0 and 1000 ns"), std::string::npos);
  EXPECT_NE(error("xx", "1").find("there is no parameter 'xx'"), std::string::npos);
  EXPECT_NE(error("bl", "many").find("parameter bl: 'many' is not a whole number"),
            std::string::npos);
}

TEST(Parameters, rates_count_with_the_flit_of_the_result) {
  const Parameters changed = with({{"cp", "400Gbps"}, {"flit-bytes", "64"}});
  EXPECT_EQ(changed.cp.count(), 1'280'000);
}

TEST(Parameters, presets_are_valid_and_do_not_overrun) {
  for (const Preset& known : presets()) {
    EXPECT_TRUE(validate(known.parameters)) << known.name;
    EXPECT_EQ(preset(known.name)->cp, known.parameters.cp);
  }
  EXPECT_FALSE(preset("token-ring"));
}

}  // namespace
}  // namespace entrain::net
