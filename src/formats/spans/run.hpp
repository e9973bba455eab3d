// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/executor.hpp"
#include "base/name_table.hpp"
#include "formats/recording.hpp"
#include "formats/spans/edges.hpp"
#include "formats/spans/family.hpp"
#include "formats/spans/identity.hpp"
#include "formats/spans/spans.hpp"
#include "formats/spans/summary.hpp"

namespace entrain::spans {

/// Facts that a corrected run takes over from its original.
struct Known {
  Identity identity;
  Steps steps;
  std::vector<std::uint32_t> hosts;  ///< hosts of the spans, in order
};

class Run : public formats::Recording {
 public:
  /// Files of a run whose clocks were fitted elsewhere.
  Run(std::vector<SourceFile> sources, const Fitted& fitted, unsigned threads);
  /// `known`: see run_of().
  Run(std::vector<SourceFile> sources, Spans& spans, unsigned threads, const Known* known);

  [[nodiscard]] Result<void> write(const std::filesystem::path& folder,
                                   std::span<const ClockMap> maps) const override {
    return write_files(folder, maps, false);
  }
  [[nodiscard]] Result<void> write_marked(const std::filesystem::path& folder,
                                          std::span<const ClockMap> maps) const override {
    return write_files(folder, maps, true);
  }

  /// Facts that a run takes over whose spans have the times of these maps.
  [[nodiscard]] Known known_after(std::span<const ClockMap> maps) const;
  /// Gives the spans of a file the times that it will have once it is written with these maps.
  void move(SpanFile& file, std::span<const ClockMap> maps) const;
  void pack_fitted(parts::FieldWriter& fields) const override {
    Fitted fitted{names_.all(), known_.identity.periods, files_};
    pack(fields, fitted);
  }

  [[nodiscard]] Result<std::unique_ptr<formats::Recording>> read_back(
      const std::filesystem::path& folder, std::span<const ClockMap> maps) const override;

  [[nodiscard]] Result<formats::EventTimes> event_times() const override;
  [[nodiscard]] Result<std::vector<std::uint64_t>> event_hashes(std::size_t file) const override;
  [[nodiscard]] Result<void> for_each_work(
      const std::function<Result<void>(const formats::Work&)>& see) const override;

 private:
  [[nodiscard]] Result<void> write_files(const std::filesystem::path& folder,
                                         std::span<const ClockMap> maps, bool marked) const {
    return parallel_for(threads_, files_.size(), [&](std::size_t f) {
      return write_file(folder / files_[f].path.filename(), files_[f], maps, marked);
    });
  }
  /// The clock of a time of a place, as it is in spans that were read again.
  [[nodiscard]] std::uint32_t host_of(const Spans& spans, std::uint32_t clock,
                                      std::uint64_t time) const {
    return known_.identity.host_of(names_.find(spans.clocks.all()[clock]), time);
  }
  void name_worst_edges(const Spans& spans);
  void warn_of_dropped_ends(const std::vector<DroppedEnds>& dropped);
  void name_files();
  void name_contents();
  [[nodiscard]] Result<void> write_file(const std::filesystem::path& to, const SourceFile& file,
                                        std::span<const ClockMap> maps, bool marked) const;
  [[nodiscard]] Result<void> check_written(const std::filesystem::path& to, const SourceFile& file,
                                           const Spans& before,
                                           std::span<const ClockMap> maps) const;

  std::vector<SourceFile> files_;
  unsigned threads_;
  NameTable names_;  ///< names of places, as Spans::clocks
  Known known_;
  BigVector<Edge> found_;
  bool is_part_ = false;  ///< see the first constructor
};

/// The run of all spans of some files. `known`: what a copy takes over from its original; null: a
/// run of its own. Errors: ErrorKind::input for files without a span.
Result<std::unique_ptr<Run>> run_of(std::vector<SourceFile> sources, Spans& spans, unsigned threads,
                                    const Known* known);
/// Reads the files of a run. Errors: also those of read_file().
Result<std::unique_ptr<Run>> read_run(std::span<const std::filesystem::path> files,
                                      std::uint64_t max_unpacked, const std::string& columns,
                                      unsigned threads, const Known* known = nullptr);

}  // namespace entrain::spans
