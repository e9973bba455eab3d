// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <entrain/report.hpp>

#include "base/ids.hpp"

namespace entrain::trace {

struct ClockProperties {
  std::uint64_t resolution_hz = 1;                ///< ticks per second, >= 1
  std::uint64_t global_offset = 0;                ///< no event is earlier, ticks
  std::uint64_t length = 0;                       ///< span of the trace, ticks
  std::uint64_t realtime_ns = ~std::uint64_t{0};  ///< time of global_offset since 1970; ~0: unknown
};

/// OTF2_LocationType.
enum class LocationType : std::uint8_t { unknown = 0, cpu_thread = 1, accelerator = 2, metric = 3 };

struct Location {
  std::uint64_t id = 0;  ///< OTF2 id, sparse 64 bit
  std::string name;
  LocationType type = LocationType::unknown;
  std::uint64_t event_count = 0;  ///< count of the definition; not trusted
  std::uint32_t group = k_none;   ///< position in Definitions::location_groups
};

/// A process (or an accelerator context): OTF2's location group.
struct LocationGroup {
  std::uint32_t id = k_none;
  std::string name;
  std::uint32_t creating_group = k_none;  ///< position; accelerator contexts name their process
  std::uint32_t tree_node = k_none;       ///< position in Definitions::tree_nodes
};

struct SystemTreeNode {
  std::uint32_t id = k_none;
  std::string name;
  std::string class_name;
  std::uint32_t parent = k_none;  ///< position in Definitions::tree_nodes
  bool shared_memory = false;     ///< domain SHARED_MEMORY: one machine
};

struct Region {
  std::uint32_t id = k_none;
  std::string name;
  std::uint8_t role = 0;      ///< OTF2_RegionRole
  std::uint8_t paradigm = 0;  ///< OTF2_Paradigm
};

/// A communicator with its members resolved. Rank i of an intra-communicator is group_a[i].
struct Comm {
  std::uint32_t id = k_none;
  std::string name;
  bool inter = false;  ///< inter-communicator: a rank names a member of the *other* group
  bool self = false;   ///< MPI_COMM_SELF-like: every process is alone in its own instance
  std::vector<LocationIndex> group_a;  ///< k_none where a member could not be resolved
  std::vector<LocationIndex> group_b;  ///< only for inter-communicators
};

struct RmaWindow {
  std::uint32_t id = k_none;
  std::string name;
  CommIndex comm = k_none;
};

/// A group of locations that records name directly (RmaGroupSync), members resolved.
struct Group {
  std::uint32_t id = k_none;
  std::vector<LocationIndex> members;
};

/// Some ranks of a communicator, kept as ranges.
///
/// Example: {0, 1, 2, 7} is the ranges 0 to 2 and 7 to 7.
class RankSet {
 public:
  struct Range {
    std::uint32_t first = 0, last = 0;
    friend auto operator<=>(const Range&, const Range&) = default;
  };

  /// Adds the ranks from `first` to `last`, which must be above all that are there. Returns false,
  /// and adds nothing, if they are not.
  bool add(std::uint32_t first, std::uint32_t last) {
    if (last < first || (!ranges_.empty() && first <= ranges_.back().last)) return false;
    ranges_.push_back({first, last});
    return true;
  }

  /// O(log ranges).
  [[nodiscard]] bool contains(std::uint32_t rank) const {
    const auto after =
        std::upper_bound(ranges_.begin(), ranges_.end(), rank,
                         [](std::uint32_t r, const Range& range) { return r < range.first; });
    return after != ranges_.begin() && rank <= (after - 1)->last;
  }
  /// Calls `use` with each rank below `end`, in rising order.
  template <class Use>
  void for_each_below(std::size_t end, Use use) const {
    for (const Range& range : ranges_) {
      for (std::size_t rank = range.first; rank <= range.last && rank < end; ++rank) {
        use(static_cast<std::uint32_t>(rank));
      }
    }
  }

  /// Some order, for use as a key.
  friend auto operator<=>(const RankSet&, const RankSet&) = default;

 private:
  std::vector<Range> ranges_;
};

/// The processes with which one process exchanged data in a collective call: positions in
/// Definitions::rank_sets. The ranks are those of the communicator, on an inter-communicator those
/// of the other group; the process itself may be among them.
struct Partners {
  std::uint32_t to = k_none;    ///< those that it sent more than 0 bytes to
  std::uint32_t from = k_none;  ///< those that it received more than 0 bytes from
};

/// Name and value of an archive property.
struct Property {
  std::string name;
  std::string value;
};

/// The global definitions of a trace, with references resolved to positions in these vectors.
/// Immutable after reading.
struct Definitions {
  ClockProperties clock;
  std::vector<Location> locations;  ///< locations in order of definition
  std::vector<LocationGroup> location_groups;
  std::vector<SystemTreeNode> tree_nodes;
  std::vector<Region> regions;
  std::vector<Comm> comms;
  std::vector<RmaWindow> windows;
  std::vector<Group> groups;
  std::vector<Property> properties;
  std::vector<RankSet> rank_sets;  ///< each set once; of `partners`
  std::vector<Partners> partners;  ///< those that collective calls name (k_partners)

  /// Per location: number of its process, dense from 0. Accelerator and metric locations belong
  /// to the process that created them.
  std::vector<std::uint32_t> process_of;
  /// Per location: number of its machine (nearest shared-memory node of the system tree), dense
  /// from 0.
  std::vector<std::uint32_t> node_of;
  /// Per location: number of a set of locations that are known to share a clock, or k_none. Empty:
  /// k_property_clocks says what is known.
  std::vector<std::uint32_t> known_clocks;
};

/// Tells which process a record means by a rank. In an intercommunicator a rank names a member of
/// the group that the process itself is not in. Must not outlive the definitions, which must not
/// change meanwhile; threads may ask at the same time.
class Peers {
 public:
  explicit Peers(const Definitions& definitions)
      : definitions_(&definitions), first_groups_(definitions.comms.size()) {
    for (std::size_t c = 0; c < definitions.comms.size(); ++c) {
      const Comm& comm = definitions.comms[c];
      if (!comm.inter) continue;
      for (const LocationIndex member : comm.group_a) {
        if (member != k_none) first_groups_[c].push_back(definitions.process_of[member]);
      }
      std::ranges::sort(first_groups_[c]);
    }
  }

  /// Process of rank `rank` as a record of process `self` on `comm` names it; k_none if undefined.
  [[nodiscard]] std::uint32_t process_of(CommIndex comm_index, std::uint32_t self,
                                         std::uint32_t rank) const {
    if (comm_index == k_none) return k_none;
    const Comm& comm = definitions_->comms[comm_index];
    if (comm.self) return self;
    const std::vector<std::uint32_t>& first = first_groups_[comm_index];
    const bool in_first = std::ranges::binary_search(first, self);
    const auto& group = in_first ? comm.group_b : comm.group_a;
    const LocationIndex location = rank < group.size() ? group[rank] : k_none;
    return location == k_none ? k_none : definitions_->process_of[location];
  }

 private:
  const Definitions* definitions_;
  /// Per communicator: the processes of the first group, sorted; empty where there is one group.
  std::vector<std::vector<std::uint32_t>> first_groups_;
};

/// Latency class of an edge from location `a` to location `b`. `process_of` and `node_of` as in
/// Definitions.
[[nodiscard]] inline LatencyClass latency_class(std::span<const std::uint32_t> process_of,
                                                std::span<const std::uint32_t> node_of,
                                                LocationIndex a, LocationIndex b) {
  return process_of[a] == process_of[b] ? LatencyClass::same_process
         : node_of[a] == node_of[b]     ? LatencyClass::same_node
                                        : LatencyClass::other;
}

/// The number of processes or machines that such numbers of locations name.
[[nodiscard]] inline std::uint32_t count_of(const std::vector<std::uint32_t>& numbers) {
  return numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end()) + 1;
}

/// Largest minimum latency (mu) that is believed or accepted, ticks: two months of nanoseconds.
inline constexpr std::int64_t k_largest_mu = std::int64_t{1} << 52;

/// Name of the process of location `l`; of the location itself if no process is known.
[[nodiscard]] const std::string& process_name(const Definitions& definitions, LocationIndex l);
/// Per location the name of its clock, if each location has one: that of its process for the first
/// location of a process, and that with its own name for the others.
[[nodiscard]] std::vector<std::string> clock_names(const Definitions& definitions);

/// Name of the machine of location `l`: of the nearest shared-memory node of the system tree, else
/// of the node that its process names; "" if there is none.
[[nodiscard]] const std::string& node_name(const Definitions& definitions, LocationIndex l);

}  // namespace entrain::trace
