// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/error.hpp>

#include "base/flat_map.hpp"

/// Verification of what a reader claims, the edges and instances of its list, against records that
/// a second, simpler way of reading finds in the files.
namespace entrain::formats {

/// Positions of records by their hashes.
class RecordIndex {
 public:
  struct Hash {
    std::uint64_t operator()(std::uint64_t hash) const { return mix(hash); }
  };

  void add(std::uint64_t hash, std::uint32_t record);
  /// Calls `see` with all records of a hash, the latest first.
  template <class See>
  void for_each(std::uint64_t hash, const See& see) const {
    const std::uint32_t* const last = last_.find(hash);
    for (std::uint32_t i = last == nullptr ? 0 : *last; i != 0; i = entries_[i].previous) {
      see(entries_[i].record);
    }
  }

 private:
  struct Entry {
    std::uint32_t record = 0;
    std::uint32_t previous = 0;  ///< position of another entry with this hash; 0: none
  };
  std::vector<Entry> entries_{{}};
  FlatMap<std::uint64_t, std::uint32_t, Hash> last_;  ///< position in `entries_`
};

/// A claim that does not hold, by one of its ends, and why; `why` is null if all hold.
struct Refutation {
  const char* why = nullptr;
  std::uint32_t clock = 0;  ///< position in Clocks::clocks
  std::uint64_t time = 0;   ///< ticks
};

/// The error of a claim that does not hold: a mistake of the reader.
Result<void> verdict(const Clocks& clocks, const Refutation& refutation);

}  // namespace entrain::formats
