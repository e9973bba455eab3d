// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/report.hpp>

namespace entrain::formats {

/// A trace in a format other than OTF2: its clocks and edges in memory, its events in its files.
/// Immutable after it was read.
class Recording {
 public:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  virtual ~Recording() = default;

  /// Writes all files into a folder that exists and is empty, with other times and every other byte
  /// as it was. `maps`: as Clocks::clocks. Errors: ErrorKind::input for files that changed since
  /// they were read, ErrorKind::output.
  [[nodiscard]] virtual Result<void> write(const std::filesystem::path& folder,
                                           std::span<const ClockMap> maps) const = 0;

  [[nodiscard]] Edges edges() const {
    Edges view;
    view.instances = instances;
    view.members = members;
    return view;
  }

  Clocks clocks;
  std::vector<CollectiveInstance> instances;
  std::vector<InstanceMember> members;
  std::uint64_t events = 0;     ///< with a time
  std::uint64_t calls = 0;      ///< of communication, in instances or not
  std::uint64_t in_pairs = 0;   ///< of them in instances
  Counters unmatched, skipped;  ///< as CheckReport; no zeros
  std::vector<std::string> notes;
};

}  // namespace entrain::formats
