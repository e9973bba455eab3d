// SPDX-License-Identifier: BSD-3-Clause
#include "cli/correct.hpp"

#include <filesystem>

#include <fmt/format.h>

#include <fmt/core.h>

#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "cli/check_options.hpp"
#include "cli/common.hpp"
#include "cli/values.hpp"
#include "engine/verbs.hpp"

namespace entrain::cli {
namespace {

constexpr const char* k_output_group = "OUTPUT OPTIONS";
constexpr const char* k_method_group = "OPTIONS OF THE CORRECTION";
constexpr std::uint64_t k_most_delta_ticks = 1'000'000'000'000;
constexpr std::int64_t k_most_slope = 1000;

constexpr std::array<std::pair<const char*, WriteMode>, 2> k_modes{
    {{"rewrite", WriteMode::rewrite}, {"overlay", WriteMode::overlay}}};
constexpr std::array<std::pair<const char*, LinkKind>, 4> k_links{{{"auto", LinkKind::automatic},
                                                                   {"reflink", LinkKind::reflink},
                                                                   {"symbolic", LinkKind::symbolic},
                                                                   {"hard", LinkKind::hard}}};

class Correct : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override;

  void declare(CLI::App& app) override {
    add_archive(app, "ARCHIVE", archive_,
                "OTF2 anchor file, or the folder that holds one. It is never touched.");
    declare_output(app);
    declare_method(app);
    check_.declare(app);
    common_.declare(app,
                    "kinds of operation without edges, the worst edge also of kinds without "
                    "violations, and counters at 0");
    app.callback([this, &app] { refuse_useless_options(app); });
  }

  [[nodiscard]] bool in_common() const override { return true; }

  int run() override {
    options_.verify = !no_verify_;
    return run_and_report(
        common_, [&](Progress* progress) { return correct(progress); },
        [&](const CorrectReport& report) { return verdict(report); });
  }

 private:
  void declare_output(CLI::App& app);
  void declare_method(CLI::App& app);

  /// Refuses options that others make meaningless.
  void refuse_useless_options(const CLI::App& app) const;

  Result<CorrectReport> correct(Progress* progress) {
    namespace fs = std::filesystem;
    if (!check_.bounds_csv.empty() && fs::absolute(check_.bounds_csv).lexically_normal() ==
                                          fs::absolute(output_).lexically_normal()) {
      return fail(ErrorKind::usage, fmt::format("--bounds-csv and -o both name {}; the bounds need "
                                                "a file of their own",
                                                output_));
    }
    TRY(check_.prepare());
    options_.check = check_.options;
    options_.check.threads = common_.own_threads();
    TRY_ASSIGN(CorrectReport report,
               engine::correct(processes(), archive_, output_, options_, progress));
    TRY(check_.write_bounds(report.bounds, report.before.resolution_hz));
    return report;
  }

  [[nodiscard]] int verdict(const CorrectReport& report) const {
    const bool close = check_.strict_latency && report.after.below_latency > 0;
    const bool violated = report.after.violations > 0 || report.statistics.order_broken > 0;
    return violated || close ? k_exit_violations : k_exit_fine;
  }

  std::string archive_, output_;
  CorrectOptions options_;
  bool no_verify_ = false;
  CheckArguments check_;
  CommonOptions common_;
};

const HelpText& Correct::help() const {
  static const HelpText k_help{
      "correct",
      "[OPTIONS] ARCHIVE -o DIR",
      "write a corrected archive",
      {"Repairs the times of a trace in two steps, of which neither touches a trace without "
       "violations. "
       "First the clocks are bent as smoothly as messages and collectives demand (--presync), "
       "those "
       "of locations that share one together (--clock-domain).",
       "Then the controlled logical clock removes what is left: a receive that is earlier "
       "than its send is moved behind it, what follows on its location moves along and returns to "
       "its own time slowly (forward amortization), and what precedes is stretched smoothly "
       "towards the jump (backward amortization). But for one tick of rounding this step only ever "
       "moves times forward; the order of the events of a location stays.",
       "Then the new archive is read back and checked by code of its own. The report shows, per "
       "kind of operation, violations before and after, how far events moved, and by how much "
       "local intervals changed.",
       "Started as several processes (mpirun -n 4 entrain correct ...) it shares the work: each "
       "reads and writes the files of its own locations. The result is the same, bit by bit."},
      {{"entrain correct traces.otf2 -o corrected",
        "Corrects a trace; the result is corrected/traces.otf2."},
       {"entrain correct traces.otf2 -o corrected --mode overlay",
        "The same without copying the events: takes megabytes, whatever the trace weighs."},
       {"entrain correct traces.otf2 -o corrected --gamma 0.99 --mu 1e-6",
        "With a fixed control variable and a minimum latency of one microsecond."},
       {"mpirun -n 16 entrain correct traces.otf2 -o corrected",
        "On 16 processes of one or more machines with a common file system."}},
      exit_codes({{"0", "the archive is written and has no violations"},
                  {"1",
                   "the archive is written, but violations remain (with --strict-latency: or "
                   "edges closer than the minimum latency)"}})};
  return k_help;
}

void Correct::refuse_useless_options(const CLI::App& app) const {
  if (app.count("--link") > 0 && options_.mode != WriteMode::overlay)
    throw CLI::ValidationError("--link needs --mode overlay: a rewrite links nothing");
  if (app.count("--max-slope") > 0 && !options_.backward)
    throw CLI::ValidationError("--max-slope is of no use with --backward off: there are no ramps");
  for (const char* name : {"--gamma", "--delta", "--max-slope", "--backward"}) {
    if (!options_.amortize && app.count(name) > 0)
      throw CLI::ValidationError(fmt::format("{} is of no use with --amortize off", name));
  }
}

void Correct::declare_output(CLI::App& app) {
  add_output(app, output_, options_.force);
  const auto parse_mode = [](std::string_view text) { return parse_choice(text, k_modes); };
  const auto parse_link = [](std::string_view text) { return parse_choice(text, k_links); };
  add_value(app, "--mode", options_.mode, parse_mode, "rewrite|overlay",
            "How the correction is stored. rewrite: a self-contained archive, every time stamp "
            "replaced, every other byte as it was. overlay: the event files of ARCHIVE are linked "
            "and the correction is stored beside them as ClockOffset records, which every tool "
            "built on the OTF2 library applies. Default: rewrite.")
      ->group(k_output_group);
  add_value(app, "--link", options_.link, parse_link, "auto|reflink|symbolic|hard",
            "How overlay links event files; only with --mode overlay. reflink: copy on write, if "
            "the file system can; "
            "ARCHIVE may be deleted. symbolic: relative symbolic links; ARCHIVE must stay. hard: "
            "hard links; ARCHIVE may be deleted, but must not be written to. auto: the first of "
            "these that works; the report says which. Default: auto.")
      ->group(k_output_group);
  add_switch(app, "--no-verify", no_verify_,
             "Do not read the new archive back to check it. The report then does not tell what "
             "changed. Default: check it.")
      ->group(k_output_group);
}

void Correct::declare_method(CLI::App& app) {
  const auto parse_delta = [](std::string_view text) {
    return parse_count(text, 0, k_most_delta_ticks).map([](std::uint64_t ticks) {
      return static_cast<std::int64_t>(ticks);
    });
  };
  const auto parse_slope = [](std::string_view text) { return parse_decimal9(text, k_most_slope); };
  add_value(
      app, "--gamma", options_.gamma, parse_gamma, "auto|N",
      "Control variable of forward amortization: the rate at which a clock that jumped runs "
      "until it meets its own time again. A decimal number above 0 and at most 1, at most 9 "
      "decimals. auto: tries 0.99999, 0.9999, 0.999, 0.99 and 0.9 and takes the largest whose "
      "largest displacement is at most 1.1 times that of 0.9. Default: auto.")
      ->group(k_method_group);
  add_value(app, "--delta", options_.delta_ticks, parse_delta, "TICKS",
            "Smallest distance of consecutive communication events of a location, in ticks of the "
            "trace's timer, 0 to 1000000000000. Never more than they were apart before. "
            "Default: 0.")
      ->group(k_method_group);
  add_value(app, "--max-slope", options_.max_slope, parse_slope, "N",
            "Slope of the ramps of backward amortization, ticks per tick: 0.01 spreads a jump of "
            "1 us over the 100 us before it. Sends that may not move that far make a ramp flatter "
            "first and steeper then. Not with --backward off. A decimal number above 0 and at most "
            "1000, at most 9 decimals. "
            "Default: 0.01.")
      ->group(k_method_group);
  add_value(app, "--backward", options_.backward, parse_switch, "on|off",
            "Whether to build up jumps beforehand at all. off: a corrected receive jumps. "
            "Default: on.")
      ->group(k_method_group);
  add_value(
      app, "--amortize", options_.amortize, parse_switch, "on|off",
      "Whether to remove violations by the controlled logical clock. off: what --presync makes "
      "of the times is written as it is, with the violations that it leaves, to see what "
      "the presync does by itself. Default: on.")
      ->group(k_method_group);
}

}  // namespace

std::unique_ptr<Verb> make_correct() { return std::make_unique<Correct>(); }

}  // namespace entrain::cli
