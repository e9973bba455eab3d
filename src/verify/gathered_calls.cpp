// SPDX-License-Identifier: BSD-3-Clause
#include "verify/gathered_calls.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "trace/definitions.hpp"

namespace entrain::verify {

namespace op = trace::op;

/// Calls of MPI on communicators, one-sided ones on RMA windows, MPI_Init and MPI_Finalize.
enum class CallFamily { mpi, rma, world };

/// Pattern of waiting between the processes of an operation.
enum class Shape { none, everybody, one_to_n, n_to_one, n_to_n, scan };

/// Root as named by one call.
struct CallRoot {
  std::uint32_t group = 0;
  std::uint32_t process = k_none;  ///< k_none: names no member
};

/// A call of an operation in which each process chooses its targets (Alltoallv, Alltoallw,
/// neighbourhood collectives).
struct NamedCall {
  std::uint32_t group = 0;  ///< 1 only in the second group of an inter-communicator
  std::uint32_t rank = 0;
  const trace::RankSet* to = nullptr;    ///< ranks it sent to; null: unknown
  const trace::RankSet* from = nullptr;  ///< ranks it received from; null if `to` is
  bool sends_to_all = false;             ///< assumption if `to` is null
  bool receives_from_all = false;
  Moment begin, end;
};

namespace {

using Positions = std::vector<std::uint32_t>;  ///< increasing positions of calls

bool says(const NamedCall& call) { return call.to != nullptr; }

bool sends(const NamedCall& from, const NamedCall& to) {
  return says(from) ? from.to->contains(to.rank) : from.sends_to_all;
}

/// True if all calls of one group name all of them as partners in both directions.
bool all_with_all(std::span<const NamedCall> calls, bool inter) {
  return !inter && std::ranges::all_of(calls, [&](const NamedCall& call) {
    return says(call) && call.to == calls[0].to && call.from == calls[0].from &&
           call.to->contains(call.rank) && call.from->contains(call.rank);  // so all have all
  });
}

class ByRank {
 public:
  ByRank(std::span<const NamedCall> calls, bool inter) : inter_(inter) {
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      Positions& group = at_[calls[i].group];
      if (calls[i].rank >= group.size()) group.resize(calls[i].rank + 1, k_none);
      group[calls[i].rank] = i;
    }
  }
  /// Calls `found` with each call of `ranks`, as a call of `group` means them.
  template <class Found>
  void for_each(const trace::RankSet& ranks, std::uint32_t group, Found found) const {
    const Positions& others = at_[inter_ ? 1 - group : group];
    ranks.for_each_below(others.size(), [&](std::uint32_t rank) {
      if (others[rank] != k_none) found(others[rank]);
    });
  }

 private:
  bool inter_;
  std::array<Positions, 2> at_;
};

/// Calls `use` with edges from the begins of the calls of one instance to the ends, grouped in any
/// number of instances with this order: an edge leads from a to b if a names b as a target and b
/// names a as a source. `inter`: on an inter-communicator, where ranks are those of the
/// other group. O(partners log ranges), O(processes log ranges) if all exchange data with all.
void for_each_named_instance(std::span<const NamedCall> calls, bool inter, const EdgeOrder& order,
                             const std::function<void(Instance&)>& use) {
  const auto hand_over = [&](const Positions& senders, const Positions& receivers) {
    Instance instance;
    instance.order = order;
    for (const std::uint32_t i : senders) instance.sends.push_back(calls[i].begin);
    for (const std::uint32_t i : receivers) instance.receives.push_back(calls[i].end);
    sort_sides(instance);
    use(instance);
  };
  std::map<Positions, Positions> receivers;  // by their senders
  const bool regular = all_with_all(calls, inter);
  const ByRank by_rank(calls, inter);
  Positions everybody(regular ? calls.size() : 0);
  std::iota(everybody.begin(), everybody.end(), 0U);
  for (std::uint32_t b = 0; !regular && b < calls.size(); ++b) {
    Positions senders;
    const auto look_at = [&](std::uint32_t a) {
      if (sends(calls[a], calls[b])) senders.push_back(a);
    };
    if (says(calls[b])) {
      by_rank.for_each(*calls[b].from, calls[b].group, look_at);
    } else if (calls[b].receives_from_all) {
      for (std::uint32_t a = 0; a < calls.size(); ++a) {
        if (!inter || calls[a].group != calls[b].group) look_at(a);
      }
    }
    std::ranges::sort(senders);
    if (!senders.empty() && senders != Positions{b}) receivers[senders].push_back(b);
  }
  if (regular && calls.size() > 1) hand_over(everybody, everybody);
  for (const auto& [from, to] : receivers) hand_over(from, to);
}

/// Number of pairs of calls with named partners that contradict each other: only one of them says
/// that a sent to b.
std::int64_t contradictions(std::span<const NamedCall> calls, bool inter) {
  if (all_with_all(calls, inter)) return 0;
  const ByRank by_rank(calls, inter);
  std::int64_t count = 0;
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    const NamedCall& call = calls[i];
    if (!says(call)) continue;
    const auto count_doubtful = [&](const trace::RankSet& named, auto back) {
      by_rank.for_each(named, call.group, [&](std::uint32_t other) {
        if (other == i || !says(calls[other])) return;
        if (!(calls[other].*back)->contains(call.rank)) ++count;
      });
    };
    count_doubtful(*call.to, &NamedCall::from);
    count_doubtful(*call.from, &NamedCall::to);
  }
  return count;
}

constexpr std::uint32_t k_process_sync = 1;  // OTF2_RMA_SYNC_LEVEL_PROCESS

CallFamily family_of(const trace::Definitions& definitions, SpaceIndex space) {
  if (space >= first_world_space(definitions)) return CallFamily::world;
  return space < definitions.comms.size() ? CallFamily::mpi : CallFamily::rma;
}

Shape shape_of(std::uint8_t operation, CallFamily family) {
  if (family == CallFamily::world) return Shape::everybody;
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
  constexpr std::array k_kinds{EdgeKind::n_to_n,   EdgeKind::n_to_n, EdgeKind::one_to_n,
                               EdgeKind::n_to_one, EdgeKind::n_to_n, EdgeKind::scan};
  if (family == CallFamily::rma) return EdgeKind::rma;
  if (family == CallFamily::world) return EdgeKind::init_finalize;
  return k_kinds[static_cast<std::size_t>(shape)];
}

bool lacks_members(const trace::Definitions& definitions, const trace::Comm& comm) {
  const auto lacks = [&](const std::vector<LocationIndex>& group) {
    return std::ranges::any_of(group,
                               [&](LocationIndex l) { return l >= definitions.process_of.size(); });
  };
  return lacks(comm.group_a) || (comm.inter && lacks(comm.group_b));
}

bool names_partners(const CallRecord& call) { return (call.flags & trace::k_partners) != 0; }

/// CallRoot::process of a call whose root is some other process of its own group.
constexpr std::uint32_t k_somebody = k_none - 1;

}  // namespace

/// Forms the instances of one range, one after the other.
struct GatheredCalls::Form {
  Form(const GatheredCalls& gathered, const Range& of)
      : trace(gathered.trace_),
        places(gathered.places_),
        alltoallv(gathered.alltoallv_),
        range(of),
        space(of.columns[0].head.space),
        family(family_of(trace.definitions, space)),
        comm(comm_of(trace.definitions, space)),
        is_whole(!lacks_members(trace.definitions, comm)) {}

  /// Reads the calls with this ordinal and their root; false if they contradict each other.
  bool take(std::uint32_t ordinal) {
    at = ordinal;
    calls.clear();
    heads.clear();
    for (const Column& column : range.columns) {
      const CallRecord& call = column.calls[ordinal - range.begin];
      if (call.end == k_none) continue;
      calls.push_back(call);
      heads.push_back(&column.head);
    }
    if (calls.size() < 2) return true;
    shape = shape_of(calls[0].operation, family);
    root = {};
    const bool is_rooted = shape == Shape::one_to_n || shape == Shape::n_to_one;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (calls[i].operation != calls[0].operation || calls[i].blocking != calls[0].blocking) {
        return false;
      }
      if (is_rooted && !agree_on_root(i)) return false;
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
    if (!comm.inter) return {0, process_at(trace.definitions, comm, 0, stored)};
    if (stored == trace::k_root_this_group) return {seat.group, k_somebody};
    return {1 - seat.group, process_at(trace.definitions, comm, 1 - seat.group, stored)};
  }

  /// True if the options and the synchronisation level allow edges; else counts the instance.
  /// Counts its calls in any case.
  bool in_force(LeftOut& counts) const {
    if (family == CallFamily::world) return true;
    const std::uint64_t call_count = calls.size();
    const bool memory_only =
        family == CallFamily::rma &&
        std::ranges::any_of(calls, [](const auto& c) { return !c.synchronises; });
    if (has_totals_only() && !memory_only && alltoallv == AlltoallvRule::ignore) {
      const auto named = static_cast<std::uint64_t>(std::ranges::count_if(calls, names_partners));
      if (named < call_count) ++counts.skipped.alltoallv_instances;
      if (is_whole) counts.coverage.in_instances += named;
      counts.coverage.alltoallv_skipped += call_count - named;
      return named > 0;
    }
    if (is_whole) counts.coverage.in_instances += call_count;
    if (shape == Shape::none) return false;
    if (memory_only) ++counts.skipped.rma_without_process_sync;
    return !memory_only;
  }

  /// Adds the calls that in_force() counted to those of their processes: all, or those that name
  /// their partners.
  void count_covered(std::uint64_t covered, std::vector<std::int64_t>& of_process) const {
    const bool all = covered == calls.size();
    for (std::size_t i = 0; i < calls.size() && covered > 0; ++i) {
      if (all || names_partners(calls[i])) ++of_process[heads[i]->process];
    }
  }

  [[nodiscard]] bool has_totals_only() const {
    return calls[0].operation == op::alltoallv || calls[0].operation == op::alltoallw;
  }
  [[nodiscard]] bool some_name_partners() const {
    return has_totals_only() && std::ranges::any_of(calls, names_partners);
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
    return {std::uint64_t{1} << 32, space, std::uint64_t{at} * 2 + from, 0};
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
      const Head& head = *heads[i];
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

  [[nodiscard]] Moment moment(const Head& head, std::uint32_t number, std::int64_t time) const {
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
  const Range& range;
  const SpaceIndex space;
  const CallFamily family;
  const trace::Comm& comm;
  const bool is_whole;             ///< all members of the communicator were recorded
  std::vector<CallRecord> calls;   ///< calls of the current instance
  std::vector<const Head*> heads;  ///< heads of these calls
  std::uint32_t at = 0;            ///< ordinal of the instance
  Shape shape{};
  CallRoot root;
};

namespace {

using CallRecords = std::vector<CallRecord>;

void set_times_of(std::span<CallRecord> calls, std::uint32_t process, const TimeSource& source) {
  if (calls.empty()) return;
  EventTimes begin_time(source, process, calls.size()), end_time(source, process, calls.size());
  for (CallRecord& call : calls) {
    if (call.begin != k_none) call.begin_time = begin_time(call.begin);
    if (call.end != k_none) call.end_time = end_time(call.end);
  }
}

/// Calls of a process by ordinal, one list per column; without a call the end is k_none.
std::vector<CallRecords> records_of(const Outline& outline, const TimeSource& source,
                                    std::span<const std::uint32_t> limits) {
  std::vector<CallRecords> columns;
  for (const Outline::Column& column : outline.columns) {
    columns.emplace_back(std::min(column.count, limits[column.space]));
  }
  for (const Outline::Call& call : outline.calls) {
    CallRecords& column = columns[call.column];
    if (call.order >= column.size()) continue;
    const EventRef at = source.places.event(outline.process, call.event);
    const trace::Event end = source.trace.locations[at.location].events[at.event];
    column[call.order] = {.begin = call.begin,
                          .end = call.end,
                          .root = end.peer,
                          .operation = end.op,
                          .flags = end.flags,
                          .blocking = end.kind != trace::EventKind::nb_complete,
                          .synchronises = (end.tag & k_process_sync) != 0};
  }
  for (CallRecords& column : columns) set_times_of(column, outline.process, source);
  return columns;
}

}  // namespace

/// Adds the calls of a process to the parcels of the members that form their instances.
void GatheredCalls::write(const Outline& outline, const TimeSource& source,
                          std::span<const std::uint32_t> limits) {
  const std::vector<CallRecords> columns = records_of(outline, source, limits);
  const std::size_t members = parcels_.size();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto calls = columns[c].begin();
    const auto place = [&](std::size_t part) {
      return static_cast<std::ptrdiff_t>(columns[c].size() * part / members);
    };
    for (std::size_t part = 0; part < members; ++part) {
      const std::ptrdiff_t begin = place(part), end = place(part + 1);
      if (begin == end) continue;
      const SpaceIndex space = outline.columns[c].space;
      Parcel& to = parcels_[(part + space) % members];
      to.heads.push_back({.space = space,
                          .process = outline.process,
                          .seat = outline.columns[c].seat,
                          .first = static_cast<std::uint32_t>(begin),
                          .count = static_cast<std::uint32_t>(end - begin)});
      to.calls.insert(to.calls.end(), calls + begin, calls + end);
    }
  }
}

void GatheredCalls::gather(Team& team, const TimeSource& source,
                           std::span<const std::uint32_t> limits, std::vector<Outline>&& outlines) {
  parcels_.resize(team.size());
  std::size_t calls = 0;
  for (const Outline& outline : outlines) calls += outline.calls.size();
  for (Parcel& parcel : parcels_) parcel.calls.reserve(calls / team.size());
  for (Outline& outline : outlines) {
    write(outline, source, limits);
    outline = {};
  }
  exchange_part(team, parcels_, &Parcel::heads);
  exchange_part(team, parcels_, &Parcel::calls);
  list_ranges();
}

void GatheredCalls::list_ranges() {
  for (Parcel& parcel : parcels_) {
    CallRecord* calls = parcel.calls.data();
    for (const Head& head : parcel.heads) {
      columns_.push_back({head, calls});
      calls += head.count;
    }
  }
  std::ranges::sort(columns_, {}, [](const Column& column) {
    return std::pair(column.head.space, column.head.process);
  });
  for (auto first = columns_.begin(), last = first; first != columns_.end(); first = last) {
    last = std::find_if(first, columns_.end(), [&](const Column& column) {
      return column.head.space != first->head.space;
    });
    ranges_.push_back({{first, last}, first->head.first, first->head.first + first->head.count});
  }
}

GatheredCalls::Counts GatheredCalls::count() const {
  Counts counts;
  counts.in_instances.resize(places_.process_count());
  for (const Range& range : ranges_) {
    Form form(*this, range);
    for (std::uint32_t k = range.begin; k < range.end; ++k) {
      if (!form.take(k)) {
        counts.disagreements.push_back({form.space, k});
        break;
      }
      if (form.calls.size() < 2) {
        ++counts.left_out.unmatched.collectives_incomplete;
        continue;
      }
      const std::uint64_t before = counts.left_out.coverage.in_instances;
      const bool makes_edges = form.in_force(counts.left_out);
      const std::uint64_t covered = counts.left_out.coverage.in_instances - before;
      form.count_covered(covered, counts.in_instances);
      if (makes_edges && form.some_name_partners()) {
        counts.left_out.skipped.partners_contradicting +=
            contradictions(form.named_calls(), form.comm.inter);
      }
    }
  }
  return counts;
}

void GatheredCalls::cut(std::span<const std::uint32_t> limits) {
  for (Range& range : ranges_) {
    range.end = std::min(range.end, limits[range.columns[0].head.space]);
  }
}

void GatheredCalls::set_times(const TimeSource& source) {
  for (const Column& column : columns_) {
    set_times_of({column.calls, column.head.count}, column.head.process, source);
  }
}

void GatheredCalls::for_each(const std::function<void(Instance&)>& use) const {
  Instance instance;
  LeftOut already_counted;
  const auto one_direction = [&](const Form& form, std::uint32_t from, std::uint32_t to) {
    form.direction(from, to, instance);
    if (!instance.sends.empty() && !instance.receives.empty()) use(instance);
  };
  for (const Range& range : ranges_) {
    Form form(*this, range);
    for (std::uint32_t k = range.begin; k < range.end; ++k) {
      if (!form.take(k) || form.calls.size() < 2 || !form.in_force(already_counted)) continue;
      if (form.some_name_partners()) {
        for_each_named_instance(form.named_calls(), form.comm.inter, form.order(0), use);
      } else if (!form.comm.inter) {
        one_direction(form, 0, 0);
      } else if (form.shape != Shape::scan) {  // MPI has no scan between groups
        one_direction(form, 0, 1);
        one_direction(form, 1, 0);
      }
    }
  }
}

}  // namespace entrain::verify
