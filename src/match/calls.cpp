// SPDX-License-Identifier: BSD-3-Clause
#include "match/calls.hpp"

#include <algorithm>

#include "match/named_instances.hpp"

namespace entrain::match {

namespace {

namespace op = trace::op;

/// Senders and receivers of an instance.
enum class Shape { none, everybody, all_to_all, from_root, to_root, prefix, totals_only };

Shape shape_of(std::uint8_t code, bool one_sided) {
  switch (code) {
    case op::barrier:
      return Shape::everybody;
    case op::bcast:
    case op::scatter:
    case op::scatterv:
      return Shape::from_root;
    case op::gather:
    case op::gatherv:
    case op::reduce:
      return Shape::to_root;
    case op::allgather:
    case op::allgatherv:
    case op::alltoall:
    case op::allreduce:
    case op::reduce_scatter:
    case op::reduce_scatter_block:
      return Shape::all_to_all;
    case op::alltoallv:
    case op::alltoallw:
      return Shape::totals_only;
    case op::scan:
    case op::exscan:
      return Shape::prefix;
    default:
      // Creating or freeing a window synchronises its processes; a communicator need not.
      return one_sided ? Shape::everybody : Shape::none;
  }
}

bool roots_agree(std::uint32_t a, std::uint32_t b) {
  return a == b || a == k_root_elsewhere || b == k_root_elsewhere;
}

EdgeKind kind_of(Shape shape, bool one_sided) {
  if (one_sided) return EdgeKind::rma;
  switch (shape) {
    case Shape::from_root:
      return EdgeKind::one_to_n;
    case Shape::to_root:
      return EdgeKind::n_to_one;
    case Shape::prefix:
      return EdgeKind::scan;
    default:
      return EdgeKind::n_to_n;
  }
}

/// Senders and receivers of one direction of an instance.
class InstanceSides {
 public:
  InstanceSides(Builder& builder, Shape shape, std::uint32_t root)
      : builder_(builder), shape_(shape), root_(root) {}

  void add_send(const CommProcess& member, const Call& call) {
    const bool everybody = shape_ == Shape::everybody;
    if ((!everybody && !call.sent) || call.begin.location == k_none) return;
    if (shape_ == Shape::from_root && member.process != root_) return;
    sends.push_back(builder_.participant(call.begin, member.rank));
  }
  void add_receive(const CommProcess& member, const Call& call) {
    const bool everybody = shape_ == Shape::everybody;
    if ((!everybody && !call.received) || call.begin.location == k_none) return;
    if (shape_ == Shape::to_root && member.process != root_) return;
    receives.push_back(builder_.participant(call.end, member.rank));
  }

  void reserve(std::size_t members) {
    sends.reserve(shape_ == Shape::from_root ? 1 : members);
    receives.reserve(shape_ == Shape::to_root ? 1 : members);
  }

  std::vector<Participant> sends, receives;

 private:
  Builder& builder_;
  Shape shape_;
  std::uint32_t root_;
};

/// Root of an instance, from any call that knows it.
std::uint32_t common_root(std::span<const Call> calls) {
  for (const Call& call : calls) {
    if (call.root != k_root_elsewhere) return call.root;
  }
  return k_none;
}

}  // namespace

bool has_root(std::uint8_t code) {
  const Shape shape = shape_of(code, false);
  return shape == Shape::from_root || shape == Shape::to_root;
}

bool agree(std::span<const Call> calls) {
  const std::uint32_t root = common_root(calls);
  return std::all_of(calls.begin(), calls.end(), [&](const Call& call) {
    return call.op == calls[0].op && call.non_blocking == calls[0].non_blocking &&
           (!has_root(call.op) || roots_agree(call.root, root));
  });
}

std::vector<CommProcess> processes_of(const Builder& builder, const trace::Comm& comm) {
  std::vector<CommProcess> result;
  const auto add = [&](const std::vector<LocationIndex>& group, bool second) {
    for (std::uint32_t rank = 0; rank < group.size(); ++rank) {
      if (group[rank] != k_none) {
        result.push_back({builder.process_of(group[rank]), rank, second});
      }
    }
  };
  add(comm.group_a, false);
  if (comm.inter) add(comm.group_b, true);
  // A group that names several threads of a process counts the process once, at its first rank.
  std::vector<std::uint32_t> order(result.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return result[a].process < result[b].process;
  });
  std::vector<bool> again(result.size(), false);
  for (std::size_t i = 1; i < order.size(); ++i) {
    again[order[i]] = result[order[i]].process == result[order[i - 1]].process;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (!again[i]) result[kept++] = result[i];
  }
  result.resize(kept);
  return result;
}

void add_instance(Builder& builder, std::span<const CommProcess> members,
                  std::span<const Call> calls, const trace::Comm& comm, bool one_sided) {
  Shape shape = shape_of(calls[0].op, one_sided);
  if (shape == Shape::totals_only) {
    if (any_names_partners(calls)) return add_named_instance(builder, members, calls, comm);
    if (!builder.options().dense_alltoallv) {
      builder.count_skipped("alltoallv_instances");
      return;
    }
    shape = Shape::all_to_all;
  }
  if (shape == Shape::none) return;
  const std::uint32_t root = common_root(calls);
  const EdgeKind kind = kind_of(shape, one_sided);
  // An inter-communicator exchanges only between its groups: once in each direction.
  for (const bool to_second : {true, false}) {
    if (!to_second && !comm.inter) break;
    InstanceSides sides(builder, shape, root);
    sides.reserve(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      const bool in_second = members[i].second_group;
      if (!comm.inter || in_second != to_second) sides.add_send(members[i], calls[i]);
      if (!comm.inter || in_second == to_second) sides.add_receive(members[i], calls[i]);
    }
    builder.add_exchange(kind, shape == Shape::prefix, sides.sends, sides.receives);
  }
}

}  // namespace entrain::match
