// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/ranks.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/try.hpp"
#include "formats/recording.hpp"

namespace entrain::kineto {

namespace fs = std::filesystem;

namespace {

/// The first number in a file's name, as in worker3_step_12.json and rank-3.json.gz.
std::optional<std::uint32_t> rank_of_name(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::size_t at = name.find_first_of("0123456789");
  if (at == std::string::npos) return std::nullopt;
  std::uint32_t rank = k_no_rank;
  std::from_chars(name.data() + at, name.data() + name.size(), rank);
  return rank != k_no_rank ? std::optional(rank) : std::nullopt;
}

/// Names, then paths: copies in one folder, packed or not, have the same order.
auto order_of(const RankFile& file) {
  const fs::path name = file.path.filename();
  return std::tuple(std::string(json::without_packing(name.native())), name, file.path);
}

/// First and last time of a file by any of its clocks.
std::pair<std::uint64_t, std::uint64_t> window_of(const RankFile& file) {
  std::pair<std::uint64_t, std::uint64_t> window{~std::uint64_t{0}, 0};
  for (const FileClock& clock : file.clocks) {
    if (clock.events == 0) continue;
    window = {std::min(window.first, clock.first), std::max(window.second, clock.last)};
  }
  return window;
}

/// True if two files, in order of their windows, cannot be windows of one clock.
bool clash(const RankFile& a, const RankFile& b) {
  return window_of(b).first <= window_of(a).second || a.events == 0 || b.events == 0;
}

/// True if files that get equal numbers from their names may be windows of one rank.
bool are_ranks_in_names(std::vector<RankFile*> files) {
  std::ranges::stable_sort(files, {}, [](const RankFile* file) {
    return std::pair(rank_of_name(file->path), window_of(*file).first);
  });
  return std::ranges::adjacent_find(files, [](const RankFile* a, const RankFile* b) {
           return rank_of_name(a->path) == rank_of_name(b->path) && clash(*a, *b);
         }) == files.end();
}

/// Files with a rank inside keep it. The others get the numbers in their names, or the free ranks.
void give_ranks(std::vector<RankFile>& files, std::vector<std::string>& notes) {
  std::set<std::uint32_t> known;
  std::vector<RankFile*> unknown;
  std::vector<fs::path> names;  // of these
  for (RankFile& file : files) {
    if (file.facts.rank) {
      known.insert(file.rank = *file.facts.rank);
    } else {
      unknown.push_back(&file);
      names.push_back(file.path);
    }
  }
  if (unknown.empty()) return;
  const bool are_free = std::ranges::all_of(names, [&](const fs::path& path) {
    const auto number = rank_of_name(path);
    return number && !known.contains(*number);
  });
  const bool by_name = are_free && are_ranks_in_names(unknown);
  std::uint32_t next = 0;
  for (RankFile* file : unknown) {
    while (known.contains(next)) ++next;
    file->rank = by_name ? *rank_of_name(file->path) : next++;
  }
  if (known.empty()) {
    notes.push_back(
        fmt::format("not every file says its rank (distributedInfo): ranks are those of the {}",
                    by_name ? "numbers in the names of files" : "order of the names"));
  } else {
    notes.push_back(
        fmt::format("{} of {} files {} no rank (distributedInfo): theirs are the {} ({})",
                    unknown.size(), files.size(), unknown.size() == 1 ? "tells" : "tell",
                    by_name ? "numbers in the names" : "ranks that are left, in the order of names",
                    formats::names_of(names)));
  }
}

/// Files of several ranks: ranks are counted on from file to file.
void number_parts(std::vector<RankFile>& files, std::vector<std::string>& notes) {
  std::uint32_t next = 0;
  for (RankFile& file : files) {
    file.rank = next;
    next += file.parts;
  }
  notes.push_back(fmt::format(
      "files hold several ranks: all {} are numbered in the order of the names of files, "
      "and of the devices in each",
      next));
}

/// Fails for files of one rank that are no windows one after the other. `files` are sorted.
Result<void> check_windows(const std::vector<RankFile>& files) {
  const auto has_none = [](const RankFile& file) { return file.events == 0; };
  const auto twice = std::ranges::adjacent_find(
      files, [](const RankFile& a, const RankFile& b) { return a.rank == b.rank && clash(a, b); });
  if (twice == files.end()) return {};
  const RankFile &a = *twice, &b = *(twice + 1);
  const std::string why =
      has_none(a) || has_none(b)
          ? fmt::format("{} holds no events", (has_none(a) ? a : b).path.filename().string())
          : "their times overlap: they are no windows of one clock";
  return input_error("{} and {} are both of rank {}, and {}; give one of them", a.path.string(),
                     b.path.string(), a.rank, why);
}

/// Adds the clocks of a part of a window to a rank, with their edges.
void append_clocks(RankFile& rank, RankFile& window, std::uint32_t part) {
  for (std::size_t c = 0; c < window.clocks.size(); ++c) {
    FileClock& clock = window.clocks[c];
    if (clock.part != part) continue;
    const auto same = [&](const FileClock& known) { return known.process == clock.process; };
    auto at = c < window.parts ? rank.clocks.begin()
                               : std::find_if(rank.clocks.begin() + 1, rank.clocks.end(), same);
    window.numbers[c] = static_cast<std::uint32_t>(at - rank.clocks.begin());
    rank.events += clock.events;
    if (at == rank.clocks.end()) {
      rank.clocks.push_back(clock);
    } else if (clock.events > 0) {
      at->first = at->events > 0 ? std::min(at->first, clock.first) : clock.first;
      at->last = std::max(at->last, clock.last);
      at->events += clock.events;
      at->edges.insert(at->edges.end(), clock.edges.begin(), clock.edges.end());
    }
    clock.edges = {};
  }
}

/// Adds a part of a window to a rank; its calls and edges move there.
void append(RankFile& rank, RankFile& window, std::uint32_t part) {
  append_clocks(rank, window, part);
  const auto is_of_part = [&](std::uint32_t clock) { return window.clocks[clock].part == part; };
  rank.calls.reserve(rank.calls.size() + window.calls.size());
  std::ranges::sort(window.calls, {}, &Call::place);
  for (Call& call : window.calls) {
    if (!is_of_part(call.clock)) continue;
    Call& own = rank.calls.emplace_back(std::move(call));
    own.clock = window.numbers[own.clock];
    own.place = static_cast<std::uint32_t>(rank.calls.size() - 1);
  }
  for (Arrow arrow : window.arrows) {
    if (!is_of_part(arrow.clock)) continue;
    arrow.clock = window.numbers[arrow.clock];
    rank.arrows.push_back(arrow);
  }
  rank.whole_us = rank.whole_us && window.whole_us;
  rank.facts.unit = std::max(rank.facts.unit, window.facts.unit);
}

/// Numbers the clocks of a run: all hosts, then all devices.
void number_clocks(std::vector<RankFile>& ranks) {
  auto next = static_cast<std::uint32_t>(ranks.size());
  for (std::uint32_t r = 0; r < ranks.size(); ++r) {
    ranks[r].numbers.assign(1, r);
    while (ranks[r].numbers.size() < ranks[r].clocks.size()) ranks[r].numbers.push_back(next++);
  }
}

/// Fails for files of runs of different sizes. A file without a size fits to any.
Result<void> check_world(const std::vector<RankFile>& files) {
  const RankFile* first = nullptr;
  for (const RankFile& file : files) {
    if (!file.facts.world_size) continue;
    if (first == nullptr) first = &file;
    if (first->facts.world_size == file.facts.world_size) continue;
    return input_error(
        "{} is of a run of {} ranks, {} of one of {}: they do not belong together; give the files "
        "of one run",
        first->path.string(), *first->facts.world_size, file.path.string(), *file.facts.world_size);
  }
  return {};
}

}  // namespace

void remove_empty(std::vector<RankFile>& files, std::vector<std::string>& notes) {
  const auto counts = [](const RankFile& file) {
    return file.events > 0 || file.facts.rank || file.facts.truncated;
  };
  const auto empty = std::stable_partition(files.begin(), files.end(), counts);
  if (empty == files.begin() || empty == files.end()) return;
  std::vector<fs::path> names;
  for (auto file = empty; file != files.end(); ++file) names.push_back(file->path);
  std::sort(names.begin(), names.end());
  notes.push_back(formats::note_of_ignored(names, ""));
  files.erase(empty, files.end());
}

Result<void> order_ranks(std::vector<RankFile>& files, std::vector<std::string>& notes) {
  std::ranges::sort(files, {}, order_of);
  if (std::ranges::any_of(files, [](const RankFile& file) { return file.parts > 1; })) {
    number_parts(files, notes);
  } else {
    give_ranks(files, notes);
  }
  std::ranges::stable_sort(
      files, {}, [](const RankFile& file) { return std::pair(file.rank, window_of(file)); });
  TRY(check_windows(files));
  TRY(check_world(files));
  const MissingRanks missing = missing_ranks(files);
  if (missing.count > 0) {
    notes.push_back(fmt::format(
        "of {} ranks of the run {} missing ({}): nothing is known of their clocks", missing.world,
        missing.count == 1 ? "1 is" : fmt::format("{} are", missing.count), missing.names));
  }
  return {};
}

std::vector<RankFile> ranks_of(std::vector<RankFile>& files) {
  std::vector<RankFile> ranks;
  for (RankFile& file : files) {
    file.calls_read = file.calls.size();
    file.numbers.assign(file.clocks.size(), 0);
    for (std::uint32_t part = 0; part < file.parts; ++part) {
      if (ranks.empty() || ranks.back().rank != file.rank + part) {
        RankFile& rank = ranks.emplace_back();
        rank.path = file.path;
        rank.rank = file.rank + part;
      }
      append(ranks.back(), file, part);
    }
    file.calls = {};
    file.arrows = {};
  }
  number_clocks(ranks);
  std::size_t r = 0;
  for (RankFile& file : files) {
    while (ranks[r].rank != file.rank) ++r;
    for (std::size_t c = 0; c < file.numbers.size(); ++c) {
      file.numbers[c] = ranks[r + file.clocks[c].part].numbers[file.numbers[c]];
    }
  }
  for (RankFile& rank : ranks) sort_calls(rank);
  return ranks;
}

std::vector<std::string> impossible_ranks(const std::vector<RankFile>& files) {
  std::vector<std::string> warnings;
  for (const RankFile& file : files) {
    const std::uint32_t world = file.facts.world_size.value_or(k_no_rank);
    if (world == 0) {
      warnings.push_back(
          fmt::format("{} says that its run has no ranks (world_size 0): is it of "
                      "this run?",
                      file.path.string()));
    } else if (file.facts.rank.value_or(0) >= world) {
      warnings.push_back(
          fmt::format("{} says that it is rank {} of {} ranks, 0 to {}: is it of this run?",
                      file.path.string(), *file.facts.rank, world, world - 1));
    }
  }
  return warnings;
}

MissingRanks missing_ranks(const std::vector<RankFile>& files) {
  constexpr std::uint32_t k_most_named = 8;
  MissingRanks missing;
  std::set<std::uint32_t> present;
  for (const RankFile& file : files) {
    missing.world = std::max(missing.world, file.facts.world_size.value_or(0));
    for (std::uint32_t part = 0; part < file.parts; ++part) present.insert(file.rank + part);
  }
  present.erase(present.lower_bound(missing.world), present.end());
  missing.count = missing.world - static_cast<std::uint32_t>(present.size());
  std::vector<std::uint32_t> named;
  for (std::uint32_t rank = 0; named.size() < std::min(missing.count, k_most_named); ++rank) {
    if (!present.contains(rank)) named.push_back(rank);
  }
  const bool are_more = missing.count > k_most_named;
  missing.names = fmt::format("{}{}", fmt::join(named, ", "), are_more ? ", ..." : "");
  return missing;
}

}  // namespace entrain::kineto
