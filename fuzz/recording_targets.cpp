// SPDX-License-Identifier: BSD-3-Clause
// Traces in other formats than OTF2: read, checked, corrected, and written with other times; and
// the files between the steps of a correction.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <entrain/entrain.hpp>
#include <entrain/parts.hpp>

#include "base/temp_folder_testing.hpp"
#include "formats/ctf/ctf.hpp"
#include "formats/kineto/kineto.hpp"
#include "formats/paraver/recording.hpp"
#include "formats/parts/part_file.hpp"
#include "formats/perfetto/packets.hpp"
#include "formats/registry/parts.hpp"
#include "formats/spans/protobuf.hpp"
#include "formats/spans/recording.hpp"
#include "formats/spans/source_text.hpp"
#include "fuzz/scratch.hpp"

namespace entrain::fuzz {

namespace fs = std::filesystem;

namespace {

using formats::Recording;
using Reader = Result<std::unique_ptr<Recording>> (*)(std::span<const fs::path>, unsigned,
                                                      std::uint64_t);

/// The kind of a recording and what its format does to times.
struct Format {
  Reader read;
  std::int64_t tolerance;    ///< a time in us becomes the nearest us, ns
  const char* ending;        ///< of the names of files
  bool sorts_lines = false;  ///< records of a copy are in order of their new times
  /// It is read in processes of its own, whose memory is limited: a sanitizer may need more.
  bool may_break_down = false;
};

constexpr std::uint64_t k_last = std::uint64_t{1} << 61;  ///< ns: maps do not leave 63 bits
/// Clocks further apart are no clocks any more: a limit that README.md names.
constexpr std::uint64_t k_widest = std::uint64_t{1} << 50;

void expect_good(const Error& error) {
  if (error.message.empty() || error.message.find('\n') != std::string::npos) {
    finding("an error that is not one line: " + error.message);
  }
}

std::string with_sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream rest(text);
  for (std::string line; std::getline(rest, line);) {
    if (!line.empty()) lines.push_back(line);  // a last line without its end may move
  }
  std::sort(lines.begin(), lines.end());
  std::string sorted;
  for (const std::string& line : lines) sorted += line + '\n';
  return sorted;
}

/// The text without what times are made of, also with an exponent.
std::string without_numbers(const fs::path& file, bool sorts_lines) {
  const std::vector<std::uint8_t> bytes = test::read_bytes(file);
  std::string text(bytes.begin(), bytes.end());
  if (entrain::spans::are_packed_messages(text)) {
    constexpr std::uint64_t k_most = std::uint64_t{1} << 30;
    text = entrain::spans::load(file, k_most).value().text;
  }
  if (entrain::spans::framing_of(text)) {
    entrain::spans::Spans spans;
    std::vector<entrain::spans::Stamp> stamps;
    if (!entrain::spans::read(text, file.string(), spans, &stamps)) finding("unreadable spans");
    for (const auto& stamp : stamps) text.replace(stamp.at, stamp.size, stamp.size, '\0');
    return text;
  }
  if (!perfetto::may_hold_packets(text)) {
    std::erase_if(text, [](char sign) {
      return std::string_view("0123456789.-+eE").find(sign) != std::string_view::npos;
    });
    return sorts_lines ? with_sorted_lines(text) : text;
  }
  // Times of packets are numbers of several widths: what is left is how many packets there are.
  std::uint64_t packets = 0;
  auto reader = perfetto::Packets::open(file);
  perfetto::Piece piece;
  while (reader && reader->next(piece).value_or(false)) ++packets;
  return std::to_string(packets);
}

/// Each clock with an offset and a rate of its own.
std::vector<ClockMap> other_clocks(std::size_t clocks) {
  std::vector<ClockMap> maps;
  for (std::size_t c = 0; c < clocks; ++c) {
    const auto offset = static_cast<std::int64_t>(c + 1) * 5'000'000;
    const std::int64_t later = offset + (std::int64_t{1} << 40);
    maps.push_back(ClockMap::from_knots({{0, offset}, {2 * k_last, later}}).value());
  }
  return maps;
}

/// Which edges count depends on the times, so that those of both need not be the same.
void expect_moved(const Recording& before, const Recording& after,
                  const std::vector<ClockMap>& maps, const Format& format) {
  const auto times = before.event_times(), written = after.event_times();
  for (const auto* const one : {&times, &written}) {
    if (*one) continue;
    const std::string& reason = one->error().message;
    if (format.may_break_down && reason.find("broke down") != std::string::npos) return;
    finding("times that were read cannot be read again: " + reason);
  }
  for (std::size_t c = 0; c < maps.size(); ++c) {
    const auto &own = times->of_clock[c], &moved = written->of_clock[c];
    if (own.size() != moved.size()) finding("times were lost");
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (std::abs(moved[i].time() - maps[c](static_cast<std::uint64_t>(own[i].time()))) >
          format.tolerance) {
        finding("a time was written that is not the one of the map: " +
                std::to_string(own[i].time()) + " became " + std::to_string(moved[i].time()) +
                ", not " + std::to_string(maps[c](static_cast<std::uint64_t>(own[i].time()))));
      }
    }
  }
}

void write_and_read_back(const Recording& recording, const fs::path& output, const Format& format) {
  const std::vector<ClockMap> maps = other_clocks(recording.clocks.clocks.size());
  fs::remove_all(output);
  fs::create_directory(output);
  if (const auto written = recording.write(output, maps); !written) {
    return expect_good(written.error());
  }
  for (const fs::path& file : recording.files) {
    if (without_numbers(file, format.sorts_lines) !=
        without_numbers(output / file.filename(), format.sorts_lines)) {
      finding("more than times differs");
    }
  }
  const auto back = recording.read_back(output, maps);
  if (!back) finding("what was written is not what was read: " + back.error().message);
  if ((*back)->calls != recording.calls) finding("calls were lost");
  expect_moved(recording, **back, maps, format);
}

/// `is_whole`: the format takes any correction.
void check_and_correct(const fs::path& input, const fs::path& output, bool is_whole = true) {
  CorrectOptions options;
  options.check.threads = 1;
  options.force = true;
  fs::remove_all(output);
  const auto checked = check(input, options.check);
  const auto report = correct(input, output, options);
  if (!checked) return expect_good(checked.error());
  if (!report) return expect_good(report.error());
  if (report->before.checked_edges != checked->checked_edges) {
    finding("check and correct see other edges");
  }
  // Edges that contradict each other stay violated, and the report says so. Of pairs that are set
  // aside as they contradict others, the times as written may show other ones.
  if (is_whole && report->after.violations > 0 && count_of(report->cycles, "dropped_edges") == 0 &&
      report->before.explanations.empty()) {
    finding("a corrected recording has violations");
  }
  const auto late = find_stragglers(input, options);
  if (!late) return expect_good(late.error());
  for (const CollectiveWait& one : late->collectives) {
    if (one.wait_ticks < one.longest_ticks || one.longest_ticks < 0 || one.alone_ticks < 0) {
      finding("others wait for a negative time, or less in sum than one of them");
    }
  }
}

/// The first and the last time of all clocks.
StampRange range_of(const Recording& recording) {
  StampRange range{~std::uint64_t{0}, 0};
  for (const Clock& clock : recording.clocks.clocks) {
    if (!clock.events) continue;
    range.first = std::min(range.first, clock.events->first);
    range.last = std::max(range.last, clock.events->last);
  }
  return range;
}

/// The pieces of an input between k_cut; no more than a target has files for.
std::vector<Input> pieces_of(Input input) {
  constexpr std::size_t k_cut_size = sizeof k_cut - 1;
  constexpr std::size_t k_most_files = 4;
  std::vector<Input> pieces;
  while (pieces.size() < k_most_files) {
    const auto cut = std::search(input.begin(), input.end(), k_cut, k_cut + k_cut_size);
    pieces.emplace_back(input.begin(), cut);
    if (cut == input.end()) break;
    input = input.subspan(static_cast<std::size_t>(cut - input.begin()) + k_cut_size);
  }
  return pieces;
}

bool may_be_corrected(const StampRange& range) {
  return range.last - std::min(range.first, range.last) < k_widest;
}

/// Input: one or more files, separated by k_cut.
void recording(Input input, const Format& format) {
  static const TempFolder folder;
  const fs::path in = folder / "in";
  fs::remove_all(in);
  fs::create_directory(in);
  std::vector<fs::path> files;
  for (const Input piece : pieces_of(input)) {
    files.push_back(in / (std::to_string(files.size()) + format.ending));
    Scratch::write(files.back(), piece);
  }
  const auto read = format.read(files, 1, 0);
  if (!read) return expect_good(read.error());
  const StampRange range = range_of(**read);
  if (range.last >= k_last) return;
  write_and_read_back(**read, folder / "out", format);
  if (may_be_corrected(range)) check_and_correct(in, folder / "out");
}

}  // namespace

void training_run(Input input, Compare) { recording(input, {kineto::read, 0, ".json"}); }

/// The copy of a trace whose clocks count in larger units is as exact as these.
void perfetto_run(Input input, Compare) {
  recording(input, {kineto::read, 1'000'000'000, ".json"});
}

/// Tables may count in seconds: begin and length of a span are rounded then.
void spans(Input input, Compare) {
  std::string_view rest(reinterpret_cast<const char*>(input.data()), input.size());
  bool any_table = false;
  for (std::size_t cut = 0; cut != rest.npos; rest.remove_prefix(std::min(cut, rest.size()))) {
    any_table = any_table || entrain::spans::is_span_table(rest);
    cut = rest.find(k_cut, 0, sizeof k_cut - 1);
    if (cut != rest.npos) cut += sizeof k_cut - 1;
  }
  const auto read = [](std::span<const fs::path> files, unsigned threads, std::uint64_t most) {
    return entrain::spans::read(files, threads, most);
  };
  recording(input, {read, any_table ? 2'000'000'000 : 1000, ".json"});
}

namespace {

/// Runs whose summaries and clocks are damaged, and what the steps make of them.
class Steps {
 public:
  Steps() {
    for (const SynthFormat format : {SynthFormat::chrome, SynthFormat::otlp}) {
      SynthOptions options;
      options.format = format;
      options.locations = 2;
      options.events = 80;
      DistortOptions wrong;
      wrong.offset_s = 0.01;
      const fs::path right = folder_ / "right" / name_of(format);
      fs::create_directories(right.parent_path());
      if (!synth(right, options) || !distort(right, run_of(format), wrong)) {
        finding("a run cannot be made");
      }
    }
  }
  [[nodiscard]] fs::path run_of(SynthFormat format) const { return folder_ / name_of(format); }
  [[nodiscard]] fs::path summary() const { return folder_ / "summary"; }
  [[nodiscard]] fs::path clocks() const { return folder_ / "clocks"; }
  [[nodiscard]] fs::path output() const { return folder_ / "out"; }
  [[nodiscard]] Result<FitReport> fitted() const {
    CorrectOptions options;
    options.check.threads = 1;
    options.force = true;
    fs::remove_all(output());
    return fit({summary()}, output(), {}, options);
  }

 private:
  TempFolder folder_;
};

const PartOptions k_part_options{.threads = 1, .force = true};

void fit_summary(const Steps& steps) {
  const auto opened = formats::open_summaries({steps.summary()}, 1);
  if (opened) {
    const StampRange range = range_of(**opened);
    if (range.last >= k_last || range.last - std::min(range.first, range.last) >= k_widest) return;
  }
  const auto report = steps.fitted();
  if (!report) return expect_good(report.error());
  if (!opened) finding("clocks were fitted from what is no summary");
}

}  // namespace

void part_files(Input input, Compare) {
  static const Steps steps;
  if (input.empty()) return;
  const bool is_clocks = (input[0] & 1) != 0, is_raw = (input[0] & 2) != 0;
  const SynthFormat format = (input[0] & 4) != 0 ? SynthFormat::otlp : SynthFormat::chrome;
  const auto kind = is_clocks ? parts::Kind::clocks : parts::Kind::summary;
  const fs::path file = is_clocks ? steps.clocks() : steps.summary();
  const std::string bytes(input.begin() + 1, input.end());
  const std::string text = is_raw ? bytes : parts::file_text(kind, bytes);
  Scratch::write(file, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  if (!is_clocks) return fit_summary(steps);
  fs::remove_all(steps.output());
  const auto report = apply(file, {steps.run_of(format)}, steps.output(), k_part_options);
  if (!report) expect_good(report.error());
}

std::map<std::string, std::string> part_file_seeds() {
  const Steps steps;
  std::map<std::string, std::string> seeds;
  for (const SynthFormat format : {SynthFormat::chrome, SynthFormat::otlp}) {
    const char which = format == SynthFormat::otlp ? '\4' : '\0';
    const auto add = [&](const char* name, parts::Kind kind, const fs::path& file, char begin) {
      const std::vector<std::uint8_t> whole = test::read_bytes(file);
      const std::string base = std::string(name) + "-" + name_of(format);
      seeds[base + "-raw"] = char(begin | which | 2) + std::string(whole.begin(), whole.end());
      seeds[base] = char(begin | which) + parts::content_of(kind, file).value();
    };
    if (!summarise({steps.run_of(format)}, steps.summary(), k_part_options) || !steps.fitted()) {
      finding("a run cannot be summarised, or its clocks cannot be fitted");
    }
    add("summary", parts::Kind::summary, steps.summary(), '\0');
    add("clocks", parts::Kind::clocks, steps.output(), '\1');
  }
  return seeds;
}

/// Only the first file is read: a trace is one.
void paraver_trace(Input input, Compare) {
  const auto read = [](std::span<const fs::path> files, unsigned, std::uint64_t max_unpacked) {
    return paraver::read(files.front(), max_unpacked);
  };
  recording(input, {read, 0, ".prv", true});
}

void ctf_traces(Input input, Compare) {
  static const TempFolder folder;
  const fs::path in = folder / "in", out = folder / "out";
  fs::remove_all(in);
  std::vector<fs::path> streams;
  bool is_metadata = true;
  for (const Input piece : pieces_of(input)) {
    const std::string host = std::to_string(streams.size());
    fs::create_directories(in / host);
    Scratch::write(in / host / (is_metadata ? "metadata" : "stream"), piece);
    if (!is_metadata) streams.push_back(fs::path(host) / "stream");
    is_metadata = !is_metadata;
  }
  const auto read = ctf::read(std::vector{in}, {});
  if (!read) return expect_good(read.error());
  const StampRange range = range_of(**read);
  if (range.last >= k_last) return;
  const auto shifts =
      (*read)->whole_shifts(WriteMode::rewrite, {}, other_clocks((*read)->clocks.clocks.size()));
  fs::remove_all(out);
  fs::create_directory(out);
  if (const auto written = (*read)->write(out, shifts.maps); !written) {
    expect_good(written.error());
  } else {
    for (const fs::path& stream : streams) {
      if (test::read_bytes(in / stream) != test::read_bytes(out / stream)) {
        finding("a stream was changed");
      }
    }
    const auto back = (*read)->read_back(out, shifts.maps);
    if (!back && back.error().message.find("broke down") != std::string::npos) return;
    if (!back) finding("what was written is not what was read: " + back.error().message);
    // Where a clock does not count in ns, readers compute in doubles of 53 bits.
    constexpr int k_double_bits = 52;
    std::int64_t tolerance = 2 + static_cast<std::int64_t>(range.last >> k_double_bits);
    for (const Clock& clock : (*read)->clocks.clocks) {
      tolerance = std::max(tolerance, 2 + 2 * static_cast<std::int64_t>(clock.granule));
    }
    expect_moved(**read, **back, shifts.maps, {nullptr, tolerance, "", false, true});
  }
  // A trace gets another offset and rate of its clock, and leaves the rest of a correction out.
  if (may_be_corrected(range)) check_and_correct(in, out, false);
}

}  // namespace entrain::fuzz
