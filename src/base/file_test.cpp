// SPDX-License-Identifier: BSD-3-Clause
#include "base/file.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include "base/temp_folder_testing.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<std::uint8_t>;
using ::testing::HasSubstr;

constexpr std::uint64_t k_any_size = ~std::uint64_t{0};

TEST(File, holds_what_was_written) {
  const TempFolder folder;
  auto file = File::create(folder / "x");
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write(Bytes{1, 2, 3}));
  ASSERT_TRUE(file->write({}));
  ASSERT_TRUE(file->write(Bytes{4}));
  ASSERT_TRUE(file->write_at(1, Bytes{9, 8}));
  ASSERT_TRUE(file->write_at(6, Bytes{7}));  // leaves a hole of zeros
  ASSERT_TRUE(file->close());
  EXPECT_EQ(*read_file(folder / "x", k_any_size), (Bytes{1, 9, 8, 4, 0, 0, 7}));
}

TEST(File, read_at_is_short_at_the_end) {
  const TempFolder folder;
  const auto file = File::open_for_reading(folder.put("x", Bytes{1, 2, 3}));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->size_when_opened(), 3u);
  Bytes bytes(8, 0xFF);
  EXPECT_EQ(*file->read_at(1, bytes), 2u);
  EXPECT_EQ(bytes[0], 2);
  EXPECT_EQ(bytes[2], 0xFF);
  EXPECT_EQ(*file->read_at(100, bytes), 0u);
}

TEST(File, is_never_overwritten_by_create) {
  const TempFolder folder;
  const auto path = folder.put("x", Bytes{1});
  const auto file = File::create(path);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().kind, ErrorKind::output);
  EXPECT_THAT(file.error().message, HasSubstr(path.string()));
  EXPECT_FALSE(write_file(path, Bytes{2}));
  EXPECT_EQ(*read_file(path, k_any_size), Bytes{1});
}

TEST(File, must_exist_to_be_changed) {
  const TempFolder folder;
  EXPECT_FALSE(File::open_for_writing(folder / "x"));
  EXPECT_FALSE(fs::exists(folder / "x"));
}

TEST(File, that_cannot_be_read_is_named_with_the_reason) {
  const TempFolder folder;
  const auto missing = File::open_for_reading(folder / "x");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::input);
  EXPECT_THAT(missing.error().message, HasSubstr("/x: No such file or directory"));
  const auto directory = File::open_for_reading(folder.path());
  ASSERT_FALSE(directory);
  EXPECT_THAT(directory.error().message, HasSubstr("is not a regular file"));
  fs::create_symlink("gone", folder / "link");
  EXPECT_THAT(File::open_for_reading(folder / "link").error().message,
              HasSubstr("(a link to gone)"));
}

TEST(File, that_is_not_regular_is_refused_and_not_waited_for) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (folder / "socket").string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(socket);
  fs::create_symlink("/dev/zero", folder / "zero");
  for (const char* name : {"pipe", "socket", "zero", "."}) {
    const auto refused = File::open_for_reading(folder / name);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().kind, ErrorKind::input);
    EXPECT_EQ(refused.error().message, (folder / name).string() + " is not a regular file");
  }
  fs::create_symlink(folder.put("x", Bytes{1}), folder / "link");
  EXPECT_TRUE(File::open_for_reading(folder / "link"));
}

TEST(ReadFile, refuses_files_above_the_limit) {
  const TempFolder folder;
  const auto path = folder.put("x", Bytes{1, 2, 3});
  EXPECT_TRUE(read_file(path, 3));
  EXPECT_EQ(read_file(path, 2).error().message,
            path.string() + " has 3 bytes, more than the 2 that such a file may have");
  EXPECT_TRUE(read_file(folder.put("empty", {}), 0)->empty());
}

TEST(DuplicateFile, copies_every_byte_to_a_new_file) {
  const TempFolder folder;
  Bytes bytes(3'000'001);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * i >> 7);
  const auto path = folder.put("x", bytes);
  ASSERT_TRUE(duplicate_file(path, folder / "y"));
  EXPECT_EQ(*read_file(folder / "y", k_any_size), bytes);
  EXPECT_FALSE(duplicate_file(path, folder / "y"));  // exists
  EXPECT_FALSE(duplicate_file(folder / "none", folder / "z"));
  ASSERT_TRUE(duplicate_file(folder.put("empty", {}), folder / "empty too"));
  EXPECT_EQ(fs::file_size(folder / "empty too"), 0u);
}

TEST(DuplicateFile, leaves_holes_where_they_are) {
  const TempFolder folder;
  const auto path = folder.put("x", Bytes{1, 2, 3});
  const std::uint64_t size = std::uint64_t{1} << 40;
  fs::resize_file(path, size);
  {
    const auto file = File::open_for_writing(path);
    ASSERT_TRUE(file->write_at(size / 2, Bytes{4, 5}));
  }
  ASSERT_TRUE(duplicate_file(path, folder / "y"));
  EXPECT_EQ(fs::file_size(folder / "y"), size);
  const auto copy = File::open_for_reading(folder / "y");
  Bytes bytes(3);
  EXPECT_EQ(*copy->read_at(0, bytes), 3u);
  EXPECT_EQ(bytes, (Bytes{1, 2, 3}));
  EXPECT_EQ(*copy->read_at(size / 2 - 1, bytes), 3u);
  EXPECT_EQ(bytes, (Bytes{0, 4, 5}));
}

TEST(FileExists, also_for_links_that_lead_nowhere) {
  const TempFolder folder;
  EXPECT_FALSE(file_exists(folder / "x"));
  fs::create_symlink("gone", folder / "link");
  EXPECT_TRUE(file_exists(folder / "link"));
  EXPECT_TRUE(file_exists(folder.path()));
}

TEST(File, gives_its_descriptor_away_when_moved) {
  const TempFolder folder;
  auto from = File::open_for_reading(folder.put("x", Bytes{1}));
  ASSERT_TRUE(from);
  const File to = std::move(*from);
  EXPECT_FALSE(from->is_open());  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(to.is_open());
  EXPECT_EQ(to.size_when_opened(), 1u);
}

}  // namespace
}  // namespace entrain
