// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include <protozero/types.hpp>

/// Fields and values of Perfetto's traces that are read or written: those of protos/perfetto/trace
/// of https://github.com/google/perfetto, which are stable by its word.
namespace entrain::perfetto {

enum class TraceField : protozero::pbf_tag_type { packet = 1 };
enum class PacketField : protozero::pbf_tag_type {
  ftrace_events = 1,
  clock_snapshot = 6,
  timestamp = 8,
  trusted_packet_sequence_id = 10,
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  incremental_state_cleared = 41,
  previous_packet_dropped = 42,
  system_info = 45,
  compressed_packets = 50,
  gpu_render_stage_event = 53,
  timestamp_clock_id = 58,
  trace_packet_defaults = 59,
  track_descriptor = 60,
  etw_events = 95,
  machine_id = 98,
  remote_clock_sync = 107,
  trace_attributes = 126,
  zstd_compressed_packets = 133
};
enum class SystemField : protozero::pbf_tag_type { tracing_service_version = 4 };
enum class TrackField : protozero::pbf_tag_type {
  uuid = 1,
  name = 2,
  process = 3,
  thread = 4,
  parent_uuid = 5,
  counter = 8,
  static_name = 10,
  child_ordering = 11,
  sibling_order_rank = 12,
  sibling_merge_behavior = 15
};
enum class CounterField : protozero::pbf_tag_type { unit_multiplier = 4, is_incremental = 5 };
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
  debug_annotation_names = 3,
  gpu_specifications = 24,
  debug_annotation_string_values = 29
};
enum class SnapshotField : protozero::pbf_tag_type { clocks = 1, primary_trace_clock = 2 };
enum class ClockField : protozero::pbf_tag_type {
  clock_id = 1,
  timestamp = 2,
  is_incremental = 3,
  unit_multiplier_ns = 4
};
enum class SyncField : protozero::pbf_tag_type { synced_clocks = 1 };
enum class SyncedField : protozero::pbf_tag_type { client_clocks = 2, host_clocks = 3 };
enum class NameField : protozero::pbf_tag_type { iid = 1, name = 2 };
enum class EventField : protozero::pbf_tag_type {
  category_iids = 3,
  debug_annotations = 4,
  legacy_event = 6,
  type = 9,
  name_iid = 10,
  track_uuid = 11,
  extra_counter_values = 12,
  categories = 22,
  name = 23,
  counter_value = 30,
  extra_counter_track_uuids = 31,
  flow_ids_old = 36,
  terminating_flow_ids_old = 42,
  double_counter_value = 44,
  extra_double_counter_track_uuids = 45,
  extra_double_counter_values = 46,
  flow_ids = 47,
  terminating_flow_ids = 48
};
enum class LegacyField : protozero::pbf_tag_type {
  name_iid = 1,
  phase = 2,
  duration_us = 3,
  unscoped_id = 6,
  bind_id = 8,
  local_id = 10,
  global_id = 11,
  flow_direction = 13
};
enum class NoteField : protozero::pbf_tag_type {
  name_iid = 1,
  bool_value = 2,
  uint_value = 3,
  int_value = 4,
  double_value = 5,
  string_value = 6,
  pointer_value = 7,
  legacy_json_value = 9,
  name = 10,
  dict_entries = 11,
  array_values = 12,
  string_value_iid = 17
};
/// Work of a device: PyTorch writes kernels so.
enum class StageField : protozero::pbf_tag_type {
  event_id = 1,
  duration = 2,
  extra_data = 6,
  gpu_id = 11,
  hw_queue_iid = 13,
  stage_iid = 14,
  name = 17,
  name_iid = 20
};
enum class AttributesField : protozero::pbf_tag_type { attribute = 1 };
enum class AttributeField : protozero::pbf_tag_type { key = 1, long_value = 2, string_value = 3 };
enum class ExtraField : protozero::pbf_tag_type { name = 1, value = 2 };

inline constexpr std::uint32_t k_state_cleared = 1, k_needs_state = 2;
inline constexpr std::int32_t k_explicit_order = 3;
inline constexpr std::int32_t k_never_merged = 2;
inline constexpr std::int32_t k_slice_begin = 1, k_slice_end = 2, k_instant = 3, k_counter = 4;
/// Clocks of the wall, one of them coarse, and the clock of times that name none.
inline constexpr std::uint32_t k_wall_time = 1, k_coarse_wall_time = 2, k_boot_time = 6;
/// An event may have values of so many other counters, and as many of doubles.
inline constexpr std::size_t k_most_extra = 8;
/// Clocks from the first to the last of these belong to a sequence of packets.
inline constexpr std::uint32_t k_first_sequence_clock = 64, k_last_sequence_clock = 127;

}  // namespace entrain::perfetto
