// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace entrain::cli {

/// The help of a verb, without its options, which speak for themselves. Texts are wrapped when
/// shown.
struct HelpText {
  std::string verb;                      ///< "check"
  std::string synopsis;                  ///< arguments of the verb, e.g. "[OPTIONS] ARCHIVE"
  std::string summary;                   ///< one line, lower case, no full stop
  std::vector<std::string> description;  ///< paragraphs
  std::vector<std::pair<std::string, std::string>> examples;    ///< command, what it does
  std::vector<std::pair<std::string, std::string>> exit_codes;  ///< code, meaning
  std::vector<std::string> most_used = {};                      ///< names of options, shown first
};

/// An option, as the help shows it.
struct OptionHelp {
  std::string group;        ///< heading, e.g. "OUTPUT OPTIONS"
  std::string name;         ///< "--output"
  std::string signature;    ///< "-o, --output DIR"
  std::string description;  ///< wrapped when shown
};

/// Returns the help of a verb in the form of a manual page. `options` are in the order of their
/// groups. Options that HelpText::most_used names come first, under a heading of their own.
std::string manual_page(const HelpText& help, const std::vector<OptionHelp>& options);

/// The same in a page that is read at once: the options used most, each with the first sentence of
/// its description and its default, and the others by their names.
std::string short_page(const HelpText& help, const std::vector<OptionHelp>& options);

/// The exit codes that mean the same for every verb, after those of `first`.
std::vector<std::pair<std::string, std::string>> exit_codes(
    std::vector<std::pair<std::string, std::string>> first);

/// Help of the tool as a whole: the verbs with their summaries.
std::string overview(const std::vector<HelpText>& verbs);

}  // namespace entrain::cli
