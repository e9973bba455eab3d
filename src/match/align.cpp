// SPDX-License-Identifier: BSD-3-Clause
#include "match/align.hpp"

#include <algorithm>

#include "match/ends.hpp"
#include "match/lattice.hpp"

namespace entrain::match {

namespace {

/// How certain a pair must be: between the explanation that counts and others, and between it and
/// the same without this pair.
struct Certainty {
  int margin, alone;
};
constexpr Certainty k_nothing_lost = {24, 2}, k_little_lost = {24, 6}, k_much_lost = {36, 24};
/// More than one end in so many lost is much.
constexpr std::size_t k_many = 200;
/// Pairs before something odd that are looked at again, and how certain the first of them must be.
constexpr std::size_t k_back = 16;
constexpr int k_safe = 36;

class Aligner {
 public:
  Aligner(const Side& sends, const Side& receives)
      : sends_(sends), receives_(receives), ends_(sends, receives), lattice_(ends_) {}

  Alignment run() {
    if (!walk()) explain_all();
    choose();
    if (moves_an_end() && ends_.agree_in_order()) {
      Alignment none = nothing_certain(sends_, receives_);
      none.looked_at = walked_ + lattice_.looked_at();
      return none;
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    pairs.reserve(likely_.size());
    for (const Likely& pair : likely_) pairs.emplace_back(pair.send, pair.receive);
    count_left_out(ends_, pairs, result_);
    result_.looked_at = walked_ + lattice_.looked_at();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::size_t end_count() const {
    return ends_.sends().size() + ends_.receives().size();
  }
  /// Of the ends before the next pair, those that are in no likely pair.
  [[nodiscard]] std::size_t lost() const {
    return static_cast<std::size_t>(at_.pair.send + 1) +
           static_cast<std::size_t>(at_.pair.receive + 1) - 2 * likely_.size();
  }
  [[nodiscard]] bool much(std::size_t lost) const { return lost * k_many >= end_count(); }

  /// Pairs in order as long as nothing is odd, and looks closer where something is. False if that
  /// is not good enough: then the whole channel wants a closer look.
  bool walk() {
    while (true) {
      while (ends_.is_plain(at_.pair, at_.delays)) take_next();
      if (is_end() && ends_.end_cost(at_.pair) == 0) break;
      look_closer();
      if (much(lost())) return false;
      if (lattice_.decided() == ends_.receive_count()) break;
      if (!lattice_.plain()) return false;
    }
    return !any_left_outside();
  }
  /// True if ends are left out before the first pair or after the last one: then all pairs may be
  /// wrong in the same way.
  [[nodiscard]] bool any_left_outside() const {
    if (likely_.empty()) return true;
    const Likely &first = likely_.front(), &last = likely_.back();
    return first.send > 0 || first.receive > 0 || last.send + 1 < ends_.send_count() ||
           last.receive + 1 < ends_.receive_count();
  }
  [[nodiscard]] bool is_end() const {
    return at_.pair.send + 1 == ends_.send_count() && at_.pair.receive + 1 == ends_.receive_count();
  }

  void take_next() {
    ++at_.pair.send;
    ++at_.pair.receive;
    at_.delays.add(ends_.delay(at_.pair.send, at_.pair.receive));
    likely_.push_back({.send = at_.pair.send, .receive = at_.pair.receive});
    ++walked_;
  }

  /// Explains the next receives, from some pairs before them on: from so many that the first of
  /// them stay certain.
  void look_closer() {
    const std::int32_t odd = at_.pair.receive + 1;
    run_length_ = likely_.size() - run_begin_;
    std::size_t kept = run_length_;
    do {
      const std::size_t back = run_length_ - kept;
      kept = run_length_ - std::min(back == 0 ? k_back : 4 * back, run_length_);
      go_back(kept);
      lattice_.explain(at_, at_.pair.receive + 1, odd, likely_);
    } while (kept > 0 && !begins_certain(kept));
    run_begin_ = likely_.size();
  }
  /// Keeps so many of the pairs taken in order since the last closer look.
  void go_back(std::size_t kept) {
    likely_.resize(run_begin_ + kept);
    at_ = {};
    for (std::size_t k = likely_.size() - std::min(likely_.size(), Delays::k_most);
         k < likely_.size(); ++k) {
      at_.delays.add(ends_.delay(likely_[k].send, likely_[k].receive));
    }
    if (likely_.empty()) return;
    const Likely& last = likely_.back();
    at_.pair = {last.send, last.receive, ends_.shift(last.send, last.receive)};
  }
  /// True if the first half of the pairs that were explained again stayed certain.
  [[nodiscard]] bool begins_certain(std::size_t kept) const {
    const auto first = likely_.begin() + static_cast<std::ptrdiff_t>(run_begin_ + kept);
    const auto count = static_cast<std::ptrdiff_t>((run_length_ - kept + 1) / 2);
    return likely_.end() - first >= count &&
           std::all_of(first, first + count, [](const Likely& pair) {
             return pair.margin >= k_safe && pair.alone >= k_safe;
           });
  }

  void explain_all() {
    likely_.clear();
    at_ = {};
    for (std::int32_t begin = 0; begin < ends_.receive_count(); begin = lattice_.decided()) {
      lattice_.explain(at_, begin, Lattice::k_whole, likely_);
    }
  }

  /// Keeps the likely pairs that are certain.
  void choose() {
    const std::size_t lost = end_count() - 2 * likely_.size();
    const bool is_much = much(lost);
    const Certainty wanted = lost == 0 ? k_nothing_lost : is_much ? k_much_lost : k_little_lost;
    // Where much was lost, delays alone say too little.
    const int margin = is_much && !ends_.positions() ? 2 * wanted.margin : wanted.margin;
    for (const Likely& pair : likely_) {
      if (pair.margin >= margin && pair.alone >= wanted.alone) {
        result_.pairs.emplace_back(pair.send, pair.receive);
      }
    }
    result_.ambiguous = likely_.size() - result_.pairs.size();
  }

  /// True if a pair is not the one in order.
  [[nodiscard]] bool moves_an_end() const {
    return std::any_of(result_.pairs.begin(), result_.pairs.end(),
                       [](const auto& pair) { return pair.first != pair.second; });
  }

  const Side &sends_, &receives_;
  const Ends ends_;
  Lattice lattice_;
  Standing at_;                 ///< the last pair
  std::size_t run_begin_ = 0;   ///< likely pairs up to the last closer look
  std::size_t run_length_ = 0;  ///< pairs taken in order between it and the next one
  std::uint64_t walked_ = 0;    ///< pairs taken in order
  std::vector<Likely> likely_;
  Alignment result_;
};

}  // namespace

Alignment align(const Side& sends, const Side& receives) {
  if (sends.traits.empty() || receives.traits.empty()) {
    Alignment none;
    (receives.ends_in_gap ? none.in_gaps : none.lost) += sends.traits.size();
    (sends.ends_in_gap ? none.in_gaps : none.lost) += receives.traits.size();
    return none;
  }
  return Aligner(sends, receives).run();
}

Alignment align_after(std::uint32_t certain, const Side& sends, const Side& receives) {
  const auto rest = [&](Side side) {
    side.traits = side.traits.subspan(certain);
    return side;
  };
  Alignment result = align(rest(sends), rest(receives));
  if (certain == 0) return result;
  for (auto& [send, receive] : result.pairs) {
    send += certain;
    receive += certain;
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs(certain);
  for (std::uint32_t k = 0; k < certain; ++k) pairs[k] = {k, k};
  result.pairs.insert(result.pairs.begin(), pairs.begin(), pairs.end());
  return result;
}

std::uint32_t equal_symbols(const Side& sends, const Side& receives, std::uint32_t count) {
  std::uint32_t k = 0;
  while (k < count && sends.traits[k].symbol == receives.traits[k].symbol) ++k;
  return k;
}

}  // namespace entrain::match
