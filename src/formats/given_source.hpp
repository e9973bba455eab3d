// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/try.hpp"
#include "formats/source.hpp"

namespace entrain::formats {

/// Clocks and edges without files: tables, and arrays of a caller. Nothing can be written with
/// other times. The clocks and edges must outlive it.
class GivenSource : public Source {
 public:
  /// `are_kept`: see GivenEdges.
  GivenSource(const Clocks& clocks, const Edges& edges, bool are_kept = false)
      : given_{clocks, edges, kind_of(clocks), are_kept} {}

  [[nodiscard]] const std::string& path() const override { return given_.clocks.name; }
  [[nodiscard]] std::string format_name() const override { return "a table of edges"; }
  [[nodiscard]] Result<void> check_writable(WriteMode, bool) const override { return no_files(); }
  [[nodiscard]] std::optional<GivenEdges> given() const override { return given_; }
  [[nodiscard]] Result<trace::LoadedTrace> load(trace::Workers&, std::span<const std::uint32_t>,
                                                Progress*) const override {
    return trace::LoadedTrace();
  }
  [[nodiscard]] Result<Clocks> clock_table(const trace::LoadedTrace&,
                                           const std::string&) const override {
    return given_.clocks;
  }
  [[nodiscard]] Result<ArchiveInfo> describe(unsigned, Progress*) const override {
    return no_files();
  }
  [[nodiscard]] Result<std::unique_ptr<Staged>> stage(const WritePlan&,
                                                      const std::filesystem::path&) const override {
    return no_files();
  }
  [[nodiscard]] Result<std::unique_ptr<TimedEvents>> timed_events(bool, unsigned,
                                                                  Progress*) const override {
    return no_files();
  }

 private:
  /// Kind of all clocks: `wall` if any clock is one, since less is assumed of wall clocks.
  static ClockKind kind_of(const Clocks& clocks) {
    for (const ClockKind kind : {ClockKind::wall, ClockKind::timer}) {
      if (std::ranges::count(clocks.clocks, kind, &Clock::kind) > 0) return kind;
    }
    return ClockKind::automatic;
  }
  static tl::unexpected<Error> no_files() {
    return usage_error("a table of edges has no events; align maps tables of times");
  }

  GivenEdges given_;
};

}  // namespace entrain::formats
