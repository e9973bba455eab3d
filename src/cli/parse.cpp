// SPDX-License-Identifier: BSD-3-Clause
#include "cli/parse.hpp"

#include <fmt/format.h>

#include "cli/common.hpp"
#include "cli/output.hpp"
#include "cli/processes.hpp"
#include "cli/same_start.hpp"

namespace entrain::cli {

int parse_and_run(Verb& verb, int argc, char** argv) {
  const HelpText& help = verb.help();
  OptionSet set(help);
  verb.declare(set);
  if (const auto parsed = set.parse(argc, argv); !parsed) {
    complain(fmt::format("{} (see entrain {} --help)", parsed.error().message, help.verb));
    return k_exit_failure;
  }
  if (set.asked_for_help()) return write_out(set.help_page()) ? k_exit_fine : k_exit_failure;
  if (!speaks() && !verb.in_common()) return k_exit_fine;
  if (verb.in_common() && set.has_relative_path()) {
    if (const auto same = check_same_folder(processes()); !same) return exit_code_of(same.error());
  }
  return verb.run();
}

}  // namespace entrain::cli
