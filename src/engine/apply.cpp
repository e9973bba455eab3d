// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <utility>

#include <entrain/parts.hpp>

#include "base/try.hpp"
#include "engine/verbs.hpp"
#include "formats/registry/open.hpp"
#include "formats/registry/parts.hpp"
#include "output/output.hpp"
#include "trace/phase.hpp"
#include "trace/workers.hpp"

namespace entrain {

Result<PartReport> apply(const std::filesystem::path& clocks, const PartPaths& part,
                         const std::filesystem::path& output, const PartOptions& options,
                         Progress* progress) {
  PartPaths inputs = part;
  inputs.push_back(clocks);
  const OutputRule rule = engine::output_rule(inputs, options.force);
  TRY(formats::check_output(part, output, rule));
  TRY_ASSIGN(formats::Documents documents,
             formats::documents_of(part, {options.max_unpacked_bytes, options.columns}));
  TRY_ASSIGN(const formats::FittedPart fitted,
             formats::open_fitted(clocks, documents, options.threads, options.columns));
  const formats::Recording& recording = *fitted.recording;
  TRY(recording.check_writable(WriteMode::rewrite, options.mark_offsets));
  trace::begin_phase(progress, "write");
  trace::Workers workers(options.threads);
  const trace::LoadedTrace nothing;
  TRY_ASSIGN(const std::unique_ptr<formats::Staged> staged,
             recording.stage({.workers = workers,
                              .loaded = nothing,
                              .maps = fitted.maps,
                              .measured = {},
                              .mark_offsets = options.mark_offsets,
                              .rule = rule,
                              .progress = progress},
                             output));
  TRY(staged->commit());
  return PartReport{.output = staged->path().string(),
                    .files = recording.files.size(),
                    .bytes = recording.bytes,
                    .events = recording.events,
                    .notes = std::move(documents.notes)};
}

}  // namespace entrain
