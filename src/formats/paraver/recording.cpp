// SPDX-License-Identifier: BSD-3-Clause
#include "formats/paraver/recording.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/counters.hpp"
#include "base/file.hpp"
#include "base/try.hpp"
#include "formats/json/document.hpp"
#include "formats/paraver/labels.hpp"
#include "formats/paraver/trace.hpp"

namespace entrain::paraver {

namespace fs = std::filesystem;

namespace {

bool is_collective(const Record& record) {
  bool found = false;
  for_each_event(record,
                 [&](std::uint64_t type, std::uint64_t) { found |= type == type::collective; });
  return found;
}

class Run : public formats::Recording {
 public:
  explicit Run(Trace trace) : trace_(std::move(trace)), labels_(read_labels(trace_.path)) {
    instances_ = pair_calls(trace_.calls);
    set_refuted_aside(drop_refuted(instances_, trace_.calls), instances_.members.size(), "calls");
    format = "Paraver";
    words = {.receive = "message", .receives = "messages", .written = "copy"};
    clocks.name = trace_.path.string();
    clocks.resolution_hz = trace_.header.resolution_hz;
    bytes = trace_.facts.bytes;
    list = std::move(trace_.messages);
    files.push_back(trace_.path);
    for (const char* ending : {".pcf", ".row"}) {
      if (file_exists(sidecar(trace_.path, ending))) files.push_back(sidecar(trace_.path, ending));
    }
    add_clocks();
    count(add_edges(trace_.calls, instances_, trace_.header, list));
    warn();
  }

  /// The times of a trace begin at 0, so that a clock that is too early there would become
  /// negative.
  [[nodiscard]] std::int64_t earliest_time() const override {
    return -static_cast<std::int64_t>(k_last_time);
  }
  [[nodiscard]] std::uint64_t latest_stamp() const override { return k_last_time; }

  [[nodiscard]] Result<void> write(const fs::path& folder,
                                   std::span<const ClockMap> maps) const override {
    for (const fs::path& file : std::span(files).subspan(1)) {
      TRY(duplicate_file(file, folder / file.filename()));
    }
    return write_trace(folder / trace_.path.filename(), trace_, maps);
  }

  [[nodiscard]] Result<std::unique_ptr<formats::Recording>> read_back(
      const fs::path& folder, std::span<const ClockMap>) const override {
    TRY_ASSIGN(Trace written, read_trace(folder / trace_.path.filename(), trace_.max_unpacked));
    auto run = std::make_unique<Run>(std::move(written));
    const auto same = std::ranges::equal(run->trace_.clocks, trace_.clocks, {}, &ClockTimes::hash,
                                         &ClockTimes::hash);
    if (same && run->list.members.size() == list.members.size()) return run;
    return output_error(
        "the corrected trace does not hold the records of the original; it was not kept; write to "
        "another disk");
  }

  [[nodiscard]] Result<std::optional<trace::Collectives>> collectives(const trace::Share&,
                                                                      const CheckOptions&,
                                                                      Progress*) const override {
    return collectives_of(trace_.calls, instances_, trace_.header);
  }

  /// The times of a clock, those of received messages last, by the clocks of their senders: new
  /// times change the order of records of several clocks.
  [[nodiscard]] Result<formats::EventTimes> event_times() const override {
    using Received = std::pair<std::uint32_t, formats::EventTime>;  // clock of the sender
    formats::EventTimes times;
    times.of_clock.resize(clocks.clocks.size());
    times.files.resize(files.size());
    std::vector<std::vector<Received>> received(clocks.clocks.size());
    TRY(for_each_record(trace_, [&](const Record& record) -> Result<void> {
      const bool is_call = record.kind == Kind::event && is_collective(record);
      const bool is_message = record.kind == Kind::message;
      const std::span<const RecordTime> all = record.times();
      for (std::size_t i = 0; i < all.size(); ++i) {
        const formats::EventTime one(all[i].time, is_message ? i == 0 || i == 3 : is_call);
        if (is_message && i > 1) {
          received[all[i].clock].emplace_back(all.front().clock, one);
        } else {
          times.of_clock[all[i].clock].push_back(one);
        }
      }
      return {};
    }));
    for (std::size_t c = 0; c < received.size(); ++c) {
      std::ranges::stable_sort(received[c], {}, &Received::first);
      for (const Received& one : received[c]) times.of_clock[c].push_back(one.second);
    }
    TRY_ASSIGN(const std::vector<std::uint64_t> hashes, event_hashes(0));
    for (const std::uint64_t hash : hashes) times.files[0].add(hash);
    return times;
  }

  /// By clocks, each in order of its records.
  [[nodiscard]] Result<std::vector<std::uint64_t>> event_hashes(std::size_t file) const override {
    std::vector<std::uint64_t> hashes;
    if (file > 0) return hashes;
    std::vector<std::vector<std::uint64_t>> of_clock(clocks.clocks.size());
    TRY(for_each_record(trace_, [&](const Record& record) -> Result<void> {
      of_clock[record.times().front().clock].push_back(record.hash());
      return {};
    }));
    for (const auto& own : of_clock) hashes.insert(hashes.end(), own.begin(), own.end());
    return hashes;
  }

  /// States, and calls of MPI that end.
  [[nodiscard]] Result<void> for_each_work(
      const std::function<Result<void>(const formats::Work&)>& see) const override {
    using Pair = std::pair<std::uint64_t, std::uint64_t>;
    std::map<Pair, Pair> open;  // by thread and type: begin and value
    return for_each_record(trace_, [&](const Record& record) -> Result<void> {
      const RecordTime& first = record.times().front();
      const auto add = [&](std::uint64_t begin, std::uint64_t end,
                           const std::string& name) -> Result<void> {
        if (end < begin) return {};
        return see({.clock = first.clock,
                    .begin = begin,
                    .end = end,
                    .name = name,
                    .row = row_of(record)});
      };
      if (record.kind == Kind::state) {
        std::uint64_t value = 0;
        if (!Cursor(record.rest).next(value)) return {};
        return add(first.time, record.times().back().time, labels_.name(Labels::k_state, value));
      }
      if (record.kind != Kind::event) return {};
      Result<void> done;
      for_each_event(record, [&](std::uint64_t type, std::uint64_t value) {
        if (type < type::first_call || type > type::last_call || !done) return;
        const auto own = open.find({record.thread_key(), type});
        if (own != open.end()) {
          done = add(own->second.first, first.time, labels_.name(type, own->second.second));
          open.erase(own);
        }
        if (value > 0) open[{record.thread_key(), type}] = {first.time, value};
      });
      return done;
    });
  }

 private:
  void add_clocks() {
    constexpr std::uint64_t k_ns_per_s = 1'000'000'000, k_ns_per_us = 1000;
    const Header& header = trace_.header;
    const std::set<std::string> names(labels_.nodes.begin(), labels_.nodes.end());
    const bool are_named = header.nodes > 0 && names.size() == header.nodes &&
                           !names.contains("") && labels_.nodes.size() == header.nodes;
    for (std::uint32_t c = 0; c < header.clocks(); ++c) {
      Clock clock;
      clock.kind = ClockKind::wall;
      clock.name = are_named          ? labels_.nodes[c]
                   : header.nodes > 0 ? fmt::format("node {}", c + 1)
                                      : "task " + header.tasks[c].name();
      const ClockTimes& times = trace_.clocks[c];
      if (times.count > 0) clock.events = StampRange{times.first, times.last};
      clock.granule = header.resolution_hz == k_ns_per_s && trace_.whole_us ? k_ns_per_us : 1;
      clocks.clocks.push_back(std::move(clock));
      events += times.count;
    }
  }

  void count(const WithoutEdges& without) {
    std::map<std::string, std::uint64_t> kinds, per_group;
    std::uint64_t endless = 0;
    for (const Call& call : trace_.calls.all) {
      ++kinds[operation_of(call.operation).name];
      endless += call.end == Call::k_endless ? 1 : 0;
      if (call.communicator == k_none) continue;
      const Communicator& group = trace_.calls.communicators[call.communicator];
      ++per_group[fmt::format("communicator {}", group.id)];
      coverage.collective_calls += group.tasks.size() > 1 ? 1 : 0;
    }
    operations.assign(kinds.begin(), kinds.end());
    groups.assign(per_group.begin(), per_group.end());
    if (trace_.all_messages > 0) message_kinds = {{"message", trace_.all_messages}};
    calls = 2 * trace_.all_messages + trace_.calls.all.size();
    coverage.receives = coverage.paired = trace_.all_messages;
    coverage.in_instances = without.with_edges;
    coverage.alltoallv_skipped = without.sparse;
    unmatched = nonzero({{"collective_ends_without_begin", trace_.alone_ends},
                         {"calls_ambiguous", instances_.ambiguous},
                         {"calls_without_an_end", endless},
                         {"calls_without_a_communicator", instances_.without_group}});
    skipped = nonzero({{"calls_of_alltoallv", without.sparse},
                       {"calls_without_a_root", without.rootless},
                       {"calls_without_edges", without.others},
                       {"unread_lines", trace_.unread_lines},
                       {"unread_rests_of_events", trace_.unread_rests},
                       {"truncated_files", trace_.calls.is_cut ? 1 : 0}});
  }

  void warn() {
    const std::string name = trace_.path.filename().string();
    if (trace_.calls.is_cut) warn_of_cut(trace_.path);
    if (trace_.unread_lines > 0) {
      warnings.push_back(
          fmt::format("{} holds lines that are no states, events or messages of its tasks: a copy "
                      "holds them as they are; number: {}",
                      name, trace_.unread_lines));
    }
    if (instances_.ambiguous > 0) {
      warnings.push_back(fmt::format(
          "which calls of collectives belong together cannot be told for {} of {}: tasks recorded "
          "different ones, or several at once, or the trace is a part of a run; give the whole "
          "trace",
          instances_.ambiguous, trace_.calls.all.size()));
    }
    if (trace_.header.nodes == 0) {
      notes.push_back(fmt::format("{} names no nodes: each task has a clock of its own", name));
    }
  }

  [[nodiscard]] std::string row_of(const Record& record) const {
    return fmt::format("{}.{}", trace_.header.tasks[record.task].name(), record.thread + 1);
  }

  Trace trace_;  ///< its messages are in `list`
  Labels labels_;
  Instances instances_;
};

}  // namespace

bool is_trace_name(const fs::path& path) { return json::is_named(path, {".prv"}); }

bool is_trace(const fs::path& file) {
  const auto text = json::beginning(file);
  return text && text->starts_with("#Paraver");
}

Result<std::unique_ptr<formats::Recording>> read(const fs::path& file, std::uint64_t max_unpacked) {
  TRY_ASSIGN(Trace trace, read_trace(file, max_unpacked));
  return std::make_unique<Run>(std::move(trace));
}

}  // namespace entrain::paraver
