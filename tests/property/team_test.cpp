// SPDX-License-Identifier: BSD-3-Clause
// A team of any size gives the result of one worker, bit by bit.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "property/team_outcome.hpp"

namespace entrain::test {
namespace {

RC_GTEST_PROP(Team, any_number_of_members_gives_the_same, ()) {
  any_number_of_members_gives_the_same();
}

RC_GTEST_PROP(Team, cycles_that_cross_members_are_found, ()) {
  cycles_that_cross_members_are_found();
}

}  // namespace
}  // namespace entrain::test
