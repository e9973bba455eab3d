// SPDX-License-Identifier: BSD-3-Clause
#include "trace/layout.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "trace/testing.hpp"

namespace entrain::trace {
namespace {

using trace::testing::TraceBuilder;

Layout layout_of(const TraceBuilder& builder) {
  const trace::Definitions& definitions = builder.trace().definitions;
  return make_layout(definitions, trace::separate_domains(definitions.locations.size()));
}

TEST(Layout, gives_each_of_few_processes_a_row) {
  const Layout layout = layout_of(TraceBuilder(4, 2, 2));
  ASSERT_EQ(layout.rows.size(), 4u);
  EXPECT_EQ(layout.grouping, Layout::Rows::processes);
  EXPECT_EQ(layout.rows[3].name, "MPI Rank 3");
  EXPECT_EQ(layout.rows[3].node, 1u);
  EXPECT_EQ(layout.row_of, (std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(layout.clocks.size(), 8u);
}

TEST(Layout, puts_rows_in_the_order_of_machines) {
  TraceBuilder builder(4);
  builder.trace().definitions.node_of = {0, 1, 0, 1};
  const Layout layout = layout_of(builder);
  EXPECT_EQ(layout.row_of, (std::vector<std::uint32_t>{0, 2, 1, 3}));
}

TEST(Layout, gives_machines_rows_where_there_are_many_processes) {
  const Layout layout = layout_of(TraceBuilder(600, 1, 20));
  EXPECT_EQ(layout.grouping, Layout::Rows::machines);
  ASSERT_EQ(layout.rows.size(), 30u);
  EXPECT_EQ(layout.rows[29].processes, 20u);
  EXPECT_EQ(layout.row_of[599], 29u);
}

TEST(Layout, gives_neighbours_rows_where_machines_do_not_help) {
  for (const std::uint32_t per_node : {1u, 1000u}) {
    const Layout layout = layout_of(TraceBuilder(1000, 1, per_node));
    EXPECT_EQ(layout.grouping, Layout::Rows::neighbours);
    EXPECT_LE(layout.rows.size(), k_most_rows);
    EXPECT_EQ(layout.rows[0].name, "MPI Rank 0 to MPI Rank 15");
    std::uint32_t processes = 0;
    for (const Layout::Row& row : layout.rows) processes += row.processes;
    EXPECT_EQ(processes, 1000u);
  }
}

TEST(Layout, nameless_machines_get_the_name_of_their_only_process) {
  EXPECT_EQ(layout_of(TraceBuilder(2, 2, 1)).nodes,
            (std::vector<std::string>{"MPI Rank 0", "MPI Rank 1"}));
  EXPECT_EQ(layout_of(TraceBuilder(4, 1, 2)).nodes,
            (std::vector<std::string>{"machine 0", "machine 1"}));
}

TEST(Layout, of_nothing_is_empty) {
  const Layout layout = make_layout({}, {});
  EXPECT_TRUE(layout.rows.empty());
  EXPECT_TRUE(layout.clocks.empty());
}

}  // namespace
}  // namespace entrain::trace
