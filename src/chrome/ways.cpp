// SPDX-License-Identifier: BSD-3-Clause
#include "chrome/ways.hpp"

#include <algorithm>
#include <cstdlib>

namespace entrain::chrome {
namespace {

constexpr std::int64_t k_drift_divisor = 1000;  // 1,000 ppm: two wall clocks that are both slewed
constexpr std::int64_t k_usual_drift_divisor = 5000;  // 200 ppm
/// Calls from which ways are tried. A way contains most calls of its time, so it meets some of
/// them.
constexpr std::size_t k_anchors = 32, k_anchors_at_end = 16;
/// So many calls are lost in one direction before those that fit count.
constexpr std::size_t k_spare_losses = 2;
constexpr std::size_t k_matched_per_lost = 3;
constexpr std::size_t k_enough_for_middle = 16;  ///< calls whose middle change is usual
/// Ends of a way that can be move less from call to call on average, ns: three times what most may.
constexpr std::int64_t k_hopeless = 30'000;
/// Once the clocks are set by one way, others are as near as clocks may be wrong.
constexpr std::int64_t k_reach = 2 * k_wall;
/// Calls of one sequence closer to each other are no steps of a loop, ns.
constexpr std::int64_t k_together = 2 * k_end_spread;

/// Walks from two calls that are taken for one, in one direction. Calls that end together are
/// partners, and of two that do not, the nearer one is lost.
class Walk {
 public:
  /// `direction`: 1 or -1. `touched` gets the calls of the first sequence that found a partner.
  Walk(const Sequence& a, const Sequence& b, std::size_t i, std::size_t j, int direction,
       Alignment& way, std::vector<std::size_t>& touched)
      : a_(a),
        b_(b),
        direction_(direction),
        way_(way),
        touched_(touched),
        i_(place(i)),
        j_(place(j)) {
    least_ = most_ = latest_ = a_.end(i) - b_.end(j);
    first_end_ = latest_end_ = a_.end(i);
  }

  /// False where too many calls would be lost.
  bool run() {
    for (i_ += direction_, j_ += direction_; inside();) {
      if (agree(i_, j_)) {
        match();
      } else if (steps_to_match(i_, j_ + direction_)) {
        lose_other();
      } else if (steps_to_match(i_ + direction_, j_)) {
        lose_own();
      } else if (direction_ * (distance(i_, j_) - latest_) < 0) {
        lose_own();
      } else {
        lose_other();
      }
      if (lost_ > k_spare_losses + matched_ / 2 || is_hopeless()) return false;
    }
    way_.lost += lost_;
    way_.matched += matched_;
    return true;
  }

  /// True if the first sequence ended, or the other one.
  [[nodiscard]] bool first_ended() const { return !is_place(i_, a_); }
  [[nodiscard]] bool other_ended() const { return !is_place(j_, b_); }

 private:
  static std::int64_t place(std::size_t k) { return static_cast<std::int64_t>(k); }
  static bool is_place(std::int64_t k, const Sequence& sequence) {
    return k >= 0 && k < place(sequence.size());
  }
  [[nodiscard]] bool inside() const { return is_place(i_, a_) && is_place(j_, b_); }
  [[nodiscard]] const Call& own(std::int64_t i) const { return a_.at(static_cast<std::size_t>(i)); }
  [[nodiscard]] const Call& others(std::int64_t j) const {
    return b_.at(static_cast<std::size_t>(j));
  }
  [[nodiscard]] std::int64_t distance(std::int64_t i, std::int64_t j) const {
    return static_cast<std::int64_t>(own(i).end - others(j).end);
  }

  [[nodiscard]] std::int64_t own_end() const { return static_cast<std::int64_t>(own(i_).end); }

  /// Since the call before, and since the first one, ends moved apart no more than they may.
  [[nodiscard]] bool agree(std::int64_t i, std::int64_t j) const {
    if (&own(i) == &others(j) || !alike(own(i), others(j))) return false;  // a loop is of others
    const std::int64_t apart = distance(i, j);
    const auto end = static_cast<std::int64_t>(own(i).end);
    if (std::abs(apart - latest_) > k_end_spread + drift_in(end - latest_end_)) return false;
    return std::max(apart, most_) - std::min(apart, least_) <=
           k_end_spread + drift_in(end - first_end_);
  }
  [[nodiscard]] bool steps_to_match(std::int64_t i, std::int64_t j) const {
    return is_place(i, a_) && is_place(j, b_) && agree(i, j);
  }

  /// Most ends of a way that can be are far closer. Among many calls others go on by chance.
  [[nodiscard]] bool is_hopeless() const {
    return matched_ >= k_enough_for_middle &&
           moved_ > k_hopeless * static_cast<std::int64_t>(matched_);
  }

  void match() {
    const std::int64_t time = own_end() - latest_end_;
    moved_ +=
        std::max<std::int64_t>(0, std::abs(distance(i_, j_) - latest_) - usual_drift_in(time));
    way_.partner[static_cast<std::size_t>(i_)] = static_cast<std::uint32_t>(j_);
    touched_.push_back(static_cast<std::size_t>(i_));
    latest_ = distance(i_, j_);
    latest_end_ = own_end();
    least_ = std::min(least_, latest_);
    most_ = std::max(most_, latest_);
    ++matched_;
    i_ += direction_;
    j_ += direction_;
  }
  void lose_own() {
    ++lost_;
    i_ += direction_;
  }
  void lose_other() {
    ++lost_;
    j_ += direction_;
  }

  const Sequence& a_;
  const Sequence& b_;
  int direction_;
  Alignment& way_;
  std::vector<std::size_t>& touched_;
  std::int64_t i_, j_;
  std::int64_t least_ = 0, most_ = 0;  ///< distance of ends of partners
  std::int64_t latest_ = 0;            ///< of the latest ones
  std::int64_t first_end_ = 0, latest_end_ = 0;
  std::int64_t moved_ = 0;  ///< sum of the changes of distances, beyond what clocks drift
  std::size_t matched_ = 0, lost_ = 0;
};

std::int64_t upper_quartile(const std::vector<std::int64_t>& sorted) {
  return sorted[sorted.size() - 1 - sorted.size() / 4];
}

/// By how much offsets change from call to call, beyond what clocks drift.
std::int64_t looseness_of(const std::vector<KnownOffset>& offsets) {
  const std::vector<std::int64_t> net = changes_of(offsets, k_usual_drift_divisor);
  return offsets.size() >= k_enough_for_middle ? net[net.size() / 2] : upper_quartile(net);
}

void measure(const Sequence& a, const Sequence& b, Alignment& way) {
  const std::vector<KnownOffset> offsets = offsets_of(a, b, way);
  const std::vector<std::int64_t> changes = changes_of(offsets);
  way.roughness = changes[changes.size() / 2];
  way.roughest = upper_quartile(changes);
  way.looseness = looseness_of(offsets);
  std::vector<KnownOffset> begins;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!is_partner(way.partner[i])) continue;
    const auto apart = static_cast<std::int64_t>(a.at(i).begin - b.at(way.partner[i]).begin);
    begins.push_back({a.end(i), apart});
  }
  way.looseness_of_begins = looseness_of(begins);
  std::vector<std::int64_t> plain;
  for (const KnownOffset& one : offsets) plain.push_back(one.offset);
  way.offset = median_of(std::move(plain));
}

/// Calls from which to try: the first and last ones, and some between them.
std::vector<std::size_t> anchors_of(std::size_t size) {
  std::vector<std::size_t> anchors;
  for (std::size_t k = 0; k < size; ++k) {
    const bool at_end = k < k_anchors_at_end || k + k_anchors_at_end >= size;
    if (at_end || size <= k_anchors || k % (size / k_anchors) == 0) anchors.push_back(k);
  }
  return anchors;
}

/// The truth may lose every second call of few, and a third of many.
bool may_lose(std::size_t matched, std::size_t lost) {
  return lost <= std::min(matched, k_spare_losses + matched / 2);
}

/// Tries all pairs of calls from which a way can begin.
class Search {
 public:
  /// `itself`: both are the same sequence, and the ways are those to later calls of it.
  Search(const Sequence& a, const Sequence& b, bool itself)
      : a_(a), b_(b), itself_(itself), reach_(itself ? 2 * k_reach : k_reach) {
    for (std::size_t j = 0; j < b.size(); ++j) ends_.push_back(b.end(j));
    way_.partner.assign(a.size(), k_no_partner);
    for (const std::size_t i : anchors_of(a.size())) try_from(i);
  }

  Ways take() { return std::move(ways_); }

 private:
  static constexpr std::size_t k_most_ways = 1024;  // whatever they are, they are too many

  void try_from(std::size_t i) {
    const std::int64_t earliest = itself_ ? a_.end(i) + k_together : a_.end(i) - reach_;
    const auto from = std::lower_bound(ends_.begin(), ends_.end(), earliest);
    for (auto at = from; at != ends_.end() && *at <= a_.end(i) + reach_; ++at) {
      const auto j = static_cast<std::size_t>(at - ends_.begin());
      if (!may_begin(i, j)) continue;
      if (ways_.found.size() >= k_most_ways) {
        ways_.all = false;
        return;
      }
      if (fits(i, j) && is_new()) {
        measure(a_, b_, way_);
        if (is_strong(way_)) strong_.push_back(ways_.found.size());
        ways_.found.push_back(way_);
      }
      for (const std::size_t k : touched_) way_.partner[k] = k_no_partner;
      touched_.clear();
    }
  }
  [[nodiscard]] bool may_begin(std::size_t i, std::size_t j) const {
    return alike(a_.at(i), b_.at(j)) &&
           std::none_of(strong_.begin(), strong_.end(),
                        [&](std::size_t w) { return ways_.found[w].partner[i] == j; });
  }
  /// Walks from other calls of a weak way may find a better one, or the same.
  [[nodiscard]] bool is_new() const {
    return std::none_of(ways_.found.begin(), ways_.found.end(), [&](const Alignment& way) {
      return way.matched == way_.matched && way.lost == way_.lost && way.partner == way_.partner;
    });
  }

  /// Fills the way in which two calls are one. False if too few others fit.
  bool fits(std::size_t i, std::size_t j) {
    way_.partner[i] = static_cast<std::uint32_t>(j);
    touched_.push_back(i);
    way_.matched = 1;
    way_.lost = 0;
    Walk back(a_, b_, i, j, -1, way_, touched_), forth(a_, b_, i, j, 1, way_, touched_);
    if (!back.run() || !forth.run()) return false;
    way_.covers_one =
        (back.first_ended() && forth.first_ended()) || (back.other_ended() && forth.other_ended());
    return way_.matched >= 2 && may_lose(way_.matched, way_.lost);
  }

  const Sequence& a_;
  const Sequence& b_;
  bool itself_;
  std::int64_t reach_;
  std::vector<std::int64_t> ends_;
  Alignment way_;                     ///< that is tried
  std::vector<std::size_t> touched_;  ///< calls that have a partner in it
  Ways ways_;
  std::vector<std::size_t> strong_;  ///< numbers of those of them that are
};

}  // namespace

std::int64_t median_of(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::int64_t drift_in(std::int64_t ns) { return std::abs(ns) / k_drift_divisor; }

std::int64_t usual_drift_in(std::int64_t ns) { return std::abs(ns) / k_usual_drift_divisor; }

std::vector<KnownOffset> offsets_of(const Sequence& a, const Sequence& b, const Alignment& way) {
  std::vector<KnownOffset> result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!is_partner(way.partner[i])) continue;
    result.push_back({a.end(i), a.end(i) - b.end(way.partner[i])});
  }
  return result;
}

std::vector<std::int64_t> changes_of(const std::vector<KnownOffset>& offsets,
                                     std::int64_t divisor) {
  std::vector<std::int64_t> changes;
  for (std::size_t k = 1; k < offsets.size(); ++k) {
    const std::int64_t change = std::abs(offsets[k].offset - offsets[k - 1].offset);
    const std::int64_t time = std::abs(offsets[k].time - offsets[k - 1].time);
    changes.push_back(std::max<std::int64_t>(0, change - (divisor > 0 ? time / divisor : 0)));
  }
  std::sort(changes.begin(), changes.end());
  return changes;
}

bool is_strong(const Alignment& way) {
  return way.matched >= k_least_matched && way.lost * k_matched_per_lost <= way.matched;
}

Ways ways_between(const Sequence& a, const Sequence& b) { return Search(a, b, false).take(); }

Ways repetitions_of(const Sequence& sequence) { return Search(sequence, sequence, true).take(); }

}  // namespace entrain::chrome
