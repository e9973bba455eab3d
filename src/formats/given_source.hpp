// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "formats/source.hpp"

namespace entrain::formats {

/// Clocks and edges without files: tables, and arrays of a caller. Nothing can be written with
/// other times. The clocks and edges must outlive it.
class GivenSource : public Source {
 public:
  /// `are_kept`: see GivenEdges.
  GivenSource(const Clocks& clocks, const Edges& edges, bool are_kept = false);

  [[nodiscard]] const std::string& path() const override { return given_.clocks.name; }
  [[nodiscard]] const std::string& format_name() const override;
  [[nodiscard]] Result<void> check_writable(WriteMode mode, bool mark_offsets) const override;
  [[nodiscard]] std::optional<GivenEdges> given() const override { return given_; }
  [[nodiscard]] Result<trace::LoadedTrace> load(trace::Workers&, std::span<const std::uint32_t>,
                                                Progress*) const override {
    return trace::LoadedTrace();
  }
  [[nodiscard]] Result<Clocks> clock_table(const trace::LoadedTrace&,
                                           const std::string&) const override {
    return given_.clocks;
  }
  [[nodiscard]] Result<ArchiveInfo> describe(unsigned threads, Progress* progress) const override;
  [[nodiscard]] Result<std::unique_ptr<Staged>> stage(
      const WritePlan& plan, const std::filesystem::path& output) const override;
  [[nodiscard]] Result<std::unique_ptr<TimedEvents>> timed_events(
      bool raw, unsigned threads, Progress* progress) const override;

 private:
  GivenEdges given_;
};

}  // namespace entrain::formats
