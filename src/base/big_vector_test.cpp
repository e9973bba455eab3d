// SPDX-License-Identifier: BSD-3-Clause
#include "base/big_vector.hpp"

#include <fstream>
#include <new>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

namespace entrain {
namespace {

/// kB of this process, as the system counts them: "RssAnon", "RssFile" or "RssShmem".
std::uint64_t resident_kb(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(what + ":")) return std::stoull(line.substr(what.size() + 1));
  }
  return 0;
}

class BigVectors : public testing::Test {
 protected:
  void TearDown() override { BigMemory::set_limit(0, {}); }
};

TEST_F(BigVectors, behave_like_vectors) {
  BigVector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) numbers.push_back(i);
  EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}), 499'999'500'000u);
  numbers.resize(10);
  numbers.shrink_to_fit();
  EXPECT_EQ(numbers.back(), 9u);
  const BigVector<std::uint64_t> copy = numbers;
  EXPECT_EQ(copy, numbers);
}

TEST_F(BigVectors, go_to_a_file_beyond_the_limit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer has pages of its own for every page";
#endif
  constexpr std::size_t k_size = std::size_t{16} << 20;
  BigMemory::set_limit(k_size + k_size / 2, testing::TempDir());
  const std::uint64_t spilled = BigMemory::most_spilled();
  const BigVector<std::uint8_t> first(k_size, 1);
  EXPECT_EQ(BigMemory::most_spilled(), spilled);
  const std::uint64_t anonymous = resident_kb("RssAnon");
  const std::uint64_t mapped = resident_kb("RssFile") + resident_kb("RssShmem");
  const BigVector<std::uint8_t> second(k_size, 2);
  EXPECT_GE(BigMemory::most_spilled(), k_size);
  EXPECT_LT(resident_kb("RssAnon"), anonymous + 2048);
  EXPECT_GT(resident_kb("RssFile") + resident_kb("RssShmem"), mapped + k_size / 1024 / 2);
  EXPECT_EQ(std::accumulate(second.begin(), second.end(), 0u), 2 * k_size);
}

TEST_F(BigVectors, freed_ones_do_not_add_to_the_most_that_was_needed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer has pages of its own for every page";
#endif
  BigMemory::release();
  constexpr std::size_t k_size = std::size_t{16} << 20;
  const std::uint64_t before = resident_kb("RssAnon");
  { const BigVector<std::uint8_t> first(k_size, 1); }
  EXPECT_GT(resident_kb("RssAnon"), before + k_size / 1024 - 1024);  // kept for the next one
  const BigVector<std::uint8_t> second(k_size + k_size / 4, 2);      // too large for it
  EXPECT_LT(resident_kb("RssAnon"), before + 5 * (k_size / 4) / 1024 + 1024);
}

TEST_F(BigVectors, share_the_memory_of_freed_ones) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer has pages of its own for every page";
#endif
  BigMemory::release();
  constexpr std::size_t k_size = std::size_t{16} << 20;
  const std::uint64_t before = resident_kb("RssAnon");
  { const BigVector<std::uint8_t> first(k_size, 1); }
  {
    // Cut from one block, freed in another order, and put together again.
    BigVector<std::uint8_t> a(k_size / 4, 2), b(k_size / 2, 3), c(k_size / 4, 4);
    EXPECT_LT(resident_kb("RssAnon"), before + k_size / 1024 + 1024);
    BigVector<std::uint8_t>().swap(b);
    BigVector<std::uint8_t>().swap(a);
    const BigVector<std::uint8_t> d(k_size * 3 / 4, 5);
    EXPECT_LT(resident_kb("RssAnon"), before + k_size / 1024 + 1024);
    EXPECT_EQ(std::accumulate(c.begin(), c.end(), 0u), 4 * (k_size / 4));
    EXPECT_EQ(std::accumulate(d.begin(), d.end(), 0u), 5 * (k_size * 3 / 4));
  }
  const BigVector<std::uint8_t> whole(k_size, 6);
  EXPECT_LT(resident_kb("RssAnon"), before + k_size / 1024 + 1024);
}

TEST_F(BigVectors, released_memory_is_the_systems) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer has pages of its own for every page";
#endif
  constexpr std::size_t k_size = std::size_t{16} << 20;
  { const BigVector<std::uint8_t> first(k_size, 1); }
  const std::uint64_t kept = resident_kb("RssAnon");
  BigMemory::release(k_size / 4);
  EXPECT_LT(resident_kb("RssAnon"), kept - k_size * 3 / 4 / 1024 + 1024);
  EXPECT_GT(resident_kb("RssAnon"), kept - k_size * 3 / 4 / 1024 - 1024);
  BigMemory::release();
  EXPECT_LT(resident_kb("RssAnon"), kept - k_size / 1024 + 1024);
}

TEST_F(BigVectors, without_room_there_is_an_exception) {
  BigMemory::set_limit(1, "/no/such/folder");
  EXPECT_THROW((BigVector<std::uint8_t>(BigMemory::k_smallest, 1)), std::bad_alloc);
  BigMemory::set_limit(0, {});
  EXPECT_NO_THROW((BigVector<std::uint8_t>(BigMemory::k_smallest, 1)));
}

}  // namespace
}  // namespace entrain
