// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "chrome/calls.hpp"

/// Sequences of calls without numbers are aligned by what the calls are and when they end. Calls
/// may be missing from either.
namespace entrain::chrome {

constexpr std::uint32_t k_no_partner = ~std::uint32_t{0};
constexpr std::uint32_t k_several_partners = k_no_partner - 1;  ///< so that it gets none
constexpr bool is_partner(std::uint32_t place) { return place < k_several_partners; }

/// Ends of one collective coincide: they may differ by this, ns, and by what clocks drift
/// meanwhile.
constexpr std::int64_t k_end_spread = 100'000;

/// The calls of one group at one rank, in order of their ends.
struct Sequence {
  const RankFile* file = nullptr;
  std::vector<std::uint32_t> calls;  ///< positions in RankFile::calls

  [[nodiscard]] const Call& at(std::size_t k) const { return file->calls[calls[k]]; }
  [[nodiscard]] std::int64_t end(std::size_t k) const {
    return static_cast<std::int64_t>(at(k).end);
  }
  [[nodiscard]] std::size_t size() const { return calls.size(); }
};

/// Neither says anything that denies that both are calls of one collective.
bool alike(const Call& a, const Call& b);

/// How much later the clock of one sequence is than that of another one, ns, where that is known
/// from other calls: at times of the first one, in order.
struct KnownOffset {
  std::int64_t time = 0, offset = 0;
};

/// Which calls of two sequences belong together.
///
/// Example: ends of one at 10, 14 and 30 ms, of the other one at 10.001, 14, 21 and 30.002. The
/// third call of the other one has no partner and lies between calls that have: it is lost at the
/// first one.
struct Alignment {
  std::vector<std::uint32_t> partner;  ///< per call of the first one: place in the other one
  std::size_t matched = 0;
  /// Calls without a partner at the time of calls of the other sequence, of both.
  std::size_t lost = 0;
  std::int64_t offset = 0;     ///< how much later ends of the first one are, in the median, ns
  std::int64_t roughness = 0;  ///< by how much that changes from call to call, in the median, ns
  std::int64_t roughest = 0;   ///< the same in the upper quartile
  /// As roughness, beyond what clocks drift; of few calls in the upper quartile.
  std::int64_t looseness = 0;
  std::int64_t looseness_of_begins = 0;  ///< the same of begins in place of ends
  static constexpr std::int64_t k_never = std::numeric_limits<std::int64_t>::max();
  /// After how long calls look the same again, if within 200 ms.
  std::int64_t period = k_never;
  bool covers_one = false;  ///< every call of one of the two lies in the time of the other one
};

/// What aligning two sequences came to.
struct Aligned {
  std::optional<Alignment> way;  ///< the only one that can be
  bool possible = false;         ///< there are ways, but none that is certain
};

/// Aligns sequences of clocks that show the same time to 50 ms. Three calls must fit for each one
/// that is lost, and at least six, or three of windows so long that each rank would see some of the
/// other one's, however wrong the clocks are. Where calls fit in another way as well, also after
/// the clocks are set by the first way, none is certain; nor is one of a loop whose steps are
/// shorter than the clocks may be wrong.
Aligned align_sequences(const Sequence& a, const Sequence& b);

/// Pairs calls that end together by offsets that are known, as close as these are known; each must
/// have one candidate only, and most must have one. Empty `known`: none.
Alignment align_by_offsets(const Sequence& a, const Sequence& b,
                           const std::vector<KnownOffset>& known);

/// As far as ends may be apart at a distance from a time at which their offset is known, ns.
std::int64_t reach_at(std::int64_t distance);

/// The offset at the known time that is nearest, and how far away that is. `known` is not empty.
struct NearOffset {
  std::int64_t offset = 0, distance = 0;
};
NearOffset offset_near(const std::vector<KnownOffset>& known, std::int64_t time);

}  // namespace entrain::chrome
