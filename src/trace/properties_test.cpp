// SPDX-License-Identifier: BSD-3-Clause
#include "trace/properties.hpp"

#include <gtest/gtest.h>

namespace entrain::trace {
namespace {

TEST(FindProperty, gives_the_value_or_nothing) {
  Definitions definitions;
  definitions.properties = {{"A", "1"}, {"B", ""}};
  EXPECT_EQ(*find_property(definitions, "A"), "1");
  EXPECT_EQ(*find_property(definitions, "B"), "");
  EXPECT_EQ(find_property(definitions, "C"), nullptr);
}

TEST(CompletenessOf, is_empty_where_the_properties_say_nothing) {
  Definitions definitions;
  definitions.properties = {{"SCOREP::UNWINDING", "false"}};
  const Completeness nothing = completeness_of(definitions);
  EXPECT_FALSE(nothing.mpi_communication);
  EXPECT_TRUE(nothing.incomplete.empty());
  EXPECT_TRUE(nothing.filters.empty());
  definitions.properties = {{"OTF2::MPI_COMMUNICATION_COMPLETE", "perhaps"}};
  EXPECT_FALSE(completeness_of(definitions).mpi_communication);
}

TEST(CompletenessOf, tells_what_is_missing_and_what_was_filtered) {
  Definitions definitions;
  definitions.properties = {{"OTF2::MPI_COMMUNICATION_COMPLETE", "true"},
                            {"OTF2::THREAD_LOCK_EVENT_COMPLETE", "False"},
                            {"TRACER::FILTER_FILE", "calls.txt"}};
  const Completeness said = completeness_of(definitions);
  EXPECT_EQ(said.mpi_communication, true);
  EXPECT_EQ(said.incomplete, std::vector<std::string>{"OTF2::THREAD_LOCK_EVENT_COMPLETE"});
  ASSERT_EQ(said.filters.size(), 1u);
  EXPECT_EQ(said.filters[0].second, "calls.txt");
  definitions.properties[0].value = "false";
  EXPECT_EQ(completeness_of(definitions).mpi_communication, false);
  EXPECT_EQ(completeness_of(definitions).incomplete.size(), 2u);
}

}  // namespace
}  // namespace entrain::trace
