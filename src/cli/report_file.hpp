// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include <entrain/error.hpp>

#include "cli/option_set.hpp"
#include "output/output.hpp"
#include "page/html/html.hpp"

namespace entrain::cli {

/// The HTML report of a verb: the option --report, or the only output.
class ReportFile {
 public:
  explicit ReportFile(std::string default_path = "") : path(std::move(default_path)) {}

  /// Adds --report FILE.html.
  void declare(OptionSet& set);

  std::string path;    ///< "" if none is wanted
  bool alone = false;  ///< one process of the run calls these, not all of them

  /// Refuses a file that cannot be written by `output`, and a build without pages. Before long
  /// work; collective but for `alone`.
  Result<void> prepare(OutputRule output);
  /// The place for the data; null if no report is wanted.
  page::Data* data() { return path.empty() ? nullptr : &data_; }
  /// Writes the page of a report of `verb`, if one is wanted. Collective but for `alone`. Errors:
  /// ErrorKind::output.
  template <class Report>
  Result<void> write(const Report& report, const std::string& verb) const;

 private:
  [[nodiscard]] Result<void> agree(Result<void> result) const;

  page::Data data_;
  OutputRule rule_;
};

}  // namespace entrain::cli
