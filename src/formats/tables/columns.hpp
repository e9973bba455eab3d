// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

/// The columns of the tables of edges and clocks (docs/manual/align.md).
namespace entrain::tables {

inline constexpr std::array<std::string_view, 13> k_edge_columns{
    "cause_clock", "cause_time", "effect_clock", "effect_time", "min_delay", "kind", "instance",
    "role",        "rank",       "sync",         "clock",       "begin",     "end"};
inline constexpr std::size_t k_cause_clock = 0, k_cause_time = 1, k_effect_clock = 2,
                             k_effect_time = 3, k_min_delay = 4, k_kind = 5, k_instance = 6,
                             k_role = 7, k_rank = 8, k_sync = 9, k_member_clock = 10, k_begin = 11,
                             k_end = 12;

/// Other names of these columns.
inline constexpr std::array<std::string_view, 4> k_other_edge_columns{
    "src source sender from src_host source_host send_host src_rank sender_rank ip.src",
    "cause_time send_time sent_time send_ts sent_at sent send t_send src_time tx_time",
    "dst dest destination receiver to dst_host dest_host recv_host dst_rank receiver_rank ip.dst",
    "effect_time recv_time receive_time received_time recv_ts received_at received receive recv "
    "t_recv "
    "dst_time rx_time"};

inline constexpr std::array<std::string_view, 18> k_clock_columns{
    "clock",      "kind",       "domain",  "process",     "machine",   "resolution_hz",
    "first",      "last",       "granule", "corrected",   "time",      "offset",
    "half_width", "round_trip", "kept",    "flush_begin", "flush_end", "wrap_bits"};
inline constexpr std::size_t k_clock = 0, k_clock_kind = 1, k_domain = 2, k_process = 3,
                             k_machine = 4, k_resolution = 5, k_first = 6, k_last = 7,
                             k_granule = 8, k_corrected = 9, k_session_time = 10, k_offset = 11,
                             k_half_width = 12, k_round_trip = 13, k_kept = 14, k_flush_begin = 15,
                             k_flush_end = 16, k_wrap_bits = 17;

/// True if the text may be the name of a clock or an instance; else sets `why`.
bool is_name(std::string_view text, std::string& why);

}  // namespace entrain::tables
