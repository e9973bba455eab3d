// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <entrain/entrain.hpp>

#include "base/names.hpp"
#include "cli/common.hpp"
#include "cli/output.hpp"
#include "cli/same_start.hpp"
#include "cli/signals.hpp"
#include "net/cli/verbs.hpp"
#include "record/cli/record.hpp"
#include "sim/cli/verbs.hpp"
#include "tool/mpi/launch.hpp"
#include "tool/mpi/processes.hpp"

namespace entrain::cli {
namespace {

using Verbs = std::vector<std::unique_ptr<Verb>>;

Verbs all_verbs() {
  std::vector<std::unique_ptr<Verb> (*)()> makers{
      make_info,  make_check,   make_clocks,  make_correct,   make_report, make_stragglers,
      make_edges, make_export,  make_merge,   make_summarise, make_fit,    make_apply,
      make_align, make_compare, make_distort, make_drop,      make_synth,  make_record};
#if ENTRAIN_HAS_NET
  makers.insert(makers.end(), {net::make_net, net::make_bound, net::make_schedule,
                               net::make_simulate, net::make_tables});
#endif
  Verbs verbs;
  for (const auto make : makers) verbs.push_back(make());
  return verbs;
}

/// A verb of two words, such as "net bound".
bool has_two_words(const Verb& verb) { return verb.help().verb.find(' ') != std::string::npos; }

/// True for a verb that only leads to verbs of two words, as "net" does.
bool leads_to_others(const Verb& verb, const Verbs& verbs) {
  const std::string beginning = verb.help().verb + " ";
  return std::ranges::any_of(verbs, [&](const std::unique_ptr<Verb>& other) {
    return other->help().verb.starts_with(beginning);
  });
}

std::string overview_of(const Verbs& verbs) {
  std::vector<HelpText> texts;
  for (const auto& verb : verbs) {
    if (!leads_to_others(*verb, verbs)) texts.push_back(verb->help());
  }
  return overview(texts);
}

int show(const std::string& text) { return write_out(text) ? k_exit_fine : k_exit_failure; }

int unknown_verb(std::string_view name, const Verbs& verbs) {
  std::vector<std::string> names;
  for (const auto& verb : verbs) {
    if (!has_two_words(*verb)) names.push_back(verb->help().verb);
  }
  const std::string meant = most_similar(
      name, name.starts_with('-') ? std::vector<std::string>{"--help", "--version"} : names);
  complain(meant.empty()
               ? fmt::format("there is no verb '{}'; the verbs are {} (see entrain --help)", name,
                             fmt::join(names, ", "))
               : fmt::format("there is no verb '{}'; did you mean {}? (see entrain --help)", name,
                             meant));
  return k_exit_failure;
}

Verb* find_verb(std::string_view name, const Verbs& verbs) {
  for (const auto& verb : verbs) {
    if (name == verb->help().verb) return verb.get();
  }
  return nullptr;
}

/// The verb that these arguments begin with, of two words if there is one; its words in `words`.
Verb* match_verb(int argc, char** argv, const Verbs& verbs, int& words) {
  for (words = 2; words > 0; --words) {
    if (argc < words) continue;
    const std::string name = words == 2 ? fmt::format("{} {}", argv[0], argv[1]) : argv[0];
    if (Verb* const verb = find_verb(name, verbs)) return verb;
  }
  return nullptr;
}

/// `entrain help VERB`.
int help_on(int argc, char** argv, const Verbs& verbs) {
  int words = 0;
  Verb* const verb = match_verb(argc, argv, verbs, words);
  if (verb == nullptr) return unknown_verb(argv[0], verbs);
  std::string own = verb->help().verb, help = "--help-all";
  char* arguments[] = {own.data(), help.data(), nullptr};
  return parse_and_run(*verb, 2, arguments);
}

int run(int argc, char** argv) {
  const Verbs verbs = all_verbs();
  if (argc < 2) {
    std::fputs(overview_of(verbs).c_str(), stderr);
    return k_exit_failure;
  }
  const std::string_view first = argv[1];
  if (first == "help" && argc > 2) return help_on(argc - 2, argv + 2, verbs);
  if (first == "--help" || first == "-h" || first == "help") return show(overview_of(verbs));
  if (first == "--version") return show(fmt::format("entrain {}\n", version()));
  int words = 0;
  if (Verb* const verb = match_verb(argc - 1, argv + 1, verbs, words))
    return parse_and_run(*verb, argc - words, argv + words);
  return unknown_verb(first, verbs);
}

/// `entrain record` stands in for a program of MPI and must leave MPI to it.
bool is_record(int argc, char** argv) { return argc > 1 && std::string_view(argv[1]) == "record"; }

/// The exit code, or nothing, with a sentence on standard error, after an exception.
std::optional<int> run_guarded(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc& exception) {
    say_no_memory(exception);
  } catch (const std::exception& exception) {
    complain_alone(fmt::format("internal error, please report it: {}", exception.what()));
  }
  return std::nullopt;
}

/// Comes before the statics of libraries: these need memory, too.
[[gnu::constructor(101)]] void catch_the_uncaught() { std::set_terminate(end_by_exception); }

}  // namespace
}  // namespace entrain::cli

int main(int argc, char** argv) {
  using namespace entrain::cli;
  occupy_standard_descriptors();
  if (is_record(argc, argv)) return run_guarded(argc, argv).value_or(k_exit_failure);
  install_signal_handlers();  // before MPI starts threads
  entrain::mpi::MpiProcesses mpi;
  set_processes(mpi.team());
  if (entrain::mpi::launched_as_mpi_process()) show_no_colours();
  if (entrain::mpi::MpiProcesses::launched_in_vain()) {
    complain(
        "an MPI launcher started several processes, but this entrain was built without MPI; "
        "start one, or build it where MPI is found");
    return k_exit_failure;
  }
  if (const auto same = check_same_start(*mpi.everybody(), words_of_start(argc, argv)); !same) {
    const int exit_code = mpi.rests() ? k_exit_failure : exit_code_of(same.error());
    fall_silent();
    return exit_code;
  }
  if (mpi.rests()) return k_exit_fine;
  if (mpi.resting() > 0) {
    complain(fmt::format("{} of {} processes {}, as {}", mpi.resting(),
                         mpi.resting() + mpi.team().size(), mpi.resting() == 1 ? "rests" : "rest",
                         mpi.team().size() == 1 ? "one process works on one machine"
                                                : "a machine has no more cores"));
  }
  if (const auto exit_code = run_guarded(argc, argv)) {
    fall_silent();
    return *exit_code;
  }
  mpi.abandon(k_exit_failure);
  return k_exit_failure;
}
