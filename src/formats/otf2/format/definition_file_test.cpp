// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/format/definition_file.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/otf2/format/format.hpp"
#include "formats/otf2/format/testing.hpp"

namespace entrain::otf2 {
namespace {

using testing::Bytes;
using testing::ChunkBuilder;
using testing::contents;
using ::testing::HasSubstr;
using testing::TempFolder;
using testing::operator+;

constexpr std::uint64_t k_file_chunk = 64;  // no real one is so small, but nothing asks for more

Bytes pack(const DefinitionFile& file, std::uint64_t chunk_size = k_file_chunk) {
  auto bytes = pack_definition_file(file, chunk_size, "x.def");
  if (!bytes) throw std::runtime_error(bytes.error().message);
  return *std::move(bytes);
}

DefinitionFile read(const std::filesystem::path& path, std::uint64_t chunk_size = k_file_chunk) {
  auto file = read_definition_file(path, chunk_size);
  if (!file) throw std::runtime_error(file.error().message);
  return *std::move(file);
}

std::string refusal(const TempFolder& folder, const Bytes& bytes) {
  std::filesystem::remove(folder / "x.def");
  const auto file = read_definition_file(folder.put("x.def", bytes), k_file_chunk);
  return file ? "" : file.error().message;
}

/// 18 bytes of header and 2 + 20 of a record: two of them fill a chunk but for 2 bytes.
DefinitionFile of_twenty_bytes(std::size_t records, bool big_endian = false) {
  DefinitionFile file;
  file.big_endian = big_endian;
  for (std::size_t i = 0; i < records; ++i) {
    file.records.push_back({10, Bytes(20, static_cast<std::uint8_t>(i))});
  }
  return file;
}

TEST(DefinitionFile, one_chunk) {
  const Bytes expected = ChunkBuilder().record(10, {1, 2}).record(11, {}).end().bytes();
  EXPECT_EQ(pack({{{10, {1, 2}}, {11, {}}}}), expected);
}

TEST(DefinitionFile, blocks_are_of_the_chunk_size_and_the_last_one_is_cut) {
  const Bytes bytes = pack(of_twenty_bytes(3));
  ASSERT_EQ(bytes.size(), k_file_chunk + 18 + 22 + 2);
  EXPECT_EQ(bytes[18 + 44], mark::end_of_chunk);
  EXPECT_EQ(bytes[63], 0);
  EXPECT_EQ(bytes[k_file_chunk], mark::chunk_header);
}

TEST(DefinitionFile, a_block_is_filled_up_to_its_mark) {
  DefinitionFile file = of_twenty_bytes(3);
  file.records[1].payload.push_back(0);  // 18 + 22 + 23: one byte is left
  const Bytes bytes = pack(file);
  EXPECT_EQ(bytes.size(), k_file_chunk + 18 + 22 + 2);
  EXPECT_EQ(bytes[k_file_chunk - 1], mark::end_of_chunk);
  file.records[1].payload.push_back(0);  // no room for the mark
  EXPECT_EQ(pack(file).size(), 2 * k_file_chunk + 18 + 22 + 2);
}

TEST(DefinitionFile, what_is_packed_is_read_back) {
  const TempFolder folder;
  for (const bool big_endian : {false, true}) {
    const DefinitionFile file = of_twenty_bytes(7, big_endian);
    const DefinitionFile again = read(folder.put(big_endian ? "b" : "l", pack(file)));
    EXPECT_EQ(again.big_endian, big_endian);
    EXPECT_FALSE(again.mixed_endian);
    ASSERT_EQ(again.records.size(), 7u);
    for (std::size_t i = 0; i < 7; ++i) {
      EXPECT_EQ(again.records[i].type, 10);
      EXPECT_EQ(again.records[i].payload, file.records[i].payload);
    }
  }
}

TEST(DefinitionFile, records_of_255_bytes_and_more_have_a_long_length) {
  const TempFolder folder;
  DefinitionFile file;
  file.records.push_back({10, Bytes(254, 1)});
  file.records.push_back({10, Bytes(255, 2)});
  const Bytes bytes = pack(file, 1024);
  EXPECT_EQ(bytes.size(), 18u + 2 + 254 + 10 + 255 + 2);
  EXPECT_EQ(read(folder.put("x.def", bytes), 1024).records[1].payload, Bytes(255, 2));
}

TEST(DefinitionFile, a_record_larger_than_a_chunk_is_refused) {
  DefinitionFile file;
  file.records.push_back({10, Bytes(k_file_chunk - 18 - 2 - 1, 1)});
  EXPECT_EQ(pack(file).size(), k_file_chunk + 1);  // the end marks take two bytes
  file.records[0].payload.push_back(1);
  const auto refused = pack_definition_file(file, k_file_chunk, "x.def");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::output);
  EXPECT_THAT(refused.error().message, HasSubstr("x.def"));
}

TEST(DefinitionFile, mixed_byte_orders_are_read_but_not_written) {
  const TempFolder folder;
  const Bytes bytes = ChunkBuilder(true).record(10, {1}).next_chunk(k_file_chunk).bytes() +
                      ChunkBuilder(false).record(10, {2}).end().bytes();
  const DefinitionFile file = read(folder.put("x.def", bytes));
  EXPECT_EQ(file.records.size(), 2u);
  EXPECT_TRUE(file.mixed_endian);
  EXPECT_FALSE(pack_definition_file(file, k_file_chunk, "x.def"));
}

TEST(DefinitionFile, truncated_and_damaged_files_are_refused_with_name_and_place) {
  const TempFolder folder;
  const Bytes whole = pack(of_twenty_bytes(3));
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
    const Bytes bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THAT(refusal(folder, bytes), HasSubstr("x.def is damaged at byte")) << size;
  }
  Bytes damaged = whole;
  damaged[k_file_chunk] = 0x55;
  EXPECT_THAT(refusal(folder, damaged), HasSubstr("byte 64: no chunk header"));
}

TEST(DefinitionFile, bytes_behind_the_end_mark_are_ignored) {
  const TempFolder folder;
  EXPECT_EQ(refusal(folder, pack(of_twenty_bytes(1)) + Bytes{7, 7, 7}), "");
}

TEST(DefinitionFile, a_missing_file_is_named) {
  const auto missing = read_definition_file("no/such.def", k_file_chunk);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::input);
  EXPECT_THAT(missing.error().message, HasSubstr("no/such.def"));
}

TEST(DefinitionFile, repacking_recorded_files_reproduces_them) {
  std::size_t files = 0;
  for (const char* name : {"allops-4", "amg-8", "lulesh-8"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(testing::example(name, ""))) {
      if (entry.path().extension() != ".def") continue;
      constexpr std::uint64_t k_size = 256 * 1024;
      EXPECT_EQ(pack(read(entry.path(), k_size), k_size), contents(entry.path())) << entry.path();
      ++files;
    }
  }
  EXPECT_GE(files, 3u);
}

TEST(DefinitionFile, in_memory_is_as_on_disk) {
  const TempFolder folder;
  const Bytes bytes = pack(of_twenty_bytes(5));
  for (const std::size_t size : {bytes.size(), bytes.size() - 1, std::size_t{70}, std::size_t{0}}) {
    const Bytes part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    std::filesystem::remove(folder / "x.def");
    const auto read = read_definition_file(folder.put("x.def", part), k_file_chunk);
    const auto parsed = parse_definitions(part, k_file_chunk, folder / "x.def");
    ASSERT_EQ(read.has_value(), parsed.has_value()) << size;
    if (!read) {
      EXPECT_EQ(read.error().message, parsed.error().message);
      continue;
    }
    EXPECT_EQ(read->records, parsed->records);
  }
}

TEST(DefinitionFile, may_be_missing_but_not_behind_a_link) {
  const TempFolder folder;
  const auto none = read_definition_file_if_any(folder / "none.def", k_file_chunk);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  std::filesystem::create_symlink("nowhere", folder / "link.def");
  const auto refused = read_definition_file_if_any(folder / "link.def", k_file_chunk);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("a link to nowhere"));
  const auto some =
      read_definition_file_if_any(folder.put("x.def", pack(of_twenty_bytes(1))), k_file_chunk);
  ASSERT_TRUE(some && *some);
  EXPECT_EQ((*some)->records.size(), 1u);
}

}  // namespace
}  // namespace entrain::otf2
