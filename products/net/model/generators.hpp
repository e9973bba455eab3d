// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "net/model/topology.hpp"

/// Topologies of known shape. Interfaces are called n0, n1, ..., switches s0, s1, ... All errors
/// have ErrorKind::usage and name the number that is out of range.
namespace entrain::net {

/// `interfaces` on one switch with as many ports; 2 to 1024.
Result<Topology> single_switch(std::int64_t interfaces);

/// The tree of the paper. Each switch has `ports` ports, one of them to the next higher level; the
/// root has `ports` children. `levels` counts the levels of nodes, including that of the
/// interfaces, so there are ports (ports - 1)^(levels - 2) interfaces. ports >= 3 (2 if levels is
/// 2), levels >= 2. E.g. full_tree(8, 4) has 8 x 7 x 7 = 392 interfaces.
Result<Topology> full_tree(std::int64_t ports, std::int64_t levels);

/// Three-stage fat tree of `ports`-port switches (ports even, >= 2): ports^3 / 4 interfaces.
Result<Topology> fat_tree(std::int64_t ports);

/// A grid of switches with `hosts` interfaces each (>= 1). With `wrap` it is a torus, which needs 3
/// switches in each direction.
Result<Topology> mesh(std::int64_t width, std::int64_t height, std::int64_t hosts, bool wrap);

/// A random connected graph of switches with `ports` ports (>= 3). It has more links than a tree
/// where ports and chance allow; interfaces hang on random switches with a free port.
Result<Topology> random_graph(std::int64_t interfaces, std::int64_t switches, std::int64_t ports,
                              std::uint64_t seed);

/// Reads a shape: "single:8", "tree:8x4", "fat-tree:4", "mesh:4x3", "torus:4x4", "torus:4x4x2" (two
/// interfaces per switch), "random:INTERFACESxSWITCHESxPORTS" (with `seed`).
Result<Topology> generate(std::string_view description, std::uint64_t seed);

}  // namespace entrain::net
