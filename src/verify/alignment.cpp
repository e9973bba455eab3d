// SPDX-License-Identifier: BSD-3-Clause
#include "verify/alignment.hpp"

#include <algorithm>

#include "base/ids.hpp"
#include "verify/grid.hpp"

namespace entrain::verify {

namespace {

constexpr std::size_t k_again = 16;  ///< couples before something odd
constexpr Cost k_surely = 36;

/// How much dearer other explanations must be for a couple to be certain.
struct Demand {
  Cost others, omitted;  ///< as in Likely
};

/// True if of `ends` so many have no partner that this is no exception.
bool is_many(std::int64_t left, std::int64_t ends) { return left < 0 || 200 * left >= ends; }

Demand demand(std::int64_t ends, std::int64_t left, bool ordered) {
  if (left == 0) return {24, 2};
  if (!is_many(left, ends)) return {24, 6};
  return ordered ? Demand{36, 24} : Demand{72, 24};
}

void count_gaps(const Line& sends, const Line& receives, Alignment& alignment) {
  Alignment::Couple before = {k_none, k_none};  // 1 before 0
  const auto until = [&](const Alignment::Couple& next) {
    const auto index = [](std::uint32_t i) { return static_cast<std::int32_t>(i); };
    if (receives.gap(index(before.receive), index(next.receive))) {
      alignment.sends_in_gaps += next.send - (before.send + 1);
    }
    if (sends.gap(index(before.send), index(next.send))) {
      alignment.receives_in_gaps += next.receive - (before.receive + 1);
    }
    before = next;
  };
  for (const Alignment::Couple& couple : alignment.couples) until(couple);
  until({static_cast<std::uint32_t>(sends.size()), static_cast<std::uint32_t>(receives.size())});
}

/// Couples the ends of two rows.
class Coupling {
 public:
  Coupling(const Row& sends, const Row& receives) : grid_(sends, receives) {}

  Alignment solve() {
    if (!go_along()) explain_everything();
    Alignment result;
    const std::int64_t left = end_count() - 2 * std::ssize(likely_);
    const Line &sends = grid_.sends(), &receives = grid_.receives();
    const bool ordered = sends.position(sends.size()) > 0 && receives.position(receives.size()) > 0;
    const Demand least = demand(end_count(), left, ordered);
    for (const Likely& one : likely_) {
      if (one.others < least.others || one.omitted < least.omitted) continue;
      result.couples.push_back(
          {static_cast<std::uint32_t>(one.send), static_cast<std::uint32_t>(one.receive)});
    }
    result.ambiguous = std::ssize(likely_) - std::ssize(result.couples);
    Alignment likely;
    for (const Likely& one : likely_) {
      likely.couples.push_back(
          {static_cast<std::uint32_t>(one.send), static_cast<std::uint32_t>(one.receive)});
    }
    count_gaps(sends, receives, likely);
    result.sends_in_gaps = likely.sends_in_gaps;
    result.receives_in_gaps = likely.receives_in_gaps;
    return result;
  }

 private:
  [[nodiscard]] std::int64_t end_count() const {
    return std::int64_t{grid_.sends().size()} + grid_.receives().size();
  }
  [[nodiscard]] bool complete(const Cell& last) const {
    return last.send + 1 == grid_.sends().size() && last.receive + 1 == grid_.receives().size();
  }

  /// Couples next with next, and explains only where something is odd. False if it should be
  /// explained everywhere.
  bool go_along() {
    while (true) {
      const std::size_t first = likely_.size();
      const Cell last = couple_plain();
      if (complete(last) && grid_.to_end(last) == 0) break;
      const Grid::Outcome outcome = explain_around(first, last.receive + 1);
      if (likely_.empty() || is_many(left_so_far(), end_count())) return false;
      if (!outcome.plain && outcome.decided < grid_.receives().size()) return false;
      if (!outcome.plain) break;
    }
    const Likely &first = likely_.front(), &last = likely_.back();
    return first.send == 0 && first.receive == 0 &&
           complete({.send = last.send, .receive = last.receive});
  }
  /// Ends up to the last couple without a partner.
  [[nodiscard]] std::int64_t left_so_far() const {
    return std::int64_t{likely_.back().send} + likely_.back().receive + 2 - 2 * std::ssize(likely_);
  }

  /// Adds couples as long as they are plain. Returns the last one.
  Cell couple_plain() {
    Cell last;
    LastDelays delays;
    for (std::size_t k = likely_.size() - std::min(likely_.size(), LastDelays::k_most);
         k < likely_.size(); ++k) {
      last.send = likely_[k].send;
      last.receive = likely_[k].receive;
      delays.push(grid_.delay(last.send, last.receive));
    }
    if (!likely_.empty()) last.shift = grid_.shift(last.send, last.receive);
    while (true) {
      last.delays = delays.count();
      if (last.delays > 0) last.usual = delays.middle();
      if (!grid_.plain_after(last)) return last;
      likely_.push_back({.send = ++last.send, .receive = ++last.receive});
      delays.push(grid_.delay(last.send, last.receive));
    }
  }

  /// Explains from before receive `odd`: of the couples from number `first` on the last ones again,
  /// 16 or 4, 16, ... times as many, until the first half of them comes out as certain.
  Grid::Outcome explain_around(std::size_t first, std::int32_t odd) {
    const std::size_t run = likely_.size() - first;
    for (std::size_t again = std::min(k_again, run);; again = std::min(4 * again, run)) {
      const std::size_t kept = first + run - again;
      likely_.resize(kept);
      const std::int32_t begin = kept == 0 ? 0 : likely_.back().receive + 1;
      const Grid::Outcome outcome = grid_.explain(likely_, begin, odd);
      if (again == run || surely(kept, (again + 1) / 2)) return outcome;
    }
  }
  [[nodiscard]] bool surely(std::size_t first, std::size_t count) const {
    if (likely_.size() < first + count) return false;
    for (std::size_t k = first; k < first + count; ++k) {
      if (likely_[k].others < k_surely || likely_[k].omitted < k_surely) return false;
    }
    return true;
  }

  void explain_everything() {
    likely_.clear();
    for (std::int32_t begin = 0; begin < grid_.receives().size();) {
      begin = grid_.explain(likely_, begin, Grid::k_never_plain).decided;
    }
  }

  Grid grid_;
  std::vector<Likely> likely_;
};

bool any_gap(const Row& row) {
  return row.ends_in_gap || std::any_of(row.traits.begin(), row.traits.end(),
                                        [](const Trait& trait) { return trait.after_gap; });
}

/// Whether only delays can deny that the k-th ends belong together: the rows are equally long and
/// without gaps, symbols agree, and as much lies between the ends of one as between those of the
/// other, one operation or more on average.
bool same_but_for_delays(const Row& sends, const Row& receives) {
  const std::size_t ends = sends.traits.size();
  if (receives.traits.size() != ends || any_gap(sends) || any_gap(receives)) return false;
  const Trait &sent = sends.traits.front(), &received = receives.traits.front();
  for (std::size_t k = 0; k < ends; ++k) {
    const Trait &s = sends.traits[k], &r = receives.traits[k];
    if (s.symbol != r.symbol || s.position - sent.position != r.position - received.position) {
      return false;
    }
  }
  return sends.traits.back().position - sent.position >= ends - 1;
}

/// Both rows where neither is whole. Where only delays deny the order of the ends, other couples
/// have nothing but delays to show for them: processes that take turns have steady ones between
/// wrong turns, too.
Alignment align_broken(const Row& sends, const Row& receives) {
  if (!sends.traits.empty() && !receives.traits.empty()) {
    Alignment solved = Coupling(sends, receives).solve();
    const bool moved =
        std::any_of(solved.couples.begin(), solved.couples.end(),
                    [](const Alignment::Couple& one) { return one.send != one.receive; });
    return moved && same_but_for_delays(sends, receives) ? leave_open(sends, receives) : solved;
  }
  Alignment nobody;
  if (receives.ends_in_gap) nobody.sends_in_gaps = std::ssize(sends.traits);
  if (sends.ends_in_gap) nobody.receives_in_gaps = std::ssize(receives.traits);
  return nobody;
}

Row behind(Row row, std::uint32_t ends) {
  row.traits = row.traits.subspan(ends);
  return row;
}

}  // namespace

void count_in_gaps(const Row& sends, const Row& receives, Alignment& alignment) {
  count_gaps(Line(sends), Line(receives), alignment);
}

Alignment leave_open(const Row& sends, const Row& receives) {
  Alignment unclear;
  count_in_gaps(sends, receives, unclear);
  if (!any_gap(sends) && !any_gap(receives)) {
    unclear.ambiguous = std::min(std::ssize(sends.traits), std::ssize(receives.traits));
  }
  return unclear;
}

Alignment align_rows(const Row& sends, const Row& receives) {
  const std::uint32_t whole = std::min(sends.whole, receives.whole);
  Alignment aligned = align_broken(behind(sends, whole), behind(receives, whole));
  if (whole == 0) return aligned;
  std::vector<Alignment::Couple> couples;
  couples.reserve(whole + aligned.couples.size());
  for (std::uint32_t k = 0; k < whole; ++k) couples.push_back({k, k});
  for (const auto& [send, receive] : aligned.couples) {
    couples.push_back({send + whole, receive + whole});
  }
  aligned.couples = std::move(couples);
  return aligned;
}

}  // namespace entrain::verify
