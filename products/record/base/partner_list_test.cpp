// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/partner_list.hpp"

#include <gtest/gtest.h>

namespace entrain::record {
namespace {

TEST(PartnerList, names_both_directions) {
  EXPECT_EQ(partners_text({0, 1, 2, 7}, {4}), "to 0-2,7 from 4");
  EXPECT_EQ(partners_text({}, {3}), "to from 3");
  EXPECT_EQ(partners_text({5}, {}), "to 5 from");
  EXPECT_EQ(partners_text({}, {}), "to from");
}

}  // namespace
}  // namespace entrain::record
