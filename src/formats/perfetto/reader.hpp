// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <entrain/error.hpp>

#include "formats/json/packing.hpp"
#include "formats/perfetto/tracks.hpp"

/// Perfetto traces (https://perfetto.dev): packets of protobuf.
namespace entrain::perfetto {

/// Facts that a reading of a file finds, and later ones need.
struct Survey {
  bool is_complete = false;  ///< the whole file was read
  Tracks tracks;
  /// Ends of the slices on tracks whose slices are not in order of time, ns: in the order in which
  /// they begin in the file. k_no_end: it has none.
  std::vector<std::int64_t> ends;
  static constexpr std::int64_t k_no_end = INT64_MIN;
  std::uint64_t lone_ends = 0;  ///< ends on these tracks without a begin
};

/// Properties of a file.
struct TraceFacts {
  json::Packing packing = json::Packing::none;
  bool is_cut = false;  ///< it ends inside a packet; the whole ones were seen
  std::uint64_t bytes = 0, hash = 0;
  std::int64_t unit = 1;                   ///< the largest one in which times are stored, ns
  std::uint32_t clock = 0;                 ///< clock of the trace, if packets name clocks; else 0
  bool is_misread = false;                 ///< the reading ended early, as it needs a survey
  std::uint64_t events_without_state = 0;  ///< they refer to packets that were lost
  std::uint64_t events_without_time = 0;
  bool holds_other_times = false;   ///< records of the kernel, which are not read
  bool ties_machines = false;       ///< packets tell offsets between the clocks of machines
  std::uint64_t lone_ends = 0;      ///< ends of slices without a begin, which are no events
  std::uint64_t unread_fields = 0;  ///< fields of events that are not read
};

/// An event as Chrome JSON would have it; views are valid during the call. Texts are escaped.
struct Event {
  char phase = 'i';             ///< phase of Chrome JSON: X, i, C, s, f, M; B: a slice without end
  std::string_view category{};  ///< several are separated by commas
  std::string_view name{};
  std::string_view arguments{};  ///< JSON object, or empty
  std::string_view id{};         ///< id of a flow, or of an asynchronous event
  bool is_local_id = false;      ///< unique in its process only
  std::uint32_t row = 0;         ///< position in Tracks::rows()
  std::int64_t time = 0;         ///< time by the clock of the trace, ns
  std::int64_t length = -1;      ///< ns; -1: none
};

/// Reads the tracks of a file whose descriptors follow their events, or whose slices are not in
/// order of time. Errors: those of Packets; ErrorKind::input for a file that needs too much memory.
Result<std::shared_ptr<Survey>> survey(const std::filesystem::path& path,
                                       std::uint64_t max_unpacked);

/// Receivers of events.
struct Sinks {
  std::function<Result<void>(const Event&)> see;
  /// True if the arguments of an event are wanted, of which category and name are known; empty: of
  /// all.
  std::function<bool(const Event&)> wants_arguments{};
  /// Receives the attributes of the trace: key and value, escaped, as of a member of JSON.
  std::function<Result<void>(std::string_view, std::string_view)> attribute{};
  bool wants_names = false;  ///< tracks as events of phase M, as in Chrome JSON, without a time
};

/// Reads the events of a file: slices where they end, or in order of their begins on tracks that
/// are not in order of time. `survey`: of an earlier reading; or a new one, which is enough for
/// most files, and is complete then. Errors: those of survey() and of the sinks.
Result<TraceFacts> read_events(const std::filesystem::path& path, std::uint64_t max_unpacked,
                               Survey& survey, const Sinks& sinks);

/// The new time of a moment on a row; `row` is null for packets that belong to a machine as a
/// whole.
using NewTime =
    std::function<Result<std::int64_t>(const Row* row, std::uint32_t machine, std::int64_t time)>;

/// Copies a file with new times. Times keep their place where they fit into it; every other byte
/// stays as it is, but for lengths around a time that does not fit. `write` is called for each part
/// of the text, in order. Errors: those of survey(), of `time` and of `write`.
Result<TraceFacts> retime(const std::filesystem::path& path, std::uint64_t max_unpacked,
                          const Survey& survey, const NewTime& time,
                          const std::function<Result<void>(std::string_view)>& write);

}  // namespace entrain::perfetto
