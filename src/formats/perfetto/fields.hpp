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
  track_descriptor = 60
};
enum class SystemField : protozero::pbf_tag_type { tracing_service_version = 4 };
enum class TrackField : protozero::pbf_tag_type {
  uuid = 1,
  name = 2,
  parent_uuid = 5,
  child_ordering = 11,
  sibling_order_rank = 12,
  sibling_merge_behavior = 15
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
  flow_ids = 47,
  terminating_flow_ids = 48
};
enum class NoteField : protozero::pbf_tag_type { name_iid = 1, int_value = 4, string_value = 6 };

inline constexpr std::uint32_t k_state_cleared = 1, k_needs_state = 2;
inline constexpr std::int32_t k_explicit_order = 3;
inline constexpr std::int32_t k_never_merged = 2;
inline constexpr std::int32_t k_slice_begin = 1, k_slice_end = 2, k_instant = 3;

}  // namespace entrain::perfetto
