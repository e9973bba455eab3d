// SPDX-License-Identifier: BSD-3-Clause
// Texts that are read line by line or packed: the table of --apply, gzip files, and the directives
// of Intel Trace Collector.
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <entrain/align.hpp>

#include "base/temp_folder_testing.hpp"
#include "formats/json/document.hpp"
#include "formats/json/text_file.hpp"
#include "formats/tables/write_tables.hpp"
#include "fuzz/scratch.hpp"
#include "record/base/settings.hpp"
#include "record/base/vt_settings.hpp"

namespace entrain::fuzz {

namespace fs = std::filesystem;

namespace {

/// Every refusal is one line that names the file.
void expect_good(const Error& error, const fs::path& file) {
  if (error.message.empty() || error.message.find('\n') != std::string::npos) {
    finding("an error that is not one line: " + error.message);
  }
  if (error.message.find(file.string()) == std::string::npos) {
    finding("an error that does not name the file: " + error.message);
  }
}

Clocks three_clocks() {
  Clocks clocks;
  for (const char* name : {"a", "0", "x, \"y\""}) clocks.clocks.push_back({.name = name});
  return clocks;
}

/// The table with other times; "" if it is refused.
std::string mapped(const fs::path& file, const ClockMap& map) {
  static const Clocks clocks = three_clocks();
  AlignFiles files;
  files.apply = file;
  files.time_column = "t";
  files.clock_column = "c";
  const std::vector<ClockMap> maps(clocks.clocks.size(), map);
  std::string text;
  static const std::vector<tables::Wrap> wraps(clocks.clocks.size());
  const auto written = tables::map_table(files, clocks, maps, wraps, [&](std::string_view piece) {
    text += piece;
    return Result<void>();
  });
  if (written) return text;
  expect_good(written.error(), file);
  return {};
}

/// The text and how it ends, read with pieces of this size.
struct Unpacked {
  std::string text;
  bool good = false, cut = false;
  bool operator==(const Unpacked&) const = default;
};

Unpacked unpack(const fs::path& file, std::size_t piece) {
  Unpacked result;
  auto reader = json::TextReader::open(file);
  if (!reader) return expect_good(reader.error(), file), result;
  for (std::size_t size = piece; size == piece;) {
    const std::size_t before = result.text.size();
    result.text.resize(before + piece);
    const auto read = reader->read({result.text.data() + before, piece});
    if (!read) return expect_good(read.error(), file), Unpacked();
    size = *read;
    result.text.resize(before + size);
  }
  result.good = true;
  result.cut = reader->cut();
  return result;
}

/// Variables as the recorder sends them: each ends with a null.
std::string with_nulls(Input input) {
  std::string text(input.begin(), input.end());
  std::replace(text.begin(), text.end(), '\n', '\0');
  if (!text.empty() && text.back() != '\0') text += '\0';
  return text;
}

}  // namespace

void mapped_table(Input input, Compare) {
  static const TempFolder folder;
  static const ClockMap same, later = ClockMap::from_knots({{0, 1000}, {1000, 1000}}).value();
  const fs::path file = folder / "the-table";
  Scratch::write(file, input);
  const std::string once = mapped(file, same);
  if (once.empty()) return;
  const fs::path copy = folder / "the-copy";
  const auto again = [&](const std::string& text, const ClockMap& map) {
    Scratch::write(copy, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    return mapped(copy, map);
  };
  if (again(once, same) != once) finding("a table whose times stay is another one");
  const std::string moved = again(once, later);
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  if (!moved.empty() && lines(moved) != lines(once)) finding("a table has other lines");
}

void packed_text(Input input, Compare) {
  static const TempFolder folder;
  const fs::path file = folder / "the-text.json";
  Scratch::write(file, input);
  constexpr std::size_t k_pieces[] = {1 << 16, 4093};
  const Unpacked text = unpack(file, k_pieces[0]);
  if (unpack(file, k_pieces[1]) != text) finding("a text depends on how it is read");
  const auto document = json::load(file);
  if (!document) return expect_good(document.error(), file);
  if (!text.good || document->text != text.text || document->cut != text.cut) {
    finding("a text is another one when it is read at once");
  }
  const auto begin = json::beginning(file);
  if (!begin) return expect_good(begin.error(), file);
  if (!text.cut && *begin != text.text.substr(0, json::k_beginning)) {
    finding("a text does not begin with its beginning");
  }
  const fs::path copy = folder / "the-copy.json";
  fs::remove(copy);
  if (!json::save(copy, text.text, document->packing)) finding("a text cannot be written");
  if (json::load(copy).value().text != text.text) finding("a text that was written is another one");
}

void vt_config(Input input, Compare) {
  static const TempFolder folder;
  if (input.empty()) return;
  std::string variables;
  if (input[0] % 2 == 0) {
    const fs::path file = folder / "the-config";
    Scratch::write(file, input.subspan(1));
    variables = "VT_CONFIG=" + file.string() + '\0';
  } else {
    variables = with_nulls(input.subspan(1));
    // Other files are not for a fuzzer to read.
    if (variables.find("VT_CONFIG") != std::string::npos) return;
  }
  std::string problem;
  const std::string all = record::with_vt_settings(variables, problem);
  if (!all.starts_with(variables)) finding("a variable was lost");
  for (std::size_t at = variables.size(); at < all.size();) {
    const std::string_view added = all.c_str() + at;
    constexpr std::string_view k_begins[] = {"ENTRAIN_SYNC", "@ENTRAIN_SYNC"};
    if (!added.starts_with(k_begins[0]) && !added.starts_with(k_begins[1])) {
      finding("a variable came from a value: " + std::string(added));
    }
    at += added.size() + 1;
  }
  static_cast<void>(record::read_settings(all, problem));
}

}  // namespace entrain::fuzz
