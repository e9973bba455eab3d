// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/report.hpp>

#include "formats/ctf/reader.hpp"

namespace entrain::ctf {

/// Edges between hosts, and numbers of messages.
struct Messages {
  /// Per edge its send and its receive, in order of the clocks and times of the sends.
  std::vector<std::pair<MessageEnd, MessageEnd>> edges;
  std::vector<std::uint64_t> paired_of_rule;  ///< index: rule
  Coverage coverage;                          ///< receives; ambiguous: seen twice at one place
  std::int64_t inside = 0;                    ///< receives by the clock of the send
  std::int64_t without_receive = 0;           ///< sends
};

/// Pairs ends with equal keys. A message is sent by one host, and seen once at each place of a
/// host, such as the devices that a packet passes: then it is in order there, and its first send
/// precedes its first receive on every other host. Whatever was seen twice at one place, as
/// packets are that were sent again, is set aside: which receive is of which send is unknown.
/// Sorts `ends` by their keys. `rules`: number of rules. O(n log n).
Messages pair_ends(std::vector<MessageEnd>& ends, std::size_t rules);

/// Removes edges that are not as pair_ends() says, by all ends in the order of their keys, and
/// counts what it removes.
std::uint64_t drop_refuted(std::vector<std::pair<MessageEnd, MessageEnd>>& edges,
                           std::span<const MessageEnd> ends);

}  // namespace entrain::ctf
