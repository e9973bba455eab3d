// SPDX-License-Identifier: BSD-3-Clause
#include "tool/mpi/launch.hpp"

#include <string>

#include <gtest/gtest.h>

namespace entrain::mpi {
namespace {

/// The transport that is asked for in an environment of Open MPI; "" if none. The user's own choice
/// is `chosen`.
std::string transport(const char* all, const char* here, const char* chosen = nullptr) {
  const auto set = [](const char* name, const char* value) {
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  };
  set("OMPI_COMM_WORLD_SIZE", all);
  set("OMPI_COMM_WORLD_LOCAL_SIZE", here);
  set("OMPI_MCA_pml", chosen);
  leave_networks_alone_on_one_machine();
  const char* const asked = std::getenv("OMPI_MCA_pml");
  std::string result = asked == nullptr ? "" : asked;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_MCA_pml"}) {
    set(name, nullptr);
  }
  return result;
}

TEST(Launch, processes_on_one_machine_need_no_network) {
  EXPECT_EQ(transport("4", "4"), "ob1");
  EXPECT_EQ(transport("4", "4", "ucx"), "ucx");
  EXPECT_EQ(transport("4", "2"), "");
  EXPECT_EQ(transport("4", nullptr), "");
  EXPECT_EQ(transport(nullptr, nullptr), "");
}

}  // namespace
}  // namespace entrain::mpi
