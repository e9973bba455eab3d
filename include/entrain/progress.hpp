// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace entrain {

/// Receives the progress of long work. Calls may come from several threads at once.
class Progress {
 public:
  virtual ~Progress() = default;
  /// A new phase ("scan", "write", ...) of `total` units begins; 0: unknown. `unit` is what is
  /// counted: "B" for bytes, "events", "locations", ...; empty if nothing is.
  virtual void begin(std::string_view phase, std::uint64_t total, std::string_view unit) = 0;
  /// `units` more are done.
  virtual void advance(std::uint64_t units) = 0;
  /// True when the user asked to stop, from then on: work ends soon with ErrorKind::interrupted,
  /// cleanly.
  [[nodiscard]] virtual bool cancelled() const { return false; }
};

}  // namespace entrain
