// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "accuracy/correction_statistics.hpp"
#include "base/cancel.hpp"
#include "engine/check_times.hpp"
#include "engine/page_survey.hpp"
#include "engine/timeline.hpp"
#include "formats/source.hpp"
#include "trace/workers.hpp"

namespace entrain::engine {

/// Limit of the rounds in which a correction pairs again by corrected times.
inline constexpr int k_most_pairing_rounds = 8;

/// A correction to be verified. Holds references, which must outlive its verification.
struct VerifiedCorrection {
  trace::Workers& workers;
  const formats::Source& source;
  const formats::Source& paired;   ///< source with the pairs that times are corrected by
  Timeline& timeline;              ///< its graph may be gone; read_back() borrows its skeletons
  std::span<const ClockMap> maps;  ///< map of each location: stored stamp -> corrected time
  page::Survey *survey_before = nullptr, *survey_after = nullptr;  ///< null: no page is wanted
  bool are_pairs_settled = true;  ///< the new times show the same pairs
  const CorrectOptions& options;
  Progress* progress = nullptr;  ///< may be null
};

/// Verifies a correction: reads it back and checks its times, those before, and how far events
/// moved. All functions are collective over the processes of the run.
class Verification {
 public:
  /// Results go to `report`: `after`, `statistics`, `judgement`, `verified`, and the time it took.
  Verification(const VerifiedCorrection& correction, CorrectReport& report)
      : of_(correction), report_(report), cancel_(correction.progress) {}

  /// Checks the trace as written, which has no name yet. A viewer of whole shifts sees the times as
  /// planned.
  Result<void> written(const formats::Staged& staged);
  /// Checks the times that would be written.
  Result<void> planned();
  /// Returns the check of the times as measured: that of written() or planned(), if they made one.
  /// Call it once.
  Result<CheckReport> before();

 private:
  [[nodiscard]] trace::LoadedTrace& loaded() const { return of_.timeline.loaded; }
  [[nodiscard]] bool is_overlay() const { return of_.options.mode == WriteMode::overlay; }
  [[nodiscard]] bool is_seen_acyclic() const;
  [[nodiscard]] bool is_anything_missing() const;
  [[nodiscard]] CheckSetting setting(const formats::Source& source, page::Survey* survey) const;
  Result<void> check_written(const formats::Reread& read);
  Result<void> check_stamps(const formats::Reread& read);
  Result<void> check_as_reader(const formats::Reread& read, const formats::Staged& staged);
  Result<void> check_given(const formats::Source& written);
  Result<void> check_with_before(const trace::LoadedTrace& trace, std::span<const ClockMap> maps,
                                 bool same_clock_records);
  void warn_of(const formats::Source& source);
  Result<void> take_statistics(const formats::Reread& read);
  Result<void> take_statistics(const trace::Trace& before, const accuracy::TimedTrace& after);
  void count_events_in_flushes();
  void finish();

  const VerifiedCorrection of_;
  CorrectReport& report_;
  Cancel cancel_;
  std::optional<Timeline> written_;            ///< result that was read back, if it names its edges
  std::optional<CheckReport> checked_before_;  ///< check of the times as measured
  bool is_paired_anew_ = false;  ///< the edges of the result were paired by its own stamps
};

}  // namespace entrain::engine
