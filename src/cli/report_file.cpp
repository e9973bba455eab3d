// SPDX-License-Identifier: BSD-3-Clause
#include "cli/report_file.hpp"

#include "base/try.hpp"
#include "cli/output.hpp"

namespace entrain::cli {

void ReportFile::declare(OptionSet& set) {
  set.group("OUTPUT OPTIONS");
  set.path("--report", path, "FILE.html",
           "Also write a page for a browser to FILE.html, which must not exist: verdict, clocks "
           "over time, who violates what, the worst edges with the calls around them, and what "
           "was left out. It is one file that needs no network. Intervals of clocks are in it "
           "with --bounds. Use it to look at a result, or to show it to others. Default: no file.");
}

Result<void> ReportFile::prepare(OutputRule output) {
  rule_ = std::move(output);
  if (path.empty()) return {};
  if (!page::can_write_pages()) return page::no_pages();
  return agree(speaks() ? OutputFile::check(path, rule_) : Result<void>());
}

Result<void> ReportFile::agree(Result<void> result) const {
  return alone ? result : processes().agree(std::move(result));
}

template <class Report>
Result<void> ReportFile::write(const Report& report, const std::string& verb) const {
  if (path.empty()) return {};
  if (!speaks()) return agree({});
  const auto text = page::html(report, data_, verb);
  if (!text) return agree(tl::unexpected(text.error()));
  return agree(write_output(path, *text, rule_));
}

template Result<void> ReportFile::write(const CheckReport&, const std::string&) const;
template Result<void> ReportFile::write(const CorrectReport&, const std::string&) const;
template Result<void> ReportFile::write(const AlignReport&, const std::string&) const;

}  // namespace entrain::cli
