// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "base/executor.hpp"
#include "match/align_records.hpp"
#include "match/channel_sides.hpp"
#include "match/delay_outliers.hpp"
#include "match/ends.hpp"
#include "match/gaps.hpp"
#include "match/numbered_alignment.hpp"

namespace entrain::match {

namespace {

/// Thresholds of the test of clock records; chosen, not measured.
struct ClockTest {
  static constexpr std::uint32_t samples = 256;      ///< most messages tested per channel
  static constexpr std::int64_t contradicting = 64;  ///< largest inverse share of impossible ones
  /// Inverse share of the channels of a process that differ in counts, above which it may have lost
  /// its first or last records: in allops-4, 0.05 % of whose records are lost, fewer than one in 5
  /// differ; of processes that lost their ends, most do.
  static constexpr std::int64_t open = 5;
};

/// Messages of a channel whose partners follow from their order, and those of them that clock
/// records contradict.
struct CertainMessages {
  std::int64_t tested = 0, impossible = 0;
};

/// Tests messages of equal numbers, if both sides count as many and lengths agree: then nothing but
/// clock records can contradict them.
CertainMessages certain_messages(const Side& sends, const Side& receives) {
  CertainMessages found;
  if (sends.facts.total != receives.facts.total) return found;
  const auto count = static_cast<std::uint32_t>(sends.records.size());
  const std::uint32_t samples = std::min(count, ClockTest::samples);
  for (std::uint32_t s = 0; s < samples; ++s) {
    const EndRecord& send = sends.records[std::uint64_t{s} * count / samples];
    const auto receive =
        std::ranges::lower_bound(receives.records, send.number, {}, &EndRecord::number);
    if (receive == receives.records.end() || receive->number != send.number) continue;
    if (send.symbol != receive->symbol) return {};
    ++found.tested;
    found.impossible += may_pair(send, *receive) ? 0 : 1;
  }
  return found;
}

/// Pairs by numbers if both processes have a routine, and by alignment otherwise, unless only
/// delays would decide.
Alignment pair_up(const Side& sends, const Side& receives) {
  if (std::optional<Alignment> numbered = pair_by_numbers(sends, receives)) {
    return *std::move(numbered);
  }
  return only_delays_distinguish(sends, receives) ? all_ambiguous(sends, receives)
                                                  : align_records(sends, receives);
}

const ChannelSide k_no_ends;

/// A side of a channel: of a process of this member, or as another member sent it.
struct SideSource {
  const Sequence* process = nullptr;
  std::uint32_t kind = 0;
  const ChannelSide* sent = &k_no_ends;  ///< only without `process`

  [[nodiscard]] std::uint32_t total() const {
    return process != nullptr ? process->total(kind) : sent->facts.total;
  }
  [[nodiscard]] ChannelSide side() const {
    return process != nullptr ? process->side(kind) : *sent;
  }
};

class ChannelMatcher {
 public:
  ChannelMatcher(Builder& builder, std::span<const Operations> operations)
      : builder_(builder),
        threads_(builder.options().threads),
        wrong_clocks_(builder.processes().size(), false),
        sequences_(operations.size()) {
    for_each_in_parallel(threads_, operations.size(), [&](std::size_t i) {
      if (!builder.cancel().asked()) sequences_[i].emplace(builder, operations[i]);
    });
    list_channels();
  }

  void run() {
    builder_.only_gaps = !builder_.team().any(!only_gaps());
    const std::vector<bool> open = find_open_ends();
    for_each_in_parallel(threads_, channels_.size(), [&](std::size_t i) {
      channels_[i].tests_clocks =
          !open[channels_[i].claim.sender] && !open[channels_[i].claim.receiver];
      pair(channels_[i]);
    });
    // Either clock may have run otherwise than its records say where certain messages contradict.
    wrong_clocks_ = processes_with(ClockTest::contradicting,
                                   [](const ChannelPair& pair) { return pair.certain; });
    for_each_in_parallel(threads_, channels_.size(), [&](std::size_t i) {
      if (has_wrong_clocks(channels_[i])) pair(channels_[i]);
    });
    trace::Witness& witness = builder_.witness();
    for (ChannelPair& one : channels_) {
      if (!one.is_complete) witness.channels.push_back(std::move(one.claim));
    }
    witness.respects_clock_records =
        !builder_.only_gaps && std::ranges::find(wrong_clocks_, true) == wrong_clocks_.end();
    builder_.has_wrong_clock_records = std::move(wrong_clocks_);
    builder_.call_contexts = std::make_shared<CallContexts>();
    for (std::optional<Sequence>& one : sequences_) {
      if (!one) continue;
      builder_.call_contexts->emplace(one->operations().process(), std::move(one->context));
    }
  }

 private:
  /// A channel whose receives this member owns.
  struct ChannelPair {
    SideSource sends, receives;
    bool with_gaps = false;         ///< either process has gaps
    bool tests_clocks = false;      ///< its messages may tell whether clock records are wrong
    CertainMessages certain{};      ///< those of it that do
    bool is_complete = false;       ///< the k-th ends are partners, so nothing is claimed
    trace::ClaimedChannel claim{};  ///< the pairs that were found
  };

  void list_channels() {
    Team& team = builder_.team();
    SideParcels parcels(team);
    FlatMap<Channel, SideSource, ChannelHash> sent;
    for_kinds(OperationType::send, [&](const Channel& channel, const SideSource& sends) {
      const std::uint32_t owner = builder_.owner_of_process(channel.receiver);
      if (owner == team.rank()) {
        sent.insert(channel, sends);
      } else {
        parcels.add(owner, channel, sends.side());
      }
    });
    parcels.exchange_into(sent_elsewhere_);
    for (const auto& [channel, side] : sent_elsewhere_) sent.insert(channel, {.sent = &side});
    for_kinds(OperationType::receive, [&](const Channel& channel, const SideSource& receives) {
      const SideSource* const sends = sent.find(channel);
      channels_.push_back(
          {.sends = sends == nullptr ? SideSource() : *sends,
           .receives = receives,
           .with_gaps = builder_.has_gaps[channel.sender] || builder_.has_gaps[channel.receiver],
           .claim = {.comm = channel.comm,
                     .sender = channel.sender,
                     .receiver = channel.receiver,
                     .tag = channel.tag,
                     .pairs = {}}});
    });
    std::ranges::sort(channels_, {}, [](const ChannelPair& one) { return one.claim.name(); });
  }
  /// Calls use(channel, side) for the sends or the receives of this member's processes.
  template <class Use>
  void for_kinds(OperationType type, Use use) const {
    for (const std::optional<Sequence>& one : sequences_) {
      if (!one) continue;
      const std::span<const Kind> kinds = one->operations().kinds();
      for (std::uint32_t k = 0; k < kinds.size(); ++k) {
        if (kinds[k].type != type) continue;
        use(kinds[k].channel(one->operations().process()), SideSource{&*one, k});
      }
    }
  }

  /// True if no channel of this member contradicts that only gaps lose records.
  [[nodiscard]] bool only_gaps() const {
    std::atomic<bool> only = true;
    for_each_in_parallel(threads_, channels_.size(), [&](std::size_t i) {
      if (!only || builder_.cancel().asked()) return;
      const ChannelSide sends = channels_[i].sends.side(), receives = channels_[i].receives.side();
      if (!only_gaps_lose(sends.side(), receives.side(), channels_[i].with_gaps)) only = false;
    });
    return only;
  }

  /// Per process, true if more than one in `inverse_share` of what count(channel) gives on its
  /// channels is of the second kind. Collective.
  template <class Count>
  [[nodiscard]] std::vector<bool> processes_with(std::int64_t inverse_share, Count count) const {
    const std::size_t processes = builder_.processes().size();
    std::vector<std::int64_t> sums(2 * processes, 0);
    for (const ChannelPair& pair : channels_) {
      const auto [all, of_them] = count(pair);
      for (const std::uint32_t process : {pair.claim.sender, pair.claim.receiver}) {
        sums[process] += all;
        sums[processes + process] += of_them;
      }
    }
    builder_.team().reduce(Team::Reduction::sum, sums);
    std::vector<bool> found;
    for (std::size_t p = 0; p < processes; ++p) {
      found.push_back(sums[processes + p] * inverse_share > sums[p]);
    }
    return found;
  }
  /// Per process, true if it may have lost its first or last records: on many of its channels one
  /// side counts more than the other, also after what routines miss. Then equal counts on others
  /// are no proof that their k-th messages belong together. Collective.
  [[nodiscard]] std::vector<bool> find_open_ends() const {
    return processes_with(ClockTest::open, [](const ChannelPair& pair) {
      const bool differ = pair.sends.total() != pair.receives.total();
      return pair.with_gaps ? std::pair(0, 0) : std::pair(1, differ ? 1 : 0);
    });
  }

  [[nodiscard]] bool has_wrong_clocks(const ChannelPair& pair) const {
    return wrong_clocks_[pair.claim.sender] || wrong_clocks_[pair.claim.receiver];
  }

  /// Finds the claim of a channel, as if the clock records were right unless they are known to be
  /// wrong: most are right, and sides are made only once.
  void pair(ChannelPair& pair) const {
    if (builder_.cancel().asked()) return;
    ChannelSide sends = pair.sends.side(), receives = pair.receives.side();
    for (ChannelSide* const side : {&sends, &receives}) {
      if (!has_wrong_clocks(pair)) break;
      for (EndRecord& end : side->records) end.doubt = trace::RecordedClock::k_unknown;
    }
    const Side sent = sends.side(), received = receives.side();
    if (pair.tests_clocks) pair.certain = certain_messages(sent, received);
    if (builder_.only_gaps) {
      claim(sent.records.size(), align_between_gaps(sent, received, pair.with_gaps), pair);
      return;
    }
    Alignment found = pair_up(sent, received);
    remove_delay_outliers(sent, received, DelayKind::above_latency, found);
    claim(sent.records.size(), found, pair);
  }

  /// Claims the pairs of a channel with so many sends.
  static void claim(std::size_t sends, const Alignment& found, ChannelPair& pair) {
    const auto count = [](std::uint64_t ends) { return static_cast<std::uint32_t>(ends); };
    trace::ClaimedChannel& claim = pair.claim;
    claim.ambiguous = count(found.ambiguous);
    claim.sends_in_gaps = count(found.sends_in_gaps);
    claim.receives_in_gaps = count(found.receives_in_gaps);
    claim.pairs.clear();
    const Sequence& receiver = *pair.receives.process;
    const std::vector<std::uint32_t> places = receiver.places(pair.receives.kind);
    for (const auto& [send, receive] : found.pairs) {
      append_pair(claim.pairs, send, places[receive]);
    }
    const std::uint32_t all = receiver.operations().count(pair.receives.kind);
    pair.is_complete =
        sends == 0 || (sends == all && claim.pairs == std::vector<trace::ClaimedRun>{{0, 0, all}});
  }

  Builder& builder_;
  unsigned threads_;
  std::vector<bool> wrong_clocks_;  ///< per process: messages contradict its clock records
  std::vector<std::optional<Sequence>> sequences_;  ///< of this member's processes
  ChannelSides sent_elsewhere_;                     ///< sends of other members' processes to these
  std::vector<ChannelPair> channels_;               ///< sorted by channel
};

}  // namespace

void match_incomplete_messages(Builder& builder, std::span<const Operations> operations) {
  find_gaps(builder);
  ChannelMatcher(builder, operations).run();
}

}  // namespace entrain::match
