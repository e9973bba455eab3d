// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/events.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/memory_room.hpp"
#include "base/random.hpp"
#include "base/temp_folder_testing.hpp"
#include "formats/json/document.hpp"
#include "formats/json/scanner.hpp"

namespace entrain::kineto {
namespace {

class Events : public ::testing::Test {
 protected:
  /// Reads a file of this text; `names_` and `passed_` are what was seen.
  Result<FileFacts> read(const std::string& text, bool packed = false) {
    names_.clear();
    passed_.clear();
    const auto path = folder_.path() / std::to_string(files_++);
    EXPECT_TRUE(json::save(path, text, packed ? json::Packing::gzip : json::Packing::none));
    return for_each_event(path, {.see = [this](const EventText& event) -> Result<void> {
                                   names_.emplace_back(event.name);
                                   pieces_.push_back(event.name);
                                   return {};
                                 },
                                 .pass = [this](std::string_view part) -> Result<void> {
                                   for (const std::string_view piece : pieces_) {
                                     EXPECT_GE(piece.data(), part.data());
                                     EXPECT_LE(piece.data() + piece.size(),
                                               part.data() + part.size());
                                   }
                                   pieces_.clear();
                                   passed_ += part;
                                   return {};
                                 }});
  }

  std::filesystem::path put(const std::string& name, const std::string& text) {
    EXPECT_TRUE(json::save(folder_.path() / name, text, json::Packing::none));
    return folder_.path() / name;
  }
  static Result<void> ignore(const EventText&) { return {}; }

  TempFolder folder_;
  int files_ = 0;
  std::vector<std::string> names_;
  std::vector<std::string_view> pieces_;
  std::string passed_;
};

/// Events of any size, some larger than what is read at once.
TEST_F(Events, are_whole_wherever_the_text_is_divided) {
  RandomStream random(1, 1);
  std::vector<std::string> names, events;
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t size = i % 1000 == 500 ? 700'000 : random.below(i % 2 == 0 ? 30 : 3000);
    names.push_back(fmt::format("{}{}", i, std::string(size, 'x')));
    events.push_back(fmt::format(R"({{"name": "{}", "args": {{"a": ["}}"]}}}})", names.back()));
  }
  const std::string list = fmt::format("[{}]", fmt::join(events, ",\n"));
  const std::string blanks(600'000, ' ');
  const std::string member = "\"long\": \"" + std::string(600'000, 'y') + "\"";
  for (const std::string& text : {list, blanks + list,
                                  "{" + member + ", \"traceEvents\"" + blanks + ":" + list + "," +
                                      member + ", \"baseTimeNanoseconds\": 7}" + blanks}) {
    for (const bool packed : {false, true}) {
      const auto facts = read(text, packed);
      ASSERT_TRUE(facts) << facts.error().message;
      EXPECT_EQ(names_, names);
      EXPECT_TRUE(passed_ == text);
      EXPECT_TRUE(facts->has_events);
      EXPECT_FALSE(facts->truncated);
      EXPECT_EQ(facts->packing, packed ? json::Packing::gzip : json::Packing::none);
      EXPECT_EQ(facts->bytes, text.size());
      EXPECT_EQ(facts->base, text[0] == '{' ? 7 : 0);
    }
  }
}

TEST_F(Events, of_a_truncated_text_are_seen_as_far_as_they_are_whole) {
  std::string text = "[";
  while (text.size() < 900'000) text += R"({"name": "a"},)";
  const auto whole = static_cast<std::size_t>(std::count(text.begin(), text.end(), '{'));
  for (const char* rest : {"", "{", "{\"name\": \"b\"", "{\"name\": \"b"}) {
    const auto facts = read(text + rest);
    ASSERT_TRUE(facts) << facts.error().message;
    EXPECT_TRUE(facts->truncated);
    EXPECT_EQ(names_.size(), whole);
    EXPECT_EQ(passed_, text + rest);
  }
}

TEST_F(Events, name_the_byte_of_a_damage_far_behind) {
  std::string text = "[";
  while (text.size() < 900'000) text += R"({"name": "a"},)";
  const auto facts = read(text + "}]");
  ASSERT_FALSE(facts);
  EXPECT_NE(facts.error().message.find(fmt::format("byte {} cannot", text.size())),
            std::string::npos)
      << facts.error().message;
}

TEST(Members, of_several_objects_are_those_of_the_first_that_has_one) {
  Members members;
  members.add(R"({"a": 1, "b": ""})");
  members.add(R"({"a": 2, "b": "x", "c": [3])");  // it is cut
  EXPECT_EQ(members["a"], "1");
  EXPECT_EQ(members["b"], "x");
  EXPECT_EQ(members["c"], "[3]");
  EXPECT_EQ(members["d"], "");
  members.clear();
  EXPECT_EQ(members["a"], "");
}

TEST(ParseTime, takes_numbers_until_the_year_2116) {
  const auto parsed = [](std::string_view text) {
    bool cut = false;
    return parse_time(text, cut);
  };
  EXPECT_EQ(parsed("4611686018427387.904"), k_last_time);
  EXPECT_EQ(parsed("-4611686018427387.904"), -k_last_time);
  EXPECT_EQ(parsed("4611686018427387.905"), k_last_time + 1);
  for (const char* far :
       {"9223372036854775.808", "18446744073709551.616", "-99999999999999999999"}) {
    EXPECT_TRUE(is_beyond(*parsed(far))) << far;
  }
  EXPECT_EQ(parsed("0000000000000000000000012.5"), 12500);
  for (const char* none : {"", ".", "1.", ".5", "1.2.3", "0x1", "-", "1:0", "1/0"}) {
    EXPECT_EQ(parsed(none), std::nullopt) << none;
  }
}

/// Blanks are passed over piece by piece; an event is kept as a whole.
TEST_F(Events, are_read_within_the_memory_that_is_allowed) {
  constexpr std::size_t k_long = std::size_t{160} << 20;
  const auto sparse_file = put(
      "sparse", '[' + std::string(k_long, ' ') + R"({"ph": "X"})" + std::string(k_long, ' ') + ']');
  const auto large_file = put("large", R"([{"name": ")" + std::string(k_long, 'n') + "\"}]");
  set_memory_room(k_long / 2);
  const auto sparse = for_each_event(sparse_file, {.see = ignore, .pass = {}});
  const auto refused = for_each_event(large_file, {.see = ignore, .pass = {}});
  set_memory_room(0);
  EXPECT_TRUE(sparse) << sparse.error().message;
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("takes more memory than"), std::string::npos);
}

TEST_F(Events, of_very_many_levels_are_refused) {
  const auto nested = [](std::size_t levels) {
    return R"([{"name": "n", "args": )" + std::string(levels, '[') + std::string(levels, ']') +
           "}]";
  };
  EXPECT_TRUE(read(nested(json::k_most_depth)));
  for (const std::size_t levels : {json::k_most_depth + 1, std::size_t{3'000'000}}) {
    const auto refused = read(nested(levels));
    ASSERT_FALSE(refused) << levels;
    EXPECT_NE(refused.error().message.find("byte 1047 lies in more than 1024 brackets"),
              std::string::npos)
        << refused.error().message;
  }
}

}  // namespace
}  // namespace entrain::kineto
