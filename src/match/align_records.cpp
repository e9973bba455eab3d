// SPDX-License-Identifier: BSD-3-Clause
#include "match/align_records.hpp"

#include <algorithm>

#include "match/beam_search.hpp"
#include "match/ends.hpp"

namespace entrain::match {

namespace {

/// Least values of Candidate's margins for a certain pair, bits.
struct Certainty {
  int margin, removal_margin;
};

/// Thresholds of the alignment; chosen, not measured one by one. Their joint effect is bounded by
/// tests/incomplete/pairs_test.cpp.
struct AlignLimits {
  static constexpr Certainty all_paired = {24, 2};  ///< required if every end has a candidate
  static constexpr Certainty few_unpaired = {24, 6};
  static constexpr Certainty many_unpaired = {36, 24};
  static constexpr std::size_t many = 200;      ///< unpaired ends are many from 1 in so many on
  static constexpr std::size_t step_back = 16;  ///< pairs searched again before an irregular one
  static constexpr int anchor_margin = 36;      ///< least margins of the first half of these, bits
};

class Aligner {
 public:
  Aligner(const Side& sends, const Side& receives)
      : sends_(sends), receives_(receives), ends_(sends, receives), search_(ends_) {}

  Alignment run() {
    if (!walk()) search_all();
    choose();
    if ((result_.pairs.empty() || leaves_order()) && ends_.agree_in_order()) {
      Alignment none = all_ambiguous(sends_, receives_);
      none.examined_pairs = walked_ + search_.examined_pairs();
      return none;
    }
    IndexPairs pairs;
    pairs.reserve(candidates_.size());
    for (const Candidate& pair : candidates_) pairs.emplace_back(pair.send, pair.receive);
    count_unpaired(ends_, pairs, result_);
    result_.examined_pairs = walked_ + search_.examined_pairs();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::size_t end_count() const {
    return ends_.sends().size() + ends_.receives().size();
  }
  /// Number of ends before the next pair that are in no candidate.
  [[nodiscard]] std::size_t unpaired() const {
    return static_cast<std::size_t>(at_.pair.send + 1) +
           static_cast<std::size_t>(at_.pair.receive + 1) - 2 * candidates_.size();
  }
  [[nodiscard]] bool are_many(std::size_t unpaired) const {
    return unpaired * AlignLimits::many >= end_count();
  }

  /// Takes regular pairs in order, and searches around irregular ones. False if the whole channel
  /// must be searched.
  bool walk() {
    while (true) {
      while (ends_.is_regular(at_.pair, at_.delays)) take_next();
      if (is_end() && ends_.end_cost(at_.pair) == 0) break;
      search_around();
      if (are_many(unpaired())) return false;
      if (search_.decided() == ends_.receive_count()) break;
      if (!search_.converged()) return false;
    }
    return !any_unpaired_outside();
  }
  /// True if ends are unpaired before the first pair or after the last one: then all pairs may be
  /// shifted alike.
  [[nodiscard]] bool any_unpaired_outside() const {
    if (candidates_.empty()) return true;
    const Candidate &first = candidates_.front(), &last = candidates_.back();
    return first.send > 0 || first.receive > 0 || last.send + 1 < ends_.send_count() ||
           last.receive + 1 < ends_.receive_count();
  }
  [[nodiscard]] bool is_end() const {
    return at_.pair.send + 1 == ends_.send_count() && at_.pair.receive + 1 == ends_.receive_count();
  }

  void take_next() {
    ++at_.pair.send;
    ++at_.pair.receive;
    ends_.add(at_.pair.send, at_.pair.receive, at_.delays);
    candidates_.push_back({.send = at_.pair.send, .receive = at_.pair.receive});
    ++walked_;
  }

  /// Searches from some pairs before the next receive on: from so many that the first half of them
  /// is confirmed.
  void search_around() {
    const std::int32_t irregular = at_.pair.receive + 1;
    run_length_ = candidates_.size() - run_begin_;
    std::size_t kept = run_length_;
    do {
      const std::size_t back = run_length_ - kept;
      kept = run_length_ - std::min(back == 0 ? AlignLimits::step_back : 4 * back, run_length_);
      go_back(kept);
      search_.run(at_, at_.pair.receive + 1, irregular, candidates_);
    } while (kept > 0 && !is_anchored(kept));
    run_begin_ = candidates_.size();
  }
  /// Keeps the first `kept` of the pairs taken in order since the last search.
  void go_back(std::size_t kept) {
    candidates_.resize(run_begin_ + kept);
    at_ = {};
    for (std::size_t k = candidates_.size() - std::min(candidates_.size(), Delays::k_most);
         k < candidates_.size(); ++k) {
      ends_.add(candidates_[k].send, candidates_[k].receive, at_.delays);
    }
    if (candidates_.empty()) return;
    const Candidate& last = candidates_.back();
    at_.pair = {last.send, last.receive, ends_.shift(last.send, last.receive)};
  }
  /// True if the search confirmed the first half of the pairs that were taken before it.
  [[nodiscard]] bool is_anchored(std::size_t kept) const {
    const auto first = candidates_.begin() + static_cast<std::ptrdiff_t>(run_begin_ + kept);
    const auto count = static_cast<std::ptrdiff_t>((run_length_ - kept + 1) / 2);
    return candidates_.end() - first >= count &&
           std::all_of(first, first + count, [](const Candidate& pair) {
             return std::min(pair.margin, pair.removal_margin) >= AlignLimits::anchor_margin;
           });
  }

  void search_all() {
    candidates_.clear();
    at_ = {};
    for (std::int32_t begin = 0; begin < ends_.receive_count(); begin = search_.decided()) {
      search_.run(at_, begin, BeamSearch::k_whole, candidates_);
    }
  }

  /// Keeps the candidates that are certain.
  void choose() {
    const std::size_t unpaired = end_count() - 2 * candidates_.size();
    const bool many = are_many(unpaired);
    const Certainty required = unpaired == 0 ? AlignLimits::all_paired
                               : many        ? AlignLimits::many_unpaired
                                             : AlignLimits::few_unpaired;
    // Without positions only delays remain, and many unpaired ends make these weak evidence.
    const int margin = many && !ends_.has_positions() ? 2 * required.margin : required.margin;
    for (const Candidate& pair : candidates_) {
      if (pair.margin >= margin && pair.removal_margin >= required.removal_margin) {
        result_.pairs.emplace_back(pair.send, pair.receive);
      }
    }
    result_.ambiguous = candidates_.size() - result_.pairs.size();
  }

  /// True if a pair joins ends of different numbers.
  [[nodiscard]] bool leaves_order() const {
    return std::ranges::any_of(result_.pairs,
                               [](const auto& pair) { return pair.first != pair.second; });
  }

  const Side &sends_, &receives_;
  const Ends ends_;
  BeamSearch search_;
  BeamState at_;                ///< last pair
  std::size_t run_begin_ = 0;   ///< number of candidates up to the last search
  std::size_t run_length_ = 0;  ///< pairs taken in order between it and the next one
  std::uint64_t walked_ = 0;    ///< pairs taken in order
  std::vector<Candidate> candidates_;
  Alignment result_;
};

}  // namespace

bool may_pair(const EndRecord& send, const EndRecord& receive) {
  constexpr std::uint32_t k_unknown = trace::RecordedClock::k_unknown;
  if (send.symbol != receive.symbol) return false;
  if (send.doubt == k_unknown || receive.doubt == k_unknown) return true;
  const std::uint64_t doubt = std::uint64_t{send.doubt} + receive.doubt;
  const auto is_before = [&](std::uint64_t end, std::uint64_t begin) {
    return end < begin && begin - end > doubt;
  };
  if (send.duration == k_unknown && receive.duration == k_unknown) {
    return !is_before(receive.time, send.time);
  }
  return !is_before(receive.time, send.time - send.duration) &&
         !is_before(send.time, receive.time - receive.duration);
}

Alignment align_records(const Side& sends, const Side& receives) {
  if (sends.records.empty() || receives.records.empty()) {
    Alignment none;
    (receives.facts.ends_in_gap ? none.sends_in_gaps : none.lost) += sends.records.size();
    (sends.facts.ends_in_gap ? none.receives_in_gaps : none.lost) += receives.records.size();
    return none;
  }
  return Aligner(sends, receives).run();
}

namespace {

/// Numbers of leading and trailing ends that are partners if only gaps lose records.
std::pair<std::uint32_t, std::uint32_t> certain_ends(const Side& sends, const Side& receives,
                                                     bool with_gaps) {
  const auto ends =
      static_cast<std::uint32_t>(std::min(sends.records.size(), receives.records.size()));
  if (!with_gaps) return {ends, 0};
  const std::uint32_t front = std::min(sends.facts.before_gaps, receives.facts.before_gaps);
  return {front, std::min({sends.facts.after_gaps, receives.facts.after_gaps, ends - front})};
}

}  // namespace

Alignment align_between_gaps(const Side& sends, const Side& receives, bool with_gaps) {
  const auto [front, back] = certain_ends(sends, receives, with_gaps);
  const auto between = [front = front, back = back](Side side) {
    const auto after = side.records.last(back);
    side.records = side.records.subspan(front, side.records.size() - front - back);
    if (after.empty()) return side;
    side.facts.position = after.front().position;
    side.facts.ends_in_gap = after.front().after_gap;
    return side;
  };
  const Side sent = between(sends), received = between(receives);
  Alignment result = align_records(sent, received);
  IndexPairs pairs(front);
  for (std::uint32_t k = 0; k < front; ++k) pairs[k] = {k, k};
  for (const auto& [send, receive] : result.pairs)
    pairs.emplace_back(front + send, front + receive);
  const auto count = [](std::size_t n) { return static_cast<std::uint32_t>(n); };
  for (std::uint32_t k = 0; k < back; ++k) {
    pairs.emplace_back(front + count(sent.records.size()) + k,
                       front + count(received.records.size()) + k);
  }
  result.pairs = std::move(pairs);
  return result;
}

bool only_gaps_lose(const Side& sends, const Side& receives, bool with_gaps) {
  if (!with_gaps && sends.records.size() != receives.records.size()) return false;
  const auto [front, back] = certain_ends(sends, receives, with_gaps);
  const auto equal = [](std::span<const EndRecord> a, std::span<const EndRecord> b) {
    return std::ranges::equal(a, b, {}, &EndRecord::symbol, &EndRecord::symbol);
  };
  return equal(sends.records.first(front), receives.records.first(front)) &&
         equal(sends.records.last(back), receives.records.last(back));
}

}  // namespace entrain::match
