// SPDX-License-Identifier: BSD-3-Clause
#include "match/incomplete_calls.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/executor.hpp"
#include "match/call_tree.hpp"
#include "match/channel_sides.hpp"
#include "match/delay_outliers.hpp"
#include "match/ends.hpp"
#include "match/gaps.hpp"
#include "match/numbered_alignment.hpp"

namespace entrain::match {

namespace {

/// Thresholds of the pairing of calls by messages; incomplete_calls_test.cpp exercises them;
/// chosen, not measured.
struct CallLimits {
  static constexpr std::uint32_t at_once = 8;  ///< calls at one position are fewer
  static constexpr std::uint32_t messages = k_none / at_once - 1;  ///< most that 32 bits number
  static constexpr std::uint32_t evidence = 18;   ///< least of both processes, bits
  static constexpr std::int64_t more_shift = 4;   ///< messages beyond the difference of the totals
  static constexpr std::int64_t most_shift = 16;  ///< messages that one side counts more, at most
  static constexpr std::size_t stretch = 4;       ///< least calls missing in one stretch
};

/// How a process was recorded.
struct Recording {
  Recording(const Builder& builder, std::uint32_t process)
      : gaps(builder, process), clocks(builder.trace(), builder.processes()[process]) {}

  Gaps gaps;
  trace::RecordedClocks clocks;
};

/// The calls of one process of this member on one communicator.
struct Column {
  std::span<Call> calls;
  ChannelSide side;                    ///< calls, without positions
  std::vector<std::uint64_t> missing;  ///< stamps, see CallContext
  /// Per call, the number of its partner among the calls of the reference; k_none: unknown.
  std::vector<std::uint32_t> numbers;
  CallFates fates;
};

/// Hash of the fields on which all calls of an instance agree. `one_root`: root included.
std::uint32_t symbol_of(const Call& call, bool one_root) {
  const std::uint64_t what = std::uint64_t{call.op} | (call.non_blocking ? 0x100u : 0u);
  const std::uint64_t root = one_root && has_root(call.op) ? call.root : k_none;
  const std::uint64_t code =
      ((what ^ root << 16) * 0x9E3779B97F4A7C15u ^ call.size_code) * 0x9E3779B97F4A7C15u;
  return static_cast<std::uint32_t>(code >> 32);
}

/// The messages that a process exchanged with another one: in all, before each call of a column,
/// and before each missing one.
struct MessageCounts {
  std::uint32_t all = 0;
  std::vector<std::uint32_t> calls, missing;
};

/// (communicator, process)
using Name = std::pair<std::uint32_t, std::uint32_t>;

using Parcels = std::vector<std::vector<std::uint32_t>>;

/// True if only the times of calls distinguish them: the processes repeat themselves and exchange
/// no messages, and all calls are alike.
bool only_times_distinguish(const Side& a, const Side& b) {
  return std::min(a.facts.kinds, b.facts.kinds) >= 2 &&
         std::min(a.facts.total, b.facts.total) == 0 && are_alike(a, b);
}

/// Removes pairs of calls at positions with unequally many calls.
void remove_unequal(const Side& a, const Side& b, Alignment& alignment) {
  const auto at_once = [](const Side& side, std::uint32_t k) {
    const auto position = &EndRecord::position;
    return std::ranges::upper_bound(side.records, side.records[k].position, {}, position) -
           std::ranges::lower_bound(side.records, side.records[k].position, {}, position);
  };
  std::erase_if(alignment.pairs, [&](const auto& pair) {
    return at_once(a, pair.first) != at_once(b, pair.second);
  });
}

/// Pairs the calls at the shift at which most have a partner: a message at the begin or at the end
/// is missing, or messages are posted across calls. Nothing if another shift is nearly as good.
std::optional<Alignment> pair_at_one_shift(const Side& a, const Side& b) {
  Alignment best;
  std::size_t second = 0;
  const std::int64_t difference =
      std::abs(std::int64_t{a.facts.total} - b.facts.total) / CallLimits::at_once;
  const std::int64_t most = std::min(CallLimits::more_shift + difference, CallLimits::most_shift);
  for (std::int64_t shift = -most; shift <= most; ++shift) {  // messages that `b` counts more
    IndexPairs shifted = equal_numbers(a, b, shift * CallLimits::at_once).pairs;
    second = std::max(second, std::min(shifted.size(), best.pairs.size()));
    if (shifted.size() > best.pairs.size()) best.pairs = std::move(shifted);
  }
  const std::size_t calls = std::min(a.records.size(), b.records.size());
  if (4 * best.pairs.size() < 3 * calls || 4 * second > best.pairs.size()) return std::nullopt;
  count_unpaired(a, b, best);
  return best;
}

std::optional<Alignment> pair_by_messages(const Side& a, const Side& b) {
  if (std::min(a.facts.evidence, b.facts.evidence) < CallLimits::evidence) return std::nullopt;
  std::optional<Alignment> found = pair_by_numbers(a, b);
  // Few calls have equal numbers if the processes post messages across calls.
  if (!found || 2 * found->pairs.size() < std::min(a.records.size(), b.records.size())) {
    found = pair_at_one_shift(a, b);
  }
  if (found) remove_unequal(a, b, *found);
  return found;
}

/// Pairs the calls outside of the one interval in which a side lost all that it has less. Calls
/// before it have equal places from the begin, those after it from the end. Where the stretch may
/// lie is what symbols and clock records leave open (may_pair()): calls between are not paired. Nor
/// are those beside it that would all pair one place off, too: one call that the other side lost
/// among them would shift the rest. Nothing if it can lie nowhere, or if most calls are left open.
std::optional<Alignment> pair_around_one_stretch(const Side& a, const Side& b) {
  const std::size_t calls = std::min(a.records.size(), b.records.size());
  const std::size_t missing = std::max(a.records.size(), b.records.size()) - calls;
  if (missing < CallLimits::stretch) return std::nullopt;
  const std::size_t of_a = a.records.size() - calls, of_b = b.records.size() - calls;
  std::size_t first = calls, last = 0;  // places of the stretch in the shorter side
  while (last < calls && may_pair(a.records[last], b.records[last])) ++last;
  while (first > 0 && may_pair(a.records[first - 1 + of_a], b.records[first - 1 + of_b])) --first;
  if (first > last) return std::nullopt;
  const auto may = [&](std::size_t i, std::size_t k) {
    return i < a.records.size() && k < b.records.size() && may_pair(a.records[i], b.records[k]);
  };
  while (first > 0 && (may(first, first - 1) || may(first - 1, first))) --first;
  while (last < calls && (may(last + of_a - 1, last + of_b) || may(last + of_a, last + of_b - 1))) {
    ++last;
  }
  if (4 * (last - first) > calls) return std::nullopt;
  Alignment found;
  for (std::size_t k = 0; k < calls; ++k) {
    if (k >= first && k < last) continue;
    const bool is_after = k >= last;
    found.pairs.emplace_back(k + (is_after ? of_a : 0), k + (is_after ? of_b : 0));
  }
  found.ambiguous = last - first;
  count_unpaired(a, b, found);
  return found;
}

}  // namespace

Alignment pair_calls(const Side& a, const Side& b) {
  if (a.records.empty() || b.records.empty()) return align_records(a, b);
  if (std::optional<Alignment> found = pair_by_messages(a, b)) return *std::move(found);
  if (only_times_distinguish(a, b)) return all_ambiguous(a, b);
  std::optional<Alignment> around = pair_around_one_stretch(a, b);
  Alignment aligned = align_records(a, b);
  return around && around->pairs.size() > aligned.pairs.size() ? *std::move(around) : aligned;
}

void place_calls(std::span<const std::uint32_t> messages, std::span<const std::uint32_t> missing,
                 std::uint32_t all, std::span<EndRecord> calls, SideFacts& facts) {
  facts.position = messages.back();
  facts.total = (std::min(all, CallLimits::messages) + 1) * CallLimits::at_once;
  if (all > CallLimits::messages) facts.evidence = 0;
  std::uint32_t at_once = 0;  // earlier calls at the same position
  for (std::size_t k = 0; k < calls.size(); ++k) {
    calls[k].position = messages[k];
    if (facts.evidence == 0) continue;
    at_once = k > 0 && messages[k] == messages[k - 1] ? at_once + 1 : 0;
    calls[k].number =
        messages[k] * CallLimits::at_once + std::min(at_once, CallLimits::at_once - 1);
    calls[k].unclear =
        at_once + 1 >= CallLimits::at_once || std::ranges::binary_search(missing, messages[k]);
  }
}

namespace {

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
      const Column& column = columns_.at(name_of(link));
      for (std::size_t k = 0; k < column.calls.size(); ++k) {
        column.calls[k].number = column.numbers[k];
      }
      sum.ambiguous += column.fates.ambiguous;
      sum.in_gaps += column.fates.in_gaps;
      claim(link.caller, column);
    }
    return sum;
  }

 private:
  static Name name_of(const CallLink& link) { return {link.caller.space, link.caller.process}; }
  static Name parent_of(const CallLink& link) { return {link.caller.space, link.parent}; }
  [[nodiscard]] bool owns(std::uint32_t process) const {
    return builder_.owner_of_process(process) == builder_.team().rank();
  }

  /// Adds the numbers of the calls of a process to the witness.
  void claim(const Caller& caller, const Column& column) {
    trace::ClaimedCalls claim{.space = spaces_[caller.space].name,
                              .process = caller.process,
                              .instances = {},
                              .ambiguous = static_cast<std::uint32_t>(column.fates.ambiguous),
                              .in_gaps = static_cast<std::uint32_t>(column.fates.in_gaps)};
    for (std::uint32_t k = 0; k < column.numbers.size(); ++k) {
      if (column.numbers[k] != k_none) append_pair(claim.instances, k, column.numbers[k]);
    }
    builder_.witness().calls.push_back(std::move(claim));
  }

  void find_contexts(std::span<const Call> calls) {
    if (!builder_.call_contexts) builder_.call_contexts = std::make_shared<CallContexts>();
    std::vector<CallContexts::value_type*> unknown;
    for_columns(calls, [&](std::span<const Call> column) {
      const std::uint32_t process = column.front().process;
      if (!recordings_.try_emplace(process, builder_, process).second) return;
      const auto [context, is_new] = builder_.call_contexts->try_emplace(process);
      if (is_new) unknown.push_back(&*context);
    });
    for_each_in_parallel(builder_.options().threads, unknown.size(), [&](std::size_t i) {
      if (builder_.cancel().asked()) return;
      auto& [process, context] = *unknown[i];
      const Operations operations(builder_, process);
      context = Sequence(builder_, operations).context;
    });
  }
  [[nodiscard]] const CallContext& context_of(std::uint32_t process) const {
    return builder_.call_contexts->at(process);
  }

  void list_columns(std::span<Call> calls) {
    for_columns(calls, [&](std::span<Call> column) {
      const Call& call = column.front();
      if (spaces_[call.space].reference == k_none) return;
      columns_[{call.space, call.process}] = column_of(column);
    });
  }
  [[nodiscard]] Column column_of(std::span<Call> calls) const {
    Column column{.calls = calls, .side = {}, .missing = {}, .numbers = {}, .fates = {}};
    ChannelSide& side = column.side;
    const std::uint32_t process = calls.front().process;
    const AlignedSpace& space = spaces_[calls.front().space];
    const auto& [gaps, clocks] = recordings_.at(process);
    const bool is_window = space.name >= builder_.definitions().comms.size();
    for (const Call& call : calls) {
      side.records.push_back({.time = call.time, .symbol = symbol_of(call, space.one_root)});
      const bool is_known = !is_window && call.duration() != k_none;
      const std::uint64_t begun = is_known ? call.begun : call.non_blocking ? 0 : call.time;
      side.facts.after_gaps = gaps.all_ended_by(begun) ? side.facts.after_gaps + 1 : 0;
    }
    gaps.mark(side.records, side.facts);
    const std::vector<bool>& wrong = builder_.has_wrong_clock_records;
    const bool counts = !wrong.empty() && !wrong[process];
    for (std::size_t k = 0; k < calls.size(); ++k) {
      const trace::RecordedClock& clock = clocks[calls[k].location];
      EndRecord& record = side.records[k];
      if (counts && calls[k].duration() != k_none && ends_after_all_began(calls[k])) {
        record.doubt = clock.doubt(record.time);
        record.duration = calls[k].duration();
      }
      record.time = clock.time(record.time);
    }
    const CallContext& context = context_of(process);
    // Others may have counted calls that are not in the routine, such as non-blocking ones.
    const auto counted = context.calls.find(space.name);
    if (!context.has_routine || counted == context.calls.end() || counted->second != calls.size()) {
      return column;
    }
    side.facts.kinds = 2;  // at least
    side.facts.evidence = context.evidence;
    const auto missing = context.missing.find(space.name);
    if (missing != context.missing.end()) column.missing = missing->second;
    return column;
  }
  /// The messages that the process of a column exchanged with another one; nothing without any.
  [[nodiscard]] std::optional<MessageCounts> counts_of(Name name, std::uint32_t peer) const {
    const CallContext& context = context_of(name.second);
    const auto posted = context.posted.find(peer);
    if (posted == context.posted.end()) return std::nullopt;
    const auto count = [stamps = std::span(posted->second)](std::uint64_t time) {
      return static_cast<std::uint32_t>(std::ranges::upper_bound(stamps, time) - stamps.begin());
    };
    const Column& column = columns_.at(name);
    MessageCounts counts{static_cast<std::uint32_t>(posted->second.size()), {}, {}};
    for (const Call& call : column.calls) counts.calls.push_back(count(call.time));
    for (const std::uint64_t time : column.missing) counts.missing.push_back(count(time));
    return counts;
  }
  /// The calls of a column, as compared with those of a process that exchanged these messages.
  static ChannelSide placed(ChannelSide side, const std::optional<MessageCounts>& counts) {
    if (counts) {
      place_calls(counts->calls, counts->missing, counts->all, side.records, side.facts);
    } else {
      side.facts.evidence = 0;
    }
    return side;
  }
  [[nodiscard]] ChannelSide side_of(Name name, std::uint32_t peer) const {
    return placed(columns_.at(name).side, counts_of(name, peer));
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
    std::vector<Caller> own;
    for (const auto& [name, column] : columns_) {
      own.push_back({name.first, name.second, static_cast<std::uint32_t>(column.calls.size())});
    }
    std::vector<Caller> callers = gather_everywhere(builder_.team(), own);
    std::ranges::sort(callers, [](const Caller& a, const Caller& b) {
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
    struct OfProcess {
      std::uint32_t process = 0;
      Partner partner;
    };
    std::vector<OfProcess> own;
    for (const auto& [process, recording] : recordings_) {
      const CallContext& context = context_of(process);
      if (!context.has_routine || only_gaps_) continue;
      for (const auto& [peer, stamps] : context.posted) {
        own.push_back({process, {peer, static_cast<std::uint32_t>(stamps.size())}});
      }
    }
    std::vector<std::vector<Partner>> partners(builder_.processes().size());
    for (const auto& [process, partner] : gather_everywhere(builder_.team(), own)) {
      partners[process].push_back(partner);
    }
    return partners;
  }

  /// Sends the calls of parents to the other owners of their children, once to each, and the
  /// messages exchanged with every child, from which that owner places the calls. Collective.
  void share_parents() {
    SideParcels parcels(builder_.team());
    Parcels counts(builder_.team().size());
    std::set<std::pair<Name, std::uint32_t>> sent;
    for (const CallLink& link : links_) {
      const std::uint32_t owner = builder_.owner_of_process(link.caller.process);
      if (link.depth == 0 || !owns(link.parent) || owner == builder_.team().rank()) continue;
      if (sent.insert({parent_of(link), owner}).second) {
        parcels.add(owner, side_name(link, k_none), columns_.at(parent_of(link)).side);
      }
      if (const auto of_child = counts_of(parent_of(link), link.caller.process)) {
        append(*of_child, link, counts[owner]);
      }
    }
    parcels.exchange_into(parents_);
    for (const auto& parcel : exchange(builder_.team(), std::move(counts))) take_counts(parcel);
  }
  static void append(const MessageCounts& counts, const CallLink& link,
                     std::vector<std::uint32_t>& to) {
    to.insert(to.end(), {link.parent, link.caller.process, link.caller.space, counts.all});
    for (const std::vector<std::uint32_t>* const list : {&counts.calls, &counts.missing}) {
      to.push_back(static_cast<std::uint32_t>(list->size()));
      to.insert(to.end(), list->begin(), list->end());
    }
  }
  void take_counts(std::span<const std::uint32_t> rest) {
    while (!rest.empty()) {
      MessageCounts& counts = parent_counts_[{rest[0], rest[1], rest[2], 0}];
      counts.all = rest[3];
      rest = rest.subspan(4);
      for (std::vector<std::uint32_t>* const list : {&counts.calls, &counts.missing}) {
        const auto values = rest.subspan(1, rest[0]);
        list->assign(values.begin(), values.end());
        rest = rest.subspan(1 + values.size());
      }
    }
  }
  static Channel side_name(const CallLink& link, std::uint32_t child) {
    return {link.parent, child, link.caller.space, 0};
  }
  /// The calls of the parent of a caller, as compared with those of this caller.
  [[nodiscard]] ChannelSide parent_side(const CallLink& link) const {
    if (owns(link.parent)) return side_of(parent_of(link), link.caller.process);
    const auto counts = parent_counts_.find(side_name(link, link.caller.process));
    return placed(parents_.at(side_name(link, k_none)),
                  counts == parent_counts_.end() ? std::nullopt : std::optional(counts->second));
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
      column.fates = {found[i].ambiguous, found[i].in_gaps()};
    }
  }
  [[nodiscard]] Alignment alignment_of(const CallLink& link) const {
    const ChannelSide parent = parent_side(link);
    const ChannelSide child = side_of(name_of(link), link.parent);
    const Side from = parent.side(), to = child.side();
    if (only_gaps_) {
      const bool gaps = builder_.has_gaps[link.parent] || builder_.has_gaps[link.caller.process];
      // Unequal symbols show that records outside gaps are missing as well.
      return only_gaps_lose(from, to, gaps) ? align_between_gaps(from, to, gaps)
                                            : align_records(from, to);
    }
    Alignment paired = pair_calls(from, to);
    remove_delay_outliers(from, to, DelayKind::clustered, paired);
    return paired;
  }

  /// Replaces indices of parents' calls by numbers of the reference's calls, for callers of one
  /// depth, whose parents have their numbers. Collective.
  void pass_numbers(std::span<const CallLink* const> links) {
    Parcels parcels(builder_.team().size());
    std::set<std::pair<Name, std::uint32_t>> sent;
    for (const CallLink* const link : links) {
      if (!owns(link->parent)) continue;
      const std::uint32_t owner = builder_.owner_of_process(link->caller.process);
      if (!sent.insert({parent_of(*link), owner}).second) continue;
      const std::vector<std::uint32_t>& numbers = columns_.at(parent_of(*link)).numbers;
      parcels[owner].insert(parcels[owner].end(), {link->caller.space, link->parent,
                                                   static_cast<std::uint32_t>(numbers.size())});
      parcels[owner].insert(parcels[owner].end(), numbers.begin(), numbers.end());
    }
    std::map<Name, std::vector<std::uint32_t>> of_parents;
    for (const auto& parcel : exchange(builder_.team(), std::move(parcels))) {
      for (std::span<const std::uint32_t> rest = parcel; !rest.empty();) {
        const auto numbers = rest.subspan(3, rest[2]);
        of_parents[{rest[0], rest[1]}].assign(numbers.begin(), numbers.end());
        rest = rest.subspan(3 + numbers.size());
      }
    }
    for (const CallLink* const link : links) {
      if (!owns(link->caller.process)) continue;
      const std::vector<std::uint32_t>& of_parent = of_parents.at(parent_of(*link));
      for (std::uint32_t& number : columns_.at(name_of(*link)).numbers) {
        if (number != k_none) number = of_parent[number];
      }
    }
  }

  Builder& builder_;
  std::span<const AlignedSpace> spaces_;
  const bool only_gaps_;
  std::map<std::uint32_t, Recording> recordings_;  ///< one per calling process of this member
  std::map<Name, Column> columns_;                 ///< columns of these processes
  std::vector<CallLink> links_;                    ///< links of all processes
  std::vector<std::vector<const CallLink*>> by_depth_;
  ChannelSides parents_;  ///< parents of this member's columns elsewhere, see side_name()
  std::map<Channel, MessageCounts> parent_counts_;  ///< what these exchanged with each child
};

}  // namespace

CallFates number_by_reference(Builder& builder, Calls& calls, std::span<const AlignedSpace> spaces,
                              bool only_gaps) {
  const CallFates fates = CallNumbering(builder, calls, spaces, only_gaps).run();
  std::erase_if(calls, [](const Call& call) { return call.number == k_none; });
  return fates;
}

}  // namespace entrain::match
