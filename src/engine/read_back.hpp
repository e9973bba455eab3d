// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "engine/check_times.hpp"
#include "engine/mu.hpp"
#include "page/survey.hpp"
#include "session/load.hpp"
#include "trace/clock_domains.hpp"

namespace entrain::engine {

/// The trace before its correction, to compare the written archive with. Holds references, which
/// must outlive it. Maps: one per location, stored stamp -> time.
struct Original {
  /// Changed while an overlay is looked at: session::Overlay borrows the skeletons.
  session::LoadedTrace& loaded;
  const otf2::Archive* archive;            ///< archive of `loaded`; not needed by planned()
  const std::vector<ClockMap>& measured;   ///< maps of a reader of the original
  const std::vector<ClockMap>& presync;    ///< the start of the amortization
  const std::vector<ClockMap>& corrected;  ///< maps as written
  const ChosenMu& mu;
  const trace::ClockDomains& domains;
  const trace::Witness& witness;  ///< the pairs that the correction used
  /// To be filled with the edges of `after`, and of the times as measured; may be null.
  page::Survey *survey = nullptr, *survey_before = nullptr;
};

/// Checks a corrected archive as written: violations, how far events moved, and that nothing else
/// changed.
class ReadBack {
 public:
  ReadBack(session::Workers& workers, const CorrectOptions& options, const Original& original,
           Progress* progress)
      : workers_(workers),
        processes_(workers.processes()),
        options_(options),
        original_(original),
        progress_(progress) {}

  /// Fills `after`, `statistics`, `verified` and `judgement` of the report; its `output` and
  /// `cycles` must be known.
  /// Collective. Errors: those of load() and verify::correction_statistics(). After an error the
  /// original has its skeletons again, as Overlay says.
  Result<void> run(const std::filesystem::path& anchor, CorrectReport& report);

  /// The same for times that were not written: those of `corrected`.
  Result<void> planned(CorrectReport& report);

  /// Returns the check of the times as measured, if the edges of the result are theirs too and this
  /// process is alone: they were checked with the result. Once; the caller sets `presync` and
  /// `clocks`.
  [[nodiscard]] std::optional<CheckReport> take_before() { return std::move(before_); }

  /// True if what was written was paired by its own stamps, so that its edges may be others.
  [[nodiscard]] bool paired_anew() const { return paired_anew_; }

 private:
  Result<void> rewritten(const std::filesystem::path& anchor, CorrectReport& report);
  Result<void> overlay(const std::filesystem::path& anchor, CorrectReport& report);
  Result<void> as_any_other(const std::filesystem::path& anchor, CorrectReport& report);

  Result<void> compare(const trace::Trace& written, std::span<const ClockMap> maps,
                       PresyncMethod presync, CorrectReport& report);
  Result<CorrectionStatistics> statistics(const trace::Trace& written,
                                          std::span<const ClockMap> after,
                                          std::span<const ClockMap> start);
  void count_events_in_flushes(CheckReport& after);
  [[nodiscard]] bool is_any_definition_file_missing();
  [[nodiscard]] CheckSetting setting(bool same_clock_records) const;
  Result<CheckReport> check_with_before(const session::LoadedTrace& trace,
                                        std::span<const ClockMap> maps, bool same_clock_records);

  session::Workers& workers_;
  Team& processes_;
  const CorrectOptions& options_;
  Original original_;
  Progress* progress_;
  bool paired_anew_ = false;
  std::optional<CheckReport> before_;
};

}  // namespace entrain::engine
