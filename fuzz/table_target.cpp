// SPDX-License-Identifier: BSD-3-Clause
// The tables of `entrain align`: edges and clocks, as CSV and as JSON lines.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <entrain/entrain.hpp>

#include "base/temp_folder_testing.hpp"
#include "formats/tables/read_clocks.hpp"
#include "formats/tables/read_edges.hpp"
#include "fuzz/scratch.hpp"

namespace entrain::fuzz {

namespace fs = std::filesystem;

namespace {

/// Every refusal is one line that names the table, or it is about the edges as a whole.
void expect_good(const Error& error, const fs::path& file, bool read) {
  if (error.message.empty() || error.message.find('\n') != std::string::npos) {
    finding("an error that is not one line: " + error.message);
  }
  if (read && error.message.find(file.string()) == std::string::npos) {
    finding("an error that does not name the table: " + error.message);
  }
}

/// Stamps so far apart that clocks are no clocks any more: a limit that README.md names.
bool is_wild(const Edges& edges) {
  constexpr std::uint64_t k_far = std::uint64_t{1} << 50;
  const auto far = [](std::uint64_t time) { return time >= k_far; };
  return std::any_of(edges.cause_time.begin(), edges.cause_time.end(), far) ||
         std::any_of(edges.effect_time.begin(), edges.effect_time.end(), far) ||
         std::any_of(edges.members.begin(), edges.members.end(),
                     [&](const InstanceMember& member) { return far(member.time); });
}

void read(const fs::path& file, const tables::Layout& layout) {
  Clocks clocks;
  const auto table = tables::read_edges(file, clocks, 2, nullptr, layout);
  if (!table) return expect_good(table.error(), file, true);
  Clocks alone;
  const auto again = tables::read_edges(file, alone, 1, nullptr, layout);
  if (!again || again->list.cause_time != table->list.cause_time ||
      again->list.effect_clock != table->list.effect_clock ||
      alone.clocks.size() != clocks.clocks.size()) {
    finding("a table depends on the number of threads");
  }
  if (is_wild(table->list.view())) return;
  AlignOptions options;
  options.check.threads = 1;
  const auto aligned = align(clocks, table->list.view(), options);
  if (!aligned) return expect_good(aligned.error(), file, false);
  if (aligned->maps.size() != clocks.clocks.size()) finding("a clock has no map");
  if (aligned->report.after.violations > aligned->report.before.checked_edges) {
    finding("more edges are violated than there are");
  }
}

}  // namespace

void edge_table(Input input, Compare) {
  static const TempFolder folder;
  if (input.empty()) return;
  const fs::path file = folder / "the-table";
  Scratch::write(file, input.subspan(1));
  static const tables::Layout by_number =
      *tables::layout_of("us", "cause_clock=1,cause_time=2,effect_clock=3,effect_time=4");
  if (input[0] % 4 == 2) return read(file, by_number);
  if (input[0] % 2 == 0) return read(file, {});
  const std::vector<tables::Source> files{file};
  const auto clocks = tables::read_clocks(files, 0);
  if (!clocks) return expect_good(clocks.error(), file, true);
  const std::vector<std::uint32_t> clock{0, static_cast<std::uint32_t>(clocks->clocks.size() - 1)};
  if (clocks->clocks.empty()) return;
  const std::vector<std::uint64_t> time{1000, 900};
  const auto aligned = align(
      *clocks,
      {.cause_clock = clock, .cause_time = time, .effect_clock = clock, .effect_time = time}, {});
  if (!aligned) expect_good(aligned.error(), file, false);
}

}  // namespace entrain::fuzz
