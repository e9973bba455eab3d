// SPDX-License-Identifier: BSD-3-Clause
#include "formats/paraver/calls.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "base/name_table.hpp"

namespace entrain::paraver {

namespace {

/// The values of MPI_EventEncoding.h of Extrae.
constexpr std::array<Operation, 16> k_operations{{
    {7, "Bcast", Shape::from_root},
    {k_barrier, "Barrier", Shape::all},
    {9, "Reduce", Shape::to_root},
    {10, "Allreduce", Shape::all},
    {11, "Alltoall", Shape::all},
    {12, "Alltoallv", Shape::sparse},
    {13, "Gather", Shape::to_root},
    {14, "Gatherv", Shape::to_root},
    {15, "Scatter", Shape::from_root},
    {16, "Scatterv", Shape::from_root},
    {17, "Allgather", Shape::all},
    {18, "Allgatherv", Shape::all},
    {30, "Scan", Shape::scan},
    {80, "Reduce_scatter", Shape::all},
    {168, "Reduce_scatter_block", Shape::all},
    {170, "Alltoallw", Shape::sparse},
}};
constexpr Operation k_other;

}  // namespace

const Operation& operation_of(std::uint64_t value) {
  const auto* const known = std::ranges::find(k_operations, value, &Operation::value);
  return known == k_operations.end() ? k_other : *known;
}

namespace {

/// Positions of the calls of each rank of a communicator, in order of time.
using Ranks = std::vector<std::span<const std::uint32_t>>;

/// Number of calls of each rank that are instances by their order; 0 if it is not certain which.
std::size_t certain_of(const Calls& calls, const Communicator& group, const Ranks& ranks) {
  const auto least = std::ranges::min_element(ranks, {}, std::ranges::size);
  if (ranks.size() < 2) return ranks.empty() ? 0 : least->size();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto own = ranks[rank];
    if (calls.has_init[group.tasks[rank]] == 0) return 0;
    if (own.size() > least->size() && !calls.is_cut) return 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const Call& call = calls.all[own[i]];
      if (i > 0 && call.begin < calls.all[own[i - 1]].end) return 0;
      if (i < least->size() && call.operation != calls.all[(*least)[i]].operation) return 0;
    }
  }
  return least->size();
}

}  // namespace

Instances pair_calls(const Calls& calls) {
  Instances found;
  BigVector<std::uint32_t> order(calls.all.size());
  std::iota(order.begin(), order.end(), 0);
  const auto place = [&](std::uint32_t c) {
    const Call& call = calls.all[c];
    return std::tuple(call.communicator, call.task, call.begin, c);
  };
  const auto key = [&](std::uint32_t c) {
    return std::pair(calls.all[c].communicator, calls.all[c].task);
  };
  std::ranges::sort(order, {}, place);
  for (std::uint32_t g = 0; g < calls.communicators.size(); ++g) {
    Ranks ranks;
    std::size_t total = 0;
    for (const std::uint32_t task : calls.communicators[g].tasks) {
      const auto own = std::ranges::equal_range(order, std::pair(g, task), {}, key);
      ranks.emplace_back(own.begin(), own.end());
      total += own.size();
    }
    const std::size_t certain = certain_of(calls, calls.communicators[g], ranks);
    for (std::size_t number = 0; number < certain; ++number) {
      found.all.push_back({.first = found.members.size(),
                           .members = static_cast<std::uint32_t>(ranks.size()),
                           .communicator = g,
                           .operation = calls.all[ranks[0][number]].operation});
      for (const auto& own : ranks) found.members.push_back(own[number]);
    }
    found.ambiguous += total - certain * ranks.size();
  }
  found.without_group = calls.all.size() - found.members.size() - found.ambiguous;
  return found;
}

namespace {

/// Whether a member's begin is waited for, and whether its end waits.
struct Sides {
  bool gives = false, takes = false;
};

/// `root`: the member is it.
Sides sides_of(const Call& call, Shape shape, bool root) {
  const bool is_barrier = call.operation == k_barrier;
  return {.gives = (shape != Shape::from_root || root) && (is_barrier || call.gives),
          .takes = shape == Shape::from_root
                       ? !root && call.takes
                       : (shape != Shape::to_root || root) && (is_barrier || call.takes)};
}

/// The member that is the root; k_none if there is none, or several.
std::uint32_t root_of(const Calls& calls, std::span<const std::uint32_t> members) {
  std::uint32_t root = k_none;
  for (std::uint32_t m = 0; m < members.size(); ++m) {
    if (!calls.all[members[m]].is_root) continue;
    if (root != k_none) return k_none;
    root = m;
  }
  return root;
}

/// Keeps one begin or end per clock: of several tasks of a node the last begin or the first end,
/// which implies the others. In a scan the begin of its lowest rank, or the end of its highest one,
/// which have most partners.
void keep_strictest(std::vector<InstanceMember>& members, Shape shape, bool ends) {
  const bool is_scan = shape == Shape::scan, is_largest_first = ends == is_scan;
  std::ranges::sort(members, {}, [&](const InstanceMember& one) {
    const std::uint64_t value = is_scan ? one.rank : one.time;
    return std::tuple(one.clock, is_largest_first ? ~value : value, one.rank);
  });
  const auto same = [](const auto& a, const auto& b) { return a.clock == b.clock; };
  members.erase(std::unique(members.begin(), members.end(), same), members.end());
  std::ranges::sort(members, {}, &InstanceMember::rank);
}

EdgeKind kind_of(Shape shape) {
  if (shape == Shape::from_root) return EdgeKind::one_to_n;
  if (shape == Shape::to_root) return EdgeKind::n_to_one;
  return shape == Shape::scan ? EdgeKind::scan : EdgeKind::n_to_n;
}

/// Calls `see(instance, members, shape, root)` for the instances of several processes of which it
/// is known who waits for whom, and counts the calls of others.
template <class See>
WithoutEdges for_each_waiting(const Calls& calls, const Instances& instances, const See& see) {
  WithoutEdges without;
  for (const Instance& one : instances.all) {
    const std::span<const std::uint32_t> members = instances.of(one);
    if (members.size() < 2) continue;
    const Shape shape = operation_of(one.operation).shape;
    const bool has_root = shape == Shape::from_root || shape == Shape::to_root;
    const std::uint32_t root = root_of(calls, members);
    if (shape == Shape::sparse || shape == Shape::none) {
      (shape == Shape::sparse ? without.sparse : without.others) += members.size();
    } else if (has_root && root == k_none) {
      without.rootless += members.size();
    } else {
      without.with_edges += members.size();
      see(one, members, shape, root);
    }
  }
  return without;
}

}  // namespace

WithoutEdges add_edges(const Calls& calls, const Instances& instances, const Header& header,
                       EdgeList& list) {
  return for_each_waiting(
      calls, instances,
      [&](const Instance& one, std::span<const std::uint32_t> members, Shape shape,
          std::uint32_t root) {
        const std::uint64_t first = list.members.size();
        CollectiveInstance added{
            .kind = kind_of(shape), .ends_coincide = one.operation == k_barrier, .first = first};
        for (const bool ends : {false, true}) {
          std::vector<InstanceMember> sides;
          for (std::uint32_t m = 0; m < members.size(); ++m) {
            const Call& call = calls.all[members[m]];
            const Sides own = sides_of(call, shape, m == root);
            if (ends ? !own.takes || call.end == Call::k_endless : !own.gives) continue;
            sides.push_back({.clock = header.tasks[call.task].clock,
                             .rank = m,
                             .time = ends ? call.end : call.begin});
          }
          keep_strictest(sides, shape, ends);
          list.members.insert(list.members.end(), sides.begin(), sides.end());
          (ends ? added.ends : added.begins) = static_cast<std::uint32_t>(sides.size());
        }
        if (added.begins > 0 && added.ends > 0) {
          list.instances.push_back(added);
        } else {
          list.members.resize(first);  // nobody gives or takes a byte
        }
      });
}

trace::Collectives collectives_of(const Calls& calls, const Instances& instances,
                                  const Header& header) {
  trace::Collectives found;
  NameTable operations;
  for (const Communicator& group : calls.communicators) {
    found.groups.push_back(fmt::format("communicator {}", group.id));
  }
  for_each_waiting(calls, instances,
                   [&](const Instance& one, std::span<const std::uint32_t> members, Shape shape,
                       std::uint32_t root) {
                     if (shape == Shape::scan) return;
                     trace::CollectiveOperation added{
                         .first = found.calls.size(),
                         .expected = one.members,
                         .operation = operations.number(operation_of(one.operation).name),
                         .group = one.communicator};
                     for (std::uint32_t m = 0; m < members.size(); ++m) {
                       const Call& call = calls.all[members[m]];
                       if (call.end == Call::k_endless) continue;
                       const Sides sides = sides_of(call, shape, m == root);
                       ++added.members;
                       found.calls.push_back({.begin = call.begin,
                                              .end = call.end,
                                              .location = header.tasks[call.task].clock,
                                              .gives = sides.gives,
                                              .takes = sides.takes});
                     }
                     if (added.members > 0) found.all.push_back(added);
                   });
  found.operations = operations.all();
  return found;
}

}  // namespace entrain::paraver
