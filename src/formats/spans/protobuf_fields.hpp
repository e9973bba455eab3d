// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// Numbers of the fields of OTLP (opentelemetry-proto, trace/v1/trace.proto,
/// common/v1/common.proto) that are read.
namespace entrain::spans::field {

inline constexpr std::uint32_t k_resource_spans = 1;               ///< of a request
inline constexpr std::uint32_t k_resource = 1, k_scope_spans = 2;  ///< of ResourceSpans
inline constexpr std::uint32_t k_library_spans = 1000;             ///< older name of scope_spans
inline constexpr std::uint32_t k_attributes_of_resource = 1;
inline constexpr std::uint32_t k_spans = 2;  ///< of ScopeSpans
/// Fields of a span.
inline constexpr std::uint32_t k_trace = 1, k_id = 2, k_parent = 4, k_name = 5, k_kind = 6,
                               k_begin = 7, k_end = 8, k_attributes = 9, k_events = 11,
                               k_links = 13;
inline constexpr std::uint32_t k_event_time = 1;                          ///< of an event
inline constexpr std::uint32_t k_key = 1, k_value = 2;                    ///< of an attribute
inline constexpr std::uint32_t k_string = 1, k_integer = 3, k_array = 5;  ///< of a value
inline constexpr std::uint32_t k_elements = 1;                            ///< of an array

}  // namespace entrain::spans::field
