// SPDX-License-Identifier: BSD-3-Clause
#include "match/numbered_alignment.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "match/ends.hpp"

namespace entrain::match {

namespace {

/// Thresholds of the alignment by numbers; chosen, not measured one by one.
/// numbered_alignment_test.cpp exercises them, tests/incomplete/pairs_test.cpp bounds their effect.
struct NumberLimits {
  static constexpr std::uint32_t evidence = 18;    ///< least of both processes, bits
  static constexpr std::uint32_t confirmed = 15;   ///< the same where delays confirm the numbers
  static constexpr std::uint32_t few_kinds = 4;    ///< most kinds among which only delays differ
  static constexpr std::size_t level = 8;          ///< pairs whose median changes usually
  static constexpr std::size_t window = 32;        ///< pairs whose median delay is compared
  static constexpr std::size_t near = 256;         ///< pairs of head and tail that are alike
  static constexpr std::size_t few_windows = 400;  ///< pairs whose windows may hide a jump
  static constexpr std::size_t few_pairs = 128;    ///< fewer than these may jump unnoticed
  static constexpr std::size_t samples = 512;      ///< most changes of level measured
  static constexpr std::size_t unusual = 32;       ///< inverse share of these that may be jumps
  static constexpr std::uint64_t jump = 4;         ///< usual changes that make a jump
  static constexpr std::uint64_t alike = 4;        ///< difference of levels <= spacing / 4
  static constexpr std::size_t contradicting = 8;  ///< largest inverse share of impossible pairs
  /// Delays are steady if less than one change in `unsteady` reaches an `irregular`-th of what
  /// three in four would be with any other numbers. Fewer changes than `least_changes` are no
  /// proof.
  static constexpr std::size_t unsteady = 8, irregular = 8, least_changes = 32;
  /// So many of 8 pairs are steady where delays confirm little evidence: all but those beside a
  /// loss. Where fewer than `doubtful_of_8` are, sends wait, and steadiness tells nothing.
  static constexpr std::size_t confirming_of_8 = 7, doubtful_of_8 = 2;
  static constexpr std::size_t most_shift = 64;  ///< of these numbers: records lost at one place
};

std::uint64_t distance(std::int64_t a, std::int64_t b) { return magnitude(difference(a, b)); }

/// What one in four changes of delays does not exceed if each receive belongs to a later send than
/// its own: the least of all shifts. Where sends come at equal distances, it is small.
std::uint64_t change_if_shifted(std::span<const EndRecord> sends) {
  const auto distance_after = [&](std::size_t k) {
    return static_cast<std::int64_t>(sends[k + 1].time - sends[k].time);
  };
  std::uint64_t least = ~std::uint64_t{0};
  std::vector<std::uint64_t> changes;
  const std::size_t most = std::min(NumberLimits::most_shift, sends.size() / 2);
  for (std::size_t shift = 1; shift <= most; ++shift) {
    const std::size_t places = sends.size() - 1 - shift;
    changes.resize(std::min(places, NumberLimits::samples));
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const std::size_t k = i * places / changes.size();
      changes[i] = distance(distance_after(k + shift), distance_after(k));
    }
    if (changes.empty()) break;
    const auto quartile = changes.begin() + static_cast<std::ptrdiff_t>((changes.size() - 1) / 4);
    std::ranges::nth_element(changes, quartile);
    least = std::min(least, *quartile);
  }
  return most == 0 ? 0 : least;
}

/// Pairs of ends whose numbers differ by a shift, and their delays.
class NumberPairs {
 public:
  NumberPairs(const Side& sends, const Side& receives, std::int64_t shift)
      : sends_(sends), numbered_(equal_numbers(sends, receives, shift)) {
    delays_.reserve(pairs().size());
    for (const auto& [send, receive] : pairs()) {
      delays_.push_back(difference(static_cast<std::int64_t>(receives.records[receive].time),
                                   static_cast<std::int64_t>(sends.records[send].time)));
    }
  }

  [[nodiscard]] const IndexPairs& pairs() const { return numbered_.pairs; }
  [[nodiscard]] std::size_t unclear() const { return numbered_.unclear; }
  /// True if most ends of equal numbers may belong together.
  [[nodiscard]] bool agree() const {
    return numbered_.impossible * NumberLimits::contradicting <=
           pairs().size() + numbered_.impossible;
  }
  /// Sorted pairs near which the delays jump to another level; where there are few windows, also
  /// that of eight pairs, by half the distance of sends or more. Late rounds of long runs do the
  /// latter.
  [[nodiscard]] std::vector<std::size_t> jumps() const {
    std::vector<std::size_t> jumps;
    if (pairs().empty()) return jumps;
    const std::uint64_t most = NumberLimits::jump * usual_change();
    add_jumps(NumberLimits::window, most, jumps);
    if (pairs().size() < NumberLimits::few_windows) {
      add_jumps(NumberLimits::level, std::max(most, spacing(0, pairs().size()) / 2), jumps);
    }
    std::ranges::sort(jumps);
    return jumps;
  }
  /// The pairs whose delays keep their level: no change of the level, and few of the delays,
  /// reaches `most`. Those that differ from the level by as much are left out.
  [[nodiscard]] IndexPairs steady(std::uint64_t most) const {
    constexpr std::size_t level = NumberLimits::level, beside = 2 * level;
    std::vector<std::size_t> ends;
    add_jumps(level, most, ends);
    ends.push_back(pairs().size() + beside);  // nothing is left out before the end
    IndexPairs found;
    std::size_t begin = 0;
    for (const std::size_t jump : ends) {
      const std::size_t end = jump - std::min(jump, beside);
      if (is_steady(begin, end, most)) add_level(begin, end, most, found);
      begin = jump + beside;
    }
    return found;
  }
  /// Lower median of the delays of `count` pairs from `first` on, of at most 256.
  [[nodiscard]] std::int64_t median(std::size_t first, std::size_t count) const {
    std::array<std::int64_t, NumberLimits::near> some{};
    const auto end =
        std::copy_n(delays_.begin() + static_cast<std::ptrdiff_t>(first), count, some.begin());
    const auto place = some.begin() + static_cast<std::ptrdiff_t>((count - 1) / 2);
    std::nth_element(some.begin(), place, end);
    return *place;
  }
  /// Mean distance of the sends of pairs [begin, end), ticks. Requires a pair.
  [[nodiscard]] std::uint64_t spacing(std::size_t begin, std::size_t end) const {
    return (sends_.records[pairs()[end - 1].first].time -
            sends_.records[pairs()[begin].first].time) /
           (end - begin);
  }

 private:
  /// True if few changes of delays, and these are enough to tell, reach `most`.
  [[nodiscard]] bool is_steady(std::size_t begin, std::size_t end, std::uint64_t most) const {
    if (end <= begin + NumberLimits::least_changes) return false;
    std::size_t large = 0;
    for (std::size_t k = begin + 1; k < end; ++k) {
      large += distance(delays_[k], delays_[k - 1]) >= most ? 1 : 0;
    }
    return large * NumberLimits::unsteady < end - begin;
  }
  /// Adds the pairs of a range whose delays differ by less than `most` from the median about them.
  void add_level(std::size_t begin, std::size_t end, std::uint64_t most, IndexPairs& found) const {
    constexpr std::size_t level = 2 * NumberLimits::level;
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t first = std::clamp(k - std::min(k, level / 2), begin, end - level);
      if (distance(delays_[k], median(first, level)) < most) found.push_back(pairs()[k]);
    }
  }
  /// Adds the jumps of medians of `window` pairs by more than `most` ticks.
  void add_jumps(std::size_t window, std::uint64_t most, std::vector<std::size_t>& jumps) const {
    std::vector<std::int64_t> levels;
    const std::size_t step = window / 2;
    for (std::size_t k = 0; k + window <= pairs().size(); k += step) {
      levels.push_back(median(k, window));
    }
    for (std::size_t k = 2; k < levels.size(); ++k) {
      if (distance(levels[k], levels[k - 2]) > most) jumps.push_back(k * step);
    }
  }
  /// Usual change of level between adjacent groups of 8 pairs; at least 1 tick.
  [[nodiscard]] std::uint64_t usual_change() const {
    constexpr std::size_t level = NumberLimits::level;
    if (2 * level > pairs().size()) return 1;
    const std::size_t places = pairs().size() - 2 * level + 1;
    std::vector<std::uint64_t> changes(std::min(places, NumberLimits::samples));
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const std::size_t k = i * places / changes.size();
      changes[i] = distance(median(k + level, level), median(k, level));
    }
    // Of few changes, a single jump has more than this share.
    const std::size_t unusual = std::max(changes.size() / NumberLimits::unusual, 3 * level);
    const std::size_t usual = changes.size() - std::min(unusual, changes.size() / 2) - 1;
    const auto place = changes.begin() + static_cast<std::ptrdiff_t>(usual);
    std::ranges::nth_element(changes, place);
    return std::max<std::uint64_t>(*place, 1);
  }

  const Side& sends_;
  NumberedPairs numbered_;
  std::vector<std::int64_t> delays_;  ///< one per pair
};

/// Joins the pairs counted from the begin, up to their first jump, and those counted from the end,
/// after their last one. Nothing if delays differ where they meet.
std::optional<IndexPairs> join(const NumberPairs& head, std::size_t first_jump,
                               const NumberPairs& tail, std::size_t last_jump) {
  constexpr std::size_t margin = 2 * NumberLimits::window, near = NumberLimits::near;
  const std::size_t head_end = first_jump - std::min(first_jump, margin);
  std::size_t tail_begin = std::min(last_jump + margin, tail.pairs().size());
  IndexPairs all(head.pairs().begin(),
                 head.pairs().begin() + static_cast<std::ptrdiff_t>(head_end));
  while (tail_begin < tail.pairs().size() && !all.empty() &&
         (tail.pairs()[tail_begin].first <= all.back().first ||
          tail.pairs()[tail_begin].second <= all.back().second)) {
    ++tail_begin;
  }
  const std::size_t before = std::min(head_end, near);
  const std::size_t after = std::min(tail.pairs().size() - tail_begin, near);
  if (std::min(before, after) < NumberLimits::window) return std::nullopt;
  const std::uint64_t apart =
      distance(head.median(head_end - before, before), tail.median(tail_begin, after));
  if (apart > head.spacing(head_end - before, head_end) / NumberLimits::alike) return std::nullopt;
  all.insert(all.end(), tail.pairs().begin() + static_cast<std::ptrdiff_t>(tail_begin),
             tail.pairs().end());
  return all;
}

/// True if some end has another partner in `b` than in `a`. Both are sorted.
bool contradict(const IndexPairs& a, const IndexPairs& b) {
  auto one = a.begin();
  return std::ranges::any_of(b, [&](const auto& pair) {
    while (one != a.end() && one->first < pair.first && one->second < pair.second) ++one;
    return one != a.end() &&
           (one->first == pair.first || one->second == pair.second ||
            (one->first < pair.first) != (one->second < pair.second)) &&
           *one != pair;
  });
}

/// Pairs of equal numbers whose delays are far steadier than those of pairs with other numbers
/// would be, which in lockstep they are not. So delays confirm numbers, and never tell them: where
/// a receiver is slow, the send that follows a receive lies as steadily beside it. Nothing if fewer
/// than `least_of_8` of 8 pairs are steady.
std::optional<Alignment> steady_pairs(const Side& sends, const Side& receives,
                                      std::size_t least_of_8) {
  if (!only_delays_distinguish(sends, receives)) return std::nullopt;
  // Numbers of a process with one kind of operations are mere counts.
  if (std::min(sends.facts.kinds, receives.facts.kinds) < 2) return std::nullopt;
  if (sends.facts.total != receives.facts.total) return std::nullopt;
  const NumberPairs numbered(sends, receives, 0);
  Alignment result;
  result.pairs = numbered.steady(change_if_shifted(sends.records) / NumberLimits::irregular);
  if (8 * result.pairs.size() < least_of_8 * numbered.pairs().size()) return std::nullopt;
  result.ambiguous = numbered.pairs().size() + numbered.unclear() - result.pairs.size();
  count_unpaired(sends, receives, result);
  return result;
}

/// True if a gap hides how many ends come before the first one or after the last one.
bool is_open(const Side& side) { return side.records.front().after_gap || side.facts.ends_in_gap; }

}  // namespace

std::optional<Alignment> pair_by_numbers(const Side& sends, const Side& receives) {
  const std::uint32_t evidence = std::min(sends.facts.evidence, receives.facts.evidence);
  if (sends.records.empty() || receives.records.empty() || is_open(sends) || is_open(receives) ||
      evidence < NumberLimits::confirmed) {
    return std::nullopt;
  }
  if (evidence < NumberLimits::evidence) {
    return steady_pairs(sends, receives, NumberLimits::confirming_of_8);
  }
  // Where some delays are steady, the others follow a round that both sides lost.
  if (std::optional<Alignment> found = steady_pairs(sends, receives, NumberLimits::doubtful_of_8)) {
    return found;
  }
  const std::int64_t more = std::int64_t{receives.facts.total} - sends.facts.total;
  const NumberPairs head(sends, receives, 0);
  const std::vector<std::size_t> jumps = head.jumps();
  Alignment result;
  if (more == 0 && jumps.empty()) {
    if (!head.agree()) return std::nullopt;
    if (head.pairs().size() < NumberLimits::few_pairs) {
      Alignment aligned = align_records(sends, receives);
      if (contradict(head.pairs(), aligned.pairs)) return aligned;
    }
    result.pairs = head.pairs();
    result.ambiguous = head.unclear();
  } else {
    const NumberPairs tail(sends, receives, more);
    const std::vector<std::size_t> later = tail.jumps();
    if (jumps.empty() || later.empty()) return std::nullopt;
    std::optional<IndexPairs> pairs = join(head, jumps.front(), tail, later.back());
    if (!pairs) return std::nullopt;
    result.pairs = *std::move(pairs);
    result.ambiguous =
        std::min(sends.records.size(), receives.records.size()) - result.pairs.size();
  }
  count_unpaired(sends, receives, result);
  return result;
}

bool only_delays_distinguish(const Side& sends, const Side& receives) {
  const std::uint32_t kinds = std::min(sends.facts.kinds, receives.facts.kinds);
  return kinds > 0 && kinds <= NumberLimits::few_kinds && are_alike(sends, receives);
}

NumberedPairs equal_numbers(const Side& sends, const Side& receives, std::int64_t shift) {
  NumberedPairs found;
  found.pairs.reserve(std::min(sends.records.size(), receives.records.size()));
  for (std::uint32_t i = 0, j = 0; i < sends.records.size() && j < receives.records.size();) {
    const EndRecord &send = sends.records[i], &receive = receives.records[j];
    const std::int64_t ahead = std::int64_t{send.number} + shift - receive.number;
    if (ahead == 0 && (send.unclear || receive.unclear)) {
      ++found.unclear;
    } else if (ahead == 0 && !may_pair(send, receive)) {
      ++found.impossible;
    } else if (ahead == 0) {
      found.pairs.emplace_back(i, j);
    }
    i += ahead <= 0 ? 1 : 0;
    j += ahead >= 0 ? 1 : 0;
  }
  return found;
}

bool are_alike(const Side& sends, const Side& receives) {
  if (sends.records.empty()) return false;
  const auto has_first_symbol = [&](const EndRecord& record) {
    return record.symbol == sends.records.front().symbol;
  };
  return std::ranges::all_of(sends.records, has_first_symbol) &&
         std::ranges::all_of(receives.records, has_first_symbol);
}

}  // namespace entrain::match
