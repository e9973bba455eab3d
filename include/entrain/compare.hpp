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
  double rms_s = 0;
  double p99_s = 0;   ///< 99th percentile of the absolute value
  double max_s = 0;   ///< largest absolute value
  double mean_s = 0;  ///< signed
};

/// A location of an archive, or a clock of other traces: of a rank of training, or of a host.
struct LocationDifference {
  std::uint64_t id = 0;
  DifferenceStatistics difference;
  std::string name{};  ///< of a clock whose name is no number; empty for all others
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
  /// Without what all locations have in common at each moment (the mean over them in windows of
  /// 1/1024 of the run): what a correction by messages can know.
  ErrorPart between_clocks;
  ErrorPart common;            ///< the rest
  double affine_offset_s = 0;  ///< removed offset at the first event of the truth
  double affine_ppm = 0;       ///< removed rate
};

/// An event of a comparison. Errors as in TruthError; NaN without a truth.
struct ComparedEvent {
  std::uint64_t location = 0;  ///< id
  /// Since the first event of the truth, or without one of A; by that trace's times.
  double time_s = 0;
  double difference_s = 0;  ///< B - A
  double a_error_s = 0, b_error_s = 0;
  double a_common_s = 0, b_common_s = 0;  ///< the part that is TruthError::common
};

struct CompareReport {
  std::string a, b, truth;  ///< paths; truth empty without --truth
  std::vector<LocationDifference> locations;
  DifferenceStatistics all;
  /// Sends, receives and ends of application collectives between the first and the last clock
  /// session; `span_source` says where the span came from. In other formats: see
  /// docs/manual/training.md and docs/manual/services.md.
  DifferenceStatistics communication;
  std::string span_source;  ///< "clock offsets", "property", or "whole trace"
  std::optional<TruthError> a_error, b_error;
  /// Sorted by location and time; see CompareOptions::events_per_location.
  std::vector<ComparedEvent> events;
  std::vector<std::string>
      notes;  ///< what a reader should know, e.g. that a manifest was not applied
};

struct CompareOptions {
  unsigned threads = 0;
  std::uint64_t max_unpacked_bytes = 0;  ///< as CheckOptions::max_unpacked_bytes
  bool raw_a = false;                    ///< take A's stamps as stored, ClockOffset records ignored
  /// Number of events of each location in CompareReport::events: the first, the last and others
  /// at equal distances in their order, or all if there are fewer. 0: none.
  std::uint64_t events_per_location = 0;
};

}  // namespace entrain
