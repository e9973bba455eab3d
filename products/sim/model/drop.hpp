// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <entrain/drop.hpp>
#include <entrain/error.hpp>

#include "base/random.hpp"
#include "trace/trace.hpp"

// Which records of a trace are lost. The choice is pure: it depends on the options, on the number
// of a location, and on the records of its stream so far, never on threads or other locations'
// records. So a trace in memory and its files lose the same records.
//
// Chance draws one number per record of a kind that skeletons hold: the k-th such record of
// location l has the k-th number of stream 4 l of the seed. MpiIsendComplete and MpiRequestTest are
// in no skeleton. They draw from stream 4 l + 1, so they do not disturb the others. Streams 4 l + 2
// and 4 l + 3 choose the location for a window and for an early end, and place the window.
namespace entrain::sim {

/// The part of a location that the choice must know before its first record.
struct DropSpan {
  std::uint64_t first = 0;  ///< first stamp, ticks
  std::uint64_t last = 0;   ///< largest stamp, ticks
  bool communicates =
      false;  ///< holds at least one record that has a RecordKind and is in a skeleton
};

/// Losses of a location, whatever its records are.
struct LocationDrop {
  std::optional<DropRange> window;
  std::optional<std::uint64_t> end;  ///< records from this tick on are lost
};

/// All that is decided before the records are read: see plan_drop() and draw_stretches().
struct DropPlan {
  std::uint64_t seed = 1;
  double random = 0;
  std::uint32_t kinds = 0;       ///< bit k: the RecordKind k was named
  std::uint32_t operations = 0;  ///< bit c: the collective operation of code c was named
  std::vector<bool> regions;     ///< flag of each of Definitions::regions; empty: none was named
  std::vector<LocationDrop> locations;  ///< one per location
};

/// Looks up the names of calls. Windows and ends are not drawn yet. Errors: ErrorKind::usage for
/// shares outside their range, and for a name that is no kind of call, operation or region.
Result<DropPlan> plan_drop(const trace::Definitions& definitions, const DropOptions& options);

/// True if draw_stretches() has something to do: a window or an early end was asked for.
bool has_stretches(const DropOptions& options);

/// Draws windows and ends, with the options that `plan` was made of and one span per location. They
/// fall to the locations that communicate, a share of them, rounded, at least one. A window covers
/// its share of the ticks of the location's span and lies inside of it at a place drawn evenly; an
/// early end leaves out the last ticks of the span.
///
/// Example: a location has stamps from 1000 to 1999, and windows have share 0.1. Its window has 100
/// ticks and begins at a tick from 1000 to 1900, say at 1234: of all records with stamps from 1234
/// to 1333 those of messages and collectives are lost.
void draw_stretches(DropPlan& plan, std::span<const DropSpan> spans, const DropOptions& options);

/// True if skeletons hold the records of this kind.
constexpr bool in_skeletons(RecordKind kind) {
  return kind != RecordKind::isend_complete && kind != RecordKind::request_test;
}

/// A record of a message or collective in the stream of a location.
struct DropRecord {
  RecordKind kind{};
  std::uint64_t time = 0;         ///< stored stamp, ticks
  std::uint8_t op = 0;            ///< operation of collective_end and nb_complete
  std::uint64_t request = 0;      ///< request of the kinds that have one
  std::uint32_t region = k_none;  ///< innermost open region, position in Definitions::regions
};

/// The beginnings of collectives whose operation was named. A beginning does not hold the
/// operation, its end does, so a first pass over the stream must find them. Takes one bit per
/// beginning.
class NamedBeginnings {
 public:
  /// True if a first pass is needed: an operation was named.
  static bool needed(const DropPlan& plan) { return plan.operations != 0; }

  explicit NamedBeginnings(const DropPlan& plan) : operations_(plan.operations) {}

  /// Takes the next record of the stream. A collective_begin belongs to the next collective_end, an
  /// nb_request to the next nb_complete of the same request.
  void add(const DropRecord& record);
  /// Returns a flag for each collective_begin and nb_request, in stream order.
  [[nodiscard]] std::vector<bool> take() { return std::move(named_); }

 private:
  static constexpr std::size_t k_none_open = ~std::size_t{0};
  std::uint32_t operations_;
  std::vector<bool> named_;
  std::size_t open_ = k_none_open;  ///< the collective_begin that waits for its end
  std::unordered_map<std::uint64_t, std::size_t> requests_;  ///< those that wait, by request
};

/// Decides for one location, record by record in stream order, and counts.
class DropStream {
 public:
  /// `beginnings` as NamedBeginnings gives them; empty if no operation was named. `plan` must
  /// outlive this.
  DropStream(const DropPlan& plan, LocationIndex location, std::vector<bool> beginnings = {});

  /// True if this record is lost.
  bool loses(const DropRecord& record);
  /// The same for a record of another kind, which only an early end loses.
  bool loses_other(std::uint64_t time);

  [[nodiscard]] const std::array<DropCount, k_record_kinds>& kinds() const { return kinds_; }
  [[nodiscard]] std::uint64_t others_lost() const { return others_lost_; }

 private:
  bool decide(const DropRecord& record);
  bool named(const DropRecord& record);

  const DropPlan& plan_;
  const LocationDrop& location_;
  std::vector<bool> beginnings_;
  std::size_t next_beginning_ = 0;
  RandomStream numbers_, other_numbers_;
  std::array<DropCount, k_record_kinds> kinds_{};
  std::uint64_t others_lost_ = 0;
};

/// Adds the losses of a location to the totals of `report`, and a line for the location. Locations
/// must come in order of definition.
void add_location(DropReport& report, const trace::Definitions& definitions,
                  const LocationDrop& drop, const DropStream& stream);

}  // namespace entrain::sim
