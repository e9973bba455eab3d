// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include <entrain/error.hpp>

#include "net/model/topology.hpp"

namespace entrain::net {

/// Reads {"interfaces": ["a", ...], "switches": [{"name": "s", "ports": 8}, ...],
///  "links": [["a", "s"], {"ends": ["b", "s"], "delay": "17ns"}, ...]}.
/// `name` is the name of the file, for errors. Errors: ErrorKind::input, with the name and the
/// mistake.
Result<Topology> topology_from_json(std::string_view text, std::string_view name);

}  // namespace entrain::net
