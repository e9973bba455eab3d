// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "formats/kineto/clocks.hpp"
#include "formats/kineto/collective_calls.hpp"
#include "formats/kineto/events.hpp"

/// Flow arrows (phases s, t and f) and clock_sync markers between the files of a run.
namespace entrain::kineto {

/// True for a part of a flow arrow.
bool is_arrow(const EventText& event);

/// Hash of what the parts of an arrow share, and of its kind; 0 for one that never leaves its file.
struct ArrowKey {
  std::uint64_t kind = 0, key = 0;
};
ArrowKey arrow_key(const EventText& event);

/// The request time of a clock_sync marker as written, "issue_ts"; empty for other events.
std::string_view issue_time_of(const EventText& event);
/// The same; empty if it is no time.
std::string_view issue_time_to_move(const EventText& event);

/// Collects the parts of arrows of a file.
class ArrowReader {
 public:
  /// Takes an event. Others than arrows and markers are ignored.
  void see(const EventText& event, const KeptEvent& own);

  /// Fills RankFile::arrows, once the clocks of the file are known.
  void finish(const ClockReader& clocks, RankFile& file);

 private:
  struct Known {
    Arrow arrow;             ///< all but its time and clock
    std::uint64_t kind = 0;  ///< hash of category and name
    KeptEvent own;           ///< its begin is the time of the arrow
    bool is_flow = false;    ///< a Perfetto trace's: its last part need not say so
  };
  void add(std::uint64_t kind, std::uint64_t key, Arrow::Part part, const KeptEvent& own,
           bool is_flow = false);

  std::vector<Known> parts_;
};

/// An arrow from one clock to another one; clocks are positions in the run.
struct ArrowEdge {
  std::uint32_t cause_clock = 0, effect_clock = 0;
  std::uint64_t cause_time = 0, effect_time = 0;  ///< ns
  std::uint64_t key = 0;                          ///< Arrow::key
};

struct ArrowEdges {
  std::vector<ArrowEdge> edges;
  std::uint64_t heads = 0;      ///< steps and ends that come from another file
  std::uint64_t paired = 0;     ///< heads with a known start
  std::uint64_t ambiguous = 0;  ///< heads with several possible starts
};

/// Pairs the parts of arrows of all ranks. A start precedes all steps of its arrow, and these its
/// end. Where an id is used again, the k-th start of a clock belongs to another one's k-th end.
ArrowEdges pair_arrows(std::span<const RankFile> ranks);

}  // namespace entrain::kineto
