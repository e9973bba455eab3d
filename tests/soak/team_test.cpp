// SPDX-License-Identifier: BSD-3-Clause
// The properties of teams with ten thousand random traces. Takes minutes.
#include <cstdlib>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "property/team_outcome.hpp"

namespace entrain::test {
namespace {

/// RapidCheck reads it when the first property is checked. What the user has set stays.
const int k_many_cases = setenv("RC_PARAMS", "max_success=5000", 0);

RC_GTEST_PROP(ManyTeams, any_number_of_members_gives_the_same, ()) {
  ASSERT_EQ(k_many_cases, 0);
  any_number_of_members_gives_the_same();
}

RC_GTEST_PROP(ManyTeams, cycles_that_cross_members_are_found, ()) {
  cycles_that_cross_members_are_found();
}

}  // namespace
}  // namespace entrain::test
