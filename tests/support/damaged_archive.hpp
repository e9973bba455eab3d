// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "support/files.hpp"
#include "support/process.hpp"

namespace entrain::test {

/// The outcome of check and correct for a damaged archive.
struct Verdict {
  bool refused = false;    ///< check gave an error
  bool diagnosed = false;  ///< check went through and counted an anomaly of the files
  std::string complaint;   ///< a rule that was broken; empty if none
};

/// A small archive whose files are damaged one after the other.
class DamagedArchive {
 public:
  /// Writes the archive to scratch/in; outputs go to scratch/work.
  explicit DamagedArchive(const std::filesystem::path& scratch);

  [[nodiscard]] std::filesystem::path folder() const { return scratch_ / "in"; }
  [[nodiscard]] std::filesystem::path anchor() const { return folder() / "traces.otf2"; }
  /// Relative paths of the files that carry data, and their undamaged contents.
  [[nodiscard]] const std::map<std::string, Bytes>& files() const { return files_; }

  /// Replaces a file's content until the next call of `restore`.
  void damage(const std::string& file, const Bytes& bytes);
  void remove(const std::string& file);
  void restore();

  /// Runs entrain::check and entrain::correct in this process (rewrite mode, or overlay for odd
  /// `variant`) and looks at the rules: errors are one line that names a file, nothing is left of
  /// a failed correction, the input is not touched, ten seconds are not exceeded.
  Verdict judge(std::uint64_t variant);

 private:
  std::string complaint_about_error(const std::string& message) const;
  std::string correct(std::uint64_t variant);

  std::filesystem::path scratch_;
  std::map<std::string, Bytes> files_;
};

/// Totals of a series.
struct SeriesOutcome {
  unsigned cases = 0;
  unsigned refused = 0;
  unsigned diagnosed = 0;
  std::string problems;  ///< complaints, and how the child process ended if not by itself
};

/// Runs `count` cases in child processes of 100 each: `damage(archive, n)` damages, then the
/// archive is judged and restored. A crash or a hang costs the rest of its hundred and is told.
SeriesOutcome run_series(unsigned count,
                         const std::function<std::string(DamagedArchive&, unsigned)>& damage);

}  // namespace entrain::test
