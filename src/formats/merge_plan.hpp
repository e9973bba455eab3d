// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/export.hpp>
#include <entrain/progress.hpp>

#include "base/big_vector.hpp"

namespace entrain::formats {

/// An arrow between events of two clocks, which are positions in Clocks::clocks.
struct MergeArrow {
  std::uint32_t from_clock = 0, to_clock = 0;
  std::uint64_t from = 0, to = 0;  ///< stored stamps, ticks
};

/// Facts that a viewer shows, by their names.
using Attributes = std::vector<std::pair<std::string, std::variant<std::int64_t, std::string>>>;

/// A clock for the track that shows what was done to it.
struct MergedClock {
  std::string name;
  std::string title;  ///< its state in a word
  Attributes attributes;
  ClockMap map;
  std::uint64_t first = 0, last = 0;  ///< stored stamps of its events
};

/// A trace for viewers that Source::merge() writes.
struct MergePlan {
  std::span<const ClockMap> maps;       ///< map of each clock: stored stamp -> new time
  const BigVector<MergeArrow>& arrows;  ///< arrows to add, in any order
  std::string title;                    ///< the verdict in a word
  Attributes attributes;
  std::vector<MergedClock> clocks;
  std::filesystem::path file;    ///< file to be made, whose name tells format and packing
  std::filesystem::path folder;  ///< existing folder for temporary files
  unsigned threads = 0;          ///< 0: all cores
  Progress* progress = nullptr;
};

}  // namespace entrain::formats
