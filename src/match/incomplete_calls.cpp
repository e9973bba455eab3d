// SPDX-License-Identifier: BSD-3-Clause
#include "match/incomplete_calls.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <type_traits>
#include <utility>

#include "base/executor.hpp"
#include "match/align_records.hpp"
#include "match/call_tree.hpp"
#include "match/delay_outliers.hpp"
#include "match/gaps.hpp"
#include "match/message_counts.hpp"
#include "match/pair_calls.hpp"

namespace entrain::match {

namespace {

/// The calls of one process of this member on one communicator.
struct Column {
  std::span<Call> calls;
  CallSide side;                       ///< calls, without positions; times are stamps
  std::vector<std::uint64_t> missing;  ///< stamps, see ProcessSides::missing_calls
  /// Per call, the number of its partner among the calls of the reference; k_none: unknown.
  std::vector<std::uint32_t> numbers;
};

/// What the messages with another process tell of calls.
struct CallCounts {
  std::vector<std::uint32_t> positions;         ///< EndRecord::position per call
  std::vector<std::uint64_t> known_peer_times;  ///< EndRecord::known_peer_time per call
  std::vector<std::uint32_t> missing;           ///< see CallSide
  std::uint32_t messages = 0;                   ///< see CallSide

  void add_to(CallSide& side) const {
    for (std::size_t k = 0; k < side.records.size(); ++k) {
      side.records[k].position = positions[k];
      side.records[k].known_peer_time = known_peer_times[k];
    }
    side.missing = missing;
    side.messages = messages;
  }
};

/// The calls of a parent as received from its owner.
struct Parent {
  CallSide side;                               ///< calls, without positions
  std::vector<std::uint32_t> numbers;          ///< see Column
  std::map<std::uint32_t, CallCounts> counts;  ///< counts of each child
};

/// (communicator, process)
using Name = std::pair<std::uint32_t, std::uint32_t>;

std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint64_t both(std::uint64_t high, std::uint64_t low) { return high << 32 | low; }

using Parcels = std::vector<std::vector<std::uint64_t>>;

class CallNumbering {
 public:
  CallNumbering(Builder& builder, std::span<Call> calls, std::span<const AlignedSpace> spaces,
                bool only_gaps)
      : builder_(builder), spaces_(spaces), only_gaps_(only_gaps) {
    find_contexts(calls);
    list_columns(calls);
  }

  CallFates run() {
    link();
    share_parents();
    pair();
    for (std::size_t depth = 1; depth < by_depth_.size(); ++depth) pass_numbers(by_depth_[depth]);
    CallFates sum;
    for (const CallLink& link : links_) {
      if (!owns(link.caller.process)) continue;
      Column& column = columns_.at({link.caller.space, link.caller.process});
      for (std::size_t k = 0; k < column.calls.size(); ++k) {
        column.calls[k].number = column.numbers[k];
      }
      sum.ambiguous += fates_[name_of(link)].ambiguous;
      sum.in_gaps += fates_[name_of(link)].in_gaps;
      claim(link, column.numbers);
    }
    return sum;
  }

 private:
  static Name name_of(const CallLink& link) { return {link.caller.space, link.caller.process}; }
  static Name parent_of(const CallLink& link) { return {link.caller.space, link.parent}; }
  [[nodiscard]] bool owns(std::uint32_t process) const {
    return builder_.owner_of_process(process) == builder_.team().rank();
  }

  /// Adds the numbers of the calls of a process to the witness, unless they are 0, 1, 2, ... up to
  /// those of the reference.
  void claim(const CallLink& link, std::span<const std::uint32_t> numbers) {
    const AlignedSpace& space = spaces_[link.caller.space];
    const CallFates& fates = fates_[name_of(link)];
    trace::ClaimedCalls claim{.space = space.name,
                              .process = link.caller.process,
                              .instances = {},
                              .ambiguous = static_cast<std::uint32_t>(fates.ambiguous),
                              .in_gaps = static_cast<std::uint32_t>(fates.in_gaps)};
    for (std::uint32_t k = 0; k < numbers.size(); ++k) {
      if (numbers[k] != k_none) append_pair(claim.instances, k, numbers[k]);
    }
    if (claim.instances == std::vector<trace::ClaimedRun>{{0, 0, space.calls}}) return;
    builder_.witness().calls.push_back(std::move(claim));
  }

  void find_contexts(std::span<const Call> calls) {
    std::vector<std::uint32_t> processes;
    for (const Call& call : calls) {
      if (processes.empty() || processes.back() != call.process) processes.push_back(call.process);
    }
    std::sort(processes.begin(), processes.end());
    processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
    std::vector<CallContext> found(processes.size());
    CallContexts known;
    if (builder_.call_contexts != nullptr) known = std::move(*builder_.call_contexts);
    builder_.call_contexts.reset();
    for_each_in_parallel(builder_.options().threads, processes.size(), [&](std::size_t i) {
      if (builder_.cancel().asked()) return;
      if (const auto one = known.by_process.find(processes[i]); one != known.by_process.end()) {
        found[i] = std::move(one->second);
        return;
      }
      ProcessSides sides = channel_sides(builder_, processes[i]);
      found[i] = take_call_context(sides);
    });
    for (std::size_t i = 0; i < processes.size(); ++i) {
      contexts_.emplace(processes[i], std::move(found[i]));
    }
  }

  void list_columns(std::span<Call> calls) {
    for (std::size_t first = 0, end = 0; first < calls.size(); first = end) {
      const Call& call = calls[first];
      while (end < calls.size() && calls[end].space == call.space &&
             calls[end].process == call.process) {
        ++end;
      }
      if (spaces_[call.space].reference == k_none) continue;
      columns_[{call.space, call.process}] = column_of(calls.subspan(first, end - first));
    }
  }
  [[nodiscard]] Column column_of(std::span<Call> calls) const {
    Column column{.calls = calls, .side = {}, .missing = {}, .numbers = {}};
    CallSide& side = column.side;
    const AlignedSpace& space = spaces_[calls.front().space];
    const Gaps gaps(builder_, calls.front().process);
    std::uint32_t before = 0;
    for (const Call& call : calls) {
      const std::uint32_t ended = gaps.ended_by(call.time);
      side.records.push_back({.time = call.time,
                              .position = 0,
                              .symbol = symbol_of(call, space.one_root),
                              .after_gap = ended > before});
      before = ended;
    }
    side.before_gaps = gaps.count_before(side.records);
    side.ends_in_gap = gaps.count() > before;
    const CallContext& context = contexts_.at(calls.front().process);
    const auto counted = context.calls.find(space.name);
    if (counted == context.calls.end() || !are_counted(calls, counted->second)) return column;
    side.pauses = counted->second.pauses;
    side.kinds = counted->second.kinds;
    side.evidence = counted->second.evidence;
    const auto missing = context.missing_calls.find(space.name);
    if (missing != context.missing_calls.end()) column.missing = missing->second;
    return column;
  }
  /// True if the routine of their process counted exactly these calls.
  static bool are_counted(std::span<const Call> calls, const ChannelSide& counted) {
    return std::equal(calls.begin(), calls.end(), counted.ends.begin(), counted.ends.end(),
                      [](const Call& call, const NodeRef& end) { return call.end == end; });
  }

  /// Corrects stamps by clock records, and sets `doubt` and `duration`.
  void read_clocks(std::span<const Call> calls, CallSide& side) const {
    if (calls.empty()) return;
    const trace::RecordedClocks clocks(builder_.trace(),
                                       builder_.processes()[calls.front().process]);
    for (std::size_t k = 0; k < calls.size(); ++k) {
      const trace::RecordedClock& clock = clocks[calls[k].end.location];
      EndRecord& record = side.records[k];
      record.doubt = clock.doubt(record.time);
      record.time = clock.time(record.time);
      if (ends_after_all_began(calls[k])) record.duration = calls[k].duration;
    }
  }
  /// Counts the messages of a process with another one before its calls in a column.
  [[nodiscard]] CallCounts counts_of(std::uint32_t process, const Column& column,
                                     std::uint32_t peer) const {
    CallCounts counts;
    const CallContext& context = contexts_.at(process);
    auto count = [counter = context.messages.counter(peer)](std::uint64_t time) mutable {
      return static_cast<std::uint32_t>(counter(time));
    };
    for (const EndRecord& record : column.side.records) {
      counts.positions.push_back(count(record.time));
    }
    for (const std::uint64_t time : column.missing) counts.missing.push_back(count(time));
    counts.messages = context.messages.count_with(peer);
    auto latest = context.received_before.latest(peer);
    const trace::RecordedClocks clocks(builder_.trace(), builder_.processes()[process]);
    for (const Call& call : column.calls) {
      const bool knows = call.duration != k_none && ends_after_all_began(call);
      counts.known_peer_times.push_back(
          knows ? latest(clocks[call.end.location].time(call.time - call.duration)) : 0);
    }
    return counts;
  }
  /// True if every call of the instance ends after all its calls began.
  [[nodiscard]] bool ends_after_all_began(const Call& call) const {
    const auto& comms = builder_.definitions().comms;
    const std::uint32_t name = spaces_[call.space].name;
    if (name >= comms.size() || comms[name].inter) return false;
    switch (call.op) {
      case trace::op::barrier:
        return true;
      case trace::op::allreduce:
      case trace::op::allgather:
      case trace::op::alltoall:
      case trace::op::reduce_scatter_block:
        return call.sent && call.received;
      default:
        return false;
    }
  }

  void link() {  // collective
    std::vector<std::uint64_t> own;
    for (const auto& [name, column] : columns_) {
      own.insert(own.end(), {both(name.first, name.second), column.calls.size()});
    }
    std::vector<Caller> callers;
    for (const auto& part : share(own)) {
      for (std::size_t k = 0; k < part.size(); k += 2) {
        callers.push_back({high(part[k]), low(part[k]), low(part[k + 1])});
      }
    }
    std::sort(callers.begin(), callers.end(), [](const Caller& a, const Caller& b) {
      return std::pair(a.space, a.process) < std::pair(b.space, b.process);
    });
    std::vector<std::uint32_t> references;
    for (const AlignedSpace& space : spaces_) references.push_back(space.reference);
    links_ = link_callers(callers, share_partners(), references);
    for (const CallLink& link : links_) {
      if (link.depth >= by_depth_.size()) by_depth_.resize(link.depth + std::size_t{1});
      by_depth_[link.depth].push_back(&link);
    }
  }
  /// Returns, per process, its message partners, to which it may be linked. Collective.
  [[nodiscard]] std::vector<std::vector<Partner>> share_partners() const {
    std::vector<std::uint64_t> own;
    for (const auto& [process, context] : contexts_) {
      if (!context.has_routine || only_gaps_) continue;
      for (const Partner& partner : context.messages.partners()) {
        own.insert(own.end(), {both(process, partner.process), partner.messages});
      }
    }
    std::vector<std::vector<Partner>> partners(builder_.processes().size());
    for (const auto& part : share(own)) {
      for (std::size_t k = 0; k < part.size(); k += 2) {
        partners[high(part[k])].push_back({low(part[k]), low(part[k + 1])});
      }
    }
    return partners;
  }
  /// Sends `own` to all members. Collective.
  [[nodiscard]] Parcels share(const std::vector<std::uint64_t>& own) const {
    return exchange(builder_.team(), Parcels(builder_.team().size(), own));
  }

  /// Sends the calls of parents to the owners of their children. Collective.
  void share_parents() {
    Parcels sides(builder_.team().size()), counts(builder_.team().size());
    std::map<std::pair<Name, std::uint32_t>, bool> sent;
    for (const CallLink& link : links_) {
      if (link.depth == 0 || !owns(link.parent)) continue;
      const Column& column = columns_.at(parent_of(link));
      const std::uint32_t owner = builder_.owner_of_process(link.caller.process);
      if (!std::exchange(sent[{parent_of(link), owner}], true)) {
        CallSide read = column.side;
        read_clocks(column.calls, read);
        if (owner == builder_.team().rank()) {
          parents_[parent_of(link)].side = std::move(read);
        } else {
          pack(parent_of(link), read, sides[owner]);
        }
      }
      CallCounts counted = counts_of(link.parent, column, link.caller.process);
      if (owner == builder_.team().rank()) {
        parents_[parent_of(link)].counts[link.caller.process] = std::move(counted);
      } else {
        pack_counts(link, counted, counts[owner]);
      }
    }
    for (const auto& parcel : exchange(builder_.team(), std::move(sides))) unpack(parcel);
    for (const auto& parcel : exchange(builder_.team(), std::move(counts))) unpack_counts(parcel);
  }
  /// Words of a parcel's head, of a pause and of a call, which follow in this order.
  static constexpr std::size_t k_head = 4, k_pause = 2, k_call = 3;
  static void pack(Name name, const CallSide& side, std::vector<std::uint64_t>& parcel) {
    parcel.insert(
        parcel.end(),
        {both(name.first, name.second), both(side.records.size(), side.pauses.size()),
         both(side.kinds, side.evidence), both(side.before_gaps, side.ends_in_gap ? 1 : 0)});
    for (const Pause& pause : side.pauses) parcel.insert(parcel.end(), {pause.end, pause.length});
    for (const EndRecord& record : side.records) {
      parcel.insert(parcel.end(), {record.time, both(record.symbol, record.after_gap ? 1 : 0),
                                   both(record.doubt, record.duration)});
    }
  }
  void unpack(std::span<const std::uint64_t> parcel) {
    while (!parcel.empty()) {
      CallSide& side = parents_[{high(parcel[0]), low(parcel[0])}].side;
      const std::size_t calls = high(parcel[1]), pauses = low(parcel[1]);
      side.kinds = high(parcel[2]);
      side.evidence = low(parcel[2]);
      side.before_gaps = high(parcel[3]);
      side.ends_in_gap = low(parcel[3]) != 0;
      parcel = parcel.subspan(k_head);
      for (std::size_t k = 0; k < pauses; ++k) {
        side.pauses.push_back({low(parcel[k_pause * k]), parcel[k_pause * k + 1]});
      }
      parcel = parcel.subspan(k_pause * pauses);
      for (std::size_t k = 0; k < calls; ++k) {
        const auto one = parcel.subspan(k_call * k, k_call);
        side.records.push_back({.time = one[0],
                                .symbol = high(one[1]),
                                .doubt = high(one[2]),
                                .duration = low(one[2]),
                                .after_gap = low(one[1]) != 0});
      }
      parcel = parcel.subspan(k_call * calls);
    }
  }
  /// Words of a parcel's head; the positions of the calls follow, their known peer times, and the
  /// positions of missing calls.
  static constexpr std::size_t k_counts_head = 3;
  static void pack_counts(const CallLink& link, const CallCounts& counts,
                          std::vector<std::uint64_t>& parcel) {
    parcel.insert(parcel.end(),
                  {both(link.caller.space, link.parent), both(link.caller.process, counts.messages),
                   both(counts.positions.size(), counts.missing.size())});
    parcel.insert(parcel.end(), counts.positions.begin(), counts.positions.end());
    parcel.insert(parcel.end(), counts.known_peer_times.begin(), counts.known_peer_times.end());
    parcel.insert(parcel.end(), counts.missing.begin(), counts.missing.end());
  }
  void unpack_counts(std::span<const std::uint64_t> parcel) {
    while (!parcel.empty()) {
      CallCounts& counts = parents_[{high(parcel[0]), low(parcel[0])}].counts[high(parcel[1])];
      counts.messages = low(parcel[1]);
      const std::size_t calls = high(parcel[2]), missing = low(parcel[2]);
      parcel = parcel.subspan(k_counts_head);
      const auto take = [&](std::size_t count, auto& to) {
        for (const std::uint64_t value : parcel.first(count)) {
          to.push_back(static_cast<std::decay_t<decltype(to[0])>>(value));
        }
        parcel = parcel.subspan(count);
      };
      take(calls, counts.positions);
      take(calls, counts.known_peer_times);
      take(missing, counts.missing);
    }
  }

  /// Pairs the calls of this member's processes with those of their parents.
  void pair() {
    std::vector<const CallLink*> own;
    for (const CallLink& link : links_) {
      if (owns(link.caller.process)) own.push_back(&link);
    }
    std::vector<Alignment> found(own.size());
    for_each_in_parallel(builder_.options().threads, own.size(), [&](std::size_t i) {
      if (builder_.cancel().asked() || own[i]->depth == 0) return;
      found[i] = alignment_of(*own[i]);
    });
    for (std::size_t i = 0; i < own.size(); ++i) {
      Column& column = columns_.at(name_of(*own[i]));
      column.numbers.assign(column.calls.size(), k_none);
      if (own[i]->depth == 0) {
        for (std::uint32_t k = 0; k < column.numbers.size(); ++k) column.numbers[k] = k;
      }
      for (const auto& [of_parent, call] : found[i].pairs) column.numbers[call] = of_parent;
      fates_[name_of(*own[i])] = {found[i].ambiguous, found[i].in_gaps()};
    }
  }
  [[nodiscard]] Alignment alignment_of(const CallLink& link) const {
    const Parent& parent = parents_.at(parent_of(link));
    CallSide from = parent.side;
    parent.counts.at(link.caller.process).add_to(from);
    const Column& column = columns_.at(name_of(link));
    CallSide to = column.side;
    counts_of(link.caller.process, column, link.parent).add_to(to);
    read_clocks(column.calls, to);
    if (!only_gaps_) {
      Alignment paired = pair_calls(from, to);
      remove_delay_outliers(from.side(), to.side(), DelayKind::clustered, paired);
      return paired;
    }
    return align_after_prefix(certain_calls(from, to), from.side(), to.side());
  }
  /// Number of leading calls whose k-th ones are partners if only gaps lose records.
  static std::uint32_t certain_calls(const CallSide& a, const CallSide& b) {
    const std::uint32_t count = std::min(a.before_gaps, b.before_gaps);
    // Unequal symbols show that records outside gaps are missing as well.
    return equal_symbols(a.side(), b.side(), count) < count ? 0 : count;
  }

  /// Replaces indices of parents' calls by numbers of the reference's calls, for callers of one
  /// depth, whose parents have their numbers. Collective.
  void pass_numbers(std::span<const CallLink* const> links) {
    Parcels parcels(builder_.team().size());
    std::map<std::pair<Name, std::uint32_t>, bool> sent;
    for (const CallLink* const link : links) {
      if (!owns(link->parent)) continue;
      const std::uint32_t owner = builder_.owner_of_process(link->caller.process);
      if (std::exchange(sent[{parent_of(*link), owner}], true)) continue;
      const std::vector<std::uint32_t>& numbers = columns_.at(parent_of(*link)).numbers;
      parcels[owner].insert(parcels[owner].end(),
                            {both(link->caller.space, link->parent), numbers.size()});
      parcels[owner].insert(parcels[owner].end(), numbers.begin(), numbers.end());
    }
    for (const auto& parcel : exchange(builder_.team(), std::move(parcels))) {
      for (std::span<const std::uint64_t> rest = parcel; !rest.empty();) {
        std::vector<std::uint32_t>& numbers = parents_[{high(rest[0]), low(rest[0])}].numbers;
        for (const std::uint64_t number : rest.subspan(2, rest[1])) numbers.push_back(low(number));
        rest = rest.subspan(2 + rest[1]);
      }
    }
    for (const CallLink* const link : links) {
      if (!owns(link->caller.process)) continue;
      const std::vector<std::uint32_t>& of_parent = parents_.at(parent_of(*link)).numbers;
      for (std::uint32_t& number : columns_.at(name_of(*link)).numbers) {
        if (number != k_none) number = of_parent[number];
      }
    }
  }

  Builder& builder_;
  std::span<const AlignedSpace> spaces_;
  const bool only_gaps_;
  std::map<std::uint32_t, CallContext> contexts_;  ///< one per calling process of this member
  std::map<Name, Column> columns_;                 ///< columns of these processes
  std::vector<CallLink> links_;                    ///< links of all processes
  std::vector<std::vector<const CallLink*>> by_depth_;
  std::map<Name, Parent> parents_;  ///< parents of this member's columns
  std::map<Name, CallFates> fates_;
};

}  // namespace

std::uint32_t symbol_of(const Call& call, bool one_root) {
  const std::uint64_t what = std::uint64_t{call.op} | (call.non_blocking ? 0x100u : 0u);
  const std::uint64_t root = one_root && has_root(call.op) ? call.root : k_none;
  const std::uint64_t code =
      ((what ^ root << 16) * 0x9E3779B97F4A7C15u ^ call.size_code) * 0x9E3779B97F4A7C15u;
  return static_cast<std::uint32_t>(code >> 32);
}

CallFates number_by_reference(Builder& builder, Calls& calls, std::span<const AlignedSpace> spaces,
                              bool only_gaps) {
  const CallFates fates = CallNumbering(builder, calls, spaces, only_gaps).run();
  std::erase_if(calls, [](const Call& call) { return call.number == k_none; });
  return fates;
}

}  // namespace entrain::match
