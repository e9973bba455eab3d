// SPDX-License-Identifier: BSD-3-Clause
#include "page/html/html.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "page/html/template.hpp"

namespace entrain::page {
namespace {

TEST(Html, data_cannot_end_their_element) {
  const std::string json = R"({"name":"</script><!-- <script>"})";
  const std::string text = harmless_in_script(json);
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(text), nlohmann::json::parse(json));
}

TEST(Html, data_and_text_stand_in_the_places_of_the_marks) {
  const std::string page =
      "<p>$&" + std::string(k_data_mark) + "</p>" + std::string(k_text_mark) + "!";
  EXPECT_EQ(fill_template(page, "{\"a\":\"<\"}", "a < b & </p>").value(),
            "<p>$&{\"a\":\"\\u003c\"}</p>a &lt; b &amp; &lt;/p>!");
}

TEST(Html, a_template_has_each_mark_once) {
  const std::string data(k_data_mark), text(k_text_mark);
  for (const std::string& page : {std::string("<p></p>"), data, text, data + data + text}) {
    EXPECT_FALSE(fill_template(page, "{}", ""));
  }
  if (can_write_pages()) {
    EXPECT_TRUE(fill_template(page_template(), "{}", ""));
  }
}

TEST(Html, names_of_a_trace_are_cut_and_printable) {
  Data data;
  data.layout.nodes = {std::string(10'000, 'x'), "\xFF\x1B[31m"};
  CheckReport report;
  report.archive = "a\"</script>\u202E";
  const report::Json json = page_json(report, data, "check");
  EXPECT_LE(json["nodes"][0].get<std::string>().size(), 130u);
  EXPECT_EQ(json["nodes"][1].get<std::string>().find('\x1B'), std::string::npos);
  EXPECT_EQ(json["schema"], "entrain.page/2");
  EXPECT_EQ(json["check"]["archive"], "a\"</script>\\u202e");
  if (can_write_pages()) {
    const std::string page = html(report, data, "check").value();
    EXPECT_EQ(page.find("a\\\"</script>"), std::string::npos);
  }
}

}  // namespace
}  // namespace entrain::page
