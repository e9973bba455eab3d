// SPDX-License-Identifier: BSD-3-Clause
#include "cli/net.hpp"

#include "base/staging.hpp"
#include "base/try.hpp"
#include "cli/common.hpp"
#include "cli/net_options.hpp"
#include "cli/values.hpp"

namespace entrain::cli {
namespace {

namespace fs = std::filesystem;

class Net : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "net",
        "bound|schedule|simulate|tables [OPTIONS] ...",
        "plan and simulate the synchronisation of network interfaces",
        {"A lossless network with link-level flow control can keep the clocks of its interfaces in "
         "step without any message about time: a schedule of packets makes every fast interface "
         "wait for the slowest one. docs/manual/net.md explains it.",
         "net bound: how far the clocks can be apart, and how often the schedule has to run. net "
         "schedule: plans for a topology and verifies the plan. net simulate: runs it flit by "
         "flit. "
         "net tables: the values of the paper, beside those computed here. Each has a --help of "
         "its "
         "own."},
        {{"entrain net bound --levels 4", "A tree of four levels with the paper's defaults."},
         {"entrain net schedule tree:8x4 -o plan.csv", "A plan for 392 interfaces."},
         {"entrain net simulate single:8 --drift 300ppm", "One switch, flit by flit."}},
        exit_codes({{"0", "fine"}, {"1", "a plan fails, synchrony is lost, a value differs"}})};
    return k_help;
  }

  void declare(CLI::App& app) override {
    app.add_option("VERB", verb_, "bound, schedule, simulate or tables.")
        ->required()
        ->group("ARGUMENTS");
    app.allow_extras();
    common_.declare(app, "");
  }

  int run() override {
    complain(
        fmt::format("there is no verb 'net {}'; they are bound, schedule, simulate and tables "
                    "(see entrain net --help)",
                    verb_));
    return k_exit_failure;
  }

 private:
  std::string verb_;
  CommonOptions common_;
};

class NetBound : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "net bound",
        "[OPTIONS]",
        "bounds of skew, interval and overhead in a full tree",
        {"Computes the gaps of a blocked packet, the bounded skew of a synchronising schedule in a "
         "full tree of switches, how often it has to run and which share of the time it takes: "
         "equations (1) to (12) of H. J. Song, Synchronization of Network Interfaces in System "
         "Area Networks (2005). Both readings of equation (3) are shown: the published numbers "
         "come from bl - ks, the printed equation has bl - kg.",
         "For a topology of your own see net schedule."},
        {{"entrain net bound", "One switch of eight ports."},
         {"entrain net bound --levels 4 --cp 640Mbps", "Four levels, slower links."},
         {"entrain net bound --preset ib-ndr --drift 50ppm", "A present-day fabric."}},
        exit_codes({{"0", "fine"}})};
    return k_help;
  }

  void declare(CLI::App& app) override {
    parameters_.declare(app);
    const auto count = [](std::int64_t least, std::int64_t most) {
      return [=](std::string_view text) { return net::parse_whole(text, least, most); };
    };
    add_value(app, "--levels", levels_, count(2, 32), "M",
              "Levels of nodes, the interfaces' among them, 2 to 32; 2 is one switch. Default: 2.")
        ->group("OPTIONS OF THE SCHEDULE");
    add_value(app, "--ports", ports_, count(2, 1024), "K",
              "Ports of a switch, 2 to 1024. Default: 8.")
        ->group("OPTIONS OF THE SCHEDULE");
    add_value(
        app, "--drift", drift_ppb_,
        [](std::string_view text) -> Result<std::int64_t> { return net::parse_drift_ppb(text); },
        "DRIFT", "Only this drift, as in 300ppm. Default: 100 to 500ppm.")
        ->group("OPTIONS OF THE SCHEDULE");
    common_.declare(app, "");
  }

  int run() override {
    return run_and_report(
        common_,
        [&](Progress*) -> Result<net::BoundReport> {
          constexpr std::int64_t k_ppm = 1000;
          TRY_ASSIGN(const net::Parameters parameters, parameters_.get());
          std::vector<std::int64_t> drifts_ppb{drift_ppb_};
          if (drift_ppb_ < 0)
            drifts_ppb = {100 * k_ppm, 200 * k_ppm, 300 * k_ppm, 400 * k_ppm, 500 * k_ppm};
          return net::evaluate_bound(parameters, ports_, levels_, drifts_ppb);
        },
        [](const net::BoundReport&) { return k_exit_fine; });
  }

 private:
  NetParameters parameters_;
  std::int64_t levels_ = 2, ports_ = 8;
  std::int64_t drift_ppb_ = -1;  ///< all of the paper's
  CommonOptions common_;
};

class NetTables : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "net tables",
        "[OPTIONS]",
        "the values that the paper publishes, beside those computed",
        {"Shows every value of tables 1 to 4 and of the text of H. J. Song, Synchronization of "
         "Network Interfaces in System Area Networks (2005), beside what its equations give, with "
         "a verdict, and the data of figures 4 to 6. 'computed' is the published reading of "
         "equation (3), 'as printed' the other one."},
        {{"entrain net tables", "All tables; -v shows the matching entries of tables 1 and 2 too."},
         {"entrain net tables --svg figures", "Draws the figures into a new folder."}},
        exit_codes({{"0", "all values match, but for known misprints"}, {"1", "a value differs"}})};
    return k_help;
  }

  void declare(CLI::App& app) override {
    app.add_option("--svg", folder_,
                   "Draw the figures into this folder, which must not exist. Default: do not.")
        ->type_name("DIR")
        ->check(reject_empty)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->group("OUTPUT OPTIONS");
    common_.declare(app, "the entries of tables 1 and 2 that match");
  }

  int run() override {
    return run_and_report(
        common_,
        [&](Progress*) -> Result<report::TablesReport> {
          if (!folder_.empty()) TRY(check_new_file(folder_));
          report::TablesReport tables{net::published_cells(), net::published_figures(), {}};
          if (!folder_.empty()) TRY(draw(tables));
          return tables;
        },
        [](const report::TablesReport& tables) {
          return tables.differing() == 0 ? k_exit_fine : k_exit_violations;
        });
  }

 private:
  Result<void> draw(report::TablesReport& tables) const {
    TRY_ASSIGN(StagedDirectory staged, StagedDirectory::create(folder_, false));
    for (const net::Figure& figure : tables.figures) {
      const std::string name = figure.name + ".svg";
      TRY(under_final_name(
          write_new_file(staged.path() / name, report::to_svg(report::figure_plot(figure))),
          staged.path(), folder_));
      tables.written.push_back((fs::path(folder_) / name).string());
    }
    return staged.commit();
  }

  std::string folder_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Verb> make_net() { return std::make_unique<Net>(); }
std::unique_ptr<Verb> make_net_bound() { return std::make_unique<NetBound>(); }
std::unique_ptr<Verb> make_net_tables() { return std::make_unique<NetTables>(); }

}  // namespace entrain::cli
