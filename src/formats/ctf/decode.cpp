// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text_hash.hpp"
#include "formats/ctf/wire.hpp"

#ifdef ENTRAIN_HAS_BABELTRACE2
#include <babeltrace2/babeltrace.h>
#endif

namespace entrain::ctf {

namespace fs = std::filesystem;

namespace {

#ifdef ENTRAIN_HAS_BABELTRACE2

constexpr std::uint64_t k_latest_time = std::uint64_t{1} << 62;
constexpr std::uint64_t k_most_open = 200;  ///< streams of a graph, each of which opens a file

using Values = parts::FieldWriter;

Key key_of(Values& values) {
  const std::string bytes = values.take();
  return {text_hash(bytes), fnv1a(bytes)};
}

/// The field inside of variants.
const bt_field* inside(const bt_field* field) {
  while (field != nullptr &&
         bt_field_class_type_is(bt_field_get_class_type(field), BT_FIELD_CLASS_TYPE_VARIANT) != 0) {
    field = bt_field_variant_borrow_selected_option_field_const(field);
  }
  return field;
}

/// Adds all values of a field, as numbers of any width and texts.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the fields of the trace
void add_field(const bt_field* outer, Values& values) {
  const bt_field* const field = inside(outer);
  if (field == nullptr) return values(std::uint64_t{1});
  const bt_field_class_type type = bt_field_get_class_type(field);
  const auto is = [&](bt_field_class_type kind) { return bt_field_class_type_is(type, kind) != 0; };
  if (is(BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER)) {
    values(bt_field_integer_unsigned_get_value(field));
  } else if (is(BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)) {
    values(static_cast<std::uint64_t>(bt_field_integer_signed_get_value(field)));
  } else if (is(BT_FIELD_CLASS_TYPE_STRING)) {
    values(std::string(bt_field_string_get_value(field), bt_field_string_get_length(field)));
  } else if (is(BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL)) {
    values(std::bit_cast<std::uint32_t>(bt_field_real_single_precision_get_value(field)));
  } else if (is(BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL)) {
    values(std::bit_cast<std::uint64_t>(bt_field_real_double_precision_get_value(field)));
  } else if (is(BT_FIELD_CLASS_TYPE_STRUCTURE)) {
    const bt_field_class* const members = bt_field_borrow_class_const(field);
    for (std::uint64_t i = 0; i < bt_field_class_structure_get_member_count(members); ++i) {
      add_field(bt_field_structure_borrow_member_field_by_index_const(field, i), values);
    }
  } else if (is(BT_FIELD_CLASS_TYPE_ARRAY)) {
    const std::uint64_t length = bt_field_array_get_length(field);
    values(length);
    for (std::uint64_t i = 0; i < length; ++i) {
      add_field(bt_field_array_borrow_element_field_by_index_const(field, i), values);
    }
  }
}

/// A field of the event, or else of its contexts (thread, process).
const bt_field* find(const bt_event* event, const FieldPath& path) {
  for (const bt_field* field : {bt_event_borrow_payload_field_const(event),
                                bt_event_borrow_specific_context_field_const(event),
                                bt_event_borrow_common_context_field_const(event)}) {
    for (const std::string& name : path) {
      if (field == nullptr || bt_field_get_class_type(field) != BT_FIELD_CLASS_TYPE_STRUCTURE) {
        field = nullptr;
        break;
      }
      field = inside(bt_field_structure_borrow_member_field_by_name_const(field, name.c_str()));
    }
    if (field != nullptr) return field;
  }
  return nullptr;
}

/// The first cause of the library's error, which is the deepest one, as a part of a sentence.
std::string reason_of_library() {
  const bt_error* const error = bt_current_thread_take_error();
  if (error == nullptr) return "it does not say why";
  std::string reason = bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0));
  bt_error_release(error);
  std::ranges::replace(reason, '\n', ' ');
  while (reason.ends_with('.') || reason.ends_with(' ')) reason.pop_back();
  return reason;
}

/// The sink of all streams of a trace.
class Sink {
 public:
  Sink(std::span<const Rule> rules, bool all, const SendRecord& to)
      : rules_(rules), all_(all), to_(to) {}

  TraceFacts facts;

  /// Takes all messages of a stream at once.
  static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator* stream,
                                                                    void* sink) {
    for (;;) {
      bt_message_array_const messages = nullptr;
      std::uint64_t count = 0;
      const auto status = bt_message_iterator_next(stream, &messages, &count);
      if (status == BT_MESSAGE_ITERATOR_NEXT_STATUS_END) {
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
      }
      if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_OK) {
        return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
      }
      for (std::uint64_t i = 0; i < count; ++i) {
        static_cast<Sink*>(sink)->take(messages[i]);
        bt_message_put_ref(messages[i]);
      }
    }
  }

 private:
  /// A class of events, and the rules whose sends and receives they may be.
  struct KnownClass {
    std::string name;
    std::vector<std::pair<std::uint32_t, bool>> ends;
  };

  void take(const bt_message* message) {
    const bt_message_type type = bt_message_get_type(message);
    if (type == BT_MESSAGE_TYPE_EVENT) {
      take_event(message);
    } else if (type == BT_MESSAGE_TYPE_STREAM_BEGINNING) {
      take_stream(bt_message_stream_beginning_borrow_stream_const(message));
    } else if (type == BT_MESSAGE_TYPE_DISCARDED_EVENTS) {
      std::uint64_t count = 1;
      bt_message_discarded_events_get_count(message, &count);
      facts.discarded += count;
    }
  }

  void take_stream(const bt_stream* stream) {
    const char* const path = bt_stream_get_name(stream);
    stream_ =
        path != nullptr ? fs::path(path).filename().string() : fmt::format("stream {}", streams_);
    ++streams_;
    classes_.clear();  // those of another graph are gone
    const bt_value* const host = bt_trace_borrow_environment_entry_value_by_name_const(
        bt_stream_borrow_trace_const(stream), "hostname");
    if (host != nullptr && bt_value_is_string(host) != 0) {
      facts.hostname = bt_value_string_get(host);
    }
    const bt_clock_class* const clock =
        bt_stream_class_borrow_default_clock_class_const(bt_stream_borrow_class_const(stream));
    clock_.reset();
    if (clock != nullptr) clock_ = number_of(clock);
  }

  std::uint32_t number_of(const bt_clock_class* clock) {
    ClockClass seen;
    if (const char* const name = bt_clock_class_get_name(clock)) seen.name = name;
    if (const std::uint8_t* const uuid = bt_clock_class_get_uuid(clock)) {
      constexpr std::size_t k_uuid = 16;
      seen.uuid.assign(uuid, uuid + k_uuid);
    }
    seen.frequency = bt_clock_class_get_frequency(clock);
    bt_clock_class_get_offset(clock, &seen.offset_s, &seen.offset);
    const auto known = std::ranges::find(facts.clocks, seen.name, &ClockClass::name);
    const auto number = static_cast<std::uint32_t>(known - facts.clocks.begin());
    if (known == facts.clocks.end()) {
      facts.clocks.push_back(std::move(seen));
      facts.spans.push_back(k_no_events);
    }
    return number;
  }

  void take_event(const bt_message* message) {
    if (!clock_) {
      ++facts.without_clock;
      return;
    }
    std::int64_t time = 0;
    const bool is_time = bt_clock_snapshot_get_ns_from_origin(
                             bt_message_event_borrow_default_clock_snapshot_const(message),
                             &time) == BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK;
    if (!is_time) bt_current_thread_clear_error();
    if (!is_time || time < 0 || static_cast<std::uint64_t>(time) > k_latest_time) {
      ++facts.out_of_range;
      return;
    }
    ++facts.events;
    const auto stamp = static_cast<std::uint64_t>(time);
    StampRange& span = facts.spans[*clock_];
    span = {std::min(span.first, stamp), std::max(span.last, stamp)};
    const bt_event* const event = bt_message_event_borrow_event_const(message);
    const KnownClass& known = class_of(bt_event_borrow_class_const(event));
    Event sent{.clock = *clock_, .time = stamp};
    for (const auto& [rule, is_send] : known.ends) add_end(event, rule, is_send, sent);
    if (all_) {
      Values values;
      values(known.name);
      add_field(bt_event_borrow_common_context_field_const(event), values);
      add_field(bt_event_borrow_specific_context_field_const(event), values);
      add_field(bt_event_borrow_payload_field_const(event), values);
      sent.contents = key_of(values).first;
      sent.name = known.name;
      sent.stream = stream_;
    }
    if (all_ || !sent.ends.empty()) send(to_, Record::event, std::move(sent));
  }

  const KnownClass& class_of(const bt_event_class* event_class) {
    const auto [at, is_new] = classes_.try_emplace(event_class);
    KnownClass& known = at->second;
    if (!is_new) return known;
    const char* const text = bt_event_class_get_name(event_class);
    known.name =
        text != nullptr ? text : fmt::format("event {}", bt_event_class_get_id(event_class));
    for (std::uint32_t r = 0; r < rules_.size(); ++r) {
      for (const bool is_send : {true, false}) {
        const auto& events = (is_send ? rules_[r].send : rules_[r].receive).events;
        if (std::ranges::count(events, known.name) > 0) known.ends.emplace_back(r, is_send);
      }
    }
    return known;
  }

  /// Adds the event as an end of a message, if it has all fields.
  void add_end(const bt_event* event, std::uint32_t number, bool is_send, Event& sent) const {
    const Rule& rule = rules_[number];
    Values key, place;
    key(number);
    for (const FieldPath& path : (is_send ? rule.send : rule.receive).key) {
      const bt_field* const field = find(event, path);
      if (field == nullptr) return;
      add_field(field, key);
    }
    if (!rule.place.empty()) add_field(find(event, rule.place), place);
    sent.ends.push_back({.key = key_of(key),
                         .rule = number,
                         .is_send = is_send,
                         .place = key_of(place).first,
                         .clock = sent.clock,
                         .time = sent.time});
  }

  std::span<const Rule> rules_;
  bool all_;
  const SendRecord& to_;
  std::uint64_t streams_ = 0;           ///< streams that have begun
  std::string stream_;                  ///< name of the last one
  std::optional<std::uint32_t> clock_;  ///< clock of the last stream
  std::unordered_map<const bt_event_class*, KnownClass> classes_;
};

/// Runs a graph in which the sink takes the streams from `first` on, one after the other. Returns
/// the number of all streams; empty: the library has an error.
std::optional<std::uint64_t> run(const fs::path& folder, const bt_plugin* plugin,
                                 std::uint64_t first, Sink& sink) {
  const bt_component_class_source* const reader =
      bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
  bt_value* const parameters = bt_value_map_create();
  bt_graph* const graph = bt_graph_create(0);
  bt_value* inputs = nullptr;
  const bt_component_source* source = nullptr;
  // Every status of success is 0.
  if (reader == nullptr || parameters == nullptr || graph == nullptr ||
      bt_value_map_insert_empty_array_entry(parameters, "inputs", &inputs) != 0 ||
      bt_value_array_append_string_element(inputs, folder.c_str()) != 0 ||
      bt_graph_add_source_component(graph, reader, "trace", parameters, BT_LOGGING_LEVEL_NONE,
                                    &source) != 0) {
    return {};
  }
  const std::uint64_t streams = bt_component_source_get_output_port_count(source);
  for (std::uint64_t i = first; i < std::min(streams, first + k_most_open); ++i) {
    const bt_component_sink* end = nullptr;
    if (bt_graph_add_simple_sink_component(graph, fmt::format("{}", i).c_str(), nullptr,
                                           Sink::consume, nullptr, &sink, &end) != 0 ||
        bt_graph_connect_ports(
            graph, bt_component_source_borrow_output_port_by_index_const(source, i),
            bt_component_sink_borrow_input_port_by_index_const(end, 0), nullptr) != 0) {
      return {};
    }
  }
  if (streams > first && bt_graph_run(graph) != 0) return {};
  bt_graph_put_ref(graph);
  return streams;
}

#endif

}  // namespace

#ifdef ENTRAIN_HAS_BABELTRACE2

void decode(const fs::path& folder, std::span<const Rule> rules, bool all, const SendRecord& to) {
  const bt_plugin* plugin = nullptr;
  // No folder of the user is searched for plugins: these would run here.
  bt_plugin_find("ctf", BT_FALSE, BT_FALSE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin);
  if (plugin == nullptr) {
    return send(
        to, Record::failed,
        Error{ErrorKind::usage,
              "the CTF plugin of libbabeltrace2 is missing, which reads CTF traces (Debian: "
              "libbabeltrace2-0)"});
  }
  Sink sink(rules, all, to);
  std::optional<std::uint64_t> streams = 1;
  for (std::uint64_t first = 0; streams && first < *streams; first += k_most_open) {
    streams = run(folder, plugin, first, sink);
  }
  if (streams) return send(to, Record::facts, std::move(sink.facts));
  send(to, Record::failed,
       Error{ErrorKind::input, fmt::format("libbabeltrace2 cannot read the CTF trace {}: {}",
                                           folder.string(), reason_of_library())});
}

#else

void decode(const fs::path& folder, std::span<const Rule>, bool, const SendRecord& to) {
  send(to, Record::failed,
       Error{ErrorKind::usage,
             fmt::format("{} is a CTF trace, and this entrain was built without libbabeltrace2, "
                         "which reads them (Debian: libbabeltrace2-dev)",
                         folder.string())});
}

#endif

}  // namespace entrain::ctf
