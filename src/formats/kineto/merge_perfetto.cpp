// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "base/file_mark.hpp"
#include "base/name_table.hpp"
#include "base/record_sorter.hpp"
#include "base/try.hpp"
#include "formats/json/strings.hpp"
#include "formats/kineto/merge_rank.hpp"
#include "formats/perfetto/packet_writer.hpp"
#include "formats/perfetto/track_writer.hpp"

namespace entrain::kineto {

namespace {

using perfetto::EventField;
using perfetto::InternedField;
using perfetto::PacketField;
using perfetto::ProcessField;
using perfetto::ThreadField;
using perfetto::TrackField;
using perfetto::TrackText;
using perfetto::TrackWriter;

constexpr std::size_t k_sorted_bytes = std::size_t{1} << 25;
constexpr std::size_t k_most_open_bytes = std::size_t{1} << 26;
constexpr std::size_t k_written_block = std::size_t{1} << 20;
constexpr std::uint64_t k_uuids_of_rank = std::uint64_t{1} << 32;
/// Numbers of processes and threads that are no number from 1 to this one: Perfetto takes 0 for
/// that of an idle processor, and knows 31 bits.
constexpr std::int32_t k_first_made_up = std::int32_t{1} << 30;

enum class RecordKind : std::uint8_t { slice, instant, counter, arrow_end, attribute };

/// A record of the sorter begins with this.
struct EventHead {
  std::int64_t begin = 0, end = 0;
  std::uint32_t track = 0, fields = 0;
  RecordKind kind = RecordKind::slice;
};

/// Appends a value to a message, as a field for numbers or one for texts.
template <class Field>
void add_fact(std::string& out, Field number, Field text,
              const std::variant<std::int64_t, std::string>& value) {
  if (const auto* const integer = std::get_if<std::int64_t>(&value)) {
    perfetto::add_integer(out, number, *integer);
  } else {
    perfetto::add_bytes(out, text, std::get<std::string>(value));
  }
}

void add_attribute(std::string& packet, std::string_view key,
                   const std::variant<std::int64_t, std::string>& value) {
  using perfetto::AttributeField;
  perfetto::add_message(packet, PacketField::trace_attributes, [&](std::string& all) {
    perfetto::add_message(all, perfetto::AttributesField::attribute, [&](std::string& one) {
      perfetto::add_bytes(one, AttributeField::key, key);
      add_fact(one, AttributeField::long_value, AttributeField::string_value, value);
    });
  });
}

class PerfettoRank final : public RankMerger {
 public:
  PerfettoRank(MergeShare& share, MergeUnit unit)
      : RankMerger(share, std::move(unit)),
        sorter_(share.plan.folder / fmt::format("events{}", unit_.number), k_sorted_bytes) {}

  Result<void> read() override {
    TRY(walk([this](const Placed& placed) { return take(placed); },
             [this](std::string_view key, std::string_view value) {
               return key == "traceEvents" ? Result<void>() : attribute(shown_text(key), value);
             }));
    return leave_open();
  }

  Result<void> write(const TextSink& sink) override {
    std::string out;
    perfetto::PacketWriter packets(out, unit_.number + 2, unit_.number + 1);
    packets.names([this](std::string& data) {
      const auto add = [&](InternedField table, const perfetto::InternedNames& names) {
        std::uint64_t number = 0;
        for (const std::string& name : names.all()) {
          perfetto::add_name(data, table, ++number, json::unescaped(name));
        }
      };
      add(InternedField::event_categories, categories_);
      add(InternedField::event_names, names_);
      add(InternedField::debug_annotation_names, notes_);
    });
    name_tracks();
    TrackWriter writer(packets, (unit_.number + 1) * k_uuids_of_rank, tracks_);
    TRY(sorter_.for_each([&](std::string_view record) -> Result<void> {
      EventHead head;
      std::memcpy(&head, record.data(), sizeof head);
      const std::string_view fields = record.substr(sizeof head, head.fields);
      const std::string_view more = record.substr(sizeof head + head.fields);
      switch (head.kind) {
        case RecordKind::slice:
          writer.slice(head.track, head.begin, head.end, fields, more);
          break;
        case RecordKind::instant:
          writer.instant(head.track, head.begin, fields);
          break;
        case RecordKind::counter:
          writer.counter(head.track, head.begin, fields);
          break;
        case RecordKind::arrow_end:
          writer.arrow_end(head.track, head.begin, fields, more);
          break;
        case RecordKind::attribute:
          packets.packet([&](std::string& packet) { packet += fields; });
          break;
      }
      if (out.size() < k_written_block) return {};
      TRY(sink(out));
      out.clear();
      return {};
    }));
    writer.finish();
    const TrackWriter::Counts& counts = writer.counts();
    processes = processes_.size();
    tracks = tracks_.size() - processes_.size();
    overlapping = counts.lanes;
    if (counts.cut > 0) unusual["slices_on_too_many_others"] += counts.cut;
    if (counts.slices != events.slices || counts.unfinished != events.unfinished ||
        counts.instants != events.instants || counts.counters != events.counters ||
        counts.arrow_ends != events.arrow_ends) {
      return fail(
          ErrorKind::internal,
          fmt::format(
              "{} was read and written with different numbers of events: please report this",
              unit_.name));
    }
    return sink(out);
  }

 private:
  /// A process or thread.
  struct Numbered {
    std::string number_text;  ///< "pid" or "tid" as written
    std::int32_t number = 0;
    std::uint32_t track = 0;
    std::uint32_t process = 0;  ///< of a thread: position in processes_
    std::string name{};
    std::optional<std::int32_t> place{};  ///< sort index
    std::vector<std::string> labels{};
  };
  /// A begin whose end is not known yet.
  struct Begun {
    std::uint32_t track = 0;
    std::int64_t time = 0;
    std::string fields;
    std::string name{};
    bool is_call = false;  ///< a collective kernel's
  };

  Result<void> take(const Placed& placed) {
    const EventText& event = placed.event;
    const auto track = [&] {
      return is_asynchronous(sort_of(event))
                 ? own_track(event, fmt::format("async {}", event.category),
                             std::string(event.name))
                 : track_of(event);
    };
    switch (count(placed)) {
      case EventSort::metadata:
        return metadata(event);
      case EventSort::slice:
        return slice(placed);
      case EventSort::begin:
      case EventSort::async_begin:
        begin(placed, track());
        return begun_bytes_ > k_most_open_bytes ? leave_open() : Result<void>();
      case EventSort::end:
      case EventSort::async_end:
        return end(placed);
      case EventSort::async_instant:
        return instant(placed, track());
      case EventSort::arrow:
        return arrow_end(placed);
      case EventSort::counter:
        return counter(placed);
      case EventSort::instant:
        return instant(placed, event.reach == "p" || event.reach == "g"
                                   ? processes_[process_of(event.process)].track
                                   : track_of(event));
      default:
        return odd(placed, placed.has_time ? track() : own_track(event, "none", "without a time"));
    }
  }
  Result<void> slice(const Placed& placed) {
    const EventText& event = placed.event;
    describe(event);
    more_.clear();
    if (is_collective_kernel(event)) {
      add_arrows(fields_, placed, false);
      if (event.has_length()) add_arrows(more_, placed, true);
    }
    if (is_endless(event)) return leave({track_of(event), placed.begin, fields_});
    return add({.begin = placed.begin, .end = placed.end, .track = track_of(event)}, more_);
  }
  void begin(const Placed& placed, std::uint32_t track) {
    describe(placed.event);
    const bool is_call = is_collective_kernel(placed.event);
    if (is_call) add_arrows(fields_, placed, false);
    begun_[pair_key(placed.event)].push_back(
        {track, placed.begin, fields_, std::string(placed.event.name), is_call});
    begun_bytes_ += sizeof(Begun) + fields_.size() + placed.event.name.size();
  }
  /// Ends the last begin that has the same key, which must exist.
  Result<void> end(const Placed& placed) {
    const auto open = begun_.find(pair_key(placed.event));
    const Begun begun = std::move(open->second.back());
    open->second.pop_back();
    if (open->second.empty()) begun_.erase(open);
    begun_bytes_ -= sizeof(Begun) + begun.fields.size() + begun.name.size();
    more_.clear();
    const EventText& event = placed.event;
    events.arguments += add_notes(more_, notes_, event.arguments);
    add_others(more_, event);
    if (!event.name.empty() && event.name != begun.name) {
      add_note(more_, notes_, "end_name", fmt::format("\"{}\"", event.name));
    }
    if (begun.is_call) add_arrows(more_, placed, true);
    fields_ = begun.fields;
    return add(
        {.begin = begun.time, .end = std::max(begun.time, placed.begin), .track = begun.track},
        more_);
  }
  Result<void> arrow_end(const Placed& placed) {
    const EventText& event = placed.event;
    const std::uint64_t before = events.arguments;
    describe(event);
    more_.clear();
    perfetto::add_fixed(
        more_, event.phase == "f" ? EventField::terminating_flow_ids : EventField::flow_ids,
        arrow_id(event));
    const bool is_named_alike = event.category == event.name;
    const std::string key = is_named_alike ? fmt::format("arrow {}", event.name)
                                           : fmt::format("arrow {} {}", event.category, event.name);
    add_note(more_, notes_, key, event.id2.empty() ? event.id : event.id2);
    // With arguments of its own it stays an event of its own.
    const bool can_join = events.arguments == before && event.others == 0 && event.scope.empty();
    fields_ += more_;
    return add({.begin = placed.begin, .track = track_of(event), .kind = RecordKind::arrow_end},
               can_join ? std::string_view(more_) : std::string_view());
  }
  Result<void> counter(const Placed& placed) {
    const EventText& event = placed.event;
    for (const Counted& value : values_) {
      const std::string name =
          fmt::format("{}{} {}", event.name,
                      event.id.empty() ? "" : fmt::format("[{}]", shown_text(event.id)), value.key);
      fields_.clear();
      add_name(fields_, categories_, EventField::category_iids, EventField::categories,
               event.category);
      add_others(fields_, event);
      if (value.integer) {
        perfetto::add_integer(fields_, EventField::counter_value, *value.integer);
      } else {
        perfetto::add_double(fields_, EventField::double_counter_value, value.number);
      }
      TRY(add({.begin = placed.begin,
               .track = own_track(event, "counter", name),
               .kind = RecordKind::counter}));
    }
    return {};
  }
  Result<void> instant(const Placed& placed, std::uint32_t track) {
    describe(placed.event);
    if (placed.event.reach == "g") add_note(fields_, notes_, "s", "\"g\"");
    return add({.begin = placed.begin, .track = track, .kind = RecordKind::instant});
  }
  /// An event that is kept as an instant, with all that it says.
  Result<void> odd(const Placed& placed, std::uint32_t track) {
    const EventText& event = placed.event;
    describe(event);
    add_note(fields_, notes_, "ph", fmt::format("\"{}\"", event.phase));
    if (!placed.has_time) {
      const std::string time = fmt::format("\"{}\"", stored_time(event)),
                        length = stored_length(event);
      if (event.has_time()) add_note(fields_, notes_, "ts", time);
      if (!length.empty()) add_note(fields_, notes_, "dur", fmt::format("\"{}\"", length));
    }
    return add({.begin = placed.has_time ? placed.begin : share_.first,
                .track = track,
                .kind = RecordKind::instant});
  }
  Result<void> metadata(const EventText& event) {
    const std::string_view arguments = event.arguments;
    const auto process = [&]() -> Numbered& { return processes_[process_of(event.process)]; };
    const auto thread = [&]() -> Numbered& {
      return threads_[thread_of(event.process, event.thread)];
    };
    const std::string name = json::unescaped(member(arguments, "name"));
    const auto place = parsed<std::int32_t>(member(arguments, "sort_index"));
    bool is_whole = true;  // names and places of processes and threads hold nothing else
    if (event.name == "process_name" && !name.empty()) {
      process().name = name;
    } else if (event.name == "process_labels") {
      process().labels.push_back(json::unescaped(member(arguments, "labels")));
    } else if (event.name == "process_sort_index" && place) {
      process().place = place;
    } else if (event.name == "thread_name" && !name.empty()) {
      thread().name = name;
    } else if (event.name == "thread_sort_index" && place) {
      thread().place = place;
    } else {
      is_whole = false;
    }
    if (is_whole && count_values(event) <= 1 && event.others == 0) return {};
    return attribute(fmt::format("{} (pid {}, tid {})", json::unescaped(event.name), event.process,
                                 event.thread),
                     event.others == 0 ? arguments : event.text);
  }
  /// A fact of the rank as an attribute of the trace.
  Result<void> attribute(const std::string& key, std::string_view value) {
    fields_.clear();
    add_attribute(fields_, fmt::format("{}.{}", unit_.name, key), shown_text(value));
    return add({.begin = std::numeric_limits<std::int64_t>::min(), .kind = RecordKind::attribute});
  }
  /// Takes all begins without an end as slices that do not end.
  Result<void> leave_open() {
    for (const auto& [key, all] : begun_) {
      for (const Begun& begun : all) TRY(leave(begun));
    }
    begun_.clear();
    begun_bytes_ = 0;
    count_unfinished();
    return {};
  }
  Result<void> leave(const Begun& begun) {
    fields_ = begun.fields;
    return add({.begin = begun.time, .end = TrackWriter::k_never, .track = begun.track});
  }

  Result<void> add(const EventHead& head, std::string_view more = {}) {
    EventHead whole = head;
    whole.fields = static_cast<std::uint32_t>(fields_.size());
    const std::string_view bytes(reinterpret_cast<const char*>(&whole), sizeof whole);
    const bool is_slice = head.kind == RecordKind::slice;
    return sorter_.add({head.begin, is_slice ? -head.end : 1}, {bytes, fields_, more});
  }

  void add_others(std::string& fields, const EventText& event) {
    for_each_other(event, [&](std::string_view key, std::string_view value) {
      add_note(fields, notes_, key, value);
    });
  }
  /// Starts the fields of an event with its category, name and arguments.
  void describe(const EventText& event) {
    fields_.clear();
    add_name(fields_, categories_, EventField::category_iids, EventField::categories,
             event.category);
    add_name(fields_, names_, EventField::name_iid, EventField::name, event.name);
    events.arguments += add_notes(fields_, notes_, event.arguments);
    add_others(fields_, event);
    if (sort_of(event) != EventSort::arrow) {  // which has a note of its own
      if (!event.id.empty()) add_note(fields_, notes_, "id", event.id);
      if (!event.id2.empty()) add_note(fields_, notes_, "id2", event.id2);
    }
    if (!event.scope.empty()) add_note(fields_, notes_, "scope", event.scope);
  }
  /// The arrows that are added to a kernel.
  void add_arrows(std::string& fields, const Placed& placed, bool arrive) {
    take_arrows(placed, arrive, [&](std::uint64_t id) {
      perfetto::add_fixed(fields, arrive ? EventField::terminating_flow_ids : EventField::flow_ids,
                          id);
    });
  }

  std::uint32_t new_track(std::uint32_t parent, bool is_scoped) {
    tracks_.push_back({.parent = parent, .is_scoped = is_scoped});
    return static_cast<std::uint32_t>(tracks_.size() - 1);
  }
  std::uint32_t process_of(std::string_view text) {
    const std::uint32_t number = process_numbers_.number(text);
    if (number < processes_.size()) return number;
    processes_.push_back({.number_text = std::string(text),
                          .number = number_of(text, next_process_),
                          .track = new_track(TrackText::k_none, true)});
    return number;
  }
  std::uint32_t thread_of(std::string_view process, std::string_view thread) {
    const std::uint32_t number = thread_numbers_({process, thread});
    if (number < threads_.size()) return number;
    const std::uint32_t around = process_of(process);
    threads_.push_back({.number_text = std::string(thread),
                        .number = number_of(thread, next_thread_),
                        .track = new_track(processes_[around].track, true),
                        .process = around});
    return number;
  }
  std::uint32_t track_of(const EventText& event) {
    return threads_[thread_of(event.process, event.thread)].track;
  }
  /// A track of a process for counters, asynchronous events and what has no time.
  std::uint32_t own_track(const EventText& event, std::string_view sort, const std::string& name) {
    const std::uint32_t process = process_of(event.process);
    const auto [at, is_new] =
        own_tracks_.try_emplace(fmt::format("{}\n{}\n{}", process, sort, name));
    if (!is_new) return at->second;
    at->second = new_track(processes_[process].track, false);
    tracks_[at->second].name = json::unescaped(name);
    if (sort == "counter") perfetto::add_bytes(tracks_[at->second].fields, TrackField::counter, "");
    return at->second;
  }
  static std::int32_t number_of(std::string_view text, std::int32_t& next) {
    const std::uint64_t number = whole_number(text);
    const bool is_plain = number > 0 && number < k_first_made_up && std::to_string(number) == text;
    return is_plain ? static_cast<std::int32_t>(number) : next++;
  }
  /// Gives processes and threads their descriptions, once all names are known.
  void name_tracks() {
    for (const Numbered& process : processes_) {
      TrackText& text = tracks_[process.track];
      const std::string own = process.name.empty()
                                  ? fmt::format("process {}", shown_text(process.number_text))
                                  : process.name;
      text.name = fmt::format("{}: {}", unit_.name, own);
      perfetto::add_message(text.fields, TrackField::process, [&](std::string& fields) {
        perfetto::add_integer(fields, ProcessField::pid, process.number);
        perfetto::add_bytes(fields, ProcessField::process_name, text.name);
        if (process.place) perfetto::add_integer(fields, ProcessField::sort_index, *process.place);
        for (const std::string& label : process.labels) {
          perfetto::add_bytes(fields, ProcessField::labels, label);
        }
      });
    }
    for (const Numbered& thread : threads_) {
      TrackText& text = tracks_[thread.track];
      text.name = !thread.name.empty() ? thread.name
                                       : fmt::format("thread {}", shown_text(thread.number_text));
      perfetto::add_message(text.fields, TrackField::thread, [&](std::string& fields) {
        perfetto::add_integer(fields, ThreadField::pid, processes_[thread.process].number);
        perfetto::add_integer(fields, ThreadField::tid, thread.number);
        if (thread.place) perfetto::add_integer(fields, ThreadField::sort_index, *thread.place);
        perfetto::add_bytes(fields, ThreadField::thread_name, text.name);
      });
    }
  }

  RecordSorter sorter_;
  perfetto::InternedNames categories_, names_, notes_;
  std::vector<TrackText> tracks_;
  std::vector<Numbered> processes_, threads_;
  NameTable process_numbers_;
  RowNumbers thread_numbers_;
  std::map<std::string, std::uint32_t> own_tracks_;  ///< tracks of counters and asynchronous events
  std::int32_t next_process_ = k_first_made_up, next_thread_ = k_first_made_up;
  std::map<std::string, std::vector<Begun>> begun_;
  std::size_t begun_bytes_ = 0;
  std::string fields_, more_;  ///< fields of the present event
};

/// Annotations of facts, with their names inside.
std::string notes_of(const formats::Attributes& attributes) {
  using perfetto::NoteField;
  std::string fields;
  for (const auto& one : attributes) {
    perfetto::add_message(fields, EventField::debug_annotations, [&](std::string& note) {
      perfetto::add_bytes(note, NoteField::name, one.first);
      add_fact(note, NoteField::int_value, NoteField::string_value, one.second);
    });
  }
  return fields;
}

std::string event_name(std::string_view name) {
  std::string fields;
  perfetto::add_bytes(fields, EventField::name, name);
  return fields;
}

}  // namespace

std::unique_ptr<RankMerger> perfetto_merger(MergeShare& share, MergeUnit unit) {
  return std::make_unique<PerfettoRank>(share, std::move(unit));
}

std::string perfetto_head(const MergeShare& share) {
  const formats::MergePlan& plan = share.plan;
  std::string out;
  perfetto::PacketWriter whole(out, 1);
  whole.mark(file_mark());
  for (const auto& one : plan.attributes) {
    whole.packet(
        [&](std::string& packet) { add_attribute(packet, "entrain." + one.first, one.second); });
  }
  // These times are those of the first rank, too: a machine of their own would be a rank.
  perfetto::PacketWriter packets(out, 1, 1);
  packets.names([](std::string&) {});
  // Track 0 is the group, 1 the verdict; of each clock two, what is known and what was added.
  std::vector<TrackText> tracks{{.name = "entrain"}, {.parent = 0, .name = "verdict"}};
  for (const formats::MergedClock& clock : plan.clocks) {
    tracks.push_back({.parent = 0, .name = clock.name});
    tracks.push_back({.parent = 0, .name = fmt::format("added to {} (ns)", clock.name)});
    perfetto::add_bytes(tracks.back().fields, TrackField::counter, "");
  }
  TrackWriter writer(packets, 1, tracks);
  writer.slice(1, share.first, share.last, event_name(plan.title) + notes_of(plan.attributes), {});
  std::uint32_t track = 2;
  for (const formats::MergedClock& clock : plan.clocks) {
    writer.slice(track, clock.map(clock.first),
                 std::max(clock.map(clock.first), clock.map(clock.last)),
                 event_name(clock.title) + notes_of(clock.attributes), {});
    for_each_knot(clock, [&](std::int64_t time, std::int64_t added) {
      std::string fields;
      perfetto::add_integer(fields, EventField::counter_value, added);
      writer.counter(track + 1, time, fields);
    });
    track += 2;
  }
  writer.finish();
  return out;
}

}  // namespace entrain::kineto
