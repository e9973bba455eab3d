// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <string>
#include <utility>

#include <entrain/parts.hpp>

#include "base/try.hpp"
#include "base/unfinished.hpp"
#include "engine/inputs.hpp"
#include "formats/registry/parts.hpp"
#include "output/output.hpp"
#include "trace/phase.hpp"

namespace entrain {

Result<PartReport> summarise(const PartPaths& part, const std::filesystem::path& output,
                             const PartOptions& options, Progress* progress) {
  const OutputRule rule = engine::output_rule(part, options.force);
  TRY(OutputFile::check(output, rule));
  TRY_ASSIGN(formats::Documents documents, formats::documents_of(part, options.max_unpacked_bytes));
  trace::begin_phase(progress, "summarise");
  TRY_ASSIGN(const std::unique_ptr<formats::Parts> parts,
             formats::read_parts(documents, options.threads, options.max_unpacked_bytes));
  PartReport report{.output = output.string(), .notes = std::move(documents.notes)};
  for (const formats::Parts::File& file : parts->files()) {
    ++report.files;
    report.bytes += file.bytes;
    report.events += file.events;
  }
  const std::string text = formats::summary_text(documents.kind, *parts);
  report.output_bytes = text.size();
  TRY(write_output(output, text, rule));
  note_result(output);
  return report;
}

}  // namespace entrain
