// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "formats/kineto/collective_calls.hpp"
#include "formats/kineto/events.hpp"

/// Reads files of a run again, and writes them with other times.
namespace entrain::kineto {

/// Error for a file that is not what it was.
tl::unexpected<Error> has_changed(const RankFile& file);

/// Called for all events with a time; the duration is 0 for those without a length. `clock`:
/// position in RankFile::clocks.
using SeeTime = std::function<Result<void>(const EventText&, std::uint32_t clock,
                                           std::uint64_t begin, std::int64_t duration)>;

/// Reads a file again. `others`: receivers of all else, whose `see` gets the events without a time.
/// Returns what was found beside the events. Errors: ErrorKind::input if the file has changed, and
/// those of the receivers.
Result<FileFacts> for_each_time(const RankFile& file, const SeeTime& see, EventSinks others = {});

/// The corrected request time of a clock_sync marker less `base` (ns), as text; empty for other
/// events.
std::string corrected_issue_time(const EventText& event, const RankFile& file, const ClockMap& map,
                                 std::int64_t base);

/// Writes a file with the times that the maps of its clocks give, and every other byte as it was.
/// Errors: those of for_each_time(); ErrorKind::input for times before 1970; ErrorKind::output.
Result<void> write_file(const std::filesystem::path& to, const RankFile& file,
                        std::span<const ClockMap> maps);

/// write_file() of a Perfetto trace.
Result<void> write_packets(const std::filesystem::path& to, const RankFile& file,
                           std::span<const ClockMap> maps);

/// Facts of a copy that may differ from its original's.
struct CopyFacts {
  std::uint64_t cut_times = 0;  ///< RankFile::cut_times
  bool whole_us = true;         ///< RankFile::whole_us
  std::uint64_t bytes = 0;      ///< size of the text
  std::uint64_t hash = 0;       ///< hash of the text
};

/// Reads a copy that write_file() has written of a file of JSON, side by side with the original:
/// its times must be those that the maps give, and every other byte that of the original. Errors:
/// ErrorKind::output where they are not; those of for_each_time().
Result<CopyFacts> check_copy(const RankFile& file, const std::filesystem::path& copy,
                             std::span<const ClockMap> maps);

/// write_file() for a file that was summarised, with the maps that were fitted. A file of JSON is
/// parsed once: each piece of the copy is compared with the original, then written, and unpacked
/// again if it is packed. Errors: also ErrorKind::input for a file that has changed
/// since it was summarised; ErrorKind::output if the new file is no such copy.
Result<void> write_part(const std::filesystem::path& to, const RankFile& file,
                        std::span<const ClockMap> maps);

/// Writes the unchanged text of a packed file. Errors: those of write_file().
Result<void> unpack(const RankFile& file, const std::filesystem::path& to);

}  // namespace entrain::kineto
