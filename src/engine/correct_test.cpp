// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <fstream>
#include <string>

#include <entrain/entrain.hpp>

#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Correct, an_archive_without_events_keeps_its_clock_range) {
  const TempFolder folder;
  fs::copy(ENTRAIN_EXAMPLES_DIR "/traces/allops-4", folder / "in", fs::copy_options::recursive);
  for (int rank = 0; rank < 4; ++rank) {
    const fs::path file = folder / "in/traces" / (std::to_string(rank) + ".evt");
    fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        << '\3' << 'B' << std::string("\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16) << '\2' << '\1';
  }
  const auto report = correct(folder / "in", folder / "out", {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(contents(folder / "out/traces.def"), contents(folder / "in/traces.def"));
}

}  // namespace
}  // namespace entrain
