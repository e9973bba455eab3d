// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include <entrain/entrain.hpp>

#include "base/big_vector.hpp"
#include "base/cancel.hpp"
#include "bounds/prove.hpp"
#include "clocks/presync.hpp"
#include "diagnosis/clock_table.hpp"
#include "engine/page_survey.hpp"
#include "engine/timeline.hpp"
#include "engine/verbs.hpp"
#include "engine/verification.hpp"
#include "formats/merge_plan.hpp"
#include "formats/source.hpp"
#include "output/output.hpp"
#include "trace/properties.hpp"
#include "trace/workers.hpp"

namespace entrain::engine {

/// The correction of one trace, phase by phase. All processes of a run go through the phases
/// together; errors that only one of them sees become errors of all.
class Correction {
 public:
  /// `loaded`: the trace, if it was read already. `known`: bounds of the clocks, for the pairs that
  /// the source has. Both may be null.
  Correction(const Run& run, const formats::Source& source, const CorrectOptions& options,
             const trace::LoadedTrace* loaded = nullptr,
             const bounds::ProvenIntervals* known = nullptr, bool is_explained = false)
      : options_(options),
        loaded_(loaded),
        known_(known),
        is_explained_(is_explained),
        progress_(run.progress),
        cancel_(run.progress),
        workers_(run.processes, options.check.threads),
        processes_(run.processes),
        source_(source),
        page_(run.page) {}

  /// Whether a new trace is to be written, which not every source allows, or only planned.
  enum class Writing : std::uint8_t { no, planned, yes };

  /// Reads the trace and computes its clock maps; with `report` also what is reported of them.
  Result<void> compute(bool report, Writing writing);

  /// Writes the trace with the corrected times beside `output`, under a temporary name.
  Result<void> write(const std::filesystem::path& output, const OutputRule& rule);

  /// Reads the trace as written back and checks it, if wanted.
  Result<void> verify();
  /// Checks the times that would be written.
  Result<void> verify_planned();

  /// Returns the error of a changed input, if it changed while it was read: it may have caused a
  /// failure of a later step.
  Result<void> explain(Result<void> result);

  /// Checks the times as measured. When the graph is gone: both together are the most memory there
  /// would be. After the verification, which mostly did this too.
  Result<void> check_before();

  /// Fills the page, if one is wanted. After the verification.
  Result<void> make_page();

  /// Who came late to collectives, by the corrected times; empty for a format without collectives.
  /// Collective. Errors: those of Source::collectives().
  Result<std::optional<StragglerReport>> stragglers();

  /// Refuses input that has changed since it was read.
  Result<void> check_unchanged() { return trace::check_unchanged(processes_, t_.loaded); }

  /// Gives what was written its name. `report`: that of take_report().
  Result<void> commit(const CorrectReport& report);

  /// The report, once all steps are done; no step may follow but commit().
  CorrectReport take_report();

  /// See PlannedTimes.
  BigVector<formats::MergeArrow> arrows();

  /// The table of clocks and the explanations, which leave this.
  ExplainedClocks take_clocks();

  /// The maps of all locations, which leave this.
  ClockMaps take_maps();

 private:
  /// The verification of the correction as it is; made on demand, when the maps are final.
  Verification& verification();

  enum class Outcome {
    corrected,
    contradicted  ///< the trace contradicts clock domains that were guessed; nothing else counts
  };

  /// Fills the table of clocks.
  void tabulate_clocks();

  /// The source with the pairs that times are corrected by.
  [[nodiscard]] const formats::Source& paired() const { return paired_ ? *paired_ : source_; }

  /// Finds the timeline, intervals and corrected maps by the pairs that paired() has.
  Result<Outcome> attempt(const CheckOptions& check, bool report);

  /// Clocks that go around in circles when some are taken as one are not one.
  Result<void> split_clocks(bool report);

  /// Which events belong together may depend on the clocks: they are paired again by the new times,
  /// until the pairs stay.
  Result<void> settle_pairs(bool report);

  /// Proves in which intervals the clocks lie. Where something is violated, projects the presync
  /// maps onto them and the edges.
  Result<void> hold_in_intervals(bool report);

  /// Refuses maps by which a trace cannot be written: see formats::check_maps().
  [[nodiscard]] Result<void> check_maps();

  [[nodiscard]] bool is_overlay() const { return options_.mode == WriteMode::overlay; }
  /// Without a result to write, clocks have maps of any shape.
  [[nodiscard]] bool shifts_as_a_whole() const {
    return (is_overlay() || writing_ != Writing::no) && source_.shifts_as_a_whole(options_.mode);
  }

  /// Forward and backward amortization, of clock domains where locations share clocks. Takes the
  /// graph, but for given edges, which are checked later.
  Result<Outcome> amortize();

  /// A rewritten archive has no use for ClockOffset records, and none at all where no reader takes
  /// them.
  void note_offsets_out_of_order(const trace::Share& share);

  const CorrectOptions& options_;
  const trace::LoadedTrace* loaded_;
  const bounds::ProvenIntervals* known_;
  bool is_explained_;
  Progress* progress_;
  Cancel cancel_;
  trace::Workers workers_;
  Team& processes_;
  const formats::Source& source_;
  std::unique_ptr<formats::Source> paired_;  ///< source with the pairs that times are corrected by;
                                             ///< null: those of `source_`
  bool are_pairs_settled_ = true;            ///< the new times show the same pairs
  Timeline t_;                               ///< timeline; without its graph, unless it is given
  clocks::Presynchronised measured_;         ///< clocks of the source as it was opened
  std::optional<bounds::ProvenIntervals> proven_;  ///< only if asked for
  Writing writing_ = Writing::no;
  std::vector<ClockMap> maps_;          ///< map of each location: stored stamp -> corrected time
  std::vector<ClockMap> stored_;        ///< see formats::Source::stored_times()
  std::vector<std::int64_t> left_out_;  ///< rest of constant shifts, per location, ticks
  std::string whole_note_;              ///< what results that move clocks as a whole leave out
  Decimal9 gamma_;
  diagnosis::ClockEvidence evidence_;          ///< evidence on the clocks as measured
  std::optional<CheckReport> before_pairing_;  ///< check of the times as measured by the pairs of
                                               ///< the original, if the correction has others
  std::unique_ptr<formats::Staged> staged_;
  page::Data* page_;                  ///< null: no page is wanted
  std::optional<PageSurvey> survey_;  ///< only with `page_`
  CorrectReport report_;
  std::optional<Verification> verification_;
};

/// Opens the source of a correction. Errors: those of formats::open(); ErrorKind::usage for options
/// that the format does not have; those of Source::check_writable().
Result<std::unique_ptr<formats::Source>> open_to_correct(const Run& run, const Paths& paths,
                                                         const CorrectOptions& options);

}  // namespace entrain::engine
