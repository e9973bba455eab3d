// SPDX-License-Identifier: BSD-3-Clause
#include "cli/help.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/trace_kinds.hpp"
#include "report/table.hpp"

namespace entrain::cli {
namespace {

constexpr std::size_t k_columns = 80;
constexpr std::size_t k_indent = 4;
constexpr const char* k_arguments = "ARGUMENTS";

std::string indented(const std::string& text, std::size_t indent) {
  std::string result;
  for (const std::string& line : report::wrapped(text, k_columns - indent))
    result += std::string(indent, ' ') + line + "\n";
  return result;
}

bool is_most_used(const HelpText& help, const OptionHelp& option) {
  return std::ranges::find(help.most_used, option.name) != help.most_used.end();
}

/// The first sentence of a description, and the one that names the default.
std::string abridged(const std::string& text) {
  const auto sentence = [&](std::size_t begin) {
    const std::size_t end = text.find(". ", begin);
    return text.substr(begin, end == std::string::npos ? end : end + 1 - begin);
  };
  const std::size_t fallback = text.find(" Default: ");
  return sentence(0) + (fallback == std::string::npos ? std::string() : sentence(fallback));
}

/// The options that `wanted` takes, with an empty line between two of them.
template <class Wanted>
std::string options_text(const std::vector<OptionHelp>& options, Wanted wanted) {
  std::string text;
  for (const OptionHelp& option : options) {
    if (!wanted(option)) continue;
    if (!text.empty()) text += "\n";
    text += indented(option.signature, k_indent);
    text += indented(option.description, 2 * k_indent);
  }
  return text;
}

/// The sections on options: those most used, then every group with the others.
std::string option_sections(const HelpText& help, const std::vector<OptionHelp>& options) {
  const auto most_used = [&](const OptionHelp& option) { return is_most_used(help, option); };
  std::vector<std::string> groups;
  for (const OptionHelp& option : options) {
    if (groups.empty() || groups.back() != option.group) groups.push_back(option.group);
  }
  std::string text;
  const auto add = [&](const std::string& heading, const std::string& section) {
    if (!section.empty()) text += "\n" + heading + "\n" + section;
  };
  const auto add_group = [&](const std::string& group) {
    add(group, options_text(options, [&](const OptionHelp& option) {
          return option.group == group && !most_used(option);
        }));
  };
  if (!groups.empty() && groups.front() == k_arguments) add_group(k_arguments);
  add("OPTIONS MOST USED", options_text(options, most_used));
  for (const std::string& group : groups) {
    if (group != k_arguments) add_group(group);
  }
  return text;
}

std::string codes_text(const std::vector<std::pair<std::string, std::string>>& codes) {
  std::string text;
  for (const auto& [code, meaning] : codes) {
    std::string head = fmt::format("{:>{}}  ", code, k_indent + 3);
    for (const std::string& line : report::wrapped(meaning, k_columns - head.size())) {
      text += head + line + "\n";
      head.assign(head.size(), ' ');
    }
  }
  return text;
}

}  // namespace

std::string manual_page(const HelpText& help, const std::vector<OptionHelp>& options) {
  std::string page = "NAME\n";
  page += indented(fmt::format("entrain {} - {}", help.verb, help.summary), k_indent);
  page += "\nSYNOPSIS\n";
  page += indented(fmt::format("entrain {} {}", help.verb, help.synopsis), k_indent);
  page += "\nDESCRIPTION\n";
  for (std::size_t i = 0; i < help.description.size(); ++i)
    page += (i == 0 ? "" : "\n") + indented(help.description[i], k_indent);
  page += option_sections(help, options);
  page += "\nEXAMPLES\n";
  for (std::size_t i = 0; i < help.examples.size(); ++i) {
    page += i == 0 ? "" : "\n";
    page += std::string(k_indent, ' ') + help.examples[i].first + "\n";
    page += indented(help.examples[i].second, 2 * k_indent);
  }
  return page + "\nEXIT STATUS\n" + codes_text(help.exit_codes);
}

std::string short_page(const HelpText& help, const std::vector<OptionHelp>& options) {
  std::string page = fmt::format("entrain {} - {}\n\nUsage: entrain {} {}\n\n", help.verb,
                                 help.summary, help.verb, help.synopsis);
  if (!help.description.empty()) page += indented(help.description.front(), 0) + "\n";
  std::string others;
  for (const OptionHelp& option : options) {
    if (option.group == k_arguments || is_most_used(help, option)) {
      const bool is_input = option.group == k_arguments;
      page += "  " + option.signature + "\n" +
              indented(is_input ? option.description : abridged(option.description), 6);
    } else {
      others += (others.empty() ? "" : ", ") + option.name;
    }
  }
  page += "\n";
  for (const auto& [command, meaning] : help.examples) {
    page += "  " + command + "\n" + indented(meaning, 6);
  }
  return page + "\n" +
         indented("More options (entrain " + help.verb + " --help-all): " + others, 0);
}

std::vector<std::pair<std::string, std::string>> exit_codes(
    std::vector<std::pair<std::string, std::string>> first) {
  first.emplace_back(
      "2",
      "bad usage, input that cannot be read, output that cannot be written, no memory; "
      "one sentence on standard error says what and what to do");
  first.emplace_back("130", "interrupted by SIGINT or SIGTERM; no incomplete output is left");
  return first;
}

std::string overview(const std::vector<HelpText>& verbs) {
  std::size_t width = 0;
  for (const HelpText& verb : verbs) width = std::max(width, verb.verb.size());
  std::string text =
      "entrain - one time base for the event traces of parallel programs\n\n"
      "Usage: entrain VERB [OPTIONS] ...\n"
      "       entrain VERB --help (or --help-all, or: entrain help VERB)\n"
      "       entrain --version\n\n"
      "Verbs:\n";
  for (const HelpText& verb : verbs)
    text += fmt::format("  {:<{}}  {}\n", verb.verb, width, verb.summary);
  return text + "\n" +
         indented(
             fmt::format("Begin with: entrain clocks ARCHIVE. ARCHIVE is the path of {}. align "
                         "takes any other trace as a table of edges. Every verb but record takes "
                         "--json for programs. Exit status: 0 fine, 1 violations found or "
                         "remaining, 2 failure, 3 unproven (too little could be checked), 130 "
                         "interrupted.",
                         k_trace_kinds),
             0);
}

}  // namespace entrain::cli
