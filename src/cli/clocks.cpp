// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include <entrain/entrain.hpp>

#include "cli/check_options.hpp"
#include "cli/values.hpp"
#include "engine/verbs.hpp"
#include "report/report.hpp"
#include "report/units.hpp"

namespace entrain::cli {
namespace {

using report::ClockOrder;

class ClocksVerb : public CheckingVerb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "clocks",
        "[OPTIONS] ARCHIVE...",
        "say whose clock is wrong, by how much, and how certain that is",
        {"Finds the common time that correct would write, and shows how far each clock is off it, "
         "the wrong ones first. Changes nothing.",
         "Offset and drift have to be added to the clock: both are positive for a clock that is "
         "slow, negative for one that is fast. States: right; slow or fast, along a straight "
         "line; stepped: it was set while the trace was recorded; bent: it wanders; untied: no "
         "edges connect it to most other clocks; unproven: nothing contradicts it, but too little "
         "was checked. Bound: the largest error that the offset can have where the clock "
         "communicates, median and maximum over time. Edges: messages and ends of collectives of "
         "the clock. Violated: those that the clocks as measured violate. A host and its devices "
         "have one row while nothing between them is violated; \"rank 1 (or only rank 1 device "
         "0)\" says that it may as well be the device alone.",
         "The common time is that of the clocks that are right. Where no clock kept its times, "
         "offset and drift are against the clock in the middle, and the first line says so."},
        {{"entrain clocks traces.otf2", "Whose clock is wrong?"},
         {"entrain clocks --max-offset 1ms spans/",
          "For monitoring: ends with 1 if a clock is off by more than a millisecond."},
         {"entrain clocks --csv run/ > clocks.csv", "The table for a spreadsheet."}},
        exit_codes({{"0", "the table is shown; with --max-offset: no clock is off by more"},
                    {"1", "with --max-offset: a clock is off by more"},
                    {"3",
                     "no edge connects some clock to another one, and none is off by more; or "
                     "check says unproven"}}),
        {"--sort", "--max-offset", "--csv", "--json", "--quiet", "--max-rate-ppm"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    add_archive(set, archive_);
    set.group("OPTIONS OF THE TABLE");
    set.choice(
        "--sort", order_,
        {{"off", ClockOrder::off},
         {"name", ClockOrder::name},
         {"state", ClockOrder::state},
         {"offset", ClockOrder::offset},
         {"drift", ClockOrder::drift},
         {"bound", ClockOrder::bound},
         {"edges", ClockOrder::edges}},
        "Order of the rows. off: wrong clocks first, the furthest off before others; name: host2 "
        "before host10; others: the largest first. Default: off.");
    set.value("--max-offset", max_offset_s_, parse_duration, "TIME",
              "End with exit status 1 if a clock is further off than this at any time: 250us, "
              "1ms, 0.5s. Use it for monitoring. Default: no limit.");
    set.flag("--csv", csv_,
             "Print the table as CSV, with the columns of --json. Use it for a spreadsheet.");
    declare_check(set, "");
    set.after_parsing([this]() -> Result<void> {
      if (!csv_ || !common_.json) return {};
      return fail(ErrorKind::usage, "--csv and --json exclude each other");
    });
  }

  [[nodiscard]] bool in_common() const override { return true; }

  int run() override {
    CorrectOptions options;
    options.check = check_;
    options.check.bounds.wanted = true;
    options.check.threads = common_.own_threads();
    return run_and_show(
        common_,
        [&](Progress* progress) {
          return engine::check_clocks({.processes = processes(), .progress = progress}, paths(),
                                      options);
        },
        [this](const CheckReport& check) { return exit_code(check); },
        [this](const CheckReport& check) { return text_of(check); });
  }

 private:
  [[nodiscard]] std::string text_of(CheckReport check) const {
    if (!csv_ && !common_.json) return report::clocks_text(check, common_.style(), order_);
    report::sort_clocks(check.clocks, order_);
    return csv_ ? report::clocks_csv(check.clocks) : report::clocks_json_text(check);
  }

  /// Where the check proves nothing, that of the check.
  [[nodiscard]] int exit_code(const CheckReport& check) const {
    const ClockTable& table = check.clocks;
    const bool is_unproven = check.judgement.verdict == Verdict::unproven;
    bool untied = is_unproven || table.rows.empty();
    for (const ClockRow& row : table.rows) {
      if (row.state == ClockState::untied) untied = untied || table.rows.size() > 1;
      if (row.state == ClockState::right) continue;
      const double off = report::seconds_of(row.most_ticks, table.resolution_hz);
      if (max_offset_s_ && off > *max_offset_s_) return k_exit_violations;
    }
    return untied ? k_exit_unproven : k_exit_fine;
  }

  ClockOrder order_ = ClockOrder::off;
  std::optional<double> max_offset_s_;
  bool csv_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_clocks() { return std::make_unique<ClocksVerb>(); }

}  // namespace entrain::cli
