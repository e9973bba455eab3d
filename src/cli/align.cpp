// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <utility>

#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "cli/check_options.hpp"
#include "cli/report_file.hpp"
#include "cli/values.hpp"
#include "engine/align.hpp"
#include "engine/verbs.hpp"
#include "output/output.hpp"
#include "report/report.hpp"

namespace entrain::cli {
namespace {

constexpr const char* k_table_group = "OUTPUT OPTIONS";

class Align : public CheckingVerb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "align",
        "[OPTIONS] EDGES [-o DIR]",
        "find the clocks of any other trace, given as a table of edges",
        {"Finds for each clock of a trace of any kind the map to a common time. The trace is "
         "given as a table of edges: pairs of events of which the first one happened before the "
         "second one. This is the first step of correct, for formats that entrain does not read.",
         "EDGES is CSV with a header line, or JSON lines. Its columns are cause_clock, "
         "cause_time, effect_clock and effect_time: the event at cause_time happened before the "
         "one at effect_time. Clocks have any name; times are whole ticks, decimals of seconds "
         "(see --unit), or dates by ISO 8601. Optional are min_delay, kind, and instance with "
         "role (begin or end) for collectives. The manual has every column: docs/manual/align.md.",
         "A second table (--clocks) holds measurements of the clocks and what else is known of "
         "them."},
        {{"entrain align messages.csv -o aligned",
          "Writes aligned/maps.csv: per clock the ticks and the offsets to add there."},
         {"entrain align e.csv -o out --apply v.csv --time-column t --clock-column c",
          "Also writes out/v.csv, in which the times of the column t are mapped."},
         {"entrain edges traces.otf2 -o edges.csv && entrain align edges.csv --bounds",
          "Aligns the edges of an archive, and shows how wrong the clocks can be."}},
        exit_codes({{"0", "the maps violate no edge"},
                    {"1", "the maps still violate edges"},
                    {"3",
                     "unproven: no edge leads from one clock to another, or edges contradict each "
                     "other; where they do so as a whole, nothing is written"}}),
        {"--output", "--clocks", "--resolution", "--bounds", "--apply"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    set.argument(
        "EDGES", edges_,
        "Table of edges: CSV with a header line, or JSON lines, plain or packed (.gz, .zst); - "
        "is standard input. It is never touched.");
    declare_tables(set);
    declare_output(set);
    report_file_.declare(set);
    declare_check(set, "the worst edge also of kinds without violations");
    set.after_parsing([this, &set] { return refuse_useless_options(set); });
  }

  int run() override {
    AlignOptions options{.check = check_};
    options.check.threads = common_.threads;
    options.check.bounds.rows = options.check.bounds.wanted;
    files_.edges = edges_;
    files_.clocks.assign(clocks_.begin(), clocks_.end());
    files_.columns = options.check.columns;
    files_.output = output_;
    files_.apply = apply_;
    return run_and_report(
        common_, [&](Progress* progress) { return align(options, progress); },
        [](const AlignReport& report) { return exit_code_of(report.after.judgement.verdict); });
  }

 private:
  Result<AlignReport> align(const AlignOptions& options, Progress* progress) {
    report_file_.alone = true;
    TRY(check_distinct({{"--report", report_file_.path}, {"-o", files_.output}}));
    OutputRule rule = engine::output_rule(files_);
    rule.force = rule.offers_force = false;  // it is for the folder
    TRY(report_file_.prepare(std::move(rule)));
    const engine::AlignExtras extras{
        .bounds =
            [](const AlignReport& report) {
              return report::bounds_csv(*report.bounds, report.before.resolution_hz);
            },
        .report = [](const AlignReport& report) { return report::json_text(report); },
        .page = report_file_.data()};
    TRY_ASSIGN(AlignReport report, engine::align(files_, options, extras, progress));
    TRY(report_file_.write(report, "align"));
    return report;
  }

  void declare_tables(OptionSet& set);
  void declare_output(OptionSet& set);

  static Result<void> refuse_useless_options(const OptionSet& set) {
    TRY(set.refuse({"--clock-samples", "--clock-records", "--alltoallv", "--init-finalize"},
                   "is of no use here: it concerns records of archives"));
    TRY(set.refuse({"--bounds-csv"},
                   "is of no use here: --bounds with -o DIR writes DIR/bounds.csv"));
    for (const char* name : {"--time-column", "--clock-column"}) {
      if (set.given(name) == set.given("--apply")) continue;
      return fail(ErrorKind::usage,
                  "--apply, --time-column and --clock-column are of use together only");
    }
    if (set.given("--output")) return {};
    return set.refuse({"--apply"}, "needs -o DIR, where the mapped table goes");
  }

  std::string edges_, output_, apply_;
  std::vector<std::string> clocks_;
  AlignFiles files_;
  ReportFile report_file_;
};

void Align::declare_tables(OptionSet& set) {
  set.group("OPTIONS OF THE TABLES");
  set.values(
      "--clocks", clocks_, "FILE",
      "Table of clocks: what is known of them, and measurements. Its columns are clock; kind, "
      "domain, process, machine, resolution_hz; time, offset and half_width of a measurement. "
      "Edges of clocks that it does not name are refused. It can be given more than once. Use it "
      "where clocks were measured, or where several names are one clock. Default: X.clocks.csv "
      "beside EDGES, which is X.csv, if it is there.");
  set.value("--resolution", files_.resolution_hz, count(1, 1'000'000'000'000'000), "HZ",
            "Ticks per second of all times. Use it if they are not nanoseconds: reports show "
            "seconds, and limits on clock rates are parts per million. Default: as the table of "
            "clocks says, else 1000000000.");
  set.path("--unit", files_.unit, "UNIT",
           "Unit of times that are numbers: ticks, s, ms, us or ns. Dates by ISO 8601 need none. "
           "Use it if whole numbers are not ticks; --columns names the unit of one column. "
           "Default: what the name of the column ends in (send_us); else ticks for whole numbers, "
           "seconds for decimals.");
}

void Align::declare_output(OptionSet& set) {
  set.group(k_table_group);
  set.path(
      "-o,--output", output_, "DIR",
      "The folder to write maps.csv, report.json and, with --bounds, bounds.csv to; or, if its "
      "name ends in .csv, the one table: that of --apply, else the maps. It appears under this "
      "name only when it is complete, and it must not exist yet (but see --force). Default: "
      "only the report is shown. Nothing is written where edges contradict each other as a whole.");
  add_force(set, files_.force, "DIR");
  set.path("--apply", apply_, "FILE",
           "CSV table of events: DIR gets a copy with common times in --time-column. Use it to "
           "put events in order without a program of your own. Default: none.");
  set.path("--time-column", files_.time_column, "NAME",
           "Column of FILE with the times, which keep their notation. Required with --apply.");
  set.path("--clock-column", files_.clock_column, "NAME",
           "Column of FILE with the names of the clocks. Required with --apply.");
}

class EdgesOfArchive : public CheckingVerb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "edges",
        "[OPTIONS] ARCHIVE... -o FILE",
        "write the happened-before edges of a trace as a table",
        {"Writes the happened-before edges of a trace: messages, collectives, threads. A row of a "
         "single edge has cause and effect, their clocks and stored stamps, and the margin "
         "between them by the measured clocks; negative margins are violations. A row of a "
         "collective is one begin or end.",
         "The locations and the measurements of their clocks go into a second table beside it: "
         "X.clocks.csv for X.csv. entrain align makes of both the maps that entrain correct "
         "--amortize off makes of the archive."},
        {{"entrain edges traces.otf2 -o edges.csv", "Writes edges.csv and edges.clocks.csv."},
         {"entrain edges traces.otf2 -o edges.jsonl", "The same as JSON lines."}},
        exit_codes({{"0", "the tables are written"}}),
        {"--output", "--force", "--presync", "--mu", "--init-finalize"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    add_archive(set, archive_);
    set.group(k_table_group);
    set.required_path(
        "-o,--output", output_, "FILE",
        "The table of edges to write; required. JSON lines if its name ends in .jsonl, "
        ".ndjson or .json, else CSV. It appears when it is complete, and it must not exist "
        "yet (but see --force).");
    add_force(set, force_, "each of both tables");
    declare_check(set, "");
    set.after_parsing([&set] {
      return set.refuse({"--bounds", "--bounds-csv", "--max-rate-ppm"},
                        "is of no use here: edges have no bounds; see align");
    });
  }

  int run() override {
    CheckOptions options = check_;
    options.threads = common_.threads;
    return run_and_report(common_, [&](Progress* progress) {
      return engine::write_edges(paths(), output_, options, force_, progress);
    });
  }

 private:
  std::string output_;
  bool force_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_align() { return std::make_unique<Align>(); }
std::unique_ptr<Verb> make_edges() { return std::make_unique<EdgesOfArchive>(); }

}  // namespace entrain::cli
