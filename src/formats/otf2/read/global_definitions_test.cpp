// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/read/read_definitions.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/otf2/format/format.hpp"

namespace entrain::otf2 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// OTF2_GroupType, OTF2_Paradigm, OTF2_GroupFlag, OTF2_RegionRole.
constexpr std::uint8_t k_locations = 1, k_comm_locations = 4, k_comm_group = 5, k_comm_self = 6;
constexpr std::uint8_t k_openmp = 3, k_mpi = 4;
constexpr std::uint32_t k_global_members = 1;
constexpr std::uint8_t k_barrier = 15;

/// Global definitions as a file holds them. Locations have the ids 100, 101, ...
struct Raw {
  explicit Raw(std::uint64_t resolution_hz = 1'000'000'000) {
    add(def::clock_properties, Fields().c64(resolution_hz).c64(0).c64(0));
  }
  void add(std::uint8_t type, Fields& fields) { file.records.push_back({type, fields.take()}); }
  std::uint32_t text(const std::string& value) {
    add(def::string, Fields().c32(500 + texts).text(value));
    return 500 + texts++;
  }
  std::uint32_t tree_node(std::uint32_t parent, const std::string& class_name = "") {
    const std::uint32_t name = text(class_name);
    add(def::system_tree_node, Fields().c32(20 + tree_nodes).c32(k_none).c32(name).c32(parent));
    return 20 + tree_nodes++;
  }
  void shares_memory(std::uint32_t node) { add(def::tree_node_domain, Fields().c32(node).u8(1)); }
  std::uint32_t process(std::uint32_t parent, std::uint32_t creator = k_none,
                        std::uint32_t name = k_none) {
    add(def::location_group, Fields().c32(70 + processes).c32(name).u8(1).c32(parent).c32(creator));
    return 70 + processes++;
  }
  void location(std::uint32_t group, std::uint32_t name = k_none) {
    add(def::location, Fields().c64(100 + locations).c32(name).u8(1).c64(0).c32(group));
    ++locations;
  }
  void region(std::uint32_t id, const std::string& name, std::uint8_t role, std::uint8_t paradigm) {
    const std::uint32_t string = text(name);
    Fields fields;
    fields.c32(id).c32(string).c32(k_none).u8(0).c32(k_none).c32(0).c32(0);
    add(def::region, fields.c32(string).u8(role).u8(paradigm).c32(0));
  }
  std::uint32_t group(std::uint8_t type, const std::vector<std::uint64_t>& members,
                      std::uint8_t paradigm = k_mpi, std::uint32_t flags = 0) {
    Fields fields;
    fields.c32(30 + groups).c32(k_none).u8(0).c32(static_cast<std::uint32_t>(members.size()));
    for (const std::uint64_t member : members) fields.c64(member);
    add(def::group, fields.u8(type).u8(paradigm).c32(flags));
    return 30 + groups++;
  }
  void comm(std::uint32_t group) {
    add(def::comm, Fields().c32(1).c32(k_none).c32(group).c32(k_none));
  }
  void attribute(std::uint32_t id, const std::string& name, std::uint8_t type) {
    const std::uint32_t string = text(name);
    add(def::attribute, Fields().c32(id).c32(string).u8(type));
  }
  /// n locations in processes of their own, all on one node, listed for MPI in order.
  void world(std::uint32_t n) {
    std::vector<std::uint64_t> all;
    for (std::uint32_t i = 0; i < n; ++i) {
      location(process(k_none));
      all.push_back(100 + i);
    }
    group(k_comm_locations, all);
  }

  DefinitionFile file;
  std::uint32_t texts = 0, tree_nodes = 0, processes = 0, groups = 0;
  std::uint64_t locations = 0;
};

Result<GlobalDefinitions> resolve(const Raw& raw, const char* path) {
  return global_definitions_of(raw.file, path);
}

GlobalDefinitions resolved(const Raw& raw) {
  auto result = resolve(raw, "x.def");
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

TEST(Resolve, ids_become_positions_and_names_texts) {
  Raw raw;
  raw.location(raw.process(k_none, k_none, raw.text("MPI Rank 0")), raw.text("Master thread"));
  raw.region(7, "main", 0, 0);
  const GlobalDefinitions all = resolved(raw);
  EXPECT_EQ(all.definitions.location_groups[0].name, "MPI Rank 0");
  EXPECT_EQ(all.definitions.locations[0].id, 100u);
  EXPECT_EQ(all.definitions.locations[0].name, "Master thread");
  EXPECT_EQ(all.definitions.locations[0].group, 0u);
  EXPECT_EQ(all.references.regions.at(7), 0u);
  EXPECT_EQ(all.definitions.regions[0].name, "main");
}

TEST(Resolve, processes_are_numbered_in_order_of_their_locations) {
  Raw raw;
  const auto first = raw.process(k_none), second = raw.process(k_none);
  raw.location(second);
  raw.location(first);
  raw.location(second);
  EXPECT_THAT(resolved(raw).definitions.process_of, ElementsAre(0, 1, 0));
}

TEST(Resolve, accelerators_follow_the_group_that_created_them) {
  Raw raw;
  const auto node = raw.tree_node(k_none), other_node = raw.tree_node(k_none);
  const auto host = raw.process(node), other = raw.process(node);
  const auto context = raw.process(other_node, host);
  const auto stream = raw.process(other_node, context);  // a context of a context
  for (const std::uint32_t group : {other, host, context, stream}) raw.location(group);
  const auto definitions = resolved(raw).definitions;
  EXPECT_THAT(definitions.process_of, ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(definitions.node_of, ElementsAre(0, 0, 0, 0));
}

TEST(Resolve, creators_in_a_circle_do_not_hang) {
  Raw raw;
  const auto a = raw.process(k_none, 71), b = raw.process(k_none, a);
  raw.location(a);
  raw.location(b);
  EXPECT_EQ(resolved(raw).definitions.process_of.size(), 2u);
}

TEST(Resolve, a_location_without_group_is_a_process_and_a_node_of_its_own) {
  Raw raw;
  raw.location(k_none);
  raw.location(raw.process(k_none));
  raw.location(4711);  // undefined
  const auto definitions = resolved(raw).definitions;
  EXPECT_THAT(definitions.process_of, ElementsAre(0, 1, 2));
  EXPECT_THAT(definitions.node_of, ElementsAre(0, 1, 2));
  EXPECT_EQ(definitions.locations[2].group, k_none);
}

TEST(Resolve, node_is_the_nearest_one_of_shared_memory) {
  Raw raw;
  const auto machine = raw.tree_node(k_none, "machine");
  const auto node0 = raw.tree_node(machine, "rack"), node1 = raw.tree_node(machine, "rack");
  raw.shares_memory(node0);
  raw.shares_memory(node1);
  const auto socket0 = raw.tree_node(node0, "socket"), socket1 = raw.tree_node(node0, "node");
  for (const std::uint32_t parent : {socket0, socket1, node1, node0}) {
    raw.location(raw.process(parent));
  }
  EXPECT_THAT(resolved(raw).definitions.node_of, ElementsAre(0, 0, 1, 0));
}

TEST(Resolve, else_the_nearest_one_called_node_else_the_parent) {
  Raw raw;
  const auto machine = raw.tree_node(k_none, "machine");
  const auto node = raw.tree_node(machine, "node");
  const auto socket0 = raw.tree_node(node, "socket"), socket1 = raw.tree_node(node, "socket");
  for (const std::uint32_t parent : {socket0, socket1, machine, machine}) {
    raw.location(raw.process(parent));
  }
  EXPECT_THAT(resolved(raw).definitions.node_of, ElementsAre(0, 0, 1, 1));
}

TEST(Resolve, tree_nodes_in_a_circle_do_not_hang) {
  Raw raw;
  const auto a = raw.tree_node(21, "x");
  raw.tree_node(a, "y");
  raw.location(raw.process(a));
  EXPECT_EQ(resolved(raw).definitions.node_of.size(), 1u);
}

TEST(Resolve, ranks_of_a_communicator_name_the_paradigms_locations) {
  Raw raw;
  raw.world(3);
  raw.group(k_comm_locations, {102, 101, 100}, k_openmp);  // another paradigm's list
  raw.comm(raw.group(k_comm_group, {2, 0}));
  raw.comm(raw.group(k_comm_group, {2, 0}, k_openmp));
  const auto definitions = resolved(raw).definitions;
  EXPECT_THAT(definitions.comms[0].group_a, ElementsAre(2, 0));
  EXPECT_THAT(definitions.comms[1].group_a, ElementsAre(0, 2));
  EXPECT_FALSE(definitions.comms[0].inter);
  EXPECT_FALSE(definitions.comms[0].self);
}

TEST(Resolve, groups_of_locations_name_them_by_id) {
  Raw raw;
  raw.world(3);
  raw.comm(raw.group(k_locations, {102, 100}));
  EXPECT_THAT(resolved(raw).definitions.comms[0].group_a, ElementsAre(2, 0));
}

TEST(Resolve, members_with_global_ranks_keep_their_ranks) {
  Raw raw;
  raw.world(4);
  raw.comm(raw.group(k_comm_group, {3, 1}, k_mpi, k_global_members));
  EXPECT_THAT(resolved(raw).definitions.comms[0].group_a, ElementsAre(k_none, 1, k_none, 3));
}

TEST(Resolve, self_communicators_have_no_members) {
  Raw raw;
  raw.world(2);
  raw.comm(raw.group(k_comm_self, {}));
  const auto definitions = resolved(raw).definitions;
  EXPECT_TRUE(definitions.comms[0].self);
  EXPECT_THAT(definitions.comms[0].group_a, IsEmpty());
}

TEST(Resolve, inter_communicators_have_two_groups) {
  Raw raw;
  raw.world(4);
  const auto a = raw.group(k_comm_group, {0, 1}), b = raw.group(k_comm_group, {3, 2});
  raw.add(def::inter_comm, Fields().c32(9).c32(k_none).c32(a).c32(b));
  const GlobalDefinitions all = resolved(raw);
  const trace::Comm& comm = all.definitions.comms[0];
  EXPECT_TRUE(comm.inter);
  EXPECT_THAT(comm.group_a, ElementsAre(0, 1));
  EXPECT_THAT(comm.group_b, ElementsAre(3, 2));
  EXPECT_EQ(all.references.comms.at(9), 0u);
}

TEST(Resolve, undefined_references_are_tolerated) {
  Raw raw;
  raw.world(2);
  raw.comm(raw.group(k_comm_group, {0, 9, 1}));      // rank 9
  raw.comm(raw.group(k_locations, {100, 999}));      // location 999
  raw.comm(4711);                                    // group
  raw.comm(raw.group(k_comm_group, {0}, k_openmp));  // no list of locations
  raw.add(def::rma_window, Fields().c32(3).c32(4711).c32(4711));
  const auto definitions = resolved(raw).definitions;
  EXPECT_THAT(definitions.comms[0].group_a, ElementsAre(0, k_none, 1));
  EXPECT_THAT(definitions.comms[1].group_a, ElementsAre(0, k_none));
  EXPECT_THAT(definitions.comms[2].group_a, IsEmpty());
  EXPECT_THAT(definitions.comms[3].group_a, IsEmpty());
  EXPECT_EQ(definitions.windows[0].comm, k_none);
  EXPECT_EQ(definitions.windows[0].name, "");
}

TEST(Resolve, regions_that_matter_are_told_by_name_or_role) {
  Raw raw;
  auto region = [&, id = 0u](const char* name, std::uint8_t role, std::uint8_t paradigm) mutable {
    raw.region(id++, name, role, paradigm);
  };
  region("MPI_Init", 0, k_mpi);
  region("MPI_Init_thread", 0, k_mpi);
  region("mpi_finalize_", 0, k_mpi);  // a Fortran wrapper
  region("MPI_Win_post", 0, k_mpi);
  region("MPI_Win_test", 0, k_mpi);  // ends an epoch as MPI_Win_wait does
  region("!$omp barrier @x.c:1", k_barrier, k_openmp);
  region("MPI_Barrier", k_barrier, k_mpi);
  region("MPI_Initialized", 0, k_mpi);
  region("MPI_Ineighbor_alltoallw", 0, k_mpi);
  region("mpi_neighbor_allgather_", 0, k_mpi);
  region("MPI_Neighbor_alltoall_init", 0, k_mpi);  // does not communicate yet
  const References references = resolved(raw).references;
  EXPECT_THAT(references.region_roles,
              ElementsAre(RegionRole::mpi_init, RegionRole::mpi_init, RegionRole::mpi_finalize,
                          RegionRole::win_post, RegionRole::win_wait, RegionRole::thread_barrier,
                          RegionRole::other, RegionRole::other, RegionRole::neighbours,
                          RegionRole::neighbours, RegionRole::other));
  EXPECT_TRUE(references.any_region_role);
  EXPECT_FALSE(resolved(Raw()).references.any_region_role);
}

TEST(Resolve, finds_the_calls_and_the_streams_of_accelerators) {
  constexpr std::uint8_t k_function = 1, k_wrapper = 2, k_artificial = 31, k_cuda = 5, k_hip = 23;
  Raw raw;
  raw.attribute(6, "CUDA_STREAM_REF", 13);
  raw.region(0, "axpy(float*)", k_function, k_cuda);
  raw.region(1, "COMPUTE IDLE", k_artificial, k_cuda);
  raw.region(2, "cuLaunchKernel", k_wrapper, k_cuda);
  raw.region(3, "cudaLaunchKernel", k_wrapper, k_cuda);  // calls the driver
  raw.region(4, "hipModuleLaunchKernel", k_wrapper, k_hip);
  raw.region(5, "cuStreamSynchronize", k_wrapper, k_cuda);
  raw.region(6, "hipDeviceSynchronize", k_wrapper, k_hip);
  raw.region(7, "cuLaunchKernel", k_wrapper, k_mpi);
  const auto references = resolved(raw).references;
  EXPECT_EQ(references.stream_attribute, 6u);
  EXPECT_THAT(references.region_roles,
              ElementsAre(RegionRole::kernel, RegionRole::other, RegionRole::kernel_launch,
                          RegionRole::other, RegionRole::kernel_launch, RegionRole::stream_wait,
                          RegionRole::device_wait, RegionRole::other));
}

TEST(Resolve, score_p_names_a_stream_by_its_number_in_the_process) {
  References references;
  references.accelerators[std::uint64_t{3} << 32 | 2] = 8;
  references.accelerators[41] = 9;
  EXPECT_EQ(references.accelerator(3, 2), 8u);
  EXPECT_EQ(references.accelerator(3, std::uint64_t{1} << 32 | 2), 8u) << "another thread";
  EXPECT_EQ(references.accelerator(3, 1), k_none);
  EXPECT_EQ(references.accelerator(41, 2), 9u) << "an id, as others write it";
}

TEST(Resolve, contradictions_are_refused) {
  Raw twice;
  twice.location(twice.process(k_none));
  twice.file.records.push_back(twice.file.records.back());
  const auto refused = resolve(twice, "x.def");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::input);
  EXPECT_THAT(refused.error().message, HasSubstr("x.def defines location 100 twice"));
  Raw timeless;
  timeless.file.records.clear();
  EXPECT_FALSE(resolve(timeless, "x.def"));
  EXPECT_FALSE(resolve(Raw(0), "x.def"));
}

TEST(Resolve, the_first_record_that_is_too_short_is_named) {
  Raw raw;
  raw.world(1);
  raw.add(def::comm, Fields().c32(1));
  raw.add(def::string, Fields().c32(1).u8('x'));  // a text without an end
  const auto refused = resolve(raw, "x.def");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("definition record 5 (type 22) is too short"));
}

TEST(Resolve, finds_the_lists_of_partners) {
  Raw raw;
  raw.text("to 0-1 from 2");
  const std::uint32_t ring = raw.text("to 2 from 0-1");
  raw.attribute(6, "ENTRAIN::PARTNERS", 11);
  raw.region(3, "MPI_Neighbor_alltoall", 0, k_mpi);
  const auto out = resolve(raw, "x");
  ASSERT_TRUE(out);
  EXPECT_EQ(out->references.partners_attribute, 6u);
  const trace::Definitions& definitions = out->definitions;
  ASSERT_EQ(definitions.partners.size(), 2u);
  ASSERT_EQ(definitions.rank_sets.size(), 2u) << "each set once";
  const trace::Partners& partners = definitions.partners[out->references.partners.at(ring)];
  EXPECT_TRUE(definitions.rank_sets[partners.to].contains(2));
  EXPECT_TRUE(definitions.rank_sets[partners.from].contains(1));
  EXPECT_EQ(out->references.region_roles[0], RegionRole::other) << "its records say it all";
}

TEST(Resolve, without_the_attribute_no_string_is_a_list_of_partners) {
  Raw raw;
  raw.text("to 0-1 from 2");
  raw.attribute(6, "ENTRAIN::PARTNERS", 3);  // not a string
  raw.region(3, "MPI_Neighbor_alltoall", 0, k_mpi);
  raw.region(4, "MPI_Neighbor_alltoall_init", 0, k_mpi);
  const auto out = resolve(raw, "x");
  ASSERT_TRUE(out);
  EXPECT_EQ(out->references.partners_attribute, k_none);
  EXPECT_THAT(out->definitions.partners, IsEmpty());
  EXPECT_EQ(out->references.region_roles[0], RegionRole::neighbours);
  EXPECT_EQ(out->references.region_roles[1], RegionRole::other) << "it only prepares a call";
}

}  // namespace
}  // namespace entrain::otf2
