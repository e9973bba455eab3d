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

/// Two processes with two locations each; rank 0 is the second one.
Definitions two_processes(const char* clocks) {
  Definitions definitions;
  definitions.process_of = {0, 0, 1, 1};
  definitions.comms.resize(2);
  definitions.comms[0].group_a = {0};
  definitions.comms[1].group_a = {2, 0};
  definitions.properties = {{k_property_clocks, clocks}};
  return definitions;
}

TEST(RanksOfProcesses, are_those_of_the_largest_communicator) {
  EXPECT_EQ(ranks_of_processes(two_processes("")), (std::vector<std::uint32_t>{1, 0}));
  Definitions none = two_processes("");
  none.comms.clear();
  EXPECT_EQ(ranks_of_processes(none), (std::vector<std::uint32_t>{0, 1}));
}

TEST(ProvedClocks, are_sets_of_ranks) {
  using Sets = std::vector<std::uint32_t>;
  EXPECT_EQ(proved_clocks(two_processes("0-1")), (Sets{0, 0, 0, 0}));
  EXPECT_EQ(proved_clocks(two_processes("1 0")), (Sets{0, 0, 1, 1}));
  EXPECT_EQ(proved_clocks(two_processes("0")), (Sets{k_none, k_none, 0, 0}));
  EXPECT_EQ(proved_clocks(two_processes("0-2")), Sets{});
}

TEST(ProvedClocks, a_corrected_trace_has_none) {
  Definitions definitions = two_processes("0-1");
  definitions.properties.push_back({k_property_correction, "x"});
  EXPECT_TRUE(proved_clocks(definitions).empty());
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

TEST(SessionSpan, its_text_is_read_back) {
  const std::string text = to_property({-5, 1'700'000'000'000'000'000});
  EXPECT_EQ(text, "-5 1700000000000000000");
  const auto span = span_of_property(text);
  ASSERT_TRUE(span);
  EXPECT_EQ(span->begin, -5);
  EXPECT_EQ(span->end, 1'700'000'000'000'000'000);
}

TEST(SessionSpan, other_texts_are_none) {
  for (const char* text :
       {"", "1", "1 ", " 1 2", "1,2", "1 2 ", "1 2 3", "1 99999999999999999999", "a 2", "1  2"}) {
    EXPECT_FALSE(span_of_property(text)) << text;
  }
}

}  // namespace
}  // namespace entrain::trace
