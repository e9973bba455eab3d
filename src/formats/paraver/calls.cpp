// SPDX-License-Identifier: BSD-3-Clause
#include "formats/paraver/calls.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include <fmt/core.h>

#include "base/name_table.hpp"

namespace entrain::paraver {

namespace {

struct Known {
  std::uint64_t value;
  const char* name;
  Shape shape;
};

constexpr std::uint64_t k_barrier = 8;

/// The values of MPI_EventEncoding.h of Extrae.
constexpr std::array<Known, 19> k_known{{
    {7, "Bcast", Shape::from_root},    {k_barrier, "Barrier", Shape::all},
    {9, "Reduce", Shape::to_root},     {10, "Allreduce", Shape::all},
    {11, "Alltoall", Shape::all},      {12, "Alltoallv", Shape::sparse},
    {13, "Gather", Shape::to_root},    {14, "Gatherv", Shape::to_root},
    {15, "Scatter", Shape::from_root}, {16, "Scatterv", Shape::from_root},
    {17, "Allgather", Shape::all},     {18, "Allgatherv", Shape::all},
    {30, "Scan", Shape::scan},         {80, "Reduce_scatter", Shape::all},
    {154, "Ireduce", Shape::none},     {155, "Iallreduce", Shape::none},
    {156, "Ibarrier", Shape::none},    {168, "Reduce_scatter_block", Shape::all},
    {170, "Alltoallw", Shape::sparse},
}};

}  // namespace

Operation operation_of(std::uint64_t value) {
  const auto* const known = std::ranges::find(k_known, value, &Known::value);
  if (known == k_known.end()) return {fmt::format("operation {}", value), Shape::none};
  return {known->name, known->shape};
}

bool is_barrier(std::uint64_t value) { return value == k_barrier; }

namespace {

/// The calls of the members of a communicator.
class Group {
 public:
  /// `order`: calls of the communicator, sorted by task and number.
  Group(const Calls& calls, const Communicator& communicator, std::span<const std::uint32_t> order)
      : calls_(calls) {
    bool is_whole = true, is_cut_inside = false;
    std::size_t least = ~std::size_t{0};
    for (const std::uint32_t task : communicator.tasks) {
      is_whole &= calls.has_init[task] != 0;
      is_cut_inside |= calls.has_alone_end[task] != 0;
      const auto own = std::ranges::equal_range(order, task, {},
                                                [&](std::uint32_t c) { return calls.all[c].task; });
      of_rank_.emplace_back(own.begin(), own.end());
      least = std::min(least, of_rank_.back().size());
      most_ = std::max(most_, of_rank_.back().size());
    }
    while (usable_ < most_ && agree(usable_)) ++usable_;
    const bool fit = !is_cut_inside && least == most_ && usable_ == most_;
    if (!is_whole && !fit) usable_ = 0;
  }

  /// Number of instances.
  [[nodiscard]] std::size_t usable() const { return usable_; }
  /// Calls that are in no instance.
  [[nodiscard]] std::uint64_t left() const {
    std::uint64_t sum = 0;
    for (const auto& own : of_rank_) sum += own.size() - std::min(own.size(), usable_);
    return sum;
  }
  /// Adds the members of an instance; returns their operation.
  std::uint64_t add(std::size_t number, BigVector<Member>& members) const {
    std::uint64_t operation = 0;
    for (std::uint32_t rank = 0; rank < of_rank_.size(); ++rank) {
      if (number >= of_rank_[rank].size()) continue;
      members.push_back({of_rank_[rank][number], rank});
      operation = calls_.all[of_rank_[rank][number]].operation;
    }
    return operation;
  }

 private:
  /// True if all calls of a number are of one operation.
  [[nodiscard]] bool agree(std::size_t number) const {
    std::uint64_t operation = 0;
    for (const auto& own : of_rank_) {
      if (number >= own.size()) continue;
      const std::uint64_t other = calls_.all[own[number]].operation;
      if (operation != 0 && other != operation) return false;
      operation = other;
    }
    return true;
  }

  const Calls& calls_;
  std::vector<std::span<const std::uint32_t>> of_rank_;
  std::size_t most_ = 0, usable_ = 0;
};

}  // namespace

Instances pair_calls(const Calls& calls) {
  Instances found;
  BigVector<std::uint32_t> order(calls.all.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::uint32_t c) {
    const Call& call = calls.all[c];
    return std::tuple(call.communicator, call.task, call.begin, c);
  });
  std::size_t at = 0, members = 0;
  for (std::uint32_t g = 0; g < calls.communicators.size(); ++g) {
    const std::size_t begin = at;
    while (at < order.size() && calls.all[order[at]].communicator == g) ++at;
    if (begin == at) continue;
    const Group group(calls, calls.communicators[g], std::span(order).subspan(begin, at - begin));
    for (std::size_t number = 0; number < group.usable(); ++number) {
      const std::uint64_t first = found.members.size();
      const std::uint64_t operation = group.add(number, found.members);
      found.all.push_back({.first = first,
                           .members = static_cast<std::uint32_t>(found.members.size() - first),
                           .communicator = g,
                           .operation = operation});
    }
    found.ambiguous += group.left();
    members += group.left();
  }
  found.without_group = calls.all.size() - found.members.size() - members;
  return found;
}

namespace {

/// Whether a member's begin is waited for, and whether its end waits.
struct Sides {
  bool gives = false, takes = false;
};

/// `root`: the member is it.
Sides sides_of(const Call& call, Shape shape, bool root) {
  const bool is_barrier = paraver::is_barrier(call.operation);
  return {.gives = (shape != Shape::from_root || root) && (is_barrier || call.gives),
          .takes = shape == Shape::from_root
                       ? !root && call.takes
                       : (shape != Shape::to_root || root) && (is_barrier || call.takes)};
}

/// The member that is the root; k_none if there is none, or several.
std::uint32_t root_of(const Calls& calls, std::span<const Member> members) {
  std::uint32_t root = k_none;
  for (std::uint32_t m = 0; m < members.size(); ++m) {
    if (!calls.all[members[m].call].is_root) continue;
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
  const auto others = std::ranges::unique(members, {}, &InstanceMember::clock);
  members.erase(others.begin(), others.end());
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
    const std::span<const Member> members = instances.of(one);
    const std::size_t size = calls.communicators[one.communicator].tasks.size();
    if (size < 2) continue;
    const Shape shape = operation_of(one.operation).shape;
    const bool has_root = shape == Shape::from_root || shape == Shape::to_root;
    const std::uint32_t root = root_of(calls, members);
    if (members.size() < size) without.incomplete += members.size();
    if (shape == Shape::sparse || shape == Shape::none) {
      (shape == Shape::sparse ? without.sparse : without.others) += members.size();
    } else if (has_root && root == k_none) {
      without.rootless += members.size();
    } else {
      if (members.size() == size) without.in_complete += members.size();
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
      [&](const Instance& one, std::span<const Member> members, Shape shape, std::uint32_t root) {
        const std::uint64_t first = list.members.size();
        CollectiveInstance added{
            .kind = kind_of(shape), .ends_coincide = is_barrier(one.operation), .first = first};
        for (const bool ends : {false, true}) {
          std::vector<InstanceMember> sides;
          for (std::uint32_t m = 0; m < members.size(); ++m) {
            const Call& call = calls.all[members[m].call];
            const Sides own = sides_of(call, shape, m == root);
            if (ends ? !own.takes || call.end == Call::k_endless : !own.gives) continue;
            sides.push_back({.clock = header.tasks[call.task].clock,
                             .rank = members[m].rank,
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
  for_each_waiting(
      calls, instances,
      [&](const Instance& one, std::span<const Member> members, Shape shape, std::uint32_t root) {
        if (shape == Shape::scan) return;
        const std::size_t size = calls.communicators[one.communicator].tasks.size();
        trace::CollectiveOperation added{
            .first = found.calls.size(),
            .expected = static_cast<std::uint32_t>(size),
            .operation = operations.number(operation_of(one.operation).name),
            .group = one.communicator};
        for (std::uint32_t m = 0; m < members.size(); ++m) {
          const Call& call = calls.all[members[m].call];
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
