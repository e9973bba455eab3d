// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "formats/spans/spans_testing.hpp"

namespace entrain::spans {
namespace {

/// Edges of a call, and of a link, between spans of two hosts.
class Claims : public ::testing::Test {
 protected:
  Claims() {
    spans_.all = {{.id = 0, .host = 0, .role = Role::client, .begin = 100, .end = 900},
                  {.id = 1, .parent = 0, .host = 1, .role = Role::server, .begin = 50, .end = 700},
                  {.id = 2, .host = 1, .role = Role::consumer, .begin = 300, .end = 400}};
    spans_.links = {{.id = 0, .span = 2}};
    begin_ = {.cause = 0, .effect = 1, .cause_time = 100, .effect_time = 50, .child = 1};
    end_ = {
        .cause = 1, .effect = 0, .cause_time = 700, .effect_time = 900, .is_end = true, .child = 1};
    link_ = {.cause = 0,
             .effect = 1,
             .cause_time = 100,
             .effect_time = 300,
             .is_link = true,
             .child = 2};
  }
  [[nodiscard]] std::uint64_t refuted(BigVector<Edge> edges) const {
    return drop_refuted(edges, spans_);
  }

  Spans spans_;
  Edge begin_, end_, link_;
};

TEST_F(Claims, those_that_spans_agree_with_hold) {
  EXPECT_EQ(refuted({begin_, end_, link_}), 0U);
  spans_.all[1].parent = k_none;  // two halves of one span
  spans_.all[1].id = 0;
  EXPECT_EQ(refuted({begin_, end_}), 0U);
}

TEST_F(Claims, times_and_clocks_are_those_of_the_spans) {
  for (const Edge& right : {begin_, end_, link_}) {
    for (std::uint64_t Edge::*const member : {&Edge::cause_time, &Edge::effect_time, &Edge::step}) {
      Edge wrong = right;
      ++(wrong.*member);
      EXPECT_EQ(refuted({wrong}), 1U);
    }
    for (std::uint32_t Edge::*const member :
         {&Edge::cause, &Edge::effect, &Edge::child, &Edge::parent}) {
      Edge wrong = right;
      wrong.*member += 3;
      EXPECT_EQ(refuted({wrong}), 1U);
    }
    Edge later = right;
    later.step = 5;
    later.effect_time += 5;
    EXPECT_EQ(refuted({later}), 0U);
  }
}

TEST_F(Claims, each_end_of_a_child_has_one_edge) { EXPECT_EQ(refuted({begin_, end_, begin_}), 1U); }

TEST_F(Claims, parents_and_links_are_named_by_the_spans) {
  spans_.all[1].parent = 2;
  spans_.links.clear();
  EXPECT_EQ(refuted({begin_, end_, link_}), 3U);
}

TEST_F(Claims, only_clients_wait_for_servers) {
  spans_.all[1].follows = true;
  EXPECT_EQ(refuted({begin_, end_}), 1U);
  spans_.all[1].follows = false;
  spans_.all[0].role = Role::producer;
  EXPECT_EQ(refuted({begin_, end_}), 1U);
}

}  // namespace
}  // namespace entrain::spans
