// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <tuple>

#include "verify/records.hpp"

namespace entrain::verify {

using trace::Event;
using trace::EventKind;
namespace op = trace::op;

namespace {

constexpr std::uint32_t k_process_sync = 1;  // OTF2_RMA_SYNC_LEVEL_PROCESS

/// Who waits for whom in an operation.
enum class Shape { none, everybody, one_to_n, n_to_one, n_to_n, scan };

Shape shape_of(std::uint8_t operation, CallFamily family) {
  switch (operation) {
    case op::barrier:
      return Shape::everybody;
    case op::bcast:
    case op::scatter:
    case op::scatterv:
      return Shape::one_to_n;
    case op::gather:
    case op::gatherv:
    case op::reduce:
      return Shape::n_to_one;
    case op::scan:
    case op::exscan:
      return Shape::scan;
    default:
      break;
  }
  if (operation < op::create_handle) return Shape::n_to_n;
  // Creating or freeing a window synchronises; what a library does for MPI handles is its own
  // affair.
  return family == CallFamily::rma ? Shape::everybody : Shape::none;
}

EdgeKind kind_of(Shape shape, CallFamily family) {
  if (family == CallFamily::rma) return EdgeKind::rma;
  switch (shape) {
    case Shape::one_to_n:
      return EdgeKind::one_to_n;
    case Shape::n_to_one:
      return EdgeKind::n_to_one;
    case Shape::scan:
      return EdgeKind::scan;
    default:
      return EdgeKind::n_to_n;
  }
}

bool is_rooted(Shape shape) { return shape == Shape::one_to_n || shape == Shape::n_to_one; }

/// The root as one call sees it.
struct Root {
  std::uint32_t group = 0;
  std::uint32_t process = k_none;  ///< k_none: names no member
};
/// Root::process of a call that only knows that the root is in its own group.
constexpr std::uint32_t k_somebody = k_none - 1;

Root resolve_root(const Membership& members, std::uint32_t stored, std::uint32_t process,
                  Seat seat) {
  if (stored == trace::k_root_self) return {seat.group, process};
  if (!members.inter()) return {0, members.process_at(0, stored)};
  if (stored == trace::k_root_this_group) return {seat.group, k_somebody};
  return {1 - seat.group, members.process_at(1 - seat.group, stored)};
}

/// The calls of one process on one communicator, in order.
struct Column {
  std::span<const Call> calls;
  Seat seat;
};

/// Forms the instances of one communicator or window.
class SpacePairing {
 public:
  SpacePairing(const trace::Trace& trace, const Membership& members, CallFamily family,
               AlltoallvRule alltoallv, Pairing& out)
      : trace_(trace), members_(members), family_(family), alltoallv_(alltoallv), out_(out) {}

  void pair(std::span<const Call> calls) {
    split(calls);
    if (columns_.empty()) return;
    std::size_t shortest = columns_[0].calls.size(), longest = shortest;
    for (const Column& column : columns_) {
      shortest = std::min(shortest, column.calls.size());
      longest = std::max(longest, column.calls.size());
    }
    for (std::size_t k = 0; k < shortest; ++k) {
      Root root;
      if (!agree(k, root)) {
        for (const Column& column : columns_) {
          out_.unmatched.collectives_mismatched += column.calls.size() - k;
        }
        return;
      }
      add(k, root);
    }
    out_.unmatched.collectives_incomplete += longest - shortest;
  }

 private:
  const Event& end_of(const Call& call) const {
    return trace_.locations[call.location].events[call.end];
  }

  void split(std::span<const Call> calls) {
    for (auto first = calls.begin(); first != calls.end();) {
      const auto last = std::find_if(
          first, calls.end(), [&](const Call& call) { return call.process != first->process; });
      if (const auto seat = members_.seat_of(first->process)) {
        columns_.push_back({{first, last}, *seat});
      } else {
        out_.unmatched.collectives_mismatched += static_cast<std::uint64_t>(last - first);
      }
      first = last;
    }
  }

  /// Whether all k-th calls can be one instance; finds the root as well as anybody knows it.
  bool agree(std::size_t k, Root& root) const {
    const Event& model = end_of(columns_[0].calls[k]);
    const bool rooted = is_rooted(shape_of(model.op, family_));
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Call& call = columns_[i].calls[k];
      const Event& event = end_of(call);
      if (event.op != model.op || event.kind != model.kind) return false;
      if (!rooted) continue;
      const Root seen = resolve_root(members_, event.peer, call.process, columns_[i].seat);
      if (i == 0) root = seen;
      if (seen.group != root.group) return false;
      if (root.process == k_somebody) root.process = seen.process;
      if (seen.process != k_somebody && seen.process != root.process) return false;
    }
    return true;
  }

  void add(std::size_t k, const Root& root) {
    if (columns_.size() < 2) return;
    const Event& model = end_of(columns_[0].calls[k]);
    const Shape shape = shape_of(model.op, family_);
    if (shape == Shape::none || !in_force(k, model.op)) return;
    if (!members_.inter()) {
      add_direction(k, shape, root, 0, 0);
    } else if (shape != Shape::scan) {  // MPI has no scan between groups
      add_direction(k, shape, root, 0, 1);
      add_direction(k, shape, root, 1, 0);
    }
  }

  /// Whether the options and the synchronisation level make edges of instance k; counts if not.
  bool in_force(std::size_t k, std::uint8_t operation) {
    if (family_ == CallFamily::rma) {
      for (const Column& column : columns_) {
        if ((end_of(column.calls[k]).tag & k_process_sync) != 0) continue;
        ++out_.skipped.rma_without_process_sync;
        return false;
      }
    }
    const bool totals_only = operation == op::alltoallv || operation == op::alltoallw;
    if (totals_only && alltoallv_ == AlltoallvRule::ignore) {
      ++out_.skipped.alltoallv_instances;
      return false;
    }
    return true;
  }

  /// Edges from the begins of group `from` to the ends of group `to`.
  void add_direction(std::size_t k, Shape shape, const Root& root, std::uint32_t from,
                     std::uint32_t to) {
    sends_.clear();
    receives_.clear();
    for (const Column& column : columns_) {
      const Call& call = column.calls[k];
      if (call.begin == k_none) continue;
      const std::uint8_t flags = end_of(call).flags;
      const bool is_root = column.seat.group == root.group && call.process == root.process;
      const bool sent = shape == Shape::everybody || (flags & trace::k_sent) != 0;
      const bool received = shape == Shape::everybody || (flags & trace::k_received) != 0;
      if (column.seat.group == from && sent && (shape != Shape::one_to_n || is_root)) {
        sends_.push_back({{call.location, call.begin}, column.seat.rank});
      }
      if (column.seat.group == to && received && (shape != Shape::n_to_one || is_root)) {
        receives_.push_back({{call.location, call.end}, column.seat.rank});
      }
    }
    out_.add_instance(kind_of(shape, family_), shape == Shape::scan, sends_, receives_);
  }

  const trace::Trace& trace_;
  const Membership& members_;
  CallFamily family_;
  AlltoallvRule alltoallv_;
  Pairing& out_;
  std::vector<Column> columns_;
  std::vector<Participant> sends_, receives_;
};

/// The communicator that a space means, or null.
const trace::Comm* comm_of(const trace::Definitions& definitions, std::uint32_t space,
                           CallFamily family) {
  std::uint32_t comm = space;
  if (family == CallFamily::rma) {
    comm = space < definitions.windows.size() ? definitions.windows[space].comm : k_none;
  }
  return comm < definitions.comms.size() ? &definitions.comms[comm] : nullptr;
}

}  // namespace

void collect_calls(const trace::Trace& trace, LocationIndex location, const Requests& requests,
                   const ProcessOrder& order, CallFamily family, std::vector<Call>& calls,
                   Unmatched& unmatched) {
  const bool mpi = family == CallFamily::mpi;
  const auto begin_kind = mpi ? EventKind::collective_begin : EventKind::rma_collective_begin;
  const auto end_kind = mpi ? EventKind::collective_end : EventKind::rma_collective_end;
  const auto& events = trace.locations[location].events;
  const std::uint32_t process = trace.definitions.process_of[location];
  std::uint32_t open = k_none;
  for (std::uint32_t e = 0; e < events.size(); ++e) {
    const EventKind kind = events[e].kind;
    std::uint32_t begin = k_none;
    if (kind == begin_kind) {
      open = e;
      continue;
    }
    if (kind == end_kind) {
      begin = open;
      open = k_none;
    } else if (mpi && kind == EventKind::nb_complete) {
      begin = requests.origin[e];
    } else {
      continue;
    }
    if (begin == k_none) ++unmatched.collective_ends_without_begin;
    const std::uint32_t position = order(location, begin == k_none ? e : begin);
    calls.push_back({events[e].comm, process, position, location, begin, e});
  }
}

void pair_calls(const trace::Trace& trace, std::vector<Call> calls, CallFamily family,
                AlltoallvRule alltoallv, Pairing& out) {
  std::sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) {
    return std::tuple(a.space, a.process, a.order) < std::tuple(b.space, b.process, b.order);
  });
  const std::span<const Call> all(calls);
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(first, all.end(),
                                   [&](const Call& call) { return call.space != first->space; });
    const trace::Comm* comm = comm_of(trace.definitions, first->space, family);
    if (comm == nullptr) {
      out.unmatched.collectives_mismatched += static_cast<std::uint64_t>(last - first);
    } else if (!comm->self) {  // alone, a process waits for nobody
      const Membership members(trace.definitions, *comm);
      SpacePairing(trace, members, family, alltoallv, out).pair({first, last});
    }
    first = last;
  }
}

}  // namespace entrain::verify
