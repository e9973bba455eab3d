// SPDX-License-Identifier: BSD-3-Clause
#include <entrain/clock_map.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/try.hpp"

namespace entrain {

namespace {

constexpr std::int64_t k_limit = std::int64_t{1} << 61;

/// rint(x) as an integer, saturated well inside the range of int64.
std::int64_t rounded(double x) {
  constexpr double k_bound = 4.0e18;
  return static_cast<std::int64_t>(std::rint(std::clamp(x, -k_bound, k_bound)));
}

/// a + b modulo 2^64: a stamp near 2^64 must not be undefined behaviour.
std::int64_t wrapping_sum(std::uint64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(a + static_cast<std::uint64_t>(b));
}

/// True if a line falls by more than a tick at once so far from its knot: in doubles distances
/// above 2^53 are coarser than a tick, and products above that by two.
bool falls_in_steps(double slope, std::uint64_t distance) {
  constexpr double k_exact_product = 9007199254740992.0;  // 2^53
  const int coarse = static_cast<int>(std::bit_width(distance)) - 53;
  return slope < 0 && ((coarse > 0 && std::ldexp(-slope, coarse) > 1) ||
                       -slope * static_cast<double>(distance) > k_exact_product);
}

}  // namespace

Result<ClockMap> ClockMap::from_knots(std::vector<ClockKnot> knots) {
  for (std::size_t i = 0; i < knots.size(); ++i) {
    if (knots[i].offset > k_limit || knots[i].offset < -k_limit) {
      return input_error("a clock offset of {} ticks at local time {} is out of range",
                         knots[i].offset, knots[i].local);
    }
    if (i > 0 && knots[i].local <= knots[i - 1].local) {
      return input_error("clock offsets are not in order of time: {} follows {}", knots[i].local,
                         knots[i - 1].local);
    }
  }
  ClockMap map;
  map.knots_ = std::move(knots);
  return map;
}

double ClockMap::slope(const ClockKnot& begin, const ClockKnot& end) {
  return static_cast<double>(end.offset - begin.offset) /
         static_cast<double>(end.local - begin.local);
}

std::int64_t ClockMap::far_away(const ClockKnot& begin, double slope, std::uint64_t local) {
  // A reader extends the first segment to the left: the difference is negative there, but its
  // size is taken as an unsigned integer first.
  const double distance = local >= begin.local ? static_cast<double>(local - begin.local)
                                               : -static_cast<double>(begin.local - local);
  return wrapping_sum(local, begin.offset + rounded(slope * distance));
}

std::int64_t ClockMap::operator()(std::uint64_t local) const {
  if (knots_.size() < 2) return static_cast<std::int64_t>(local);
  const auto end =
      std::lower_bound(knots_.begin() + 1, knots_.end() - 1, local,
                       [](const ClockKnot& k, std::uint64_t t) { return k.local < t; });
  return at(*(end - 1), slope(*(end - 1), *end), local);
}

void ClockMap::Cursor::move_to(std::uint64_t local) {
  begun_ = true;
  if (knots_.size() < 2) {  // a segment that never ends, without offset
    end_ = ~std::uint64_t{0};
    return;
  }
  while (segment_ + 2 < knots_.size() && knots_[segment_ + 1].local < local) ++segment_;
  begin_ = knots_[segment_];
  slope_ = slope(begin_, knots_[segment_ + 1]);
  const bool last = segment_ + 2 == knots_.size();
  end_ = last ? ~std::uint64_t{0} : knots_[segment_ + 1].local;
}

bool ClockMap::is_identity() const {
  return knots_.size() < 2 ||
         std::ranges::all_of(knots_, [](const ClockKnot& k) { return k.offset == 0; });
}

bool ClockMap::is_monotone() const {
  if (knots_.size() < 2) return true;
  for (std::size_t i = 1; i < knots_.size(); ++i) {
    const std::int64_t fall = knots_[i - 1].offset - knots_[i].offset;
    if (fall > 0 && static_cast<std::uint64_t>(fall) > knots_[i].local - knots_[i - 1].local) {
      return false;
    }
  }
  return true;
}

bool ClockMap::keeps_order(std::uint64_t first, std::uint64_t last) const {
  if (!is_monotone()) return false;
  for (std::size_t i = 1; i < knots_.size(); ++i) {
    const ClockKnot &begin = knots_[i - 1], &end = knots_[i];
    const bool last_segment = i + 1 == knots_.size();
    const std::uint64_t right = last_segment ? last : std::min(end.local, last);
    const std::uint64_t left = i == 1 ? first : begin.local;
    if (falls_in_steps(slope(begin, end), std::max(right, begin.local) - begin.local) ||
        falls_in_steps(slope(begin, end), begin.local - std::min(left, begin.local))) {
      return false;
    }
    if (last_segment || end.local < first || end.local >= last) continue;
    const std::int64_t before = at(begin, slope(begin, end), end.local);
    if (before > at(end, slope(end, knots_[i + 1]), end.local + 1)) return false;
  }
  return true;
}

ClockMap ClockMap::shifted(std::int64_t shift) const {
  ClockMap result = *this;
  if (result.knots_.size() < 2) result.knots_ = {{0, 0}, {1, 0}};
  for (ClockKnot& knot : result.knots_) knot.offset += shift;
  return result;
}

}  // namespace entrain
