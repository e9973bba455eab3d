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
  GivenSource(const Clocks& clocks, const Edges& edges, bool are_kept = false);

  [[nodiscard]] const std::string& path() const override { return given_.clocks.name; }
  [[nodiscard]] const std::string& format_name() const override;
  [[nodiscard]] Result<void> check_writable(WriteMode mode, bool mark_offsets) const override;
  [[nodiscard]] std::optional<GivenEdges> given() const override { return given_; }
  [[nodiscard]] Result<session::LoadedTrace> load(session::Workers&, std::span<const std::uint32_t>,
                                                  Progress*) const override {
    return session::LoadedTrace();
  }
  [[nodiscard]] Result<Clocks> clock_table(const session::LoadedTrace&,
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
