// SPDX-License-Identifier: BSD-3-Clause
#include "support/otf2_print.hpp"

#include <cctype>
#include <sstream>

#include "support/process.hpp"

namespace entrain::test {

namespace {

bool is_number(const std::string& word) {
  if (word.empty()) return false;
  for (const char c : word) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
  }
  return true;
}

bool is_record_name(const std::string& word) {
  if (word.empty()) return false;
  for (const char c : word) {
    if (std::isupper(static_cast<unsigned char>(c)) == 0 && c != '_' &&
        std::isdigit(static_cast<unsigned char>(c)) == 0) {
      return false;
    }
  }
  return true;
}

/// Replaces the number behind `label`.
void blank_number(std::string& text, const std::string& label) {
  const auto at = text.find(label);
  if (at == std::string::npos) return;
  const auto begin = at + label.size();
  auto end = begin;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
  text.replace(begin, end - begin, "*");
}

/// Sorts the lines of one run into `printed`.
void sort_lines(const std::string& text, PrintedArchive& printed) {
  std::istringstream lines(text);
  std::string line, location;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string name, id, time;
    words >> name >> id >> time;
    if (is_record_name(name) && is_number(id) && is_number(time)) {
      std::string rest;
      std::getline(words, rest);
      blank_number(rest, "Stop Time: ");
      location = id;
      printed.events[id] += name + rest + '\n';
    } else if (!location.empty() && line.starts_with("  ")) {
      printed.events[location] += line + '\n';  // attributes of the event before
    } else if (name != "CLOCK_PROPERTIES") {
      location.clear();
      printed.definitions += line + '\n';
    }
  }
}

}  // namespace

PrintedArchive print_archive(const std::filesystem::path& anchor, bool strict) {
  PrintedArchive printed;
  for (const bool definitions : {true, false}) {
    std::vector<std::string> command{"otf2-print"};
    if (definitions) command.insert(command.end(), {"-G", "-M"});
    if (strict) command.emplace_back("-Werror");
    command.push_back(anchor.string());
    const ChildOutcome outcome = run_program(command, {.timeout_s = 100});
    if (outcome.exit_code != 0) printed.exit_code = outcome.exit_code;
    printed.errors += outcome.err;
    sort_lines(outcome.out, printed);
  }
  return printed;
}

}  // namespace entrain::test
