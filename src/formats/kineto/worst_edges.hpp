// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/edge_list.hpp"
#include "formats/kineto/collective_calls.hpp"

namespace entrain::kineto {

/// Names of an event in a viewer: kernel, stream and step. Key: clock (position in
/// Clocks::clocks) and stamp.
using EventNames = std::map<std::pair<std::uint32_t, std::uint64_t>, std::string>;

/// Names both ends of the most violated edges of each kind, by the times as stored. `files`: as
/// read; `ranks`: with the clocks and calls of `instances`. `list`: first the edges between hosts
/// and devices, rank by rank; its instances are those of `instances` that are no messages, in
/// order. If a launch or a wait is the most violated, the files of its rank are read again, and the
/// names are missing if that fails.
EventNames names_of_worst_edges(const std::vector<RankFile>& files,
                                const std::vector<RankFile>& ranks,
                                const std::vector<Instance>& instances, const EdgeList& list);

}  // namespace entrain::kineto
