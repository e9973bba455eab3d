// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/ranks.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "base/try.hpp"
#include "formats/ignored_files.hpp"

namespace entrain::kineto {

namespace fs = std::filesystem;

namespace {

/// The first number in a file's name, as in worker3_step_12.json and rank-3.json.gz.
std::optional<std::uint32_t> rank_of_name(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::size_t at = name.find_first_of("0123456789");
  if (at == std::string::npos) return std::nullopt;
  std::uint64_t rank = 0;
  for (std::size_t i = at; i < name.size() && std::isdigit(static_cast<unsigned char>(name[i]));
       ++i) {
    rank = rank * 10 + static_cast<std::uint64_t>(name[i] - '0');
    if (rank > 0xFFFFFFFE) return std::nullopt;
  }
  return static_cast<std::uint32_t>(rank);
}

/// Compares names, and paths only if names are equal: copies of all files in one folder, packed or
/// not, have the same order.
bool is_before(const RankFile& a, const RankFile& b) {
  const auto plain = [](const RankFile& file) {
    return file.path.extension() == ".gz" ? file.path.stem() : file.path.filename();
  };
  return std::tuple(plain(a), a.path.filename(), a.path) <
         std::tuple(plain(b), b.path.filename(), b.path);
}

/// Files with a rank inside keep it. The others get the numbers in their names, or the free ranks.
void give_ranks(std::vector<RankFile>& files, std::vector<std::string>& notes) {
  std::set<std::uint32_t> known;
  std::vector<RankFile*> unknown;
  std::vector<fs::path> names;
  for (RankFile& file : files) {
    file.rank = file.facts.rank.value_or(k_no_rank);
    if (file.facts.rank) {
      known.insert(file.rank);
    } else {
      unknown.push_back(&file);
      names.push_back(file.path);
    }
  }
  if (unknown.empty()) return;
  const bool by_name = std::all_of(names.begin(), names.end(), [&](const fs::path& path) {
    const auto number = rank_of_name(path);
    return number && !known.contains(*number);
  });
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

/// Fails for two files of one rank. `files` are sorted by rank.
Result<void> check_single(const std::vector<RankFile>& files) {
  const auto twice =
      std::adjacent_find(files.begin(), files.end(),
                         [](const RankFile& a, const RankFile& b) { return a.rank == b.rank; });
  if (twice == files.end()) return {};
  return fail(ErrorKind::input,
              fmt::format("{} and {} are both of rank {}; give one file per rank",
                          twice->path.string(), (twice + 1)->path.string(), twice->rank));
}

/// Fails for files of runs of different sizes. A file without a size fits to any.
Result<void> check_world(const std::vector<RankFile>& files) {
  const RankFile* first = nullptr;
  for (const RankFile& file : files) {
    if (!file.facts.world_size) continue;
    if (first == nullptr) first = &file;
    if (first->facts.world_size == file.facts.world_size) continue;
    return fail(ErrorKind::input,
                fmt::format("{} is of a run of {} ranks, {} of one of {}: they do not belong "
                            "together; give the files of one run",
                            first->path.string(), *first->facts.world_size, file.path.string(),
                            *file.facts.world_size));
  }
  return {};
}

}  // namespace

void remove_empty(std::vector<RankFile>& files, std::vector<std::string>& notes) {
  const auto counts = [](const RankFile& file) { return file.events > 0 || file.facts.rank; };
  const auto empty = std::stable_partition(files.begin(), files.end(), counts);
  if (empty == files.begin() || empty == files.end()) return;
  std::vector<fs::path> names;
  for (auto file = empty; file != files.end(); ++file) names.push_back(file->path);
  std::sort(names.begin(), names.end());
  notes.push_back(formats::note_of_ignored(names, ""));
  files.erase(empty, files.end());
}

Result<void> order_ranks(std::vector<RankFile>& files, std::vector<std::string>& notes) {
  std::sort(files.begin(), files.end(), is_before);
  give_ranks(files, notes);
  std::stable_sort(files.begin(), files.end(),
                   [](const RankFile& a, const RankFile& b) { return a.rank < b.rank; });
  TRY(check_single(files));
  TRY(check_world(files));
  const MissingRanks missing = missing_ranks(files);
  if (missing.count > 0) {
    notes.push_back(fmt::format(
        "of {} ranks of the run {} missing ({}): nothing is known of their clocks", missing.world,
        missing.count == 1 ? "1 is" : fmt::format("{} are", missing.count), missing.names));
  }
  return {};
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
    present.insert(file.rank);
  }
  present.erase(present.lower_bound(missing.world), present.end());
  missing.count = missing.world - static_cast<std::uint32_t>(present.size());
  std::uint32_t named = 0;
  for (std::uint32_t rank = 0; named < std::min(missing.count, k_most_named); ++rank) {
    if (present.contains(rank)) continue;
    missing.names += fmt::format("{}{}", named++ > 0 ? ", " : "", rank);
  }
  if (missing.count > k_most_named) missing.names += ", ...";
  return missing;
}

}  // namespace entrain::kineto
