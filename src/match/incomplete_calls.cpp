// SPDX-License-Identifier: BSD-3-Clause
#include "match/incomplete_calls.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/executor.hpp"
#include "match/align.hpp"
#include "match/gaps.hpp"
#include "match/sides.hpp"

namespace entrain::match {

namespace {

/// The calls of one process on one communicator: a range of all calls.
struct Column {
  std::size_t begin = 0, end = 0;
};

std::vector<Column> columns_of(std::span<const Call> calls) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i == 0 || calls[i].space != calls[i - 1].space ||
        calls[i].process != calls[i - 1].process) {
      columns.push_back({i, i});
    }
    columns.back().end = i + 1;
  }
  return columns;
}

/// A call of a reference on its way to the other members, or its end of the trace.
struct ReferenceCall {
  std::uint64_t time = 0;  ///< of the end: number of calls before all gaps
  std::uint32_t space = 0;
  std::uint32_t symbol = 0;
  bool after_gap = false;
  bool is_end = false;  ///< no call: `after_gap` says that the trace ends in a gap
};

/// One side of an alignment of calls. The position of a call counts the messages that its process
/// exchanged before with the one of the other side.
struct Traits {
  std::vector<Trait> of;
  std::uint32_t before_gaps = 0;  ///< leading calls that lie before all gaps of the process
  bool ends_in_gap = false;

  [[nodiscard]] Side side() const { return {of, of.empty() ? 0 : of.back().position, ends_in_gap}; }
};

/// When a process posted its messages, per partner. Those that its routine misses count as well,
/// with the next one on their channel.
class MessageTimes {
 public:
  MessageTimes() = default;
  MessageTimes(const Builder& builder, std::uint32_t process) {
    const ProcessSides sides = sides_of(builder, process);
    for (const auto& [channel, side] : sides.sends) add(channel.receiver, side);
    for (const auto& [channel, side] : sides.receives) add(channel.sender, side);
    for (auto& [peer, messages] : messages_) {
      std::sort(messages.begin(), messages.end());
      std::uint32_t count = 0;
      for (auto& [time, number] : messages) number = count += number;
    }
  }

  /// Per message its stamp and the number of messages up to it, in order.
  using Messages = std::vector<std::pair<std::uint64_t, std::uint32_t>>;
  [[nodiscard]] const std::map<std::uint32_t, Messages>& all() const { return messages_; }
  /// Sets the positions of calls for a partner.
  void set_positions(std::uint32_t peer, std::vector<Trait>& traits) const {
    const auto messages = messages_.find(peer);
    if (messages == messages_.end()) return;
    for (Trait& trait : traits) trait.position = count_until(messages->second, trait.time);
  }
  static std::uint32_t count_until(const Messages& messages, std::uint64_t time) {
    const auto after =
        std::upper_bound(messages.begin(), messages.end(), time,
                         [](std::uint64_t t, const auto& message) { return t < message.first; });
    return after == messages.begin() ? 0 : std::prev(after)->second;
  }

 private:
  void add(std::uint32_t peer, const ChannelSide& side) {
    std::uint32_t counted = 0;
    for (std::size_t k = 0; k < side.ends.size(); ++k) {
      messages_[peer].emplace_back(side.posted[k], side.numbers[k] + 1 - counted);
      counted = side.numbers[k] + 1;
    }
  }

  std::map<std::uint32_t, Messages> messages_;  ///< per process
};

/// The message times of this member's processes that call, by process.
class AllMessageTimes {
 public:
  AllMessageTimes(const Builder& builder, std::span<const Call> calls) {
    for (const Call& call : calls) processes_.push_back(call.process);
    std::sort(processes_.begin(), processes_.end());
    processes_.erase(std::unique(processes_.begin(), processes_.end()), processes_.end());
    times_.resize(processes_.size());
    for_each_in_parallel(builder.options().threads, processes_.size(), [&](std::size_t i) {
      if (!builder.cancel().asked()) times_[i] = MessageTimes(builder, processes_[i]);
    });
  }

  [[nodiscard]] const MessageTimes& of(std::uint32_t process) const {
    const auto place = std::lower_bound(processes_.begin(), processes_.end(), process);
    return times_[static_cast<std::size_t>(place - processes_.begin())];
  }

 private:
  std::vector<std::uint32_t> processes_;  ///< sorted
  std::vector<MessageTimes> times_;       ///< of these
};

/// The positions of a reference's calls, per communicator and process of this member.
using Positions = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>>;

Traits traits_of(const Builder& builder, std::span<const Call> calls) {
  const Gaps gaps(builder, calls.front().process);
  Traits traits;
  std::uint32_t before = 0;
  for (const Call& call : calls) {
    const std::uint32_t ended = gaps.ended_by(call.time);
    traits.of.push_back(
        {.time = call.time, .position = 0, .symbol = symbol_of(call), .after_gap = ended > before});
    before = ended;
  }
  traits.before_gaps = gaps.count_before(traits.of);
  traits.ends_in_gap = gaps.count() > before;
  return traits;
}

/// The calls of all references, by communicator. Collective.
std::vector<Traits> share_references(const Builder& builder, std::span<const Call> calls,
                                     std::span<const Column> columns,
                                     std::span<const AlignedSpace> spaces) {
  std::vector<ReferenceCall> own;
  for (const Column& column : columns) {
    const Call& first = calls[column.begin];
    if (spaces[first.space].reference != first.process) continue;
    const Traits traits =
        traits_of(builder, calls.subspan(column.begin, column.end - column.begin));
    for (const Trait& trait : traits.of) {
      own.push_back({.time = trait.time,
                     .space = first.space,
                     .symbol = trait.symbol,
                     .after_gap = trait.after_gap});
    }
    own.push_back({.time = traits.before_gaps,
                   .space = first.space,
                   .after_gap = traits.ends_in_gap,
                   .is_end = true});
  }
  std::vector<Traits> references(spaces.size());
  for (const auto& part : exchange(
           builder.team(), std::vector<std::vector<ReferenceCall>>(builder.team().size(), own))) {
    for (const ReferenceCall& call : part) {
      Traits& reference = references[call.space];
      if (call.is_end) {
        reference.ends_in_gap = call.after_gap;
        reference.before_gaps = static_cast<std::uint32_t>(call.time);
      } else {
        reference.of.push_back(
            {.time = call.time, .symbol = call.symbol, .after_gap = call.after_gap});
      }
    }
  }
  return references;
}

/// Sends the positions of the calls of references to the owners of their partners. Collective.
Positions share_positions(const Builder& builder, std::span<const Call> calls,
                          std::span<const Column> columns, std::span<const AlignedSpace> spaces,
                          const AllMessageTimes& messages) {
  std::vector<std::vector<std::uint32_t>> parcels(builder.team().size());
  for (const Column& column : columns) {
    const Call& first = calls[column.begin];
    if (spaces[first.space].reference != first.process) continue;
    for (const auto& [peer, times] : messages.of(first.process).all()) {
      std::vector<std::uint32_t>& parcel = parcels[builder.owner_of_process(peer)];
      parcel.insert(parcel.end(),
                    {first.space, peer, static_cast<std::uint32_t>(column.end - column.begin)});
      for (std::size_t i = column.begin; i < column.end; ++i) {
        parcel.push_back(MessageTimes::count_until(times, calls[i].time));
      }
    }
  }
  Positions positions;
  for (const std::vector<std::uint32_t>& parcel : exchange(builder.team(), std::move(parcels))) {
    for (std::span<const std::uint32_t> rest = parcel; !rest.empty();) {
      const std::size_t count = rest[2];
      const auto of = rest.subspan(3, count);
      positions[{rest[0], rest[1]}].assign(of.begin(), of.end());
      rest = rest.subspan(3 + count);
    }
  }
  return positions;
}

/// The number of leading calls of both sides that belong together, one by one, if only gaps lose
/// records.
std::uint32_t certain_calls(const Traits& reference, const Traits& own) {
  const std::uint32_t count = std::min(reference.before_gaps, own.before_gaps);
  // Unequal ones say that something else is missing as well.
  return equal_symbols(reference.side(), own.side(), count) < count ? 0 : count;
}

}  // namespace

std::uint32_t symbol_of(const Call& call) {
  const std::uint64_t what = std::uint64_t{call.op} | (call.non_blocking ? 0x100u : 0u);
  const std::uint64_t root = has_root(call.op) ? call.root : k_none;
  const std::uint64_t code =
      ((what ^ root << 16) * 0x9E3779B97F4A7C15u ^ call.size_code) * 0x9E3779B97F4A7C15u;
  return static_cast<std::uint32_t>(code >> 32);
}

CallFates number_by_reference(Builder& builder, std::vector<Call>& calls,
                              std::span<const AlignedSpace> spaces, bool only_gaps) {
  const std::vector<Column> columns = columns_of(calls);
  const std::vector<Traits> references = share_references(builder, calls, columns, spaces);
  const AllMessageTimes messages(builder, calls);
  const Positions positions = share_positions(builder, calls, columns, spaces, messages);
  std::vector<CallFates> fates(columns.size());
  for_each_in_parallel(builder.options().threads, columns.size(), [&](std::size_t c) {
    if (builder.cancel().asked()) return;
    const std::span<Call> own(calls.data() + columns[c].begin, columns[c].end - columns[c].begin);
    const AlignedSpace& space = spaces[own.front().space];
    if (space.reference == k_none || space.reference == own.front().process) return;
    Traits traits = traits_of(builder, own);
    Traits reference = references[own.front().space];
    const auto known = positions.find({own.front().space, own.front().process});
    if (known != positions.end()) {
      for (std::size_t k = 0; k < reference.of.size(); ++k) {
        reference.of[k].position = known->second[k];
      }
      messages.of(own.front().process).set_positions(space.reference, traits.of);
    }
    const std::uint32_t certain = only_gaps ? certain_calls(reference, traits) : 0;
    const Alignment alignment = align_after(certain, reference.side(), traits.side());
    for (Call& call : own) call.number = k_none;
    for (const auto& [number, call] : alignment.pairs) own[call].number = number;
    fates[c] = {alignment.ambiguous, alignment.in_gaps};
  });
  std::erase_if(calls, [](const Call& call) { return call.number == k_none; });
  CallFates sum;
  for (const CallFates& one : fates) {
    sum.ambiguous += one.ambiguous;
    sum.in_gaps += one.in_gaps;
  }
  return sum;
}

}  // namespace entrain::match
