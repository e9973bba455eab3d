// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/share.hpp"
#include "verify/alignment.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

/// The gaps in the records of one process.
class ProcessGaps {
 public:
  /// `ends_early`: one is behind its last record.
  ProcessGaps(const trace::Trace& trace, std::span<const LocationIndex> locations, bool ends_early);

  [[nodiscard]] bool any() const { return !ends_.empty(); }
  /// Sets Trait::after_gap. Returns Row::ends_in_gap. O(n log gaps).
  bool mark(std::span<Trait> traits) const;
  /// The number of gaps that ended at or before a stamp.
  [[nodiscard]] std::uint32_t ended(std::uint64_t stamp) const;
  /// The number of leading traits before all gaps.
  [[nodiscard]] std::uint32_t ahead(std::span<const Trait> traits) const;

 private:
  std::vector<std::uint64_t> ends_;  ///< in order; trace::Gap::k_open: never
  /// The last stamp before all gaps and before all receives that were posted and whose completion,
  /// maybe in a gap, is not recorded.
  std::uint64_t sound_until_ = trace::Gap::k_open;
};

/// True if a location of this member has a gap that ends: records follow it.
bool any_inner_gaps(const trace::Share& share);

/// Which processes have gaps. One that calls MPI_Init but not MPI_Finalize ends early, in a gap.
/// Made only where records may be missing.
class GapTable {
 public:
  /// Keeps both. Collective. O(events).
  GapTable(const trace::Share& share, const Places& places);

  [[nodiscard]] const trace::Share& share() const { return share_; }
  [[nodiscard]] const Places& places() const { return places_; }
  /// The same at every member.
  [[nodiscard]] bool has(std::uint32_t process) const { return has_[process]; }
  /// Of a process of this member.
  [[nodiscard]] ProcessGaps of(std::uint32_t process) const {
    return {share_.trace, places_.locations(process), early_[process]};
  }

 private:
  const trace::Share& share_;
  const Places& places_;
  std::vector<bool> early_, has_;
};

}  // namespace entrain::verify
