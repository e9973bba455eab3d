// SPDX-License-Identifier: BSD-3-Clause
#include "cli/common.hpp"

#include "cli/values.hpp"

namespace entrain::cli {
namespace {

constexpr std::uint64_t k_most_threads = 4096;

}  // namespace

std::string reject_empty(const std::string& path) {
  return path.empty() ? "the path is empty" : "";
}

void CommonOptions::declare(CLI::App& app, const std::string& rows) {
  const auto parse_threads = [](std::string_view text) {
    return parse_count(text, 0, k_most_threads).map([](std::uint64_t count) {
      return static_cast<unsigned>(count);
    });
  };
  add_switch(app, "--json", json,
             "Print one JSON document on standard output and nothing else there: durations in "
             "seconds (_s), ticks as integers (_ticks), shares as fractions (_share).")
      ->group(k_general);
  add_value(app, "--threads", threads, parse_threads, "N",
            "Worker threads, 0 to 4096; 0 means all cores, or one for each of several processes "
            "that an MPI launcher started. The result does not depend on it. Default: 0.")
      ->group(k_general);
  add_switch(app, "-q,--quiet", quiet,
             "No progress bar and no messages but errors. (The bar only ever shows on a "
             "terminal, and after the first second.)")
      ->group(k_general);
  const std::string also = rows.empty() ? "" : ", and show in the report " + rows;
  const std::string help = "Say on standard error how long each phase took" + also + ".";
  add_switch(app, "-v,--verbose", verbose, help.c_str())->group(k_general);
}

CLI::Option* add_archive(CLI::App& app, const std::string& name, std::string& target,
                         const char* help) {
  return app.add_option(name, target, help)->required()->check(reject_empty)->group("ARGUMENTS");
}

void add_output(CLI::App& app, std::string& target, bool& force) {
  app.add_option("-o,--output", target,
                 "The folder to write the new archive to; required. It appears under this name "
                 "only when it is complete, and it must not exist yet (but see --force).")
      ->type_name("DIR")
      ->required()
      ->check(reject_empty)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->group("OUTPUT OPTIONS");
  add_switch(app, "--force", force, "Replace DIR if it exists. Default: refuse.")
      ->group("OUTPUT OPTIONS");
}

}  // namespace entrain::cli
