// SPDX-License-Identifier: BSD-3-Clause
#include "match/incomplete_messages.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/executor.hpp"
#include "match/align_records.hpp"
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

class IncompleteMatcher {
 public:
  explicit IncompleteMatcher(Builder& builder)
      : builder_(builder), threads_(builder.options().threads) {}

  MessageFates run(std::vector<Operations>&& operations) {
    collect(std::move(operations));
    ship();
    align_all();
    return add_edges();
  }

 private:
  /// Both sides of a channel whose receives this member owns.
  struct ChannelPair {
    Channel channel;
    const ChannelSide* sends = nullptr;
    const ChannelSide* receives = nullptr;
    bool with_gaps = false;  ///< either process has gaps
    Alignment alignment;

    [[nodiscard]] Side sent() const { return sends->side(); }
    [[nodiscard]] Side received() const { return receives->side(); }
  };

  void collect(std::vector<Operations>&& operations) {
    std::vector<ChannelSides> sent(operations.size()), received(operations.size());
    std::vector<std::optional<Sequence>> sequences(operations.size());
    for_each_in_parallel(threads_, operations.size(), [&](std::size_t i) {
      if (builder_.cancel().asked()) return;
      sequences[i].emplace(std::move(operations[i]));
      add_sides(builder_, *sequences[i], sent[i], received[i]);
    });
    builder_.sequences = std::make_shared<Sequences>();
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      if (!sequences[i]) continue;
      const std::uint32_t process = sequences[i]->operations().process();
      builder_.sequences->of_process.emplace(process, *std::move(sequences[i]));
      sent_.merge(sent[i]);
      received_.merge(received[i]);
    }
  }

  /// Moves sends to the member that owns the receiver.
  void ship() {
    Team& team = builder_.team();
    if (team.size() == 1) return;
    SideParcels parcels(team);
    for (auto at = sent_.begin(); at != sent_.end();) {
      const auto sent = at++;
      const std::uint32_t owner = builder_.owner_of_process(sent->first.receiver);
      if (owner == team.rank()) continue;
      parcels.add(owner, sent->first, sent->second);
      sent_.erase(sent);
    }
    parcels.exchange_into(sent_);
  }

  void align_all() {
    static const ChannelSide k_nothing;
    for (const auto& [channel, receives] : received_) {
      const auto sends = sent_.find(channel);
      channels_.push_back(
          {.channel = channel,
           .sends = sends == sent_.end() ? &k_nothing : &sends->second,
           .receives = &receives,
           .with_gaps = builder_.has_gaps[channel.sender] || builder_.has_gaps[channel.receiver],
           .alignment = {}});
    }
    builder_.only_gaps = !builder_.team().any(!std::ranges::all_of(channels_, [](const auto& c) {
      return only_gaps_lose(c.sent(), c.received(), c.with_gaps);
    }));
    test_clock_records();
    for_each_in_parallel(threads_, channels_.size(), [&](std::size_t i) {
      if (builder_.cancel().asked()) return;
      ChannelPair& pair = channels_[i];
      if (builder_.only_gaps) {
        pair.alignment = align_between_gaps(pair.sent(), pair.received(), pair.with_gaps);
      } else {
        pair.alignment = pair_up(pair.sent(), pair.received());
        remove_delay_outliers(pair.sent(), pair.received(), DelayKind::above_latency,
                              pair.alignment);
      }
    });
  }

  /// Leaves clock records out of account where messages whose partners are certain contradict them:
  /// those of both processes, as either clock may have run otherwise than its records say.
  void test_clock_records() {
    std::vector<CertainMessages> found(channels_.size());
    const std::vector<bool> is_open = find_open_ends();
    for_each_in_parallel(threads_, channels_.size(), [&](std::size_t i) {
      const ChannelPair& pair = channels_[i];
      if (is_open[pair.channel.sender] || is_open[pair.channel.receiver]) return;
      found[i] = certain_messages(pair.sent(), pair.received());
    });
    const std::size_t processes = builder_.processes().size();
    std::vector<std::int64_t> sums(2 * processes, 0);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Channel& channel = channels_[i].channel;
      for (const std::uint32_t process : {channel.sender, channel.receiver}) {
        sums[process] += found[i].tested;
        sums[processes + process] += found[i].impossible;
      }
    }
    builder_.team().reduce(Team::Reduction::sum, sums);
    std::vector<bool>& wrong = builder_.has_wrong_clock_records;
    for (std::size_t p = 0; p < processes; ++p) {
      wrong.push_back(sums[processes + p] * ClockTest::contradicting > sums[p]);
    }
    for (ChannelSides* const sides : {&sent_, &received_}) {
      for (auto& [channel, side] : *sides) {
        if (!wrong[channel.sender] && !wrong[channel.receiver]) continue;
        for (EndRecord& end : side.records) end.doubt = trace::RecordedClock::k_unknown;
      }
    }
  }

  /// Per process, true if it may have lost its first or last records: on many of its channels one
  /// side counts more than the other, also after what routines miss. Then equal counts on others
  /// are no proof that their k-th messages belong together. Collective.
  std::vector<bool> find_open_ends() {
    const std::size_t processes = builder_.processes().size();
    std::vector<std::int64_t> sums(2 * processes, 0);  // channels, then those that differ
    for (const ChannelPair& pair : channels_) {
      if (pair.with_gaps) continue;
      const bool differ = pair.sends->facts.total != pair.receives->facts.total;
      for (const std::uint32_t process : {pair.channel.sender, pair.channel.receiver}) {
        ++sums[process];
        sums[processes + process] += differ ? 1 : 0;
      }
    }
    builder_.team().reduce(Team::Reduction::sum, sums);
    std::vector<bool> open;
    for (std::size_t p = 0; p < processes; ++p) {
      open.push_back(sums[processes + p] * ClockTest::open > sums[p]);
    }
    return open;
  }

  /// Pairs by numbers if both processes have a routine, and by alignment otherwise, unless only
  /// delays would decide.
  static Alignment pair_up(const Side& sends, const Side& receives) {
    if (std::optional<Alignment> numbered = pair_by_numbers(sends, receives)) {
      return *std::move(numbered);
    }
    return only_delays_distinguish(sends, receives) ? all_ambiguous(sends, receives)
                                                    : align_records(sends, receives);
  }

  /// Adds the edges one after the other: nodes of other members get numbers here.
  MessageFates add_edges() {
    MessageFates fates;
    builder_.witness().respects_clock_records =
        !builder_.only_gaps && std::ranges::find(builder_.has_wrong_clock_records, true) ==
                                   builder_.has_wrong_clock_records.end();
    for (const ChannelPair& pair : channels_) {
      claim(pair);
      for (const auto& [send, receive] : pair.alignment.pairs) {
        builder_.add_edge(EdgeKind::p2p, pair.sends->records[send].end,
                          pair.receives->records[receive].end);
      }
      fates.pairs += pair.alignment.pairs.size();
      fates.ambiguous += pair.alignment.ambiguous;
      fates.in_gaps += pair.alignment.in_gaps();
    }
    return fates;
  }

  /// Adds the pairs of a channel to the witness, unless the k-th ends are partners.
  void claim(const ChannelPair& pair) {
    if (pair.sends->records.empty()) return;
    const Alignment& found = pair.alignment;
    const auto count = [](std::uint64_t ends) { return static_cast<std::uint32_t>(ends); };
    trace::ClaimedChannel claim{.comm = pair.channel.comm,
                                .sender = pair.channel.sender,
                                .receiver = pair.channel.receiver,
                                .tag = pair.channel.tag,
                                .pairs = {},
                                .ambiguous = count(found.ambiguous),
                                .sends_in_gaps = count(found.sends_in_gaps),
                                .receives_in_gaps = count(found.receives_in_gaps)};
    for (const auto& [send, receive] : found.pairs) {
      append_pair(claim.pairs, pair.sends->records[send].place,
                  pair.receives->records[receive].place);
    }
    const std::uint32_t receives = pair.receives->posted;
    const bool complete = pair.sends->records.size() == receives &&
                          claim.pairs == std::vector<trace::ClaimedRun>{{0, 0, receives}};
    if (!complete) builder_.witness().channels.push_back(std::move(claim));
  }

  Builder& builder_;
  unsigned threads_;
  ChannelSides sent_;      ///< sends to processes of this member
  ChannelSides received_;  ///< receives of its processes
  std::vector<ChannelPair> channels_;
};

}  // namespace

MessageFates match_incomplete_messages(Builder& builder, std::vector<Operations>&& operations) {
  find_gaps(builder);
  return IncompleteMatcher(builder).run(std::move(operations));
}

MessageFates match_incomplete_messages(Builder& builder) {
  return match_incomplete_messages(builder, operations_of(builder));
}

}  // namespace entrain::match
