// SPDX-License-Identifier: BSD-3-Clause
#include <string_view>
#include <utility>
#include <vector>

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
  PartReport report{.output = output.string(), .notes = std::move(documents.notes)};
  TRY_ASSIGN(OutputFile summary, OutputFile::create(output, rule));
  TRY_ASSIGN(const std::vector<formats::Parts::File> files,
             formats::summarise(documents, options.threads, options.max_unpacked_bytes,
                                [&](std::string_view text) {
                                  report.output_bytes += text.size();
                                  return summary.write(text);
                                }));
  for (const formats::Parts::File& file : files) {
    ++report.files;
    report.bytes += file.bytes;
    report.events += file.events;
  }
  TRY(summary.commit());
  note_result(output);
  return report;
}

}  // namespace entrain
