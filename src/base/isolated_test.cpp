// SPDX-License-Identifier: BSD-3-Clause
#include "base/isolated.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace entrain {
namespace {

constexpr std::uint64_t k_mib = std::uint64_t{1} << 20;

/// The text of the records of some work, and its signal, if there is one.
std::string outcome_of(std::uint64_t most_memory,
                       const std::function<void(const SendRecord&)>& work) {
  std::string all;
  const auto signal = run_isolated(most_memory, work, [&](std::string_view record) -> Result<bool> {
    all += record;
    return true;
  });
  return *signal == 0 ? all : "signal " + std::to_string(*signal);
}

TEST(Isolated, memory_of_the_parent_does_not_count) {
  const std::vector<char> of_parent(64 * k_mib, 'x');
  EXPECT_EQ(outcome_of(16 * k_mib,
                       [](const SendRecord& send) {
                         const std::vector<char> own(8 * k_mib, 'y');
                         send(own.back() == 'y' ? "has memory" : "");
                       }),
            "has memory");
}

TEST(Isolated, the_end_of_a_process_is_told_whatever_its_parent_does_about_its_own) {
  const auto before = std::signal(SIGABRT, [](int) { std::_Exit(0); });
  EXPECT_EQ(outcome_of(k_mib, [](const SendRecord&) { std::abort(); }), "signal 6");
  std::signal(SIGABRT, before);
}

}  // namespace
}  // namespace entrain
