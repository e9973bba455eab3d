// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/load.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"

namespace entrain::otf2 {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;

void append_to(const fs::path& file) { std::ofstream(file, std::ios::app) << "x"; }

class Files : public ::testing::Test {
 protected:
  Files() {
    const fs::path example = ENTRAIN_EXAMPLES_DIR "/traces/allops-4";
    for (const char* name : {"a", "b"}) {
      fs::copy(example, folder_ / name, fs::copy_options::recursive);
    }
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "a")) {
      const fs::path other = folder_ / "b" / fs::relative(entry.path(), folder_ / "a");
      if (entry.is_regular_file()) fs::last_write_time(other, entry.last_write_time());
    }
  }

  /// Loads a trace with three processes, of which the one of rank `other` sees b instead of a.
  [[nodiscard]] Result<void> load_together(unsigned other) const {
    return run_team(3, [&](Team& team) -> Result<void> {
      trace::Workers workers(team, 1);
      const std::filesystem::path path = folder_ / (team.rank() == other ? "b" : "a");
      const auto loaded = load(workers, {&path, 1}, nullptr);
      if (!loaded) return tl::unexpected(loaded.error());
      return check_same_files(team, *loaded);
    });
  }

  void expect_refused(const std::string& file) const {
    for (const unsigned other : {0u, 1u, 2u}) {
      const auto refused = load_together(other);
      ASSERT_FALSE(refused) << other;
      EXPECT_EQ(refused.error().kind, ErrorKind::input);
      EXPECT_THAT(refused.error().message,
                  AllOf(HasSubstr('/' + file),
                        HasSubstr(" is not the same file for all processes of this run")));
    }
  }

  TempFolder folder_;
};

TEST_F(Files, that_are_equal_are_the_same) {
  for (const unsigned other : {0u, 1u, 2u, 3u}) {
    const auto loaded = load_together(other);
    EXPECT_TRUE(loaded) << loaded.error().message;
  }
}

TEST_F(Files, of_locations_differ_by_size) {
  for (int l = 0; l < 4; ++l) append_to(folder_ / "b" / "traces" / (std::to_string(l) + ".evt"));
  expect_refused("traces/");
}

TEST_F(Files, of_locations_differ_by_age) {
  for (int l = 0; l < 4; ++l) {
    const fs::path file = folder_ / "b" / "traces" / (std::to_string(l) + ".def");
    fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(1));
  }
  expect_refused("traces/");
}

TEST_F(Files, of_the_archive_differ_by_content) {
  // Another creator of the same length.
  std::fstream anchor(folder_ / "b" / "traces.otf2", std::ios::in | std::ios::out);
  std::string text{std::istreambuf_iterator<char>(anchor), {}};
  const std::size_t at = text.find("MPI_COMMUNICATION");
  ASSERT_NE(at, std::string::npos);
  anchor.clear();
  anchor.seekp(static_cast<std::streamoff>(at));
  anchor << "x";
  anchor.close();
  expect_refused("traces.otf2");
}

TEST_F(Files, that_change_meanwhile_are_refused) {
  for (const char* file : {"traces/1.evt", "traces/2.def", "traces.def", "clock_samples.csv"}) {
    const auto loaded = load(folder_ / "a", 1, nullptr);
    ASSERT_TRUE(loaded);
    Solo solo;
    EXPECT_TRUE(check_unchanged(solo, *loaded));
    append_to(folder_ / "a" / file);
    const auto refused = check_unchanged(solo, *loaded);
    ASSERT_FALSE(refused) << file;
    EXPECT_EQ(refused.error().message,
              (folder_ / "a" / file).string() +
                  " has changed while it was read; run again when nothing writes to it");
  }
  // The same bytes in another file.
  const auto loaded = load(folder_ / "b", 1, nullptr);
  const fs::path file = folder_ / "b" / "traces" / "1.evt";
  const auto age = fs::last_write_time(file);
  fs::copy(file, folder_ / "copy");
  fs::last_write_time(folder_ / "copy", age);
  fs::rename(folder_ / "copy", file);
  Solo solo;
  EXPECT_FALSE(check_unchanged(solo, *loaded));
}

}  // namespace
}  // namespace entrain::otf2
