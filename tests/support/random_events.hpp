// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "support/archive_builder.hpp"
#include "support/library_reader.hpp"

namespace entrain::test {

/// Random numbers that are the same on every platform (the distributions of the standard library
/// are not).
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Uniform enough for tests: 0 .. n-1.
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  /// A number of random width, now and then 0 or undefined: every length of a compressed integer.
  std::uint64_t any64();
  std::uint32_t any32();

 private:
  std::mt19937_64 engine_;
};

/// How many definitions of each kind there are; ids are 0 .. n-1 (groups: from
/// ArchiveBuilder::k_first_group).
struct DefinitionCounts {
  std::uint32_t strings = 0, attributes = 0, regions = 0, groups = 0, comms = 0, windows = 0,
                metrics = 1, parameters = 3, contexts = 4, generators = 1, io_files = 2,
                io_handles = 3;
  /// Regions from here on are window calls, which do not nest.
  std::uint32_t first_window_region = 0;
};

/// How a location stores a global id: identity, reversed (dense table) or spread (sparse table).
enum class IdStyle { global, dense, sparse };
std::uint32_t stored_id(IdStyle style, std::uint32_t count, std::uint32_t global);

/// Writes random events of all types for one location.
class RandomEvents {
 public:
  RandomEvents(ArchiveBuilder& builder, std::uint64_t location, const DefinitionCounts& counts,
               IdStyle style, Random& random);
  ~RandomEvents();
  RandomEvents(const RandomEvents&) = delete;
  RandomEvents& operator=(const RandomEvents&) = delete;

  /// Writes one event of record type number 0 .. 78, or another one if an Enter is due.
  void write(unsigned type, std::uint64_t time);
  /// Writes one metric event.
  void write_metric(std::uint64_t time) { metric(time); }
  /// Leaves all open regions.
  void close(std::uint64_t time);

 private:
  using Writer = std::function<OTF2_ErrorCode(std::uint64_t)>;
  void add_mpi();
  void add_threads();
  void add_rma();
  void add_io();
  void add_others();
  OTF2_ErrorCode enter(std::uint64_t time);
  OTF2_ErrorCode leave(std::uint64_t time);
  OTF2_ErrorCode metric(std::uint64_t time);
  void fill_attributes();
  [[nodiscard]] bool in_window_call() const;

  std::uint32_t stored(std::uint32_t count) {
    return stored_id(style_, count, static_cast<std::uint32_t>(random_.below(count)));
  }
  /// Now and then none, as tracers write for communicators they do not know.
  std::uint32_t comm() { return random_.one_in(40) ? OTF2_UNDEFINED_COMM : stored(counts_.comms); }
  std::uint32_t window() { return stored(counts_.windows); }
  std::uint32_t group() {
    return stored(counts_.groups) + (style_ == IdStyle::global ? ArchiveBuilder::k_first_group : 0);
  }
  std::uint32_t some(std::uint32_t count) {
    return static_cast<std::uint32_t>(random_.below(count));
  }
  std::uint8_t small(unsigned count) { return static_cast<std::uint8_t>(random_.below(count)); }

  ArchiveBuilder& builder_;
  std::uint64_t location_;
  DefinitionCounts counts_;
  IdStyle style_;
  Random& random_;
  OTF2_EvtWriter* writer_;
  OTF2_AttributeList* attributes_;
  std::vector<Writer> types_;
  std::vector<std::uint32_t> open_;  ///< regions, global ids
};

}  // namespace entrain::test
