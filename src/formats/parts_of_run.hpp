// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "base/uncopied.hpp"
#include "formats/parts/fields.hpp"
#include "formats/recording.hpp"

namespace entrain::formats {

/// What reading the files of a run leaves of them in memory, before their contents are joined. Each
/// file is read by itself, so that files may be read on several machines.
class Parts : public Uncopied {
 public:
  /// Adds the files of a summary; false if it is damaged.
  [[nodiscard]] virtual bool unpack(parts::FieldReader& fields) = 0;

  /// A file, for messages and counts.
  struct File {
    std::filesystem::path path;
    std::uint64_t bytes = 0;             ///< size, unpacked
    std::uint64_t hash = 0;              ///< hash of its text
    std::uint64_t events = 0;            ///< events with a time
    std::vector<std::string> guesses{};  ///< see CheckReport
  };
  [[nodiscard]] virtual std::vector<File> files() const = 0;

  /// Joins all: the run. Takes the files. Errors: those of reading that concern several files.
  [[nodiscard]] virtual Result<std::unique_ptr<Recording>> join(unsigned threads) = 0;
  /// The same of these files once they are written with the maps of `original`, their run; what
  /// that knows of them need not be here.
  [[nodiscard]] virtual Result<std::unique_ptr<Recording>> join_moved(
      const Recording& original, std::span<const ClockMap> maps, unsigned threads) = 0;
};

/// The files of a run whose clocks were fitted, as they lie here. `known`: all files of the run, by
/// names; `left_out`: files of the same folders that hold nothing. Errors: ErrorKind::input for
/// files that are none of the run, and for files of the run that hold nothing any more.
template <class File>
Result<std::vector<File>> chosen_parts(std::span<const File> known,
                                       std::span<const std::filesystem::path> files,
                                       std::span<const std::filesystem::path> left_out) {
  std::map<std::filesystem::path, const File*> by_name;
  for (const File& file : known) by_name.emplace(file.path.filename(), &file);
  for (const std::filesystem::path& path : left_out) {
    if (by_name.contains(path.filename())) return has_changed(path, true);
  }
  std::vector<File> chosen;
  for (const std::filesystem::path& path : files) {
    const auto at = by_name.find(path.filename());
    if (at == by_name.end()) return unknown_part(path);
    chosen.push_back(*at->second);
    chosen.back().path = path;
    chosen.back().was_summarised = true;
  }
  return chosen;
}

/// Maps of all clocks, with their names, as they stand in the text of the clocks of a run.
using NamedKnots = std::vector<std::pair<std::string, std::vector<ClockKnot>>>;
template <class Fields>
void visit_maps(Fields& fields, NamedKnots& maps) {
  parts::list(fields, maps, [](Fields& inner, auto& map) {
    inner(map.first);
    inner.size(map.second);
    parts::columns(inner, map.second, &ClockKnot::local, &ClockKnot::offset);
  });
}

}  // namespace entrain::formats
