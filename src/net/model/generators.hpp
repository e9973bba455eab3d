// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "net/model/topology.hpp"

/// Topologies of known shape. Interfaces are called n0, n1, ..., switches s0, s1, ... All errors
/// are of ErrorKind::usage and say which number is out of range.
namespace entrain::net {

/// `interfaces` on one switch with as many ports; 2 to 1024.
Result<Topology> single_switch(std::int64_t interfaces);

/// The tree of the paper: switches of `ports` ports, one of them to the next higher level; the root
/// has `ports` children. `levels` of nodes, the interfaces' among them: ports (ports - 1)^(levels -
/// 2) interfaces. ports >= 3 (2 if levels is 2), levels >= 2.
Result<Topology> full_tree(std::int64_t ports, std::int64_t levels);

/// Three-stage fat tree of `ports`-port switches (ports even, >= 2): ports^3 / 4 interfaces.
Result<Topology> fat_tree(std::int64_t ports);

/// A grid of switches with `hosts` interfaces each (>= 1); with `wrap` a torus, which needs 3 in
/// each direction.
Result<Topology> mesh(std::int64_t width, std::int64_t height, std::int64_t hosts, bool wrap);

/// A random connected graph of switches with `ports` ports (>= 3), extra links beyond a tree as
/// ports and chance allow, and interfaces on random switches that have ports left.
Result<Topology> random_graph(std::int64_t interfaces, std::int64_t switches, std::int64_t ports,
                              std::uint64_t seed);

/// "single:8", "tree:8x4", "fat-tree:4", "mesh:4x3", "torus:4x4", "torus:4x4x2" (two interfaces per
/// switch), "random:INTERFACESxSWITCHESxPORTS" (with `seed`).
Result<Topology> generate(std::string_view description, std::uint64_t seed);

}  // namespace entrain::net
