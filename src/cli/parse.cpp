// SPDX-License-Identifier: BSD-3-Clause
#include "cli/parse.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/common.hpp"
#include "cli/output.hpp"

namespace entrain::cli {
namespace {

/// What was left over, preferring a mistyped option to the values it left behind.
std::string leftover_of(const CLI::App& app) {
  const std::vector<std::string> left = app.remaining();
  const auto option = std::find_if(left.begin(), left.end(),
                                   [](const std::string& text) { return text.starts_with('-'); });
  if (option != left.end()) return fmt::format("'{}' is not an option", *option);
  return fmt::format("'{}' is one argument too many", left.empty() ? "" : left.front());
}

/// What a parse error means, as the beginning of a sentence. The library's own texts have the
/// option first, then a colon.
std::string reason_of(const CLI::ParseError& error, const CLI::App& app) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return leftover_of(app);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (text.find("override") != std::string::npos)
      return fmt::format("option '{}' takes no value", text.substr(0, text.find(' ')));
    return text.substr(0, text.find(':')) + " needs a value";
  }
  return text;
}

}  // namespace

int parse_and_run(Verb& verb, int argc, char** argv) {
  const HelpText& help = verb.help();
  CLI::App app(help.summary, "entrain " + help.verb);
  app.formatter(std::make_shared<ManualPage>(help));
  verb.declare(app);
  app.set_help_flag("-h,--help", "Show this text.")->group(k_general);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return write_out(app.help()) ? k_exit_fine : k_exit_failure;
  } catch (const CLI::ParseError& error) {
    complain(fmt::format("{} (see entrain {} --help)", reason_of(error, app), help.verb));
    return k_exit_failure;
  }
  if (!speaks() && !verb.in_common()) return k_exit_fine;
  return verb.run();
}

}  // namespace entrain::cli
