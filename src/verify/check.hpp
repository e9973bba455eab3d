// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "base/cancel.hpp"
#include "trace/pair_mu.hpp"
#include "trace/share.hpp"
#include "verify/claims.hpp"
#include "verify/named_edges.hpp"
#include "verify/observer.hpp"

namespace entrain::verify {

/// The times to check, and the limits that they must keep.
struct TimesToCheck {
  /// Clock map per location: stored stamp -> time.
  std::span<const ClockMap> maps;
  MuTicks mu{};  ///< minimum delay per latency class, ticks
  /// Minimum delay of messages between two machines where it exceeds that of the class, or null.
  const trace::PairMu* pair_mu = nullptr;
  /// Clock of every location; edges between locations of one clock also count in `inside_domains`.
  /// Empty: they do not.
  std::span<const std::uint32_t> clock_of = {};
  /// Name of the region that is open at a location and stored stamp, for the worst edges; called
  /// for locations of this member only. Empty: no names.
  std::function<std::string(LocationIndex, std::uint64_t)> region_at = {};
  /// Observer of the edges of this member; may be null.
  EdgeObserver* observer = nullptr;
  /// Claims about records where some are missing.
  Claims claims = {};
  /// Edges in place of those that follow from records; null: there are none. Of one process. Cycles
  /// of such edges are not looked for: who names edges means them.
  const NamedEdges* named_edges = nullptr;
  /// Pairs of messages that are no edges, increasing: their receives count as ambiguous.
  std::span<const trace::WrongPair> wrong_pairs = {};
  /// True if another check of the same edges found no cycle: cycles follow from edges and local
  /// order, so these times have none either, and the search is skipped.
  bool known_acyclic = false;
};

/// Tests the clock condition on every happened-before edge of a trace: receive >= send + mu
/// (docs/method.md, sections 2 and 6).
///
/// Example: one message, sent at 1000 and received at 500, with mu = 5 ticks. The report counts one
/// edge, one violation (500 < 1000) and one edge below latency (500 < 1005), and names it as the
/// worst one of its kind, with a margin of -500 ticks. Received at 1003, it would be below latency
/// and no violation.
///
/// It shares no code with match/ and clc/, so that it can find their mistakes: it pairs complete
/// records itself, and verifies what `times.claims` say of others (Relation). It reads only
/// alltoallv and init_finalize of `options`.
///
/// Edges inside a cycle of equal stamps carry no latency. Those inside a cycle that is too wide to
/// come from timer resolution are not counted as edges, but reported in `skipped`
/// ("cyclic_components" counts both sorts, "dropped_components" and "dropped_edges" the latter).
/// The caller fills presync and mu_source. Counters of value 0 are omitted. `options` also
/// sets when the verdict is `unproven` (min_coverage) and `violations` (strict_latency), see
/// judge().
///
/// Collective. Every member needs all definitions, but skeletons and maps only of the locations
/// that it owns; nothing is changed, so threads may share them. Every member returns the same
/// report, whatever the team and the partition. O(n log n), in most traces O(n). Errors, the same
/// at every member: those of Relation::build().
Result<CheckReport> check(const trace::Share& share, const TimesToCheck& times,
                          const CheckOptions& options, const Cancel& cancel);

struct Checks {
  CheckReport report;
  std::optional<CheckReport> others;  ///< empty: not checked
};

/// Checks the same events by two sets of times, and pairs them only once, by the claims of `times`.
/// If the first check finds no cycle, the second one searches none. `others` may be null; else
/// every member needs the skeletons and maps of all locations, as threads of one process have them.
Result<Checks> check_both(const trace::Share& share, const TimesToCheck& times,
                          const TimesToCheck* others, const CheckOptions& options,
                          const Cancel& cancel);

/// Checks on the calling thread alone; all locations must be there. Never interrupted. After an
/// error the report is empty.
CheckReport check(const trace::Trace& trace, const TimesToCheck& times,
                  const CheckOptions& options);

/// Returns the verdict that the counts of a report support (docs/method.md, section 7). Reads
/// violations, below_latency, checked_edges, coverage, min_coverage, unmatched and skipped.
///
/// A violation decides alone. Without one, `clean` needs at least one edge, no dropped edge,
/// nothing decisive among `set_aside`, and a coverage of min_coverage. A trace that records no
/// communication at all has nothing to violate and is clean, unless some of its files could not be
/// read. `strict_latency`: an edge closer than mu is a violation, too.
///
/// Example: 2,400 calls of Alltoallv with unknown partners, and 8 calls of a barrier with
/// its 56 edges. None is violated, but 8 of 2,408 calls are 0.33 %: unproven, low_coverage.
Judgement judge(const CheckReport& report, bool strict_latency);

}  // namespace entrain::verify
