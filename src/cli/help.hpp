// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace entrain::cli {

/// What the help of a verb says beside its options. Texts are wrapped when shown.
struct HelpText {
  std::string verb;                      ///< "check"
  std::string synopsis;                  ///< what follows "entrain check", e.g. "[OPTIONS] ARCHIVE"
  std::string summary;                   ///< one line, lower case, no full stop
  std::vector<std::string> description;  ///< paragraphs
  std::vector<std::pair<std::string, std::string>> examples;    ///< command, what it does
  std::vector<std::pair<std::string, std::string>> exit_codes;  ///< code, meaning
};

/// Shows the help of a verb in the form of a manual page. The part on options comes from the
/// options themselves, so it cannot fall behind them.
class ManualPage : public CLI::FormatterBase {
 public:
  explicit ManualPage(HelpText text) : text_(std::move(text)) {}
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;

 private:
  HelpText text_;
};

/// The exit codes that mean the same for every verb, after those of `first`.
std::vector<std::pair<std::string, std::string>> exit_codes(
    std::vector<std::pair<std::string, std::string>> first);

/// Help of the tool as a whole: the verbs with their summaries.
std::string overview(const std::vector<HelpText>& verbs);

}  // namespace entrain::cli
