// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <entrain/error.hpp>

#include "net/model/topology.hpp"

namespace entrain::net {

/// Reads the undirected part of Graphviz DOT: graph { a; s [ports=8]; a -- s [delay="17ns"]; }. A
/// node with type=switch or ports=N is a switch, with type=interface an interface; without either
/// it is an interface if it has one link. `node [...]` and `edge [...]` hold for all that follows
/// them; a strict graph may repeat a link. Subgraphs and ports of nodes (a:p) are refused; other
/// attributes are ignored. Errors: ErrorKind::input, with `name`, the line and the mistake.
Result<Topology> topology_from_dot(std::string_view text, std::string_view name);

/// Writes the topology in the form that topology_from_dot() reads. DOT cannot write a name in which
/// '\\' comes before '"' or the end.
std::string to_dot(const Topology& topology);

}  // namespace entrain::net
