// SPDX-License-Identifier: BSD-3-Clause
#include "cli/help.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/text.hpp"

namespace entrain::cli {
namespace {

constexpr std::size_t k_columns = 80;
constexpr std::size_t k_indent = 4;

std::string indented(const std::string& text, std::size_t indent) {
  std::string result;
  for (const std::string& line : report::wrapped(text, k_columns - indent))
    result += std::string(indent, ' ') + line + "\n";
  return result;
}

/// "-o, --output DIR".
std::string signature(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string names = option.get_name(false, true);
  for (std::size_t at = 0; (at = names.find(',', at)) != std::string::npos; at += 2)
    names.insert(at + 1, 1, ' ');
  const bool takes_value = option.get_items_expected_max() > 0 && option.get_type_size() > 0;
  return takes_value ? names + " " + option.get_type_name() : names;
}

std::string options_text(const CLI::App& app, const std::string& group) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() != group) continue;
    if (!text.empty()) text += "\n";
    text += indented(signature(*option), k_indent);
    text += indented(option->get_description(), 2 * k_indent);
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

std::string ManualPage::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  std::string page = "NAME\n";
  page += indented(fmt::format("entrain {} - {}", text_.verb, text_.summary), k_indent);
  page += "\nSYNOPSIS\n";
  page += indented(fmt::format("entrain {} {}", text_.verb, text_.synopsis), k_indent);
  page += "\nDESCRIPTION\n";
  for (std::size_t i = 0; i < text_.description.size(); ++i)
    page += (i == 0 ? "" : "\n") + indented(text_.description[i], k_indent);
  for (const std::string& group : app->get_groups()) {
    const std::string options = options_text(*app, group);
    if (!options.empty()) page += "\n" + group + "\n" + options;
  }
  page += "\nEXAMPLES\n";
  for (std::size_t i = 0; i < text_.examples.size(); ++i) {
    page += i == 0 ? "" : "\n";
    page += std::string(k_indent, ' ') + text_.examples[i].first + "\n";
    page += indented(text_.examples[i].second, 2 * k_indent);
  }
  return page + "\nEXIT STATUS\n" + codes_text(text_.exit_codes);
}

std::vector<std::pair<std::string, std::string>> exit_codes(
    std::vector<std::pair<std::string, std::string>> first) {
  first.emplace_back("2",
                     "bad usage, input that cannot be read, output that cannot be written; one "
                     "sentence on standard error says what and what to do");
  first.emplace_back("130", "interrupted by SIGINT or SIGTERM; no incomplete output is left");
  return first;
}

std::string overview(const std::vector<HelpText>& verbs) {
  std::size_t width = 0;
  for (const HelpText& verb : verbs) width = std::max(width, verb.verb.size());
  std::string text =
      "entrain - one time base for the event traces of parallel programs\n\n"
      "Usage: entrain VERB [OPTIONS] ...\n"
      "       entrain VERB --help (or: entrain help VERB)\n"
      "       entrain --version\n\n"
      "Verbs:\n";
  for (const HelpText& verb : verbs)
    text += fmt::format("  {:<{}}  {}\n", verb.verb, width, verb.summary);
  return text +
         "\nARCHIVE is the path of an OTF2 anchor file (.../traces.otf2) or of the folder that\n"
         "holds one. Every verb takes --json for programs. Exit status: 0 fine, 1 violations\n"
         "found or remaining, 2 failure, 130 interrupted.\n";
}

}  // namespace entrain::cli
