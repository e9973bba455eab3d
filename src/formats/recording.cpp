// SPDX-License-Identifier: BSD-3-Clause
#include "formats/recording.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <type_traits>

#include <fmt/ranges.h>

#include "base/disjoint_sets.hpp"
#include "base/try.hpp"
#include "formats/given_trace.hpp"
#include "formats/json/document.hpp"
#include "formats/parts/part_file.hpp"
#include "formats/parts_of_run.hpp"
#include "formats/perfetto/packets.hpp"
#include "formats/rows.hpp"
#include "trace/workers.hpp"

namespace entrain::formats {

namespace fs = std::filesystem;

namespace {

/// A recording that was read again.
class RereadRecording : public Reread {
 public:
  explicit RereadRecording(std::unique_ptr<Recording> recording)
      : recording_(std::move(recording)) {}
  [[nodiscard]] const trace::LoadedTrace& loaded() const override { return nothing_; }
  [[nodiscard]] bool has_own_stamps() const override { return true; }
  [[nodiscard]] const Source* source() const override { return recording_.get(); }

 private:
  std::unique_ptr<Recording> recording_;
  trace::LoadedTrace nothing_;
};

/// What Recording::stage() has written; `Output`: OutputFolder or OutputFile.
template <class Output>
class StagedOutput : public Staged {
 public:
  StagedOutput(const Recording& recording, Output output, std::span<const ClockMap> maps)
      : recording_(recording), output_(std::move(output)), maps_(maps.begin(), maps.end()) {}

  [[nodiscard]] fs::path path() const override {
    if constexpr (std::is_same_v<Output, OutputFolder>) {
      return output_.target();
    } else {
      return output_.place();
    }
  }
  [[nodiscard]] std::uint64_t leftovers_removed() const override {
    return output_.leftovers_removed();
  }
  [[nodiscard]] Result<std::unique_ptr<Reread>> read_back(trace::Workers&, trace::LoadedTrace&,
                                                          bool, Progress*) const override {
    TRY_ASSIGN(std::unique_ptr<Recording> written, read());
    return std::make_unique<RereadRecording>(std::move(written));
  }
  [[nodiscard]] Result<void> commit(bool unproven) override { return output_.commit(unproven); }

 protected:
  /// Reads what was written.
  [[nodiscard]] virtual Result<std::unique_ptr<Recording>> read() const = 0;

  const Recording& recording_;
  Output output_;
  std::vector<ClockMap> maps_;
};

class StagedFolder : public StagedOutput<OutputFolder> {
 public:
  StagedFolder(const Recording& recording, OutputFolder folder, const LinkCounts& links,
               const WritePlan& plan)
      : StagedOutput(recording, std::move(folder), plan.maps), links_(links), mode_(plan.mode) {}

  [[nodiscard]] LinkCounts links() const override { return links_; }
  [[nodiscard]] Result<void> annotate(const Attributes& facts) const override {
    if (mode_ != WriteMode::overlay) return {};
    return recording_.annotate_overlay(output_.path(), facts);
  }

 private:
  [[nodiscard]] Result<std::unique_ptr<Recording>> read() const override {
    return recording_.read_back(output_.path(), maps_);
  }

  LinkCounts links_;
  WriteMode mode_;
};

/// A trace of one file.
class StagedFile : public StagedOutput<OutputFile> {
 public:
  using StagedOutput::StagedOutput;
  [[nodiscard]] Result<void> commit(bool unproven) override {
    TRY(output_.take(output_.workshop() / recording_.files.front().filename()));
    return output_.commit(unproven);
  }

 private:
  [[nodiscard]] Result<std::unique_ptr<Recording>> read() const override {
    return recording_.read_back(output_.workshop(), maps_);
  }
};

/// The text of the clocks of a run that was summarised: all maps, and what writing its files needs.
std::string clocks_text(const Recording& recording, std::span<const ClockMap> maps) {
  NamedKnots all;
  for (std::size_t c = 0; c < maps.size(); ++c) {
    const std::span<const ClockKnot> knots = maps[c].knots();
    all.emplace_back(recording.clocks.clocks[c].name,
                     std::vector<ClockKnot>(knots.begin(), knots.end()));
  }
  parts::FieldWriter fields;
  fields(recording.holds);
  visit_maps(fields, all);
  recording.pack_fitted(fields);
  return parts::file_text(parts::Kind::clocks, fields.take());
}

/// The clocks of a run that was summarised.
class StagedClocks : public StagedOutput<OutputFile> {
 public:
  using StagedOutput::StagedOutput;

 private:
  [[nodiscard]] Result<std::unique_ptr<Recording>> read() const override {
    return recording_.written_with(maps_);
  }
};

/// An encoding of files, and their names.
struct Encoding {
  std::string_view name;  ///< what Recording::format ends in
  const char* ending;
  bool (*is_name)(const fs::path& file);
};
constexpr std::array<Encoding, 4> k_encodings{{{"JSON", ".json", json::is_document_name},
                                               {"Perfetto", ".pftrace", perfetto::is_trace_name},
                                               {"CSV", ".csv", is_table_name},
                                               {"Protobuf", ".pb", is_message_name}}};

/// Refuses a name that tells of another encoding than the file has, which its copy keeps.
Result<void> check_encoding(std::string_view format, const fs::path& input,
                            const fs::path& output) {
  const auto plain = [](const fs::path& file) {
    return fs::path(json::without_packing(file.filename().string()));
  };
  const auto* const known = std::ranges::find_if(
      k_encodings, [&](const Encoding& one) { return format.ends_with(one.name); });
  if (known == k_encodings.end() || known->is_name(output) ||
      plain(input).extension() == plain(output).extension()) {
    return {};
  }
  return usage_error("the new file is {}, as the input is: let its name end in {}, not {}",
                     known->name, known->ending, plain(output).extension().string());
}

/// Refuses a name that tells of another packing than the file has, which its copy keeps.
Result<void> check_packing(const fs::path& input, const fs::path& output) {
  TRY_ASSIGN(const json::Packing packing, json::packing_of(input));
  const std::string name = output.filename().string();
  const std::string wanted = json::packed_name(name, packing);
  if (name == wanted) return {};
  return usage_error("the new file is packed as the input is: name it {}",
                     (output.parent_path() / wanted).string());
}

class RecordedEvents : public TimedEvents {
 public:
  RecordedEvents(const Recording& recording, EventTimes events)
      : recording_(recording), events_(std::move(events)) {
    resolution_hz = recording.clocks.resolution_hz;
    for (const trace::Location& location : formats::definitions_of(recording.clocks).locations) {
      const bool is_number = location.name == fmt::format("{}", location.id);
      locations.push_back({.id = location.id, .name = is_number ? "" : location.name});
    }
    for (std::size_t f = 0; f < recording.files.size(); ++f) {
      files.push_back({recording.files[f], events_.files[f]});
    }
    for (const std::vector<EventTime>& own : events_.of_clock) {
      for (const EventTime& event : own) cover(event.time(), event.time());
    }
  }

  [[nodiscard]] Result<LocationTimes> times(LocationIndex location) const override {
    LocationTimes result;
    for (const EventTime& event : events_.of_clock[location]) {
      result.times.push_back(event.time());
      result.communicates.push_back(event.communicates() ? 1 : 0);
    }
    return result;
  }
  [[nodiscard]] Result<std::vector<std::uint64_t>> event_hashes(std::size_t file) const override {
    return recording_.event_hashes(file);
  }

 private:
  const Recording& recording_;
  EventTimes events_;
};

/// Per clock: the smallest number of a clock that it is tied to by edges, directly or by way of
/// others.
std::vector<std::uint32_t> tied_groups(const Recording& recording) {
  DisjointSets sets(recording.clocks.clocks.size());
  const EdgeList& list = recording.list;
  for (std::size_t e = 0; e < list.cause_clock.size(); ++e) {
    sets.join(list.cause_clock[e], list.effect_clock[e]);
  }
  for (const CollectiveInstance& one : list.instances) {
    for (std::uint64_t m = 0; m < std::uint64_t{one.begins} + one.ends; ++m) {
      sets.join(list.members[one.first].clock, list.members[one.first + m].clock);
    }
  }
  return sets.all();
}

/// Names the clocks that no edge ties to most others.
void warn_of_untied_clocks(Recording& recording) {
  constexpr std::size_t k_most_names = 8;
  if (recording.list.cause_clock.empty() && recording.list.instances.empty()) return;
  const std::vector<std::uint32_t> group = tied_groups(recording);
  std::vector<std::size_t> size(group.size(), 0);
  for (const std::uint32_t g : group) ++size[g];
  const auto largest =
      static_cast<std::uint32_t>(std::max_element(size.begin(), size.end()) - size.begin());
  std::vector<std::string> names;
  for (std::size_t c = 0; c < group.size(); ++c) {
    const Clock& clock = recording.clocks.clocks[c];
    if (group[c] == largest || !clock.events) continue;
    // A host's clock is called by a number, its process "rank 2".
    names.push_back(clock.process.ends_with(clock.name) ? clock.process : clock.name);
  }
  if (names.empty()) return;
  const std::size_t more = names.size() - std::min(names.size(), k_most_names);
  names.resize(names.size() - more);
  recording.warnings.push_back(fmt::format(
      "nothing ties {}{} to the {} other clocks, so that the verdict says nothing of "
      "how far they are apart",
      fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "", size[largest]));
}

}  // namespace

Result<void> Recording::check_options(const CheckOptions& options) const {
  if (options.clock_domain != ClockDomain::automatic &&
      options.clock_domain != ClockDomain::location) {
    return usage_error(
        "--clock-domain of such a trace is auto or location: its files say which clock stamped "
        "what");
  }
  return {};
}

/// Files of one name from several folders would have one copy.
Result<void> Recording::check_writable(WriteMode mode, bool mark_offsets) const {
  if (!unwritable.empty()) return fail(ErrorKind::usage, unwritable);
  if (mode == WriteMode::overlay && !has_overlay) {
    return usage_error("--mode overlay needs an OTF2 archive, a training run or CTF traces");
  }
  if (mark_offsets && !has_marks) {
    return usage_error("--mark-offsets needs spans of services, in JSON or as Protobuf");
  }
  if (mode == WriteMode::overlay && mark_offsets) {
    return usage_error("--mark-offsets needs --mode rewrite: an overlay leaves files as they are");
  }
  std::map<fs::path, const fs::path*> names;
  for (const fs::path& file : files) {
    const auto [other, is_new] = names.emplace(file.filename(), &file);
    if (is_new) continue;
    return input_error(
        "{} and {} have one name, so that their copies cannot stand in one folder; rename one",
        other->second->string(), file.string());
  }
  return {};
}

void Recording::complete(CheckReport& report) const {
  report.archive = clocks.name;
  report.events = events;
  report.communication_events = calls;
  report.unmatched = unmatched;
  report.skipped = skipped;
  report.coverage = coverage;
  report.set_aside = set_aside;
  report.guesses = guesses;
  report.words = words;
}

Result<ArchiveInfo> Recording::describe(unsigned, Progress*) const {
  ArchiveInfo info;
  info.archive = clocks.name;
  info.format = format;
  info.locations = clocks.clocks.size();
  std::set<std::string> processes;
  for (const Clock& clock : clocks.clocks) {
    processes.insert(clock.process.empty() ? clock.name : clock.process);
  }
  info.processes = processes.size();
  info.events = events;
  info.event_bytes = bytes;
  info.communication_events = calls;
  info.groups = groups;
  info.communication = message_kinds;
  info.collectives = operations;
  info.resolution_hz = clocks.resolution_hz;
  bool any = false;
  for (const Clock& clock : clocks.clocks) {
    info.empty_locations += clock.events ? 0 : 1;
    if (!clock.events) continue;
    info.first_ticks = any ? std::min(info.first_ticks, clock.events->first) : clock.events->first;
    info.last_ticks = std::max(info.last_ticks, clock.events->last);
    any = true;
  }
  info.anomalies = anomalies;
  for (const Counters* counters : {&unmatched, &skipped}) {
    info.anomalies.insert(info.anomalies.end(), counters->begin(), counters->end());
  }
  info.notes = guesses;
  info.notes.insert(info.notes.end(), notes.begin(), notes.end());
  info.notes.insert(info.notes.end(), warnings.begin(), warnings.end());
  return info;
}

tl::unexpected<Error> has_changed(const fs::path& file, bool was_summarised) {
  return input_error(
      "{} has changed {}", file.string(),
      was_summarised
          ? "since it was summarised: summarise it, and fit the clocks of all parts again"
          : "while it was read");
}

tl::unexpected<Error> unknown_part(const fs::path& file) {
  return input_error(
      "the clocks were fitted without {}: summarise it, and fit the clocks of all parts again",
      file.string());
}

std::string names_of(std::span<const std::filesystem::path> files) {
  constexpr std::size_t k_most_named = 3;
  std::string names;
  for (const auto& file : files.first(std::min(files.size(), k_most_named))) {
    names += (names.empty() ? "" : ", ") + file.filename().string();
  }
  return files.size() > k_most_named ? names + ", ..." : names;
}

std::string note_of_ignored(std::span<const std::filesystem::path> files, const std::string& of,
                            const char* what) {
  const bool is_one = files.size() == 1;
  return fmt::format("{} of the files{} {} {} and {} left out: {}", files.size(), of,
                     is_one ? "holds" : "hold", what, is_one ? "is" : "are", names_of(files));
}

bool is_table_name(const fs::path& file) { return json::is_named(file, {".csv"}); }

bool is_message_name(const fs::path& file) {
  return json::is_named(file, {".pb", ".binpb", ".otlp"});
}

bool is_file_name(const fs::path& output) {
  return std::ranges::any_of(k_encodings, [&](const Encoding& one) { return one.is_name(output); });
}

Result<std::unique_ptr<Staged>> Recording::stage_file(const WritePlan& plan,
                                                      const fs::path& output) const {
  TRY(check_encoding(format, files.front(), output));
  TRY(check_packing(files.front(), output));
  TRY_ASSIGN(OutputFile file, OutputFile::create(output, plan.rule));
  std::error_code error;
  if (!fs::create_directory(file.workshop(), error)) {
    return output_error("cannot write {}: its folder takes no new file", output.string());
  }
  TRY(plan.mark_offsets ? write_marked(file.workshop(), plan.maps)
                        : write(file.workshop(), plan.maps));
  return std::make_unique<StagedFile>(*this, std::move(file), plan.maps);
}

Result<std::unique_ptr<Staged>> Recording::stage(const WritePlan& plan,
                                                 const fs::path& output) const {
  if (written_with) {
    TRY_ASSIGN(OutputFile file, OutputFile::create(output, plan.rule));
    TRY(file.write(clocks_text(*this, plan.maps)));
    return std::make_unique<StagedClocks>(*this, std::move(file), plan.maps);
  }
  if (is_one_file && plan.mode == WriteMode::rewrite && is_file_name(output)) {
    return stage_file(plan, output);
  }
  TRY_ASSIGN(OutputFolder folder, OutputFolder::create(output, plan.rule));
  LinkCounts links{};
  if (plan.mode == WriteMode::overlay) {
    TRY_ASSIGN(links, write_overlay(folder.path(), folder.target(), plan.maps, plan.link));
  } else {
    TRY(plan.mark_offsets ? write_marked(folder.path(), plan.maps)
                          : write(folder.path(), plan.maps));
  }
  return std::make_unique<StagedFolder>(*this, std::move(folder), links, plan);
}

Result<std::unique_ptr<TimedEvents>> Recording::timed_events(bool raw, unsigned, Progress*) const {
  if (raw) {
    return usage_error(
        "--raw needs OTF2 archives; times of other traces are always taken as stored");
  }
  TRY_ASSIGN(EventTimes times, event_times());
  return std::make_unique<RecordedEvents>(*this, std::move(times));
}

Result<std::shared_ptr<const Rows>> Recording::rows(const trace::Trace& trace,
                                                    const WorkFilter& is_wanted) const {
  return Rows::read(*this, trace, is_wanted);
}

void Recording::set_refuted_aside(std::uint64_t dropped, std::uint64_t total,
                                  std::string_view what) {
  if (dropped == 0) return;
  set_aside.push_back(
      {.kind = "refuted",
       .clock = "",
       .records = dropped,
       .total = total,
       .is_decisive = true,
       .reason = fmt::format("{} of {} pairs of {} contradict the records that they "
                             "are of, and were left out: please report this as a "
                             "fault of entrain",
                             dropped, total, what)});
}

void Recording::warn_of_cut(const std::filesystem::path& file) {
  warnings.push_back(fmt::format("{} ends inside a record: what stands before the cut counts",
                                 file.filename().string()));
}

void Recording::finish(std::chrono::steady_clock::time_point begin,
                       std::span<const std::string> more_notes) {
  read_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  trace::MemoryLimit::set_aside_what_is_read();
  notes.insert(notes.end(), more_notes.begin(), more_notes.end());
  warn_of_untied_clocks(*this);
}

}  // namespace entrain::formats
