// SPDX-License-Identifier: BSD-3-Clause
#include "verify/call_blocks.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/free_memory.hpp"
#include "verify/exchange_part.hpp"
#include "verify/named_partners.hpp"

namespace entrain::verify {

namespace op = trace::op;

/// Calls of MPI on communicators, or one-sided ones on RMA windows.
enum class CallFamily { mpi, rma };

/// Pattern of waiting between the processes of an operation.
enum class Shape { none, everybody, one_to_n, n_to_one, n_to_n, scan };

/// Root as named by one call.
struct CallRoot {
  std::uint32_t group = 0;
  std::uint32_t process = k_none;  ///< k_none: names no member
};

namespace {

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
  // Creating or freeing an RMA window synchronises; whether the creation of an MPI handle does is
  // up to the library.
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

bool names_partners(const CallRecord& call) { return (call.flags & trace::k_partners) != 0; }

bool is_rooted(Shape shape) { return shape == Shape::one_to_n || shape == Shape::n_to_one; }

/// CallRoot::process of a call whose root is some other process of its own group.
constexpr std::uint32_t k_somebody = k_none - 1;

}  // namespace

/// Forms the instances of one block, one after the other.
struct CallBlocks::Form {
  Form(const CallBlocks& blocks, Slices block)
      : trace(blocks.trace_), places(blocks.places_), alltoallv(blocks.alltoallv_), slices(block) {
    const auto& definitions = trace.definitions;
    const SpaceIndex space = block[0].head.space;
    const auto comms = static_cast<SpaceIndex>(definitions.comms.size());
    family = space < comms ? CallFamily::mpi : CallFamily::rma;
    comm = &comm_of(definitions, space);
  }

  /// Reads the calls with this ordinal and their root; false if they contradict each other.
  bool take(std::uint32_t ordinal) {
    at = ordinal;
    calls.clear();
    heads.clear();
    for (const Slice& slice : slices) {
      const CallRecord& call = slice.calls[ordinal % k_block];
      if (call.end == k_none) continue;
      calls.push_back(call);
      heads.push_back(&slice.head);
    }
    if (calls.size() < 2) return true;
    shape = shape_of(calls[0].operation, family);
    root = {};
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (calls[i].operation != calls[0].operation || calls[i].blocking != calls[0].blocking) {
        return false;
      }
      if (is_rooted(shape) && !agree_on_root(i)) return false;
    }
    return true;
  }

  bool agree_on_root(std::size_t i) {
    const CallRoot seen = resolve_root(calls[i].root, heads[i]->process, heads[i]->seat);
    if (i == 0) root = seen;
    if (seen.group != root.group) return false;
    if (root.process == k_somebody) root.process = seen.process;
    return seen.process == k_somebody || seen.process == root.process;
  }

  [[nodiscard]] CallRoot resolve_root(std::uint32_t stored, std::uint32_t process,
                                      Seat seat) const {
    if (stored == trace::k_root_self) return {seat.group, process};
    if (!comm->inter) return {0, process_at(trace.definitions, *comm, 0, stored)};
    if (stored == trace::k_root_this_group) return {seat.group, k_somebody};
    return {1 - seat.group, process_at(trace.definitions, *comm, 1 - seat.group, stored)};
  }

  /// True if the options and the synchronisation level allow edges; else counts the instance.
  /// Counts its calls in any case.
  bool in_force(LeftOut& counts) const {
    const auto call_count = static_cast<std::int64_t>(calls.size());
    const bool memory_only =
        family == CallFamily::rma &&
        std::any_of(calls.begin(), calls.end(), [](const auto& c) { return !c.synchronises; });
    const bool totals_only =
        calls[0].operation == op::alltoallv || calls[0].operation == op::alltoallw;
    if (totals_only && !memory_only && alltoallv == AlltoallvRule::ignore) {
      const auto named = std::count_if(calls.begin(), calls.end(), names_partners);
      if (named < call_count) ++counts.skipped.alltoallv_instances;
      counts.coverage.in_instances += named;
      counts.coverage.alltoallv_calls += call_count - named;
      return named > 0;
    }
    counts.coverage.in_instances += call_count;
    if (shape == Shape::none) return false;
    if (memory_only) ++counts.skipped.rma_without_process_sync;
    return !memory_only;
  }

  [[nodiscard]] bool some_name_partners() const {
    return (calls[0].operation == op::alltoallv || calls[0].operation == op::alltoallw) &&
           std::any_of(calls.begin(), calls.end(), names_partners);
  }

  /// Calls of the current instance, if they name partners.
  [[nodiscard]] std::vector<NamedCall> named_calls() const {
    std::vector<NamedCall> result;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const CallRecord& call = calls[i];
      if (call.begin == k_none) continue;
      NamedCall& named = result.emplace_back();
      named.group = heads[i]->seat.group;
      named.rank = heads[i]->seat.rank;
      if (names_partners(call)) {
        const trace::Partners& partners = trace.definitions.partners[call.root];
        named.to = &trace.definitions.rank_sets[partners.to];
        named.from = &trace.definitions.rank_sets[partners.from];
      } else if (alltoallv != AlltoallvRule::ignore) {
        named.sends_to_all = (call.flags & trace::k_sent) != 0;
        named.receives_from_all = (call.flags & trace::k_received) != 0;
      }
      named.begin = moment(*heads[i], call.begin, call.begin_time);
      named.end = moment(*heads[i], call.end, call.end_time);
    }
    return result;
  }

  /// Order of the edges from group `from` among all edges.
  [[nodiscard]] EdgeOrder order(std::uint32_t from) const {
    return {std::uint64_t{1} << 32, slices[0].head.space, std::uint64_t{at} * 2 + from, 0};
  }

  /// Edges from the begins of group `from` to the ends of group `to`.
  void direction(std::uint32_t from, std::uint32_t to, Instance& out) const {
    out.kind = kind_of(shape, family);
    out.ordered = shape == Shape::scan;
    // Channels come before instances, communicators before RMA windows.
    out.order = order(from);
    out.sends.clear();
    out.receives.clear();
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const CallRecord& call = calls[i];
      const CallsHead& head = *heads[i];
      if (call.begin == k_none) continue;
      const bool is_root = head.seat.group == root.group && head.process == root.process;
      const bool sent = shape == Shape::everybody || (call.flags & trace::k_sent) != 0;
      const bool received = shape == Shape::everybody || (call.flags & trace::k_received) != 0;
      if (head.seat.group == from && sent && (shape != Shape::one_to_n || is_root)) {
        out.sends.push_back(moment(head, call.begin, call.begin_time));
      }
      if (head.seat.group == to && received && (shape != Shape::n_to_one || is_root)) {
        out.receives.push_back(moment(head, call.end, call.end_time));
      }
    }
    sort_sides(out);
  }

  [[nodiscard]] Moment moment(const CallsHead& head, std::uint32_t number,
                              std::int64_t time) const {
    const EventRef event = places.event(head.process, number);
    return {.time = time,
            .event = event,
            .process = head.process,
            .machine = trace.definitions.node_of[event.location],
            .rank = head.seat.rank};
  }

  const trace::Trace& trace;
  const Places& places;
  AlltoallvRule alltoallv;
  Slices slices;
  CallFamily family{};
  const trace::Comm* comm = nullptr;
  std::vector<CallRecord> calls;        ///< calls of the current instance
  std::vector<const CallsHead*> heads;  ///< heads of these calls
  std::uint32_t at = 0;                 ///< ordinal of the instance
  Shape shape{};
  CallRoot root;
};

void exchange_parcels(Team& team, std::vector<CallParcel>& parcels) {
  exchange_part(team, parcels, &CallParcel::heads);
  exchange_part(team, parcels, &CallParcel::calls);
}

CallBlocks::CallBlocks(const trace::Trace& trace, const Places& places, AlltoallvRule alltoallv,
                       std::vector<CallParcel>&& parcels)
    : trace_(trace), places_(places), alltoallv_(alltoallv), parcels_(std::move(parcels)) {
  for (CallParcel& parcel : parcels_) {
    CallRecord* calls = parcel.calls.data();
    for (const CallsHead& head : parcel.heads) {
      slices_.push_back({head, calls});
      calls += head.count;
    }
    free_memory(parcel.heads);
  }
  std::sort(slices_.begin(), slices_.end(), [](const Slice& a, const Slice& b) {
    return std::tuple(a.head.space, a.head.block, a.head.process) <
           std::tuple(b.head.space, b.head.block, b.head.process);
  });
}

/// Works process by process, so that the events of each are read in order.
void CallBlocks::set_times(const TimeSource& source) {
  std::vector<const Slice*> slices;
  for (const Slice& slice : slices_) slices.push_back(&slice);
  const auto column = [](const Slice* slice) {
    return std::pair(slice->head.process, slice->head.space);
  };
  std::ranges::stable_sort(slices, {}, column);
  for (auto first = slices.begin(); first != slices.end();) {
    const auto last = std::find_if(
        first, slices.end(), [&](const Slice* slice) { return column(slice) != column(*first); });
    const auto count = static_cast<std::size_t>(last - first) * k_block;
    const std::uint32_t process = (*first)->head.process;
    EventTimes begin_time(source, process, count), end_time(source, process, count);
    for (; first != last; ++first) {
      for (CallRecord& call : std::span((*first)->calls, (*first)->head.count)) {
        if (call.begin != k_none) call.begin_time = begin_time(call.begin);
        if (call.end != k_none) call.end_time = end_time(call.end);
      }
    }
  }
}

template <class Use>
void CallBlocks::for_each_block(Use use) const {
  const Slices all(slices_);
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::find_if(first, all.end(), [&](const Slice& slice) {
      return slice.head.space != first->head.space || slice.head.block != first->head.block;
    });
    use(Slices(first, last));
    first = last;
  }
}

std::vector<SpaceCounts::Disagreement> CallBlocks::disagreements(
    std::span<const std::uint32_t> limits, LeftOut& counts) const {
  std::vector<SpaceCounts::Disagreement> found;
  for_each_block([&](Slices block) {
    const CallsHead& head = block[0].head;
    if (!found.empty() && found.back().space == head.space) return;  // an earlier one decides
    Form form(*this, block);
    const std::uint32_t begin = head.block * k_block;
    for (std::uint32_t k = begin; k < std::min(begin + k_block, limits[head.space]); ++k) {
      if (form.take(k)) {
        if (form.calls.size() < 2) {
          ++counts.unmatched.collectives_incomplete;
        } else if (form.in_force(counts) && form.some_name_partners()) {
          counts.skipped.partners_contradicting +=
              contradictions(form.named_calls(), form.comm->inter);
        }
        continue;
      }
      found.push_back({head.space, k});
      return;
    }
  });
  return found;
}

void CallBlocks::for_each(std::span<const std::uint32_t> limits,
                          const std::function<void(Instance&)>& use) const {
  Instance instance;
  LeftOut already_counted;
  const auto one_direction = [&](const Form& form, std::uint32_t from, std::uint32_t to) {
    form.direction(from, to, instance);
    if (!instance.sends.empty() && !instance.receives.empty()) use(instance);
  };
  for_each_block([&](Slices block) {
    Form form(*this, block);
    const CallsHead& head = block[0].head;
    const std::uint32_t begin = head.block * k_block;
    for (std::uint32_t k = begin; k < std::min(begin + k_block, limits[head.space]); ++k) {
      if (!form.take(k) || form.calls.size() < 2 || !form.in_force(already_counted)) continue;
      if (form.some_name_partners()) {
        for_each_named_instance(form.named_calls(), form.comm->inter, form.order(0), use);
      } else if (!form.comm->inter) {
        one_direction(form, 0, 0);
      } else if (form.shape != Shape::scan) {  // MPI has no scan between groups
        one_direction(form, 0, 1);
        one_direction(form, 1, 0);
      }
    }
  });
}

}  // namespace entrain::verify
