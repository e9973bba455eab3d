// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/ctf/reader.hpp"

namespace entrain::ctf {

/// An event that is an end of a message.
struct Sighting {
  MessageEnd end;
  std::uint32_t clock = 0;
  std::uint64_t time = 0;  ///< ns
};

/// Edges between hosts, and numbers of messages.
struct Messages {
  /// Per edge its send and its receive, in order of the clocks and times of the sends.
  std::vector<std::pair<Sighting, Sighting>> edges;
  std::vector<std::uint64_t> paired_of_rule;  ///< index: rule
  std::uint64_t receives = 0;   ///< of messages that were sent by a host of these traces
  std::uint64_t paired = 0;     ///< receives whose send was found
  std::uint64_t ambiguous = 0;  ///< receives of messages that were seen twice at one place
  std::uint64_t inside = 0;     ///< receives by the clock of the send
  std::uint64_t without_send = 0, without_receive = 0;
};

/// Pairs ends with equal keys. A message is sent by one host, and seen once at each place of a
/// host, such as the devices that a packet passes: then it is in order there, and its first send
/// precedes its first receive on every other host. Whatever was seen twice at one place, as
/// packets are that were sent again, is set aside: which receive is of which send is unknown.
/// Sorts `ends` by their keys. `rules`: number of rules. O(n log n).
Messages pair_ends(std::vector<Sighting>& ends, std::size_t rules);

/// Removes edges that are not as pair_ends() says, by all ends in the order of their keys, and
/// counts what it removes.
std::uint64_t drop_refuted(std::vector<std::pair<Sighting, Sighting>>& edges,
                           std::span<const Sighting> ends);

}  // namespace entrain::ctf
