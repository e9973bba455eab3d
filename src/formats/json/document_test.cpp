// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/document.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/file.hpp"
#include "base/memory_room.hpp"
#include "base/temp_folder_testing.hpp"
#include "formats/json/scanner.hpp"
#include "formats/json/text_file.hpp"

namespace entrain::json {
namespace {

TEST(Document, a_packed_text_comes_back_as_it_was) {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += std::to_string(i) + ",";
  for (const Packing packing : {Packing::none, Packing::gzip, Packing::zstd}) {
    const auto path = folder.path() / packed_name("a.json", packing);
    ASSERT_TRUE(save(path, text, packing));
    const auto document = load(path);
    ASSERT_TRUE(document) << document.error().message;
    EXPECT_EQ(document->packing, packing);
    EXPECT_EQ(packing_of(path).value(), packing);
    EXPECT_EQ(document->text, text);
    EXPECT_FALSE(document->cut);
    EXPECT_TRUE(is_document_name(path));
  }
}

TEST(Document, names_tell_of_json_in_letters_of_either_case) {
  for (const char* name : {"a.json", "A.JSON", "a.Json.GZ", "a.JSONL.zst", "a.NDJSON"}) {
    EXPECT_TRUE(is_document_name(name)) << name;
  }
  for (const char* name : {"a.gz", "json", "a.json.xz"})
    EXPECT_FALSE(is_document_name(name)) << name;
}

TEST(Document, several_zstd_frames_are_one_text) {
  const TempFolder folder;
  ASSERT_TRUE(save(folder.path() / "a", "[1,", Packing::zstd));
  ASSERT_TRUE(save(folder.path() / "b", "2]", Packing::zstd));
  auto bytes = *read_file(folder.path() / "a", 1 << 20);
  const auto more = *read_file(folder.path() / "b", 1 << 20);
  bytes.insert(bytes.end(), more.begin(), more.end());
  ASSERT_TRUE(write_file(folder.path() / "c", bytes));
  EXPECT_EQ(load(folder.path() / "c")->text, "[1,2]");
  bytes[bytes.size() / 2] ^= 0x55;
  bytes.resize(bytes.size() - 2);
  ASSERT_TRUE(write_file(folder.path() / "d", bytes));
  const auto damaged = load(folder.path() / "d");
  EXPECT_TRUE(!damaged || damaged->cut);
}

TEST(Document, names_may_be_in_capitals) {
  for (const char* name : {"RUN.JSON", "a.json.GZ", "a.Jsonl.ZST"})
    EXPECT_TRUE(is_document_name(name));
  for (const char* name : {"json", "a.json.xz", "a.GZ"})
    EXPECT_FALSE(is_document_name(name)) << name;
  EXPECT_EQ(without_packing("a.json.GZ"), "a.json");
  EXPECT_EQ(packed_name("a.json.GZ", Packing::gzip), "a.json.GZ");
  EXPECT_EQ(packed_name("a.json.GZ", Packing::none), "a.json");
  EXPECT_EQ(packed_name("a.JSON", Packing::zstd), "a.JSON.zst");
}

TEST(Document, utf_16_is_named) {
  const TempFolder folder;
  using namespace std::string_literals;
  for (const std::string& text : {"\xFF\xFE[\0]\0"s, "\xFE\xFF\0[\0]"s, "[\0]\0"s, "\0[\0]"s}) {
    const auto path = folder.path() / "a.json";
    std::filesystem::remove(path);
    ASSERT_TRUE(save(path, text, Packing::none));
    const auto refused = load(path);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("is UTF-16; write it as UTF-8"), std::string::npos);
    EXPECT_FALSE(beginning(path));
  }
}

TEST(Document, a_packed_stream_that_ends_too_early_is_read_as_far_as_it_goes) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += std::to_string(i) + ",";
  for (const Packing packing : {Packing::gzip, Packing::zstd}) {
    const TempFolder folder;
    ASSERT_TRUE(save(folder.path() / "a", text, packing));
    auto bytes = *read_file(folder.path() / "a", 1 << 24);
    bytes.resize(bytes.size() / 2);
    ASSERT_TRUE(write_file(folder.path() / "b", bytes));
    const auto document = load(folder.path() / "b");
    ASSERT_TRUE(document);
    EXPECT_TRUE(document->cut);
    EXPECT_GT(document->text.size(), 1'000U);
    EXPECT_LT(document->text.size(), text.size());
    EXPECT_EQ(document->text, text.substr(0, document->text.size()));
    EXPECT_FALSE(load(folder.path() / "a")->cut);
  }
}

/// zstd unpacks whole blocks only, so that a short cut file would seem to be empty.
TEST(Document, a_packed_stream_that_ends_in_its_first_block_is_named) {
  for (const Packing packing : {Packing::gzip, Packing::zstd}) {
    const TempFolder folder;
    ASSERT_TRUE(save(folder.path() / "a", std::string(1'000, 'x'), packing));
    auto bytes = *read_file(folder.path() / "a", 1 << 20);
    bytes.resize(9);
    ASSERT_TRUE(write_file(folder.path() / "b", bytes));
    const auto document = load(folder.path() / "b");
    ASSERT_FALSE(document);
    EXPECT_NE(document.error().message.find("is cut off after 9 bytes"), std::string::npos)
        << document.error().message;
  }
}

TEST(Document, zeros_behind_a_gzip_stream_are_passed_over) {
  const TempFolder folder;
  ASSERT_TRUE(save(folder.path() / "a.json.gz", "[1]", Packing::gzip));
  auto bytes = *read_file(folder.path() / "a.json.gz", 1 << 20);
  bytes.resize(bytes.size() + 4);
  ASSERT_TRUE(write_file(folder.path() / "b.json.gz", bytes));
  const auto document = load(folder.path() / "b.json.gz");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(document->text, "[1]");
}

TEST(Document, no_more_is_unpacked_than_is_allowed) {
  const TempFolder folder;
  ASSERT_TRUE(save(folder.path() / "a.json.gz", std::string(3'000'000, ' '), Packing::gzip));
  ASSERT_TRUE(save(folder.path() / "plain.json", std::string(3'000'000, ' '), Packing::none));
  EXPECT_TRUE(load(folder.path() / "a.json.gz"));
  EXPECT_TRUE(load(folder.path() / "a.json.gz", 3'000'000));
  EXPECT_TRUE(load(folder.path() / "plain.json", 1000));
  const auto refused = load(folder.path() / "a.json.gz", 2'999'999);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("holds more than 2999999 when unpacked, which is the "
                                         "limit; if you trust it, allow more with --max-unpacked"),
            std::string::npos)
      << refused.error().message;
  EXPECT_EQ(beginning(folder.path() / "a.json.gz").value(), std::string(k_beginning, ' '));
}

TEST(Document, what_a_packed_file_may_hold_grows_with_its_size) {
  EXPECT_EQ(most_unpacked(0), k_any_ratio);
  EXPECT_EQ(most_unpacked(1 << 20), k_any_ratio);
  EXPECT_EQ(most_unpacked(100'000'000), 25'000'000'000U);
  EXPECT_EQ(most_unpacked(~std::uint64_t{0}), k_most_text);
}

TEST(Document, memory_is_refused_before_it_is_taken) {
  const TempFolder folder;
  constexpr std::size_t k_bytes = std::size_t{192} << 20;
  for (const bool packed : {false, true}) {
    ASSERT_TRUE(save(folder.path() / "a.json", std::string(k_bytes, ' '),
                     packed ? Packing::gzip : Packing::none));
    set_memory_room(k_bytes / 4);
    const auto refused = load(folder.path() / "a.json");
    set_memory_room(0);
    ASSERT_FALSE(refused) << packed;
    EXPECT_NE(refused.error().message.find("takes more memory than the 50331648 bytes that "
                                           "--memory leaves it"),
              std::string::npos)
        << refused.error().message;
    std::filesystem::remove(folder.path() / "a.json");
  }
}

TEST(Document, the_beginning_is_there_unless_the_system_cannot_read_the_file) {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += std::to_string(i) + ",";
  ASSERT_TRUE(save(folder.path() / "a.json.gz", text, Packing::gzip));
  EXPECT_EQ(beginning(folder.path() / "a.json.gz").value(), text.substr(0, k_beginning));
  auto bytes = *read_file(folder.path() / "a.json.gz", 1 << 20);
  std::fill(bytes.begin() + 9'000, bytes.end(), std::uint8_t{0xFF});
  ASSERT_TRUE(write_file(folder.path() / "damaged.json.gz", bytes));
  const std::string damaged = beginning(folder.path() / "damaged.json.gz").value();
  EXPECT_EQ(damaged.substr(0, 9'000), text.substr(0, 9'000));  // what follows may be anything
  EXPECT_EQ(beginning(folder.path()).value(), "");
  EXPECT_EQ(beginning(folder.path() / "none.json").value(), "");
  std::filesystem::create_symlink("loop.json", folder.path() / "loop.json");
  EXPECT_FALSE(beginning(folder.path() / "loop.json"));
}

TEST(Document, bytes_that_are_no_utf8_are_refused) {
  const TempFolder folder;
  ASSERT_TRUE(save(folder.path() / "a.json", "[\"\xFF\"]", Packing::none));
  EXPECT_FALSE(load(folder.path() / "a.json"));
}

TEST(Scanner, walks_over_members_with_their_places) {
  Scanner scanner(R"( {"a": [1, {"}": "\"]"}], "b" : -1.5 , "c":{}} )");
  std::string_view key, value;
  std::string seen;
  ASSERT_TRUE(scanner.open('{'));
  while (scanner.next_key(key)) {
    ASSERT_TRUE(scanner.value(value));
    seen += std::string(key) + "=" + std::string(value) + ";";
  }
  EXPECT_FALSE(scanner.failed());
  EXPECT_EQ(seen, R"(a=[1, {"}": "\"]"}];b=-1.5;c={};)");
}

TEST(Scanner, passes_over_a_mark_of_byte_order) {
  Scanner scanner("\xEF\xBB\xBF{\"a\": 1}");
  std::string_view key;
  ASSERT_TRUE(scanner.open('{'));
  ASSERT_TRUE(scanner.next_key(key));
  EXPECT_EQ(key, "a");
}

TEST(Scanner, fails_at_the_end_of_a_text_that_is_cut_anywhere) {
  const std::string text = R"({"a": [1, "x"], "b": 25})";
  for (std::size_t size = 0; size < text.size(); ++size) {
    Scanner scanner(std::string_view(text).substr(0, size));
    std::string_view key, value;
    if (!scanner.open('{')) continue;
    while (scanner.next_key(key) && scanner.value(value)) {
    }
    EXPECT_TRUE(scanner.failed()) << size;
  }
}

}  // namespace
}  // namespace entrain::json
