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

namespace entrain::verify {

class EdgeObserver;

/// The times to check, and further arguments of the check.
struct TimesToCheck {
  /// Clock map per location: stored stamp -> time.
  std::span<const ClockMap> maps;
  MuTicks mu{};  ///< minimum latency per latency class, ticks
  /// Minimum latency of messages between two machines where it exceeds mu of the class, or null.
  const trace::PairMu* pair_mu = nullptr;
  /// Clock of every location; edges between locations of one clock also count in `inside_domains`.
  /// Empty: they do not.
  std::span<const std::uint32_t> clock_of = {};
  /// Returns the name of the region that is open at a location and stored stamp, for the worst
  /// edges. Called for locations of this member only. Empty: no names.
  std::function<std::string(LocationIndex, std::uint64_t)> region_at = {};
  /// Observer of the edges of this member; may be null.
  EdgeObserver* observer = nullptr;
  /// The matcher's claims on which records belong together, where some are missing.
  Claims claims = {};
  /// Edges that the format names, in place of those that follow from records; null: none. In one
  /// process only. Their cycles are not searched: named edges are taken as they are.
  const NamedEdges* named_edges = nullptr;
  /// Pairs of messages that are no edges, increasing: their receives count as ambiguous.
  std::span<const trace::WrongPair> wrong_pairs = {};
  /// True skips the search for cycles: another check of the same edges found none. Cycles depend on
  /// edges and local order, not on times.
  bool known_acyclic = false;
};

struct Checks {
  CheckReport report;
  std::optional<CheckReport> others;  ///< empty: not checked
};

/// Tests the clock condition on every happened-before edge of a trace: receive >= send + mu
/// (docs/method.md, sections 2 and 6).
///
/// Example: one message, sent at 1000 and received at 500, with mu = 5 ticks. The report counts one
/// edge, one violation (500 < 1000) and one edge below latency (500 < 1005), and names the edge as
/// the worst of its kind, with a margin of -500 ticks. A receive at 1003 would be below latency,
/// but no violation.
///
/// The check shares no code with match/ and clc/, so that it can find their mistakes: it pairs
/// complete records itself, and verifies `times.claims` on the others (Relation). Of `options` it
/// reads alltoallv, init_finalize, and for the verdict, see judge(), min_coverage and
/// strict_latency.
///
/// Edges inside a cycle of equal stamps carry no latency. A cycle too wide to come from timer
/// resolution is dropped: its edges are not counted as edges, but in `skipped`
/// ("cyclic_components" counts both sorts of cycles, "dropped_components" and "dropped_edges" the
/// wide ones). The caller fills presync and mu_source. Counters of value 0 are omitted.
///
/// `others`: other times of the same events, or null. They are paired only once, by the claims of
/// `times`. If the first check finds no cycle, the second one skips that search.
///
/// Collective. Every member needs all definitions, but skeletons and maps only of the locations
/// that it owns; with `others` those of all locations, as threads of one process have them. It
/// changes none of these, so threads may share them. Every member returns the same reports,
/// whatever the team and the partition. O(n log n), in most traces O(n). Errors, the same at every
/// member: those of Relation::build().
Result<Checks> check_both(const trace::Share& share, const TimesToCheck& times,
                          const TimesToCheck* others, const CheckOptions& options,
                          const Cancel& cancel);

/// Returns the verdict that the counts of a report support (docs/method.md, section 7). Reads
/// violations, below_latency, checked_edges, coverage, min_coverage, unmatched, skipped and
/// set_aside.
///
/// A violation decides alone. Without one, `clean` needs at least one edge, no dropped edge, no
/// contradicting pair, nothing decisive among `set_aside`, no ranks apart, and a coverage of
/// min_coverage. A trace that records no communication at all has nothing to violate and is clean,
/// unless some of its files could not be read. `strict_latency`: an edge closer than mu is a
/// violation, too. A process of which nothing is paired is set aside by check(), not here.
///
/// Example: 2,400 calls of Alltoallv with unknown partners, and 8 calls of a barrier with
/// its 56 edges. None is violated, but 8 of 2,408 calls are 0.33 %: unproven, low_coverage.
Judgement judge(const CheckReport& report, bool strict_latency);

}  // namespace entrain::verify
