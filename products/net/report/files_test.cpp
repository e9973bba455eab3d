// SPDX-License-Identifier: BSD-3-Clause
#include "net/report/files.hpp"

#include <gtest/gtest.h>

#include "net/model/topology_dot.hpp"
#include "net/plan/method.hpp"

namespace entrain::net {
namespace {

TEST(Files, csv_quotes_names) {
  const auto topology = topology_from_dot("graph { \"a,1\" -- s; \"b\\\"2\" -- s }", "t").value();
  const auto schedule = plan(topology, SpanningTree(topology), Method::sss).value();
  EXPECT_EQ(schedule_csv(topology, schedule),
            "interface,slot,destination,route\n"
            "\"a,1\",0,\"a,1\",\"a,1 s a,1\"\n"
            "\"a,1\",1,\"b\"\"2\",\"a,1 s b\"\"2\"\n"
            "\"b\"\"2\",0,\"b\"\"2\",\"b\"\"2 s b\"\"2\"\n"
            "\"b\"\"2\",1,\"a,1\",\"b\"\"2 s a,1\"\n");
}

}  // namespace
}  // namespace entrain::net
