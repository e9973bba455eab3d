// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace entrain {

/// Receives the progress of a long run, and can cancel it. Calls may come from several threads at
/// once. An implementation must not throw.
class Progress {
 public:
  virtual ~Progress() = default;
  /// A new phase ("scan", "write", ...) of `total` units begins; 0: unknown. `unit` names the
  /// units: "B" for bytes, "events", "locations", ...; empty: nothing is counted.
  virtual void begin(std::string_view phase, std::uint64_t total, std::string_view unit) = 0;
  /// `units` more are done.
  virtual void advance(std::uint64_t units) = 0;
  /// True to stop; must then stay true. The run soon ends with ErrorKind::interrupted and leaves no
  /// output.
  [[nodiscard]] virtual bool cancelled() const { return false; }
};

}  // namespace entrain
