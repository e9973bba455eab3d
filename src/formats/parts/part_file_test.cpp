// SPDX-License-Identifier: BSD-3-Clause
#include "formats/parts/part_file.hpp"

#include <cstdint>
#include <fstream>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"
#include "base/try.hpp"

namespace entrain::parts {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct PartFile : testing::Test {
  fs::path put(const std::string& text) const {
    std::ofstream(root / "part", std::ios::binary | std::ios::trunc) << text;
    return root / "part";
  }
  std::string refusal(const std::string& text, Kind kind = Kind::summary) const {
    const auto content = content_of(kind, put(text));
    if (content) return "none";
    EXPECT_EQ(content.error().kind, ErrorKind::input);
    EXPECT_THAT(content.error().message, HasSubstr((root / "part").string()));
    return content.error().message;
  }
  TempFolder root;
};

/// Bytes that no packing makes smaller.
std::string noise(std::size_t size) {
  std::mt19937 random(1);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

TEST_F(PartFile, gives_back_its_content) {
  for (const Kind kind : {Kind::summary, Kind::clocks}) {
    for (const std::string& content :
         {std::string(), std::string("a\0b\n", 4), noise(300'000), std::string(5'000'000, 'x')}) {
      const fs::path file = put(file_text(kind, content));
      EXPECT_TRUE(is_of(kind, file));
      EXPECT_EQ(content_of(kind, file).value(), content) << content.size();
    }
  }
}

TEST_F(PartFile, of_another_kind_is_refused) {
  const std::string summary = file_text(Kind::summary, "content");
  const std::string clocks = file_text(Kind::clocks, "content");
  EXPECT_FALSE(is_of(Kind::clocks, put(summary)));
  EXPECT_THAT(refusal(summary, Kind::clocks), HasSubstr("no file of fitted clocks"));
  EXPECT_THAT(refusal(summary, Kind::clocks), HasSubstr("as entrain fit writes them"));
  EXPECT_FALSE(is_of(Kind::summary, put(clocks)));
  EXPECT_THAT(refusal(clocks), HasSubstr("no summary, as entrain summarise writes them"));
  for (const char* text : {"", "\n", "entrain summary", "Entrain summary 4\n"}) {
    EXPECT_FALSE(is_of(Kind::summary, put(text))) << text;
    EXPECT_THAT(refusal(text), HasSubstr("no summary")) << text;
  }
  EXPECT_FALSE(is_of(Kind::summary, root.path()));
  EXPECT_FALSE(is_of(Kind::summary, root / "none"));
  EXPECT_FALSE(content_of(Kind::summary, root / "none"));
}

TEST_F(PartFile, of_another_version_says_so) {
  const std::string text = file_text(Kind::summary, "content");
  const std::size_t at = std::string("entrain summary ").size();
  for (const char* version : {"3", "5", "44", "", "-4", "x", "4x", "04"}) {
    std::string other = text;
    other.replace(at, 1, version);
    EXPECT_TRUE(is_of(Kind::summary, put(other)));
    EXPECT_THAT(refusal(other), HasSubstr(std::string("of version ") + version + ","));
    EXPECT_THAT(refusal(other), HasSubstr("run all steps with one entrain"));
  }
}

TEST_F(PartFile, that_is_cut_anywhere_is_refused) {
  const std::string text = file_text(Kind::clocks, "some content of a file");
  const std::size_t line = text.find('\n') + 1;
  for (std::size_t size = line; size < text.size(); ++size) {
    EXPECT_THAT(refusal(text.substr(0, size), Kind::clocks),
                HasSubstr("is cut off: fit the clocks again"))
        << size;
  }
}

TEST_F(PartFile, that_is_changed_anywhere_is_refused) {
  const std::string text = file_text(Kind::summary, "some content of a file");
  for (std::size_t at = text.find('\n') + 1; at < text.size(); ++at) {
    for (const unsigned bit : {1U, 128U}) {
      std::string changed = text;
      changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ bit);
      EXPECT_THAT(refusal(changed), HasSubstr("summarise its part again")) << at;
    }
  }
  EXPECT_THAT(refusal(text + '\0'), HasSubstr("is damaged"));
  EXPECT_THAT(refusal(text + text), HasSubstr("is damaged"));
}

TEST(PartWriter, ends_where_its_sink_fails) {
  for (int fine = 0; fine < 3; ++fine) {
    int left = fine;
    PartWriter writer(Kind::summary, [&](std::string_view) -> Result<void> {
      if (left-- > 0) return {};
      return output_error("the disk is full");
    });
    Result<void> written = writer.write("content");
    if (written) written = writer.close();
    ASSERT_FALSE(written) << fine;
    EXPECT_EQ(written.error().message, "the disk is full");
  }
}

TEST(PartWriter, packs_what_comes_in_pieces_as_one) {
  const std::string content = noise(200'000);
  std::string text;
  PartWriter writer(Kind::summary, [&](std::string_view more) -> Result<void> {
    text += more;
    return {};
  });
  for (std::size_t at = 0; at < content.size(); at += 777) {
    ASSERT_TRUE(writer.write(std::string_view(content).substr(at, 777)));
  }
  ASSERT_TRUE(writer.close());
  const TempFolder root;
  std::ofstream(root / "part", std::ios::binary) << text;
  EXPECT_EQ(content_of(Kind::summary, root / "part").value(), content);
}

}  // namespace
}  // namespace entrain::parts
