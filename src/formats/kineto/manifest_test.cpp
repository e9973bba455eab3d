// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/manifest.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/temp_folder_testing.hpp"
#include "formats/json/document.hpp"

namespace entrain::kineto {
namespace {

using Json = nlohmann::json;

TEST(Manifest, relates_all_files_to_the_one_that_needs_no_shift) {
  const std::vector<ManifestFile> files{{.name = "a.json", .rank = 0, .ahead = -7},
                                        {.name = "b \"1\".json", .rank = 1, .ahead = 0},
                                        {.name = "c.json", .rank = 2, .ahead = 250}};
  const std::string text = manifest_text(files);
  const Json manifest = Json::parse(text)["perfetto_manifest"];
  EXPECT_EQ(manifest["version"], 1);
  ASSERT_EQ(manifest["files"].size(), 3U);
  EXPECT_EQ(manifest["files"][0]["clocks"]["offset_ns"], -7);
  EXPECT_EQ(manifest["files"][0]["clocks"]["sync_to"]["file"], "b \"1\".json");
  EXPECT_FALSE(manifest["files"][1].contains("clocks"));
  EXPECT_EQ(manifest["files"][1]["machine"]["name"], "rank 1");
  EXPECT_EQ(manifest["files"][2]["clocks"]["offset_ns"], 250);
}

TEST(Manifest, is_recognised_by_its_first_key) {
  std::string text = manifest_text(std::vector<ManifestFile>{{.name = "a.json"}});
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n'; }),
             text.end());
  EXPECT_TRUE(text.starts_with(R"({"perfetto_manifest")"));
}

TEST(Manifest, takes_facts_of_the_correction) {
  const TempFolder folder;
  const auto path = folder / k_manifest_name;
  const std::string text = manifest_text(std::vector<ManifestFile>{{.name = "a.json"}});
  ASSERT_TRUE(json::save(path, text, json::Packing::none));
  ASSERT_TRUE(annotate_manifest(path, {{"verdict", "clean"}, {"bound_ns", std::int64_t{7}}}));
  const auto written = json::load(path);
  ASSERT_TRUE(written);
  const Json manifest = Json::parse(written->text)["perfetto_manifest"];
  EXPECT_EQ(manifest["files"].size(), 1U);
  EXPECT_EQ(manifest["attributes"], (Json{{"entrain.verdict", "clean"}, {"entrain.bound_ns", 7}}));
  EXPECT_FALSE(annotate_manifest(folder / "none", {}));
}

TEST(Manifest, names_the_clocks_that_files_name) {
  const std::vector<ManifestFile> files{{.name = "a", .rank = 0, .ahead = 0, .clock = "BOOTTIME"},
                                        {.name = "b", .rank = 1, .ahead = 5, .clock = "MONOTONIC"},
                                        {.name = "c.json", .rank = 2, .ahead = 6}};
  const Json list = Json::parse(manifest_text(files))["perfetto_manifest"]["files"];
  EXPECT_EQ(list[1]["clocks"]["clock"], "MONOTONIC");
  EXPECT_EQ(list[1]["clocks"]["sync_to"]["clock"], "BOOTTIME");
  EXPECT_FALSE(list[2]["clocks"].contains("clock"));
  EXPECT_EQ(clock_name(6), "BOOTTIME");
  EXPECT_EQ(clock_name(64), "");
}

/// Files of different bases are all shifted; the first one is where the others go.
TEST(Manifest, takes_the_first_file_where_all_move) {
  const std::vector<ManifestFile> files{{.name = "a", .rank = 0, .ahead = 1'000'000},
                                        {.name = "b", .rank = 1, .ahead = 3'000'000}};
  const Json list = Json::parse(manifest_text(files))["perfetto_manifest"]["files"];
  EXPECT_FALSE(list[0].contains("clocks"));
  EXPECT_EQ(list[1]["clocks"]["offset_ns"], 2'000'000);
}

}  // namespace
}  // namespace entrain::kineto
