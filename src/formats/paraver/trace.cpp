// SPDX-License-Identifier: BSD-3-Clause
#include "formats/paraver/trace.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/flat_map.hpp"
#include "base/record_sorter.hpp"
#include "base/try.hpp"
#include "formats/json/text_file.hpp"
#include "formats/recording.hpp"

namespace entrain::paraver {

namespace fs = std::filesystem;

namespace {

/// Reads the lines of a trace.
class TraceReader {
 public:
  explicit TraceReader(Trace& trace) : trace_(trace) {}

  Result<void> line(std::string_view text) {
    if (trace_.clocks.empty()) return begin(text);
    is_last_read_ = true;
    if (record_.parse(text, trace_.header)) {
      add();
    } else if (text.starts_with("c:") || text.starts_with("C:")) {
      add_communicator(text);
    } else if (!text.starts_with('#') && !text.starts_with("i:") &&
               text.find_first_not_of(" \r\t") != std::string_view::npos) {
      ++trace_.unread_lines;
      is_last_read_ = false;
    }
    return {};
  }

  void end() {
    trace_.ends_inside_record = trace_.facts.ends_inside_line && !is_last_read_;
    trace_.unread_lines -= trace_.ends_inside_record ? 1 : 0;
    trace_.calls.is_cut = trace_.ends_inside_record || trace_.facts.is_cut;
  }

 private:
  Result<void> begin(std::string_view text) {
    TRY_ASSIGN(trace_.header, parse_header(text, trace_.path));
    trace_.clocks.resize(trace_.header.clocks());
    trace_.calls.has_init.resize(trace_.header.tasks.size());
    return {};
  }

  /// The first definition of a communicator counts; it may follow calls.
  void add_communicator(std::string_view text) {
    Communicator added;
    if (!parse_communicator(text, trace_.header, added)) {
      ++trace_.unread_lines;
      return;
    }
    Communicator& own = trace_.calls.communicators[communicator_of(added.application, added.id)];
    if (own.tasks.empty()) own.tasks = std::move(added.tasks);
  }

  void add() {
    constexpr std::uint64_t k_ns_per_us = 1000;
    for (const RecordTime& one : record_.times()) {
      ClockTimes& clock = trace_.clocks[one.clock];
      clock.first = clock.count == 0 ? one.time : std::min(clock.first, one.time);
      clock.last = std::max(clock.last, one.time);
      ++clock.count;
      trace_.whole_us = trace_.whole_us && one.time % k_ns_per_us == 0;
    }
    std::uint64_t& hash = trace_.clocks[record_.times().front().clock].hash;
    hash = mix(hash + record_.hash());
    if (record_.kind == Kind::event) add_events();
    if (record_.kind == Kind::message) add_message();
  }

  void add_message() {
    const RecordTime &sent = record_.times().front(), &received = record_.times().back();
    ++trace_.all_messages;
    if (sent.clock == received.clock) return;
    trace_.messages.add({sent.clock, sent.time}, {received.clock, received.time});
  }

  void add_events() {
    Call facts;
    std::uint32_t begun = k_none;
    const std::uint32_t application = trace_.header.tasks[record_.task].application;
    const bool is_read = for_each_event(record_, [&](std::uint64_t type, std::uint64_t value) {
      if (type < type::collective || type > type::communicator) return;
      if (type == type::other && value == k_init) trace_.calls.has_init[record_.task] = 1;
      if (type == type::collective && value == 0) end_call();
      if (type == type::collective && value > 0) begun = begin_call(value);
      if (type == type::sent) facts.gives = value > 0;
      if (type == type::received) facts.takes = value > 0;
      if (type == type::root) facts.is_root = value > 0;
      if (type == type::communicator) facts.communicator = communicator_of(application, value);
    });
    trace_.unread_rests += is_read ? 0 : 1;
    if (begun == k_none) begun = open_call();
    if (begun == k_none) return;
    Call& call = trace_.calls.all[begun];
    if (call.begin != record_.times().front().time) return;
    call.gives &= facts.gives;
    call.takes &= facts.takes;
    call.is_root |= facts.is_root;
    call.communicator = std::min(call.communicator, facts.communicator);
  }

  std::uint32_t communicator_of(std::uint32_t application, std::uint64_t id) {
    std::vector<Communicator>& all = trace_.calls.communicators;
    const auto [own, is_new] = numbers_.try_emplace({application, id}, all.size());
    if (is_new) all.push_back({.application = application, .id = id, .tasks = {}});
    return own->second;
  }
  std::uint32_t begin_call(std::uint64_t operation) {
    const auto number = static_cast<std::uint32_t>(trace_.calls.all.size());
    trace_.calls.all.push_back(
        {.begin = record_.times().front().time, .operation = operation, .task = record_.task});
    *open_.insert(record_.thread_key(), number).first = number;
    return number;
  }
  [[nodiscard]] std::uint32_t open_call() const {
    const std::uint32_t* const open = open_.find(record_.thread_key());
    return open == nullptr ? k_none : *open;
  }
  void end_call() {
    const std::uint32_t open = open_call();
    const std::uint64_t time = record_.times().front().time;
    if (open != k_none && trace_.calls.all[open].begin <= time) {
      trace_.calls.all[open].end = time;
      open_.erase(record_.thread_key());
    } else {
      ++trace_.alone_ends;
    }
  }

  Trace& trace_;
  Record record_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> numbers_;  ///< communicators
  FlatMap<std::uint64_t, std::uint32_t, IntegerHash> open_;  ///< call that a thread is in
  bool is_last_read_ = true;
};

/// Writes the records of a trace with other times.
class TraceWriter {
 public:
  /// Memory for records that are not in order, bytes.
  static constexpr std::size_t k_sorted_bytes = std::size_t{1} << 27;

  TraceWriter(const fs::path& to, const Trace& trace, std::span<const ClockMap> maps)
      : trace_(trace),
        maps_(maps),
        sorter_(to.parent_path() / (to.filename().string() + ".sorted"), k_sorted_bytes),
        latest_(trace.clocks.size(), std::numeric_limits<std::int64_t>::min()) {
    std::uint64_t last = 0;
    for (std::size_t c = 0; c < trace.clocks.size(); ++c) {
      if (trace.clocks[c].count == 0) continue;
      last = std::max(last, trace.clocks[c].last);
      origin_ = std::min(origin_, maps[c](trace.clocks[c].first));
      end_ = std::max(end_, maps[c](trace.clocks[c].last));
    }
    end_ += static_cast<std::int64_t>(std::max(trace.header.end, last) - last) - origin_;
  }

  Result<void> line(std::string_view text) {
    if (header_.empty()) {
      header_ = text.substr(0, trace_.header.end_at);
      header_ += std::to_string(end_);
      header_ += text.substr(trace_.header.end_at + trace_.header.end_size);
      read_ = text.size() + 1;
      return {};
    }
    read_ += text.size() + 1;
    if (!record_.parse(text, trace_.header)) {
      using Limits = std::numeric_limits<std::int64_t>;
      const bool is_last = read_ > trace_.facts.bytes;
      const bool is_group = text.starts_with("c:") || text.starts_with("C:");
      return sorter_.add({is_last ? Limits::max() : is_group ? Limits::min() : key_, 0}, {text});
    }
    new_.clear();
    const char* done = text.data();
    for (const RecordTime& one : record_.times()) {
      new_.append(done, one.digits.data());
      const fmt::format_int digits(new_time(one.time, one.clock));
      new_.append(digits.data(), digits.size());
      done = one.digits.data() + one.digits.size();
    }
    new_.append(done, text.data() + text.size());
    const RecordTime& first = record_.times().front();
    std::int64_t& latest = latest_[first.clock];
    key_ = latest = std::max(latest, new_time(first.time, first.clock));
    return sorter_.add({key_, 0}, {new_});
  }

  Result<void> finish(json::TextWriter& writer) {
    TRY(writer.write(header_));
    TRY(sorter_.for_each([&](std::string_view record) -> Result<void> {
      last_ = record;
      TRY(writer.write("\n"));
      return writer.write(record);
    }));
    // Another line may be the last now, and no record without its end: it would look cut.
    const bool looks_cut = !trace_.ends_inside_record && !record_.parse(last_, trace_.header);
    return trace_.facts.ends_inside_line && !looks_cut ? Result<void>() : writer.write("\n");
  }

 private:
  [[nodiscard]] std::int64_t new_time(std::uint64_t time, std::size_t clock) const {
    return maps_[clock](time) - origin_;
  }

  const Trace& trace_;
  std::span<const ClockMap> maps_;
  RecordSorter sorter_;
  /// The key of the last record per clock, and of all: lines that are no records stay behind it.
  std::vector<std::int64_t> latest_;
  std::int64_t key_ = std::numeric_limits<std::int64_t>::min();
  std::uint64_t read_ = 0;   ///< bytes of the lines so far, with a line feed each
  std::int64_t origin_ = 0;  ///< new time at 0
  std::int64_t end_ = std::numeric_limits<std::int64_t>::min();
  std::string header_, new_, last_;  ///< lines: the first, one as written, the last so far
  Record record_;
};

}  // namespace

Result<void> for_each_line_again(const Trace& trace,
                                 const std::function<Result<void>(std::string_view)>& see) {
  TRY_ASSIGN(const TextFacts facts, for_each_line(trace.path, trace.max_unpacked, see));
  if (facts.hash == trace.facts.hash && facts.bytes == trace.facts.bytes) return {};
  return formats::has_changed(trace.path, false);
}

Result<Trace> read_trace(const fs::path& path, std::uint64_t max_unpacked) {
  Trace trace;
  trace.path = path;
  trace.max_unpacked = max_unpacked;
  TraceReader reader(trace);
  TRY_ASSIGN(trace.facts, for_each_line(path, max_unpacked,
                                        [&](std::string_view line) { return reader.line(line); }));
  if (trace.facts.bytes == 0) {
    return input_error("{} is empty; write it again", path.string());
  }
  reader.end();
  if (std::ranges::all_of(trace.clocks, [](const auto& clock) { return clock.count == 0; })) {
    return input_error(
        "{} holds no record of a state, an event or a message; give a trace that holds some",
        path.string());
  }
  return trace;
}

Result<void> write_trace(const fs::path& to, const Trace& trace, std::span<const ClockMap> maps) {
  if (std::ranges::all_of(maps, [](const ClockMap& map) { return map.is_identity(); })) {
    return duplicate_file(trace.path, to);
  }
  TraceWriter writer(to, trace, maps);
  TRY(for_each_line_again(trace, [&](std::string_view line) { return writer.line(line); }));
  TRY_ASSIGN(json::TextWriter text, json::TextWriter::create(to, trace.facts.packing));
  TRY(writer.finish(text));
  return text.close();
}

}  // namespace entrain::paraver
