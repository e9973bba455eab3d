// SPDX-License-Identifier: BSD-3-Clause
// Thousands of damaged archives through the API: an error that names the file, or a result with
// counted anomalies; never a crash, a hang, a changed input, or something left behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "support/damaged_archive.hpp"
#include "support/random_events.hpp"
#include "support/repetitions.hpp"

namespace entrain::test {
namespace {

constexpr std::size_t k_chunk = 256 * 1024;

void report(const SeriesOutcome& outcome) {
  std::printf("%u cases: %u refused, %u accepted with anomalies\n", outcome.cases, outcome.refused,
              outcome.diagnosed);
}

Bytes first_bytes(const Bytes& bytes, std::size_t size) {
  return Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
}

/// The files that the tests damage: anchor, global and local definitions, events with one chunk
/// and with two.
const std::vector<std::string> k_files{"traces.otf2", "traces.def", "traces/2.def", "traces/1.evt",
                                       "traces/0.evt"};

/// Lengths to cut a file to: around every chunk border and the end, then random ones.
std::vector<std::size_t> cuts_of(const Bytes& bytes, unsigned random_cuts) {
  std::vector<std::size_t> cuts{0, 1, 17, 18, 19};
  for (std::size_t border = k_chunk; border < bytes.size(); border += k_chunk) {
    for (const std::size_t cut : {border - 1, border, border + 1, border + 18}) cuts.push_back(cut);
  }
  for (std::size_t left = 2; left <= 4; ++left) cuts.push_back(bytes.size() - left);
  Random random(bytes.size());
  for (unsigned i = 0; i < random_cuts; ++i) cuts.push_back(random.below(bytes.size() - 1));
  std::erase_if(cuts, [&](std::size_t cut) { return cut >= bytes.size(); });
  return cuts;
}

class Truncated : public testing::TestWithParam<std::string> {};

TEST_P(Truncated, files_are_refused_or_counted) {
  const std::string file = GetParam();
  const TempFolder scratch;
  const Bytes whole = DamagedArchive(scratch.path()).files().at(file);
  auto cuts = cuts_of(whole, every_repetition() ? 200 : 60);
  // Of the three end marks of an anchor only the first one counts.
  if (file == "traces.otf2") {
    std::erase_if(cuts, [&](std::size_t cut) { return cut + 3 > whole.size(); });
  }
  const auto outcome =
      run_series(static_cast<unsigned>(cuts.size()), [&](DamagedArchive& archive, unsigned n) {
        archive.damage(file, first_bytes(whole, cuts[n]));
        return file + " cut to " + std::to_string(cuts[n]);
      });
  report(outcome);
  EXPECT_EQ(outcome.problems, "");
  // Without its end mark a file is not whole, and that never goes unsaid.
  EXPECT_EQ(outcome.refused + outcome.diagnosed, outcome.cases);
  if (!file.ends_with(".evt")) {
    EXPECT_EQ(outcome.refused, outcome.cases);
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Truncated, testing::ValuesIn(k_files), [](const auto& test) {
  std::string name = test.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

/// Number of seeds: 200 for each of the five files in `make soak`, 60 in `make test`.
unsigned seeds() { return every_repetition() ? 1000 : 300; }

TEST(Flipped, bits_are_survived) {
  const auto outcome = run_series(seeds(), [](DamagedArchive& archive, unsigned seed) {
    Random random(seed);
    const std::string& file = k_files[seed % k_files.size()];
    Bytes bytes = archive.files().at(file);
    std::string what = file + ", bits";
    for (std::uint64_t flips = 1 + random.below(3); flips > 0; --flips) {
      // Half of the flips hit the first 200 bytes: headers, and what decides about the rest.
      const std::size_t range =
          random.one_in(2) ? std::min<std::size_t>(200, bytes.size()) : bytes.size();
      const auto at = random.below(range);
      const auto bit = random.below(8);
      bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ (1u << bit));
      what += " " + std::to_string(at) + "." + std::to_string(bit);
    }
    archive.damage(file, bytes);
    return what;
  });
  report(outcome);
  EXPECT_EQ(outcome.problems, "");
  EXPECT_GT(outcome.refused, seeds() / 10);
  EXPECT_LT(outcome.refused, seeds() - seeds() / 10);
}

/// Whole bytes, also those that turn small numbers and lengths into huge ones.
TEST(Overwritten, bytes_are_survived) {
  const auto outcome = run_series(seeds(), [](DamagedArchive& archive, unsigned seed) {
    Random random(77'000 + seed);
    const std::string& file = k_files[seed % k_files.size()];
    Bytes bytes = archive.files().at(file);
    const auto at =
        random.below(std::min<std::size_t>(random.one_in(2) ? 400 : bytes.size(), bytes.size()));
    const auto length = std::min<std::size_t>(1 + random.below(9), bytes.size() - at);
    const auto value = static_cast<std::uint8_t>(random.one_in(2) ? 0xFF : random.below(256));
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), length, value);
    archive.damage(file, bytes);
    return file + ", " + std::to_string(length) + " bytes at " + std::to_string(at) + " = " +
           std::to_string(value);
  });
  report(outcome);
  EXPECT_EQ(outcome.problems, "");
  EXPECT_GT(outcome.refused, seeds() / 10);
}

// The series must be able to fail: an undamaged archive is neither refused nor diagnosed.
TEST(Undamaged, archives_pass) {
  const auto outcome = run_series(2, [](DamagedArchive&, unsigned) { return "nothing"; });
  EXPECT_EQ(outcome.problems, "");
  EXPECT_EQ(outcome.refused, 0u);
  EXPECT_EQ(outcome.diagnosed, 0u);
}

// ... and a crash or a hang in the child is told with its case.
TEST(Undamaged, a_crash_is_noticed) {
  const auto outcome = run_series(3, [](DamagedArchive&, unsigned n) {
    if (n == 1) std::abort();
    return "case to blame";
  });
  EXPECT_NE(outcome.problems.find("signal 6"), std::string::npos) << outcome.problems;
  EXPECT_NE(outcome.problems.find("case 0: case to blame"), std::string::npos) << outcome.problems;
}

}  // namespace
}  // namespace entrain::test
