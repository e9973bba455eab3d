// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "cli/common.hpp"
#include "net/cli/verbs.hpp"

namespace entrain::net {

using namespace cli;

namespace {

class NetVerb : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "net",
        "bound|schedule|simulate|tables [OPTIONS] ...",
        "plan and simulate the synchronisation of network interfaces",
        {"A lossless network with link-level flow control can keep the clocks of its interfaces in "
         "step without any message about time: a schedule of packets makes every fast interface "
         "wait for the slowest one. docs/manual/net.md explains it.",
         "net bound computes how far the clocks can be apart and how often the schedule has "
         "to run. net schedule plans for a topology and verifies the plan. net simulate "
         "runs a plan flit by flit. net tables shows the values of the paper beside those "
         "computed here. Each verb has its own --help."},
        {{"entrain net bound --levels 4", "A tree of four levels with the paper's defaults."},
         {"entrain net schedule tree:8x4 -o plan.csv", "A plan for 392 interfaces."},
         {"entrain net simulate single:8 --drift 300ppm", "One switch, flit by flit."}},
        exit_codes({{"0", "fine"}, {"1", "a plan fails, synchrony is lost, a value differs"}})};
    return k_help;
  }

  void declare(OptionSet& set) override {
    set.argument("VERB", verb_, "bound, schedule, simulate or tables.");
    set.keep_rest();
    common_.declare(set, "");
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

}  // namespace

std::unique_ptr<Verb> make_net() { return std::make_unique<NetVerb>(); }

}  // namespace entrain::net
