// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace entrain {

/// Differences of times over a set of events, seconds. Differences are B - A, errors trace - truth.
struct DifferenceStatistics {
  std::uint64_t events = 0;
  double rms_s = 0;   ///< root of the mean square
  double p99_s = 0;   ///< 99th percentile of the absolute value
  double max_s = 0;   ///< largest absolute value
  double mean_s = 0;  ///< signed
};

/// Difference of one location of an archive, or of one clock of other traces: that of a rank of
/// training, or of a host.
struct LocationDifference {
  std::uint64_t id = 0;  ///< OTF2 location id, or number of the clock
  DifferenceStatistics difference;
  std::string name{};  ///< name of a clock if it is no number; else empty
};

/// A part of an error, over all events and over communication.
struct ErrorPart {
  DifferenceStatistics all;
  DifferenceStatistics communication;
};

/// Error against the truth after removing one common affine function.
struct TruthError {
  DifferenceStatistics all;
  DifferenceStatistics communication;
  /// Error without the part that all locations have in common at each moment (the mean over them in
  /// windows of 1/1,024 of the run). A correction by messages can only change this one.
  ErrorPart between_clocks;
  ErrorPart common;            ///< the part that all locations have in common
  double affine_offset_s = 0;  ///< removed offset at the first event of the truth
  double affine_ppm = 0;       ///< removed rate, parts per million
};

/// An event of a comparison. Errors as in TruthError; NaN without a truth.
struct ComparedEvent {
  std::uint64_t location = 0;  ///< id
  /// Time since the first event of the truth, or without a truth since that of A; by that trace.
  double time_s = 0;
  double difference_s = 0;                ///< B - A
  double a_error_s = 0, b_error_s = 0;    ///< A - truth, B - truth
  double a_common_s = 0, b_common_s = 0;  ///< the part that is TruthError::common
};

/// Origin of the span in which communication counts.
enum class SpanOrigin : std::uint8_t {
  clock_offsets,  ///< first and last ClockOffset record of each location
  property,       ///< the span of sessions that a correction noted in the archive
  whole_trace,    ///< nothing is known of sessions: everything counts
};
/// Name used in JSON, e.g. "clock offsets".
const char* name_of(SpanOrigin origin);

/// Result of compare().
struct CompareReport {
  std::string a, b, truth;                    ///< paths; truth empty: none was given
  std::vector<LocationDifference> locations;  ///< all, in their order
  DifferenceStatistics all;                   ///< all events
  /// Sends, receives and ends of application collectives between the first and the last clock
  /// session, see `span_source`. For other formats: docs/manual/training.md and
  /// docs/manual/services.md.
  DifferenceStatistics communication;
  SpanOrigin span_source = SpanOrigin::whole_trace;
  std::optional<TruthError> a_error, b_error;  ///< empty without a truth
  /// Events by location and time; see CompareOptions::events_per_location.
  std::vector<ComparedEvent> events;
  std::vector<std::string> notes;  ///< a sentence each, e.g. that a manifest was not applied
};

/// Options of compare().
struct CompareOptions {
  unsigned threads = 0;                  ///< worker threads; 0: all cores
  std::uint64_t max_unpacked_bytes = 0;  ///< see CheckOptions::max_unpacked_bytes
  std::string columns{};                 ///< see CheckOptions::columns
  bool raw_a = false;  ///< OTF2: take A's stamps as stored, ClockOffset records ignored
  /// Number of events of each location in CompareReport::events: the first, the last and others
  /// at equal distances in their order, or all if there are fewer. 0: none.
  std::uint64_t events_per_location = 0;
};

}  // namespace entrain
