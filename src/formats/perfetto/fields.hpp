// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <protozero/types.hpp>

/// Fields and values of Perfetto's traces that are read or written: those of protos/perfetto/trace
/// of https://github.com/google/perfetto, which are stable by its word.
namespace entrain::perfetto {

enum class TraceField : protozero::pbf_tag_type { packet = 1 };
enum class PacketField : protozero::pbf_tag_type {
  timestamp = 8,
  trusted_packet_sequence_id = 10,
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  system_info = 45,
  track_descriptor = 60,
  machine_id = 98,
  trace_attributes = 126
};
enum class SystemField : protozero::pbf_tag_type { tracing_service_version = 4 };
enum class TrackField : protozero::pbf_tag_type {
  uuid = 1,
  name = 2,
  process = 3,
  thread = 4,
  parent_uuid = 5,
  counter = 8,
  child_ordering = 11,
  sibling_order_rank = 12,
  sibling_merge_behavior = 15
};
enum class ProcessField : protozero::pbf_tag_type {
  pid = 1,
  sort_index = 3,
  process_name = 6,
  labels = 8
};
enum class ThreadField : protozero::pbf_tag_type {
  pid = 1,
  tid = 2,
  sort_index = 3,
  thread_name = 5
};
enum class InternedField : protozero::pbf_tag_type {
  event_categories = 1,
  event_names = 2,
  debug_annotation_names = 3
};
enum class NameField : protozero::pbf_tag_type { iid = 1, name = 2 };
enum class EventField : protozero::pbf_tag_type {
  category_iids = 3,
  debug_annotations = 4,
  type = 9,
  name_iid = 10,
  track_uuid = 11,
  categories = 22,
  name = 23,
  counter_value = 30,
  double_counter_value = 44,
  flow_ids = 47,
  terminating_flow_ids = 48
};
enum class NoteField : protozero::pbf_tag_type {
  name_iid = 1,
  bool_value = 2,
  uint_value = 3,
  int_value = 4,
  double_value = 5,
  string_value = 6,
  json_value = 9,
  name = 10,
  dict_entries = 11,
  array_values = 12
};
enum class AttributesField : protozero::pbf_tag_type { attribute = 1 };
enum class AttributeField : protozero::pbf_tag_type { key = 1, long_value = 2, string_value = 3 };

inline constexpr std::uint32_t k_state_cleared = 1, k_needs_state = 2;
inline constexpr std::uint32_t k_explicit_order = 3;
inline constexpr std::uint32_t k_never_merged = 2;
inline constexpr std::int32_t k_slice_begin = 1, k_slice_end = 2, k_instant = 3, k_counter = 4;

}  // namespace entrain::perfetto
