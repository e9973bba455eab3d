// SPDX-License-Identifier: BSD-3-Clause
#include "net/cli/verbs.hpp"

#include "base/try.hpp"
#include "cli/common.hpp"
#include "cli/values.hpp"
#include "net/cli/options.hpp"
#include "net/report/reports.hpp"

namespace entrain::net {

using namespace cli;

namespace {

class BoundVerb : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "net bound",
        "[OPTIONS]",
        "compute skew bound, interval and overhead of a full tree",
        {"Computes the gaps of a blocked packet, the skew bound of a synchronising schedule "
         "in a full tree of switches, how often the schedule has to run, and the share of "
         "the time that it takes: equations (1) to (12) of H. J. Song, Synchronization of "
         "Network Interfaces in System Area Networks (2005). Both readings of equation (3) "
         "are shown: the published numbers come from bl - ks, the printed equation has bl - "
         "kg.",
         "Use net schedule for a topology of your own."},
        {{"entrain net bound", "One switch of eight ports."},
         {"entrain net bound --levels 4 --cp 640Mbps", "Four levels, slower links."},
         {"entrain net bound --preset ib-ndr --drift 50ppm", "A present-day fabric."}},
        exit_codes({{"0", "fine"}}),
        {"--levels", "--ports", "--drift", "--preset", "--json"}};
    return k_help;
  }

  void declare(OptionSet& set) override {
    parameters_.declare(set);
    const auto whole = [](std::int64_t least, std::int64_t most) {
      return [=](std::string_view text) { return parse_whole(text, least, most); };
    };
    set.group("OPTIONS OF THE SCHEDULE");
    set.value("--levels", levels_, whole(2, 32), "M",
              "Levels of nodes, including that of the interfaces, 2 to 32; 2 is one switch. Use "
              "it when your switches form a tree; every level adds to the skew bound. Default: 2.");
    set.value("--ports", ports_, whole(2, 1024), "K",
              "Ports of a switch, 2 to 1024. Use it when your switches are larger or smaller; "
              "more ports take more slots. Default: 8.");
    set.value(
        "--drift", drift_ppb_,
        [](std::string_view text) -> Result<std::int64_t> { return parse_drift_ppb(text); },
        "DRIFT",
        "Show only this drift, as in 300ppm. Use it when you know how much your clocks "
        "differ. Default: 100 to 500ppm.");
    common_.declare(set, "");
  }

  int run() override {
    return run_and_report(common_, [&](Progress*) -> Result<BoundReport> {
      constexpr std::int64_t k_ppm = 1000;
      TRY_ASSIGN(const Parameters parameters, parameters_.get());
      std::vector<std::int64_t> drifts_ppb{drift_ppb_};
      if (drift_ppb_ < 0)
        drifts_ppb = {100 * k_ppm, 200 * k_ppm, 300 * k_ppm, 400 * k_ppm, 500 * k_ppm};
      return evaluate_bound(parameters, ports_, levels_, drifts_ppb);
    });
  }

 private:
  ParameterOptions parameters_;
  std::int64_t levels_ = 2, ports_ = 8;
  std::int64_t drift_ppb_ = -1;  ///< all of the paper's
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Verb> make_bound() { return std::make_unique<BoundVerb>(); }

}  // namespace entrain::net
