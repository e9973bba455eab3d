// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "base/executor.hpp"
#include "base/file_mark.hpp"
#include "base/try.hpp"
#include "formats/json/packing.hpp"
#include "formats/json/text_file.hpp"
#include "formats/kineto/arrows.hpp"
#include "formats/kineto/merge_rank.hpp"
#include "output/mark.hpp"

namespace entrain::kineto {

namespace {

constexpr std::int64_t k_second = 1'000'000'000;  // ns

/// The turn of a thread, of those that write in order of their numbers. Always passes it on.
class Turn {
 public:
  /// `next`: the number whose turn it is.
  Turn(std::atomic<std::size_t>& next, std::size_t number) : next_(next), number_(number) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    wait();
    next_ = number_ + 1;
    next_.notify_all();
  }
  void wait() const {
    for (std::size_t next = next_; next < number_; next = next_) next_.wait(next);
  }

 private:
  std::atomic<std::size_t>& next_;
  std::size_t number_;
};

std::vector<MergeUnit> units_of(const std::vector<RankFile>& files) {
  std::vector<MergeUnit> units;
  for (const RankFile& file : files) {
    if (units.empty() || units.back().files.back()->rank != file.rank) {
      MergeUnit& unit = units.emplace_back();
      unit.number = static_cast<std::uint32_t>(units.size() - 1);
      unit.name = file.parts == 1
                      ? fmt::format("rank {}", file.rank)
                      : fmt::format("ranks {} to {}", file.rank, file.rank + file.parts - 1);
    }
    units.back().files.push_back(&file);
  }
  return units;
}

std::set<std::uint64_t> keys_between(const std::vector<RankFile>& ranks) {
  std::set<std::uint64_t> keys;
  for (const RankFile& rank : ranks) {
    for (const Arrow& arrow : rank.arrows) keys.insert(arrow.key);
  }
  return keys;
}

void find_range(MergeShare& share, bool is_json) {
  share.first = std::numeric_limits<std::int64_t>::max();
  for (const formats::MergedClock& clock : share.plan.clocks) {
    share.first = std::min(share.first, clock.map(clock.first));
    share.last = std::max(share.last, clock.map(clock.last));
  }
  share.first = std::clamp<std::int64_t>(share.first, 0, std::max<std::int64_t>(share.last, 0));
  if (is_json) share.base = share.first / k_second * k_second;
}

json::Packing packing_of_name(const std::string& name) {
  return json::has_ending(name, ".gz")    ? json::Packing::gzip
         : json::has_ending(name, ".zst") ? json::Packing::zstd
                                          : json::Packing::none;
}

}  // namespace

Result<MergeReport> merge_files(const std::vector<RankFile>& files,
                                const std::vector<RankFile>& ranks,
                                const formats::MergePlan& plan) {
  MergeShare share{
      .plan = plan, .between_files = keys_between(ranks), .added = AddedArrows(plan.arrows, ranks)};
  const std::string name = plan.file.filename().string();
  const json::Packing packing = packing_of_name(name);
  TRY_ASSIGN(json::TextWriter writer, json::TextWriter::create(plan.file, packing));
  const TextSink sink = [&](std::string_view text) { return writer.write(text); };
  const bool is_json = json::is_named(plan.file, {".json"});
  find_range(share, is_json);
  TRY(sink(is_json ? chrome_head(share) : perfetto_head(share)));

  MergeReport report;
  report.format = is_json ? MergeFormat::chrome : MergeFormat::perfetto;
  report.ranks = ranks.size();
  std::map<std::string, std::uint64_t> unusual;
  std::string facts;
  std::atomic<std::size_t> next = 0;
  std::vector<MergeUnit> units = units_of(files);
  TRY(parallel_for(plan.threads, units.size(), [&](std::size_t u) -> Result<void> {
    const Turn turn(next, u);
    const std::unique_ptr<RankMerger> rank = is_json ? chrome_merger(share, std::move(units[u]))
                                                     : perfetto_merger(share, std::move(units[u]));
    TRY(rank->read());
    turn.wait();
    TRY(rank->write(sink));
    report.events += rank->events;
    report.processes += rank->processes;
    report.tracks += rank->tracks;
    report.overlapping += rank->overlapping;
    for (const auto& [why, count] : rank->unusual) unusual[why] += count;
    facts += (facts.empty() ? "\n" : ",\n") + rank->facts;
    return {};
  }));
  if (is_json) TRY(sink(fmt::format("\n],\n\"ranks\":[{}]}}\n", facts)));
  TRY(writer.close());
  if (packing == json::Packing::none) TRY(complete_mark(plan.file));
  report.added_arrows = share.added.count();
  if (share.added.left_out() > 0) unusual["arrows_left_out"] = share.added.left_out();
  report.unusual.assign(unusual.begin(), unusual.end());
  std::error_code error;
  report.bytes = std::filesystem::file_size(plan.file, error);
  return report;
}

}  // namespace entrain::kineto
