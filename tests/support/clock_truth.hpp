// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <entrain/error.hpp>
#include <entrain/options.hpp>

namespace entrain::test {

/// How far presync maps are from the truth, over all events of a trace.
struct ClockErrors {
  std::string method;        ///< that was used
  std::uint64_t events = 0;  ///< between the first and the last session of their location
  double rms_us = 0, p99_us = 0, max_us = 0;
  /// Largest bound stated inside; empty if any clock has none.
  std::optional<double> bound_us;
  std::uint64_t bounded = 0;  ///< events with a bound, those outside of the sessions as well
  std::uint64_t beyond = 0;   ///< of these: with an error larger than the bound stated there
};

struct ClockErrorOptions {
  Presync presync = Presync::automatic;
  Condensing condensing = Condensing::shortest;
  bool ends_only = false;  ///< use only the first and the last session
};

/// Errors of the times that presync alone gives, against `truth`, an archive of the same events as
/// the recorder writes it beside that of a virtual cluster. The global clock is that of rank 0,
/// which runs true there, so errors are absolute. Errors: ErrorKind::input for archives that cannot
/// be read or do not have the same events.
Result<ClockErrors> clock_errors(const std::filesystem::path& trace,
                                 const std::filesystem::path& truth,
                                 const ClockErrorOptions& options);

}  // namespace entrain::test
