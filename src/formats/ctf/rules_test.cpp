// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ctf/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace entrain::ctf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(rules, name_ends_at_the_last_colon) {
  const Rule rule =
      parse_rule("send=app:request:id+conn.port,receive=app:serve:request+peer.port").value();
  EXPECT_THAT(rule.send.events, ElementsAre("app:request"));
  EXPECT_THAT(rule.send.key, ElementsAre(FieldPath{"id"}, FieldPath{"conn", "port"}));
  EXPECT_THAT(rule.receive.events, ElementsAre("app:serve"));
  EXPECT_THAT(rule.receive.key, ElementsAre(FieldPath{"request"}, FieldPath{"peer", "port"}));
}

TEST(rules, refuses_what_is_none) {
  for (const char* text :
       {"", "send=a:b", "receive=a:b,send=a:b", "send=a,receive=b:c", "send=a:,receive=b:c",
        "send=a:b,receive=:c", "send=a:b..c,receive=b:c", "send=a:b+,receive=b:c"}) {
    const auto rule = parse_rule(text);
    ASSERT_FALSE(rule) << text;
    EXPECT_EQ(rule.error().kind, ErrorKind::usage);
    EXPECT_THAT(rule.error().message, HasSubstr("a rule is send=NAME:FIELDS"));
  }
  EXPECT_THAT(parse_rule("send=a:b+c,receive=b:c").error().message,
              HasSubstr("2 fields of the send and 1 of the receive"));
}

TEST(rules, known_ones_have_as_many_fields_at_both_ends) {
  for (const Rule& rule : known_rules()) {
    EXPECT_EQ(rule.send.key.size(), rule.receive.key.size()) << rule.name;
  }
}

}  // namespace
}  // namespace entrain::ctf
