// SPDX-License-Identifier: BSD-3-Clause
#include "report/table.hpp"

#include <gtest/gtest.h>

#include "base/printable.hpp"

namespace entrain::report {
namespace {

TEST(Table, aligns_columns_and_leaves_no_trailing_blanks) {
  Table table;
  table.column("kind", Align::left).column("edges").column("note", Align::left);
  table.row({"p2p", "10,856", "x"}).row({"n_to_n", "8"});
  EXPECT_EQ(table.text({}),
            "kind     edges  note\n"
            "p2p     10,856  x\n"
            "n_to_n       8\n");
}

TEST(Table, shortens_names_but_never_numbers) {
  Table table;
  table.column("name", Align::left).column("count");
  std::string name(80, 'a');
  name.append("end");
  table.row({name, "1,234,567"});
  Style style;
  style.columns = 40;
  const std::string text = table.text(style);
  EXPECT_EQ(width_of(text.substr(text.find('\n') + 1)), 40 + 1u);
  EXPECT_NE(text.find("..."), std::string::npos);
  EXPECT_NE(text.find("end"), std::string::npos);
  EXPECT_NE(text.find("1,234,567"), std::string::npos);
}

TEST(Table, counts_code_points_not_bytes) {
  Table table;
  table.column("name", Align::left).column("n");
  table.row({"\xC3\xA4\xC3\xB6", "1"}).row({"ab", "2"});
  EXPECT_EQ(table.text({}), "name  n\n\xC3\xA4\xC3\xB6    1\nab    2\n");
}

TEST(Table, colours_only_when_asked) {
  Table table;
  table.column("n");
  table.row({Cell("7", Tone::bad)});
  EXPECT_EQ(table.text({}).find('\x1b'), std::string::npos);
  Style style;
  style.colour = true;
  EXPECT_NE(table.text(style).find("\x1b[1;31m7\x1b[0m"), std::string::npos);
}

TEST(Table, makes_cells_printable) {
  Table table;
  table.column("name", Align::left);
  table.row({"\x1b[2Jline\nbreak\xFF"});
  EXPECT_EQ(table.text({}), "name\n\\u001b[2Jline\\u000abreak\xEF\xBF\xBD\n");
}

TEST(FieldList, wraps_values_under_themselves) {
  Style style;
  style.columns = 20;
  EXPECT_EQ(FieldList().field("a", "one two three four").field("long", "x").text(style),
            "a     one two three\n      four\nlong  x\n");
}

TEST(Wrapped, breaks_at_blanks) {
  EXPECT_EQ(wrapped("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("unbreakable it is", 4), (std::vector<std::string>{"unbreakable", "it", "is"}));
  EXPECT_EQ(wrapped("", 4), std::vector<std::string>{""});
}

}  // namespace
}  // namespace entrain::report
