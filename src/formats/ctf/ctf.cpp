// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ctf/ctf.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/counters.hpp"
#include "base/file.hpp"
#include "base/file_stamp.hpp"
#include "base/link.hpp"
#include "base/name_table.hpp"
#include "base/try.hpp"
#include "formats/ctf/lines.hpp"
#include "formats/ctf/match.hpp"
#include "formats/ctf/metadata.hpp"
#include "formats/ctf/reader.hpp"
#include "formats/ctf/rules.hpp"
#include "output/mark.hpp"
#include "trace/clock_maps.hpp"

namespace entrain::ctf {

namespace fs = std::filesystem;

namespace {

constexpr double k_us = 1000;  ///< ns
/// Deepest trace that is looked for: relayd names HOST/SESSION/ust/uid/1000/64-bit/metadata.
constexpr int k_most_depth = 6;

/// Files below the folders that the user named: the folder's position, and the path in it.
using InputFiles = std::map<std::pair<std::size_t, fs::path>, FileStamp>;

/// A trace: a folder with metadata.
struct OneTrace {
  std::size_t root = 0;
  fs::path path;  ///< relative to the root; empty: the root itself
  TraceFacts facts;
  std::vector<std::uint32_t> clocks;  ///< position in the run of each clock of the trace
};

/// All files below the roots, but marks of results. Links to folders are not followed.
Result<InputFiles> files_below(std::span<const fs::path> roots) {
  InputFiles files;
  for (std::size_t r = 0; r < roots.size(); ++r) {
    std::error_code error;
    fs::recursive_directory_iterator it(roots[r], error);
    for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
      std::error_code unknown;
      if (!it->is_regular_file(unknown) || it->path().filename() == k_folder_mark) continue;
      files.emplace(std::pair(r, it->path().lexically_relative(roots[r])), stamp_of(it->path()));
    }
    if (error) {
      return input_error("cannot read {}: {}", roots[r].string(), error.message());
    }
  }
  return files;
}

/// The paths of the roots without links and dots. Refuses a root inside another one.
Result<std::vector<fs::path>> real_paths(std::span<const fs::path> roots) {
  std::vector<fs::path> paths;
  for (const fs::path& root : roots) {
    std::error_code error;
    paths.push_back(fs::canonical(root, error));
    if (error) {
      return input_error("cannot read {}: {}", root.string(), error.message());
    }
  }
  std::vector<fs::path> sorted = paths;  // a folder is followed by those inside
  std::ranges::sort(sorted);
  const auto inside = std::ranges::adjacent_find(sorted, [](const auto& outer, const auto& inner) {
    return std::ranges::mismatch(outer, inner).in1 == outer.end();
  });
  if (inside == sorted.end()) return paths;
  return usage_error(
      "{} and {} hold the same traces, which would count twice; name one of the folders",
      inside->string(), std::next(inside)->string());
}

class Run : public formats::Recording {
 public:
  static Result<std::unique_ptr<Run>> read(std::vector<fs::path> roots, std::vector<Rule> rules) {
    auto run = std::make_unique<Run>();
    run->roots_ = std::move(roots);
    run->rules_ = std::move(rules);
    TRY_ASSIGN(run->files, real_paths(run->roots_));
    TRY_ASSIGN(run->inputs_, files_below(run->roots_));
    run->clocks.name = formats::shown_name(run->roots_);
    run->format = "CTF traces";
    run->words = {.single = "message", .written = "copy"};
    run->has_overlay = run->has_lines_only = true;
    TRY(run->read_traces());
    run->groups.emplace_back("traces", run->traces_.size());
    return run;
  }

  [[nodiscard]] Result<void> write(const fs::path& folder,
                                   std::span<const ClockMap> maps) const override {
    return write_files(folder, maps, [](const fs::path& from, const fs::path& to, const fs::path&) {
      return duplicate_file(from, to);
    });
  }
  [[nodiscard]] Result<LinkCounts> write_overlay(const fs::path& folder,
                                                 const fs::path& final_folder,
                                                 std::span<const ClockMap> maps,
                                                 LinkKind kind) const override {
    LinkCounts links{};
    TRY(write_files(
        folder, maps,
        [&](const fs::path& from, const fs::path& to, const fs::path& inside) -> Result<void> {
          TRY_ASSIGN(const LinkKind made, Linker(final_folder / inside, kind).link(from, to));
          ++links.at(static_cast<std::size_t>(made));
          return {};
        }));
    return links;
  }
  [[nodiscard]] Result<std::unique_ptr<formats::Recording>> read_back(
      const fs::path& folder, std::span<const ClockMap>) const override {
    std::vector<fs::path> copies;
    for (std::size_t r = 0; r < roots_.size(); ++r) copies.push_back(root_in(folder, r));
    TRY_ASSIGN(std::unique_ptr<Run> written, read(std::move(copies), rules_));
    if (written->events == events && written->calls == calls &&
        std::ranges::equal(written->list.cause_clock, list.cause_clock)) {
      return written;
    }
    return output_error(
        "the corrected traces do not hold the messages of the original; they were not kept; write "
        "to another disk");
  }
  [[nodiscard]] formats::ConstantShifts whole_shifts(
      WriteMode mode, const trace::Trace& trace, std::span<const ClockMap> maps) const override {
    if (mode == WriteMode::overlay) return formats::constant_shifts(trace, maps);
    formats::ConstantShifts result{.maps = std::vector<ClockMap>(maps.size()),
                                   .left_out = std::vector<std::int64_t>(maps.size()),
                                   .note = {}};
    std::int64_t most = 0;
    for (std::uint32_t c = 0; c < maps.size(); ++c) {
      const StampRange span = span_of(c);
      if (!clocks.clocks[c].events || maps[c].is_identity()) continue;
      const ClockClass& clock = classes_[c];
      result.maps[c] = map_between(clock, retimed(clock, line_of(maps[c], span), span), span);
      for (const std::uint64_t stamp : trace::straight_stamps(span.first, span.last, {&maps[c]})) {
        result.left_out[c] =
            std::max(result.left_out[c], std::abs(maps[c](stamp) - result.maps[c](stamp)));
      }
      const std::int64_t rounding = 2 + static_cast<std::int64_t>(clocks.clocks[c].granule);
      if (result.left_out[c] <= std::max(most, rounding)) continue;
      most = result.left_out[c];
      result.note = fmt::format(
          "a trace gets another offset and rate of its clock, and its streams stay: of the "
          "correction of {}, up to {:.3f} us are left out, and of the others less; entrain "
          "export --correct shows all of it",
          clocks.clocks[c].name, static_cast<double>(most) / k_us);
    }
    return result;
  }
  [[nodiscard]] std::uint64_t latest_stamp() const override { return std::uint64_t{1} << 62; }

  [[nodiscard]] Result<formats::EventTimes> event_times() const override {
    formats::EventTimes times;
    times.of_clock.resize(clocks.clocks.size());
    times.files.resize(roots_.size());
    TRY(read_again([&](const Event& event, const OneTrace& one) -> Result<void> {
      times.of_clock[one.clocks[event.clock]].emplace_back(event.time, !event.ends.empty());
      times.files[one.root].add(event.contents);
      return {};
    }));
    return times;
  }
  [[nodiscard]] Result<std::vector<std::uint64_t>> event_hashes(std::size_t file) const override {
    std::vector<std::uint64_t> hashes;
    TRY(read_again([&](const Event& event, const OneTrace& one) -> Result<void> {
      if (one.root == file) hashes.push_back(event.contents);
      return {};
    }));
    return hashes;
  }
  /// Events have no length. Their rows are streams, one of each processor.
  [[nodiscard]] Result<void> for_each_work(
      const std::function<Result<void>(const formats::Work&)>& see) const override {
    return read_again([&](const Event& event, const OneTrace& one) {
      const std::string row = (one.path / event.stream).string();
      return see({.clock = one.clocks[event.clock],
                  .begin = event.time,
                  .end = event.time,
                  .name = event.name,
                  .row = row});
    });
  }

 private:
  /// Writes a file that is no metadata: path in the original, in the copy, and its final folder.
  using WriteFile = std::function<Result<void>(const fs::path&, const fs::path&, const fs::path&)>;

  Result<void> read_traces() {
    std::vector<MessageEnd> ends;
    std::uint64_t without_clock = 0, out_of_range = 0, discarded = 0;
    for (const auto& [place, file] : inputs_) {
      const auto& [root, path] = place;
      bytes += static_cast<std::uint64_t>(file.size);
      if (path.filename() != k_metadata_name || !is_metadata(roots_[root] / path)) continue;
      OneTrace& one = traces_.emplace_back(OneTrace{root, path.parent_path(), {}, {}});
      TRY(read_one(one, ends));
      events += one.facts.events;
      without_clock += one.facts.without_clock;
      out_of_range += one.facts.out_of_range;
      discarded += one.facts.discarded;
    }
    if (events == 0) {
      return input_error(
          "{} holds no event with a time: its traces are empty, their streams have no clock, or "
          "times are before the origin or after 2^62 ns",
          roots_.front().string());
    }
    add_messages(std::move(ends));
    const auto warn = [&](std::uint64_t count, const char* what) {
      if (count == 0) return;
      warnings.push_back(fmt::format("{} {} {}", count, count == 1 ? "event" : "events", what));
    };
    warn(without_clock, "of streams without a clock: these have no time and do not count");
    warn(out_of_range, "before the origin of the clock or after 2^62 ns: these do not count");
    warn(discarded,
         "lost by the tracer, as it says: where a send or receive is missing, its message does not "
         "count; larger buffers help (lttng enable-channel --subbuf-size)");
    return {};
  }

  Result<void> read_one(OneTrace& one, std::vector<MessageEnd>& ends) {
    const std::size_t first = ends.size();
    const fs::path folder = roots_[one.root] / one.path;
    TRY(check_metadata(folder / k_metadata_name));
    TRY_ASSIGN(one.facts,
               read_trace(folder, rules_, false, [&](const Event& event) -> Result<void> {
                 ends.insert(ends.end(), event.ends.begin(), event.ends.end());
                 return {};
               }));
    for (std::size_t c = 0; c < one.facts.clocks.size(); ++c) {
      one.clocks.push_back(clock_of(one, one.facts.clocks[c]));
      const StampRange& own = one.facts.spans[c];
      if (own.first > own.last) continue;
      std::optional<StampRange>& all = clocks.clocks[one.clocks[c]].events;
      if (!all) all = own;
      all = {std::min(all->first, own.first), std::max(all->last, own.last)};
    }
    for (std::size_t i = first; i < ends.size(); ++i) ends[i].clock = one.clocks[ends[i].clock];
    return {};
  }

  /// A clock is known by its uuid, else by its host and name, else it is one of the trace alone.
  std::uint32_t clock_of(const OneTrace& one, const ClockClass& clock) {
    const std::string& host = one.facts.hostname;
    const std::uint32_t number = identities_.number(
        !clock.uuid.empty() ? "uuid " + clock.uuid
        : !host.empty()     ? fmt::format("host {}/{}", host, clock.name)
                        : fmt::format("trace {}/{}/{}", one.root, one.path.string(), clock.name));
    if (number < classes_.size()) return number;
    classes_.push_back(clock);
    const std::string stem = !host.empty()       ? host
                             : !one.path.empty() ? one.path.string()
                                                 : clock.name;
    std::string name = stem;
    const auto is_taken = [&] {
      return std::ranges::find(clocks.clocks, name, &Clock::name) != clocks.clocks.end();
    };
    for (int n = 2; is_taken(); ++n) name = fmt::format("{} #{}", stem, n);
    constexpr std::uint64_t k_second = 1'000'000'000;
    clocks.clocks.push_back(
        {.name = name, .granule = clock.frequency < k_second ? k_second / clock.frequency : 0});
    return number;
  }

  void add_messages(std::vector<MessageEnd> ends) {
    Messages messages = pair_ends(ends, rules_.size());
    const std::uint64_t total = messages.edges.size();
    set_refuted_aside(drop_refuted(messages.edges, ends), total, "events");
    for (const auto& [send, receive] : messages.edges) {
      // A clock of coarse counts shows the time at which a count began.
      const std::uint64_t granule = clocks.clocks[receive.clock].granule;
      list.add({send.clock, send.time}, {receive.clock, receive.time + granule});
    }
    for (std::size_t r = 0; r < rules_.size(); ++r) {
      const std::uint64_t paired = messages.paired_of_rule[r];
      if (paired > 0) message_kinds.emplace_back(rules_[r].name, paired);
    }
    calls = ends.size();
    coverage = messages.coverage;
    unmatched = nonzero({{"receives_without_send", coverage.lost},
                         {"sends_without_receive", messages.without_receive}});
    skipped = nonzero(
        {{"messages_seen_twice", coverage.ambiguous}, {"messages_in_a_host", messages.inside}});
    if (!list.cause_clock.empty()) return;
    warnings.push_back(
        messages.inside > 0
            ? fmt::format(
                  "no message goes from one clock to another: {} of {} paired ones stay inside a "
                  "clock; traces have one clock if its uuid is the same, or, without a uuid, its "
                  "name and their hostname: where machines share these, they cannot be told apart",
                  messages.inside, coverage.paired)
            : fmt::format("no message between two hosts is in these traces ({} {}): record "
                          "net_dev_queue and netif_receive_skb, or name events of your own with "
                          "--match",
                          clocks.clocks.size(), clocks.clocks.size() == 1 ? "clock" : "clocks"));
  }

  [[nodiscard]] Result<void> write_files(const fs::path& folder, std::span<const ClockMap> maps,
                                         const WriteFile& write_file) const {
    TRY(check_unchanged());
    std::map<std::pair<std::size_t, fs::path>, const OneTrace*> trace_at;
    for (const OneTrace& one : traces_) trace_at[{one.root, one.path}] = &one;
    for (const auto& [place, stamp] : inputs_) {
      const auto& [root, path] = place;
      const fs::path from = roots_[root] / path, to = root_in(folder, root) / path;
      std::error_code error;
      fs::create_directories(to.parent_path(), error);
      if (error) {
        return output_error("cannot create {}: {}", to.parent_path().string(), error.message());
      }
      const auto found = trace_at.find({root, path.parent_path()});
      if (found != trace_at.end() && path.filename() == k_metadata_name) {
        TRY(write_metadata(from, to, *found->second, maps));
      } else {
        TRY(write_file(from, to, root_in({}, root) / path.parent_path()));
      }
    }
    return {};
  }

  [[nodiscard]] Result<void> write_metadata(const fs::path& from, const fs::path& to,
                                            const OneTrace& one,
                                            std::span<const ClockMap> maps) const {
    std::set<std::string> moved;
    for (std::size_t i = 0; i < one.clocks.size(); ++i) {
      if (!maps[one.clocks[i]].is_identity()) moved.insert(one.facts.clocks[i].name);
    }
    TRY(copy_metadata(from, to, [&](const ClockClass& clock) {
      if (moved.erase(clock.name) == 0) return clock;
      const auto known = std::ranges::find(one.facts.clocks, clock.name, &ClockClass::name);
      const std::uint32_t c =
          one.clocks[static_cast<std::size_t>(known - one.facts.clocks.begin())];
      return retimed(clock, line_of(maps[c], span_of(c)), span_of(c));
    }));
    if (moved.empty()) return {};
    return input_error(
        "{} does not name the clock of its time stamps, so that it cannot get another offset",
        from.string());
  }

  [[nodiscard]] Result<void> check_unchanged() const {
    TRY_ASSIGN(const InputFiles now, files_below(roots_));
    return now == inputs_ ? Result<void>() : formats::has_changed(roots_.front(), false);
  }
  /// Shows all events and their traces.
  [[nodiscard]] Result<void> read_again(
      const std::function<Result<void>(const Event&, const OneTrace&)>& see) const {
    TRY(check_unchanged());
    for (const OneTrace& one : traces_) {
      TRY(read_trace(roots_[one.root] / one.path, rules_, true,
                     [&](const Event& event) -> Result<void> {
                       if (event.clock < one.clocks.size()) return see(event, one);
                       return formats::has_changed(roots_.front(), false);
                     }));
    }
    return {};
  }
  /// Folder of a root in a copy.
  [[nodiscard]] fs::path root_in(const fs::path& folder, std::size_t root) const {
    return roots_.size() == 1 ? folder : folder / files[root].filename();
  }
  [[nodiscard]] StampRange span_of(std::uint32_t clock) const {
    return clocks.clocks[clock].events.value_or(StampRange());
  }

  std::vector<fs::path> roots_;
  std::vector<Rule> rules_;
  InputFiles inputs_;
  std::vector<OneTrace> traces_;
  std::vector<ClockClass> classes_;  ///< class of each clock in its first trace
  NameTable identities_;             ///< what identifies each clock
};

}  // namespace

bool holds_traces(const fs::path& folder) {
  std::error_code error;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (it->path().filename() == k_metadata_name && is_metadata(it->path())) return true;
    if (it.depth() == k_most_depth) it.disable_recursion_pending();
  }
  return false;
}

fs::path trace_around(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  return is_metadata(folder / k_metadata_name) ? folder : fs::path();
}

Result<std::unique_ptr<formats::Recording>> read(std::span<const fs::path> folders,
                                                 std::span<const std::string> match) {
  std::vector<Rule> rules(known_rules().begin(), known_rules().end());
  for (const std::string& text : match) {
    TRY_ASSIGN(Rule rule, parse_rule(text));
    rules.push_back(std::move(rule));
  }
  std::vector<fs::path> roots;
  for (const fs::path& folder : folders) {
    roots.push_back(folder.has_filename() ? folder : folder.parent_path());  // without a slash
  }
  return Run::read(std::move(roots), std::move(rules));
}

}  // namespace entrain::ctf
