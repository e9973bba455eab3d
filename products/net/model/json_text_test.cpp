// SPDX-License-Identifier: BSD-3-Clause
#include "net/model/json_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace entrain::net {
namespace {

std::string json_error(std::string_view text) {
  const auto document = json_from_text(text, "f.json");
  return document ? "accepted" : document.error().message;
}

std::string parameter_error(std::string_view text) {
  const auto texts = parameter_texts(text, "f.json");
  return texts ? "accepted" : texts.error().message;
}

TEST(JsonText, is_one_whole_document) {
  EXPECT_EQ(json_from_text(R"({"a": [1, {"b": 2}]})", "f.json").value()["a"][1]["b"], 2);
  EXPECT_EQ(json_error("3"), "accepted");
  for (const char* text : {"", " ", "{", "{} {}", "{'a': 1}", "[1,]", "nul"})
    EXPECT_EQ(json_error(text), "f.json: this is no JSON document") << text;
  EXPECT_EQ(json_from_text("{", "f.json").error().kind, ErrorKind::input);
}

TEST(JsonText, a_key_stands_once_in_an_object) {
  const std::string twice = "f.json: the key 'a' stands twice in one object; remove one";
  EXPECT_EQ(json_error(R"({"a": 1, "a": 1})"), twice);
  EXPECT_EQ(json_error(R"({"b": [{"a": 1, "c": {}, "a": 2}]})"), twice);
  EXPECT_EQ(json_error(R"({"a": {"a": {"a": 1}}, "b": {"a": 1}})"), "accepted");
  EXPECT_EQ(json_error(R"([{"a": 1}, {"a": 2}])"), "accepted");
  // The first of several is named.
  EXPECT_EQ(json_error(R"({"a": 1, "a": 2, "b": 1, "b": 2})"), twice);
}

TEST(JsonText, has_a_limited_number_of_levels) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_EQ(json_error(nested(1000)), "accepted");
  for (const std::size_t levels : {std::size_t{1100}, std::size_t{3'000'000}}) {
    EXPECT_EQ(json_error(nested(levels)), "f.json: a value lies in more than 1024 brackets");
  }
}

TEST(JsonText, parameters_are_texts_and_whole_numbers) {
  const auto texts = parameter_texts(R"({"preset": "ib-ndr", "bl": 300, "kg": -1, "x": ""})", "f");
  EXPECT_EQ(*texts, (std::map<std::string, std::string>{
                        {"bl", "300"}, {"kg", "-1"}, {"preset", "ib-ndr"}, {"x", ""}}));
  EXPECT_TRUE(parameter_texts("{}", "f")->empty());
  EXPECT_EQ(parameter_error("[1]"),
            "f.json: this is no JSON object of parameters and their values");
  EXPECT_EQ(parameter_error(""), "f.json: this is no JSON document");
  for (const char* value : {"6.25", "true", "null", "[]", "{}"})
    EXPECT_EQ(
        parameter_error(fmt::format(R"({{"cp": {}}})", value)),
        "f.json: the value of 'cp' is neither a whole number, as for counts, nor a text with a "
        "unit, as in \"17ns\"")
        << value;
}

}  // namespace
}  // namespace entrain::net
