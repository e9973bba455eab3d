// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <entrain/parts.hpp>

#include "base/try.hpp"
#include "base/unfinished.hpp"
#include "engine/verbs.hpp"
#include "formats/registry/parts.hpp"
#include "output/output.hpp"
#include "trace/phase.hpp"

namespace entrain {

Result<PartReport> summarise(const PartPaths& part, const std::filesystem::path& output,
                             const PartOptions& options, Progress* progress) {
  const OutputRule rule = engine::output_rule(part, options.force);
  TRY(OutputFile::check(output, rule));
  const formats::ReadOptions how{options.max_unpacked_bytes, options.columns};
  TRY_ASSIGN(formats::Documents documents, formats::documents_of(part, how));
  trace::begin_phase(progress, "summarise");
  PartReport report{.output = output.string(), .notes = std::move(documents.notes)};
  TRY_ASSIGN(OutputFile summary, OutputFile::create(output, rule));
  TRY_ASSIGN(const std::vector<formats::Parts::File> files,
             formats::summarise(documents, options.threads, how, [&](std::string_view text) {
               report.output_bytes += text.size();
               return summary.write(text);
             }));
  for (const formats::Parts::File& file : files) {
    ++report.files;
    report.bytes += file.bytes;
    report.events += file.events;
    for (const std::string& guess : file.guesses) {
      if (std::ranges::find(report.notes, guess) == report.notes.end()) {
        report.notes.push_back(guess);
      }
    }
  }
  TRY(summary.commit());
  note_result(output);
  return report;
}

}  // namespace entrain
