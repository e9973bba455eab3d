// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>

#include "base/file.hpp"
#include "base/try.hpp"
#include "cli/common.hpp"
#include "cli/values.hpp"
#include "net/cli/verbs.hpp"
#include "net/paper/tables_report.hpp"
#include "output/output.hpp"

namespace entrain::net {

using namespace cli;

namespace {

namespace fs = std::filesystem;

class TablesVerb : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override {
    static const HelpText k_help{
        "net tables",
        "[OPTIONS]",
        "show the paper's published values beside computed ones",
        {"Shows every value of tables 1 to 4 and of the text of H. J. Song, Synchronization "
         "of Network Interfaces in System Area Networks (2005), beside the value that its "
         "equations give, with a verdict, and the data of figures 4 to 6. 'computed' is the "
         "published reading of equation (3), 'as printed' the other one."},
        {{"entrain net tables", "All tables; -v shows the matching entries of tables 1 and 2 too."},
         {"entrain net tables --svg figures", "Draws the figures into a new folder."}},
        exit_codes({{"0", "all values match, but for known misprints"}, {"1", "a value differs"}})};
    return k_help;
  }

  void declare(OptionSet& set) override {
    set.group("OUTPUT OPTIONS");
    set.path("--svg", folder_, "DIR",
             "Draw the figures into this folder, which must not exist. Use it to compare them "
             "with those of the paper. Default: do not.");
    common_.declare(set, "the entries of tables 1 and 2 that match");
  }

  int run() override {
    return run_and_report(
        common_,
        [&](Progress*) -> Result<TablesReport> {
          if (!folder_.empty())
            TRY(OutputFolder::check(folder_, {.offers_force = false, .inputs = {}}));
          TablesReport tables{published_cells(), published_figures(), {}};
          if (!folder_.empty()) TRY(draw(tables));
          return tables;
        },
        [](const TablesReport& tables) {
          return tables.differing() == 0 ? k_exit_fine : k_exit_violations;
        });
  }

 private:
  Result<void> draw(TablesReport& tables) const {
    TRY_ASSIGN(OutputFolder staged,
               OutputFolder::create(folder_, {.offers_force = false, .inputs = {}}));
    for (const Figure& figure : tables.figures) {
      const std::string name = figure.name + ".svg";
      const std::string text = to_svg(figure_plot(figure));
      const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
      TRY(under_final_name(write_file(staged.path() / name, {bytes, text.size()}), staged.path(),
                           folder_));
      tables.written.push_back((fs::path(folder_) / name).string());
    }
    return staged.commit();
  }

  std::string folder_;
  CommonOptions common_;
};

}  // namespace

std::unique_ptr<Verb> make_tables() { return std::make_unique<TablesVerb>(); }

}  // namespace entrain::net
