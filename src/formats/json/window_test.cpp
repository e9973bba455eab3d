// SPDX-License-Identifier: BSD-3-Clause
#include "formats/json/window.hpp"

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "base/random.hpp"
#include "base/temp_folder_testing.hpp"
#include "formats/json/document.hpp"

namespace entrain::json {
namespace {

/// Longer than what is read at once, with characters of several bytes everywhere.
std::string long_text() {
  std::string text;
  for (int i = 0; text.size() < 3'000'000; ++i) text += std::to_string(i) + "\xE2\x82\xAC";
  return text;
}

/// Reads all, giving up as much as `step` says at each time.
template <class Step>
std::string read_all(Window& window, const Step& step) {
  std::string seen;
  while (!window.ended()) {
    const std::size_t done = step(window.text().size());
    seen += window.text().substr(0, done);
    EXPECT_TRUE(window.advance(done));
    EXPECT_EQ(window.offset(), seen.size());
  }
  return seen.append(window.text());
}

TEST(Window, goes_over_the_whole_text_whatever_is_kept) {
  const TempFolder folder;
  const std::string text = long_text();
  RandomStream random(1, 1);
  std::uint64_t hash = 0;
  for (const bool packed : {false, true}) {
    const auto path = folder.path() / (packed ? "a.json.gz" : "a.json");
    ASSERT_TRUE(save(path, text, packed ? Packing::gzip : Packing::none));
    const auto all = [](std::size_t size) { return size; };
    const auto none = [](std::size_t) { return 0; };
    const auto some = [&](std::size_t size) {
      return size - std::min(size, 5 * (random.below(20'000)));
    };
    const auto check = [&](const auto& step) {
      auto window = Window::open(path);
      ASSERT_TRUE(window);
      EXPECT_EQ(window->packing(), packed ? Packing::gzip : Packing::none);
      EXPECT_EQ(read_all(*window, step), text);
      EXPECT_EQ(window->total(), text.size());
      EXPECT_TRUE(hash == 0 || window->hash() == hash);
      hash = window->hash();
    };
    check(all);
    check(none);
    check(some);
  }
  ASSERT_TRUE(save(folder.path() / "b.json", text + " ", Packing::none));
  auto other = Window::open(folder.path() / "b.json");
  read_all(*other, [](std::size_t size) { return size; });
  EXPECT_NE(other->hash(), hash);
}

TEST(Window, of_an_empty_file_has_ended) {
  const TempFolder folder;
  for (const bool packed : {false, true}) {
    const auto path = folder.path() / (packed ? "a.json.gz" : "a.json");
    ASSERT_TRUE(save(path, "", packed ? Packing::gzip : Packing::none));
    const auto window = Window::open(path);
    ASSERT_TRUE(window);
    EXPECT_TRUE(window->ended());
    EXPECT_EQ(window->text(), "");
    EXPECT_EQ(window->total(), 0U);
  }
  EXPECT_FALSE(Window::open(folder.path() / "none.json"));
}

TEST(Window, tells_a_gzip_stream_that_is_damaged_far_behind) {
  const TempFolder folder;
  ASSERT_TRUE(save(folder.path() / "a.gz", long_text(), Packing::gzip));
  auto bytes = *read_file(folder.path() / "a.gz", 1 << 24);
  const auto error_of = [&](const char* name) -> std::string {
    EXPECT_TRUE(write_file(folder.path() / name, bytes));
    auto window = Window::open(folder.path() / name);
    Result<void> read = window ? Result<void>{} : tl::unexpected(window.error());
    while (read && !window->ended()) read = window->advance(window->text().size());
    return read ? "" : read.error().message;
  };
  bytes.resize(bytes.size() + 3);  // zeros at the end are no damage
  EXPECT_EQ(error_of("padded"), "");
  bytes.push_back(1);
  EXPECT_NE(error_of("followed").find("holds a damaged gzip stream"), std::string::npos);
  bytes.resize(bytes.size() - 100);
  EXPECT_EQ(error_of("cut"), "");
}

/// A megabyte of these would fill gigabytes.
TEST(Window, unpacks_no_file_that_holds_very_much_more_than_its_size) {
  const TempFolder folder;
  const auto path = folder.path() / "bomb.json.gz";
  auto writer = TextWriter::create(path, Packing::gzip);
  const std::string blanks(std::size_t{1} << 20, ' ');
  for (int i = 0; i < 260; ++i) ASSERT_TRUE(writer->write(blanks));
  ASSERT_TRUE(writer->close());
  const auto read_with = [&](std::uint64_t max_unpacked) -> Result<void> {
    auto window = Window::open(path, max_unpacked);
    if (!window) return tl::unexpected(window.error());
    Result<void> read;
    while (read && !window->ended()) read = window->advance(window->text().size());
    return read;
  };
  const auto refused = read_with(0);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("holds more than 268435456 when unpacked"),
            std::string::npos);
  EXPECT_TRUE(read_with(std::uint64_t{1} << 30));
}

/// At the end it may be a text that was cut off.
TEST(Window, refuses_what_is_no_utf8_wherever_it_stands_but_at_the_end) {
  const TempFolder folder;
  const std::string text = long_text();
  for (const std::size_t at : {std::size_t{0}, text.size() / 2, text.size()}) {
    const auto path = folder.path() / std::to_string(at);
    std::string damaged = text;
    damaged.insert(at, "\xE2\x82");  // the begin of a character
    ASSERT_TRUE(save(path, damaged, Packing::none));
    auto window = Window::open(path);
    Result<void> read = window ? Result<void>{} : tl::unexpected(window.error());
    while (read && !window->ended()) read = window->advance(window->text().size());
    ASSERT_EQ(!read, at < text.size()) << at;
    if (read) continue;
    EXPECT_NE(read.error().message.find("is no UTF-8"), std::string::npos);
  }
}

}  // namespace
}  // namespace entrain::json
