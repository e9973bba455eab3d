// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/try.hpp"
#include "formats/perfetto/walk.hpp"

namespace entrain::perfetto {
namespace {

/// A slice that has begun on a track in order of time.
struct OpenSlice {
  std::int64_t time = 0;
  std::string texts;  ///< category, name and arguments
  std::size_t name_at = 0, arguments_at = 0;
};

/// Slices of a track, one inside the other. Strings that were used stay, to be used again.
struct Lane {
  std::vector<OpenSlice> slices;
  std::size_t depth = 0;
};

/// A value of a counter, which is the sum of both.
struct Counted {
  std::uint64_t whole = 0;  ///< modulo 2^64
  double real = 0;
};

/// A track of a counter.
struct Counter {
  std::string name;
  std::uint32_t machine = 0, sequence = 0;  ///< those of its descriptor
  std::int64_t unit = 1;                    ///< factor of its values
  bool is_incremental = false;              ///< its values are differences
  Counted sum{};                            ///< sum of these
};

class EventReader {
 public:
  EventReader(const std::filesystem::path& path, Survey& survey, const Sinks& sinks)
      : state(path, true), survey_(survey), sinks_(sinks) {}

  Result<void> take(const Step& step) {
    const Packet& packet = step.packet;
    if (packet.clears_state) clear_sums(packet);
    if (sinks_.attribute && !packet.attributes.empty()) TRY(see_attributes(packet.attributes));
    if (!survey_.is_complete && !packet.descriptor.empty()) {
      const std::size_t before = survey_.tracks.size();
      survey_.tracks.describe(packet.descriptor, packet.machine);
      if (survey_.tracks.is_late()) return misread();
      if (survey_.tracks.size() > before) TRY(state.keep(k_track_memory));
    }
    if (sinks_.wants_names && !packet.descriptor.empty()) TRY(see_names(packet));
    if (!step.time) return {};
    if (packet.is_event()) TRY(take_event(packet, *step.time));
    if (packet.is_stage()) TRY(take_stage(packet, *step.time));
    return {};
  }

  /// Hands out the slices that did not end.
  Result<void> finish() {
    for (std::uint32_t track = 0; track < lanes_.size(); ++track) {
      const Lane& lane = lanes_[track];
      for (std::size_t i = 0; i < lane.depth; ++i) TRY(sinks_.see(event_of(lane.slices[i], track)));
    }
    return {};
  }

  State state;
  bool is_misread = false;                         ///< the error that ended the reading means this
  std::uint64_t lone_ends = 0, unread_fields = 0;  ///< see TraceFacts

 private:
  struct Flow {
    std::uint64_t id = 0;
    char phase = 's';
  };

  tl::unexpected<Error> misread() {
    is_misread = true;
    return input_error("");
  }

  Result<void> see_attributes(std::string_view attributes) {
    Result<void> result;
    for_each_field<AttributesField>(attributes, [&](AttributesField field, const Value& one) {
      if (field != AttributesField::attribute || !result) return;
      name_.clear();
      scratch_ = "null";
      for_each_field<AttributeField>(one.bytes, [&](AttributeField part, const Value& value) {
        if (part == AttributeField::key) escape(value.bytes, name_);
        if (part == AttributeField::long_value) scratch_ = fmt::format("{}", value.integer());
        if (part != AttributeField::string_value) return;
        scratch_ = '"';
        escape(value.bytes, scratch_);
        scratch_ += '"';
      });
      result = sinks_.attribute(name_, scratch_);
    });
    return result;
  }

  /// Incremental counters of a sequence begin again where its state is cleared.
  void clear_sums(const Packet& packet) {
    for (auto& [track, counter] : counters_) {
      const bool is_own = counter.machine == packet.machine && counter.sequence == packet.sequence;
      if (is_own) counter.sum = {};
    }
  }

  Result<void> describe_counter(Counter& counter, std::string_view name, std::string_view fields,
                                const Packet& packet) {
    counter.name.clear();
    escape(name, counter.name);
    counter.machine = packet.machine;
    counter.sequence = packet.sequence;
    for_each_field<CounterField>(fields, [&](CounterField field, const Value& value) {
      if (field == CounterField::unit_multiplier) counter.unit = value.integer();
      if (field == CounterField::is_incremental) counter.is_incremental = value.number != 0;
    });
    return state.keep(name.size() + sizeof counter);
  }

  /// The value of a counter as JSON; null for what is no number.
  std::string counted_text(Counted value, std::uint32_t track) {
    if (const auto known = counters_.find(track); known != counters_.end()) {
      Counter& counter = known->second;
      value.whole *= static_cast<std::uint64_t>(counter.unit);
      value.real *= static_cast<double>(counter.unit);
      if (counter.is_incremental) {
        value.whole = counter.sum.whole += value.whole;
        value.real = counter.sum.real += value.real;
      }
    }
    const auto whole = static_cast<std::int64_t>(value.whole);
    if (value.real == 0) return fmt::format("{}", whole);
    const double sum = static_cast<double>(whole) + value.real;
    return std::isfinite(sum) ? fmt::format("{}", sum) : "null";
  }

  /// Hands out the names and places of a process, a thread or another track.
  Result<void> see_names(const Packet& packet) {
    std::uint64_t uuid = 0;
    std::string_view own, process, thread, counter;
    for_each_field<TrackField>(packet.descriptor, [&](TrackField field, const Value& value) {
      if (field == TrackField::uuid) uuid = value.number;
      if (field == TrackField::name || field == TrackField::static_name) own = value.bytes;
      if (field == TrackField::process) process = value.bytes;
      if (field == TrackField::thread) thread = value.bytes;
      if (field == TrackField::counter) counter = value.bytes;
    });
    TRY_ASSIGN(const std::uint32_t track, track_of({uuid, packet.machine}));
    if (track == Tracks::k_none) return {};
    if (counter.data() != nullptr) {
      return describe_counter(counters_[track], own, counter, packet);
    }
    Result<void> result;
    const auto tell = [&](std::string_view what, std::string_view key, std::string_view value) {
      if (!result) return;
      arguments_ = "{";
      add_text(key, value, arguments_);
      result = see_metadata(what, track);
    };
    const auto place = [&](std::string_view what, const Value& value) {
      if (!result) return;
      arguments_ = fmt::format(R"({{"sort_index": {})", static_cast<std::int32_t>(value.number));
      result = see_metadata(what, track);
    };
    std::string_view process_name = process.data() != nullptr ? own : std::string_view();
    for_each_field<ProcessField>(process, [&](ProcessField field, const Value& value) {
      if (field == ProcessField::process_name) process_name = value.bytes;
      if (field == ProcessField::labels) tell("process_labels", "labels", value.bytes);
      if (field == ProcessField::sort_index) place("process_sort_index", value);
    });
    if (!process_name.empty()) tell("process_name", "name", process_name);
    for_each_field<ThreadField>(thread, [&](ThreadField field, const Value& value) {
      if (field == ThreadField::thread_name) own = value.bytes;
      if (field == ThreadField::sort_index) place("thread_sort_index", value);
    });
    if (!own.empty() && survey_.tracks.has_own_row(track)) tell("thread_name", "name", own);
    return result;
  }

  Result<void> see_metadata(std::string_view what, std::uint32_t track) {
    arguments_ += '}';
    const std::uint32_t row = survey_.tracks[track].row;
    return sinks_.see({.phase = 'M', .name = what, .arguments = arguments_, .row = row});
  }

  /// The track of an event. k_none: the file has changed, as its hash will tell.
  Result<std::uint32_t> track_of(const TrackKey& key) {
    Tracks& tracks = survey_.tracks;
    if (last_ != Tracks::k_none && tracks[last_].key == key) return last_;
    last_ = tracks.find(key);
    if (last_ == Tracks::k_none && !survey_.is_complete) {
      TRY(state.keep(k_track_memory));
      last_ = tracks.add(key);
    }
    if (last_ != Tracks::k_none) tracks.row_of(last_);
    if (lanes_.size() < tracks.size()) lanes_.resize(tracks.size());
    return last_;
  }

  [[nodiscard]] Event event_of(const OpenSlice& slice, std::uint32_t track) const {
    const std::string_view texts = slice.texts, arguments = texts.substr(slice.arguments_at);
    return {.phase = 'B',
            .category = texts.substr(0, slice.name_at),
            .name = texts.substr(slice.name_at, slice.arguments_at - slice.name_at),
            .arguments = arguments.empty() ? std::string_view() : arguments,
            .row = survey_.tracks[track].row,
            .time = slice.time};
  }

  /// Reads an event in one go: its head, its names and flows. Its arguments are read later, if at
  /// all.
  EventHead read(std::string_view bytes, Event& event) {
    constexpr std::size_t k_most_categories = std::size_t{1} << 16;  // bytes
    notes_.clear();
    flows_.clear();
    extra_.clear();
    scratch_.clear();
    counted_.reset();
    EventHead head;
    head.track = state.defaults().track;
    std::size_t categories = 0;
    const auto add_category = [&](std::string_view name, bool is_escaped) {
      is_escaped |= is_plain(name);
      if (++categories == 1 && is_escaped) {
        event.category = name;
        return;
      }
      if (scratch_.size() > k_most_categories) return;
      if (categories > 1 && scratch_.empty()) scratch_ = event.category;
      if (categories > 1) scratch_ += ',';
      is_escaped ? scratch_ += name : (escape(name, scratch_), scratch_);
      event.category = scratch_;
    };
    const auto add_extra = [&](bool is_double, const Value& value, bool is_value) {
      if (extra_.empty()) extra_ = {{}, {.are_doubles = true, .tracks = {}, .values = {}}};
      ExtraCounters& counters = extra_[is_double ? 1 : 0];
      for_each_number(value, is_double && is_value, [&](std::uint64_t one) {
        (is_value ? counters.values : counters.tracks).add(one);
      });
    };
    const auto add_flows = [&](const Value& value, bool is_fixed, char phase) {
      for_each_number(value, is_fixed, [&](std::uint64_t id) { flows_.push_back({id, phase}); });
    };
    for_each_field<EventField>(bytes, [&](EventField field, const Value& value) {
      switch (field) {
        case EventField::type:
          head.type = static_cast<std::int32_t>(value.number);
          break;
        case EventField::track_uuid:
          head.track = value.number;
          break;
        case EventField::legacy_event:
          head.legacy = value;
          break;
        case EventField::category_iids:
          for_each_number(value, false, [&](std::uint64_t iid) {
            add_category(state.name(Names::category, iid), true);
          });
          break;
        case EventField::categories:
          add_category(value.bytes, false);
          break;
        case EventField::name_iid:
          event.name = state.name(Names::event, value.number);
          break;
        case EventField::name:
          event.name = escaped(value.bytes, name_);
          break;
        case EventField::debug_annotations:
          if (notes_.size() < k_most_annotations) notes_.push_back(value.bytes);
          break;
        case EventField::counter_value:
          counted_ = {.whole = value.number};
          break;
        case EventField::double_counter_value:
          counted_ = {.real = value.real()};
          break;
        case EventField::extra_counter_track_uuids:
        case EventField::extra_double_counter_track_uuids:
          add_extra(field == EventField::extra_double_counter_track_uuids, value, false);
          break;
        case EventField::extra_counter_values:
        case EventField::extra_double_counter_values:
          add_extra(field == EventField::extra_double_counter_values, value, true);
          break;
        case EventField::flow_ids:
          add_flows(value, true, 's');
          break;
        case EventField::flow_ids_old:
          add_flows(value, false, 's');
          break;
        case EventField::terminating_flow_ids:
          add_flows(value, true, 'f');
          break;
        case EventField::terminating_flow_ids_old:
          add_flows(value, false, 'f');
          break;
        default:
          ++unread_fields;
          break;
      }
    });
    set_phase(head);
    if (head.legacy.bytes.data() != nullptr) read_legacy(head.legacy.bytes, event);
    event.phase = head.phase;
    return head;
  }

  /// The text itself if it needs no escapes, else a view of `to`.
  static std::string_view escaped(std::string_view text, std::string& to) {
    if (is_plain(text)) return text;
    to.clear();
    escape(text, to);
    return to;
  }

  /// Sets the arguments of an event, which was read last, if those of `of` are wanted.
  void read_arguments(Event& event, const Event& of) {
    if (notes_.empty() || (sinks_.wants_arguments && !sinks_.wants_arguments(of))) return;
    arguments_ = "{";
    for (const std::string_view note : notes_) add_annotation(note, state, arguments_);
    arguments_ += '}';
    event.arguments = arguments_;
  }

  /// Reads what the older form of events has besides.
  void read_legacy(std::string_view bytes, Event& event) {
    std::uint64_t bind = 0, direction = 0;
    bool is_bound = false;
    for_each_field<LegacyField>(bytes, [&](LegacyField field, const Value& value) {
      using enum LegacyField;
      if (field == name_iid && event.name.empty()) {
        event.name = state.name(Names::event, value.number);
      }
      if (field == unscoped_id || field == global_id || field == local_id) {
        event.id = number_text(value.number, id_);
        event.is_local_id = field == local_id;
      }
      if (field == bind_id) bind = value.number;
      is_bound |= field == bind_id;
      if (field == flow_direction) direction = value.number;
    });
    constexpr std::string_view k_phases = "-fst";  // by direction: none, into, out of, through
    if (is_bound && direction > 0 && direction < k_phases.size()) {
      flows_.push_back({bind, k_phases[direction]});
    }
  }

  using NumberText = std::array<char, std::numeric_limits<std::uint64_t>::digits10 + 2>;
  static std::string_view number_text(std::uint64_t number, NumberText& text) {
    const auto result = std::to_chars(text.data(), text.data() + text.size(), number);
    return {text.data(), static_cast<std::size_t>(result.ptr - text.data())};
  }

  Result<void> see_flows(const Event& event) {
    for (const Flow& flow : flows_) {
      NumberText text{};
      TRY(sinks_.see({.phase = flow.phase,
                      .name = "flow",
                      .id = number_text(flow.id, text),
                      .row = event.row,
                      .time = event.time}));
    }
    return {};
  }

  Result<void> take_event(const Packet& packet, std::int64_t time) {
    Event event;
    const EventHead head = read(packet.event, event);
    for (const ExtraCounters& counters : extra_) TRY(see_extra(counters, packet.machine, time));
    TRY_ASSIGN(const std::uint32_t number, track_of({head.track, packet.machine}));
    if (number == Tracks::k_none) return {};
    Tracks::Track& track = survey_.tracks[number];
    event.row = track.row;
    event.time = time;
    if (!flows_.empty()) TRY(see_flows(event));
    const bool is_slice = event.phase == 'B' || event.phase == 'E';
    if (is_slice && !survey_.is_complete) {
      if (time < track.latest) return misread();
      track.latest = time;
    }
    if (event.phase == 'E') return end(event, number);
    if (event.phase == 'X') {
      event.length = static_cast<std::int64_t>(head.duration_us.number * 1000);
    }
    read_arguments(event, event);
    if (event.phase == 'C' && counted_) count(*counted_, number, event);
    return event.phase == 'B' ? begin(event, number) : sinks_.see(event);
  }

  /// Sets the value of a counter, and its name if the event has none.
  void count(Counted value, std::uint32_t track, Event& event) {
    arguments_ = fmt::format(R"({{"value": {}}})", counted_text(value, track));
    event.arguments = arguments_;
    const auto known = counters_.find(track);
    if (event.name.empty() && known != counters_.end()) event.name = known->second.name;
  }

  /// Hands out values of other counters that an event has; the tracks may be those of the sequence.
  Result<void> see_extra(const ExtraCounters& counters, std::uint32_t machine, std::int64_t time) {
    const FewNumbers tracks = counters.tracks.size() > 0
                                  ? counters.tracks
                                  : state.defaults().counters[counters.are_doubles ? 1 : 0];
    for (std::size_t i = 0; i < counters.values.size(); ++i) {
      std::uint32_t number = Tracks::k_none;
      if (i < tracks.size()) {
        TRY_ASSIGN(number, track_of({tracks[i], machine}));
      }
      if (number == Tracks::k_none) {
        ++unread_fields;
        continue;
      }
      const std::uint64_t value = counters.values[i];
      Event event{.phase = 'C', .row = survey_.tracks[number].row, .time = time};
      count(counters.are_doubles ? Counted{.real = std::bit_cast<double>(value)}
                                 : Counted{.whole = value},
            number, event);
      TRY(sinks_.see(event));
    }
    return {};
  }

  Result<void> begin(Event& event, std::uint32_t track) {
    if (survey_.tracks[track].is_disordered) {
      const std::size_t slice = slice_++;
      const std::int64_t end = slice < survey_.ends.size() ? survey_.ends[slice] : Survey::k_no_end;
      if (end != Survey::k_no_end) set_end(event, end);
      return sinks_.see(event);
    }
    Lane& lane = lanes_[track];
    if (lane.depth == lane.slices.size()) {
      lane.slices.emplace_back();
      TRY(state.keep(sizeof(OpenSlice)));
    }
    OpenSlice& slice = lane.slices[lane.depth++];
    slice.time = event.time;
    const std::size_t room = slice.texts.capacity();
    slice.texts = event.category;
    slice.name_at = slice.texts.size();
    slice.texts += event.name;
    slice.arguments_at = slice.texts.size();
    slice.texts += event.arguments;
    return slice.texts.capacity() > room ? state.keep(slice.texts.capacity() - room)
                                         : Result<void>{};
  }

  static void set_end(Event& event, std::int64_t end) {
    event.phase = 'X';
    event.length = 0;
    if (__builtin_sub_overflow(end, event.time, &event.length)) event.length = INT64_MAX;
  }

  /// Arguments at the end of a slice are added to those at its begin.
  Result<void> end(Event& event, std::uint32_t track) {
    Lane& lane = lanes_[track];
    if (survey_.tracks[track].is_disordered) return {};
    if (lane.depth == 0) return void(++lone_ends), Result<void>();
    const OpenSlice& slice = lane.slices[--lane.depth];
    Event whole = event_of(slice, track);
    set_end(whole, event.time);
    read_arguments(event, whole);
    if (whole.arguments.empty()) {
      whole.arguments = event.arguments;
    } else if (event.arguments.size() > 2) {
      scratch_ = whole.arguments.substr(0, whole.arguments.size() - 1);
      scratch_ += whole.arguments.size() > 2 ? ", " : "";
      scratch_ += event.arguments.substr(1);
      whole.arguments = scratch_;
    }
    return sinks_.see(whole);
  }

  /// Work of a device, which has its duration.
  Result<void> take_stage(const Packet& packet, std::int64_t time) {
    const std::string_view stage = packet.stage;
    TRY_ASSIGN(const std::uint32_t track, track_of(queue_of(stage, packet.machine)));
    if (track == Tracks::k_none) return {};
    Event event{.phase = 'X', .row = survey_.tracks[track].row, .time = time};
    std::uint64_t id = 0, queue = 0;
    arguments_ = "{";
    for_each_field<StageField>(stage, [&](StageField field, const Value& value) {
      using enum StageField;
      if (field == event_id) id = value.number;
      if (field == duration) event.length = value.integer();
      if (field == hw_queue_iid) queue = value.number;
      if (field == stage_iid) event.category = state.name(Names::stage, value.number);
      if (field == name_iid) event.name = state.name(Names::event, value.number);
      if (field == name) event.name = escaped(value.bytes, name_);
      if (field == extra_data) add_extra(value.bytes);
    });
    // Readers take the first value of a name: these count where nothing else is told.
    NumberText text{};
    if (id != 0) add_text("correlation", number_text(id, text), arguments_);
    constexpr std::string_view k_stream = "stream ";  // PyTorch's queues are named so
    std::string_view queue_name = state.name(Names::stage, queue);
    if (queue_name.starts_with(k_stream)) queue_name.remove_prefix(k_stream.size());
    if (!queue_name.empty()) add_text("stream", queue_name, arguments_);
    arguments_ += '}';
    event.arguments = arguments_;
    if (event.length < 0) event.phase = 'i';
    if (event.name.empty()) event.name = event.category;
    return sinks_.see(event);
  }

  void add_extra(std::string_view extra) {
    std::string_view name, text;
    for_each_field<ExtraField>(extra, [&](ExtraField field, const Value& value) {
      (field == ExtraField::name ? name : text) = value.bytes;
    });
    add_text(name, text, arguments_);
  }

  Survey& survey_;
  const Sinks& sinks_;
  std::map<std::uint32_t, Counter> counters_;  ///< key: track
  std::vector<Lane> lanes_;
  std::uint32_t last_ = Tracks::k_none;  ///< track of the last event
  std::size_t slice_ = 0;                ///< number of slices on disordered tracks
  std::string arguments_, name_, scratch_;
  std::optional<Counted> counted_;  ///< value of a counter
  NumberText id_{};
  std::vector<Flow> flows_;
  std::vector<ExtraCounters> extra_;     ///< integers and doubles, if the event has any
  std::vector<std::string_view> notes_;  ///< annotations of the last event
};

}  // namespace

Result<TraceFacts> read_events(const std::filesystem::path& path, std::uint64_t max_unpacked,
                               Survey& survey, const Sinks& sinks) {
  EventReader reader(path, survey, sinks);
  const auto take = [&](const Step& step) { return reader.take(step); };
  Result<TraceFacts> facts = walk(path, max_unpacked, reader.state, take);
  if (reader.is_misread) return TraceFacts{.is_misread = true};
  if (facts) {
    TRY(reader.finish());
    facts->lone_ends = reader.lone_ends + survey.lone_ends;
    facts->unread_fields = reader.unread_fields;
  }
  survey.is_complete = true;
  return facts;
}

}  // namespace entrain::perfetto
