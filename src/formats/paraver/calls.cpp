// SPDX-License-Identifier: BSD-3-Clause
#include "formats/paraver/calls.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "base/flat_map.hpp"
#include "base/name_table.hpp"

namespace entrain::paraver {

namespace {

/// The values of MPI_EventEncoding.h of Extrae.
constexpr std::array<Operation, 16> k_operations{{
    {7, "Bcast", EdgeKind::one_to_n},
    {k_barrier, "Barrier", EdgeKind::n_to_n},
    {9, "Reduce", EdgeKind::n_to_one},
    {10, "Allreduce", EdgeKind::n_to_n},
    {11, "Alltoall", EdgeKind::n_to_n},
    {12, "Alltoallv", {}, true},
    {13, "Gather", EdgeKind::n_to_one},
    {14, "Gatherv", EdgeKind::n_to_one},
    {15, "Scatter", EdgeKind::one_to_n},
    {16, "Scatterv", EdgeKind::one_to_n},
    {17, "Allgather", EdgeKind::n_to_n},
    {18, "Allgatherv", EdgeKind::n_to_n},
    {30, "Scan", EdgeKind::scan},
    {80, "Reduce_scatter", EdgeKind::n_to_n},
    {168, "Reduce_scatter_block", EdgeKind::n_to_n},
    {170, "Alltoallw", {}, true},
}};
constexpr Operation k_other;

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

/// Whether a member's begin is waited for, and whether its end waits.
struct Sides {
  bool gives = false, takes = false;
};

/// `root`: the member is it.
Sides sides_of(const Call& call, EdgeKind kind, bool root) {
  const bool is_barrier = call.operation == k_barrier;
  return {.gives = (kind != EdgeKind::one_to_n || root) && (is_barrier || call.gives),
          .takes = kind == EdgeKind::one_to_n
                       ? !root && call.takes
                       : (kind != EdgeKind::n_to_one || root) && (is_barrier || call.takes)};
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
void keep_strictest(std::vector<InstanceMember>& members, EdgeKind kind, bool ends) {
  const bool is_scan = kind == EdgeKind::scan, is_largest_first = ends == is_scan;
  std::ranges::sort(members, {}, [&](const InstanceMember& one) {
    const std::uint64_t value = is_scan ? one.rank : one.time;
    return std::tuple(one.clock, is_largest_first ? ~value : value, one.rank);
  });
  const auto same = [](const auto& a, const auto& b) { return a.clock == b.clock; };
  members.erase(std::unique(members.begin(), members.end(), same), members.end());
  std::ranges::sort(members, {}, &InstanceMember::rank);
}

/// Calls `see(instance, members, kind, root)` for the instances of several processes of which it
/// is known who waits for whom, and counts the calls of others.
template <class See>
WithoutEdges for_each_waiting(const Calls& calls, const Instances& instances, const See& see) {
  WithoutEdges without;
  for (const Instance& one : instances.all) {
    const std::span<const std::uint32_t> members = instances.of(one);
    if (members.size() < 2) continue;
    const Operation& operation = operation_of(one.operation);
    const std::uint32_t root = root_of(calls, members);
    const bool has_root =
        operation.kind == EdgeKind::one_to_n || operation.kind == EdgeKind::n_to_one;
    if (!operation.kind) {
      (operation.is_sparse ? without.sparse : without.others) += members.size();
    } else if (has_root && root == k_none) {
      without.rootless += members.size();
    } else {
      without.with_edges += members.size();
      see(one, members, *operation.kind, root);
    }
  }
  return without;
}

}  // namespace

const Operation& operation_of(std::uint64_t value) {
  const auto* const known = std::ranges::find(k_operations, value, &Operation::value);
  return known == k_operations.end() ? k_other : *known;
}

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
      const auto own = std::ranges::lower_bound(order, std::pair(g, task), {}, key);
      ranks.emplace_back(own, std::ranges::upper_bound(order, std::pair(g, task), {}, key));
      total += ranks.back().size();
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

std::uint64_t drop_refuted(Instances& instances, const Calls& calls) {
  std::vector<bool> used(calls.all.size());
  FlatMap<std::uint64_t, std::uint64_t, IntegerHash> latest;  // begins per communicator and rank
  const auto holds = [&](const Instance& one) {
    if (one.communicator >= calls.communicators.size()) return false;
    const std::vector<std::uint32_t>& tasks = calls.communicators[one.communicator].tasks;
    const std::span<const std::uint32_t> members = instances.of(one);
    if (members.size() != tasks.size()) return false;
    for (std::uint32_t rank = 0; rank < members.size(); ++rank) {
      if (members[rank] >= used.size() || used[members[rank]]) return false;
      used[members[rank]] = true;
      const Call& call = calls.all[members[rank]];
      std::uint64_t& begin = *latest.insert(std::uint64_t{one.communicator} << 32 | rank, 0).first;
      if (call.task != tasks[rank] || call.communicator != one.communicator ||
          call.operation != one.operation || call.end < call.begin || call.begin < begin) {
        return false;
      }
      begin = call.begin;
    }
    return true;
  };
  std::uint64_t dropped = 0;
  std::erase_if(instances.all, [&](const Instance& one) {
    const bool is_refuted = !holds(one);
    dropped += is_refuted ? one.members : 0;
    return is_refuted;
  });
  return dropped;
}

WithoutEdges add_edges(const Calls& calls, const Instances& instances, const Header& header,
                       EdgeList& list) {
  return for_each_waiting(
      calls, instances,
      [&](const Instance& one, std::span<const std::uint32_t> members, EdgeKind kind,
          std::uint32_t root) {
        const std::uint64_t first = list.members.size();
        CollectiveInstance added{
            .kind = kind, .ends_coincide = one.operation == k_barrier, .first = first};
        for (const bool ends : {false, true}) {
          std::vector<InstanceMember> sides;
          for (std::uint32_t m = 0; m < members.size(); ++m) {
            const Call& call = calls.all[members[m]];
            const Sides own = sides_of(call, kind, m == root);
            if (ends ? !own.takes || call.end == Call::k_endless : !own.gives) continue;
            sides.push_back({.clock = header.tasks[call.task].clock,
                             .rank = m,
                             .time = ends ? call.end : call.begin});
          }
          keep_strictest(sides, kind, ends);
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
                   [&](const Instance& one, std::span<const std::uint32_t> members, EdgeKind kind,
                       std::uint32_t root) {
                     if (kind == EdgeKind::scan) return;
                     trace::CollectiveOperation added{
                         .first = found.calls.size(),
                         .expected = one.members,
                         .operation = operations.number(operation_of(one.operation).name),
                         .group = one.communicator};
                     for (std::uint32_t m = 0; m < members.size(); ++m) {
                       const Call& call = calls.all[members[m]];
                       if (call.end == Call::k_endless) continue;
                       const Sides sides = sides_of(call, kind, m == root);
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
