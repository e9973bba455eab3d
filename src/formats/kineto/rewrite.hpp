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

/// An event with its time by its clock.
struct TimedEvent {
  const EventText& text;
  std::uint32_t clock = 0;  ///< position in RankFile::clocks
  std::uint64_t begin = 0;
  std::int64_t length = 0;  ///< 0 for events without one

  [[nodiscard]] std::uint64_t end() const { return begin + static_cast<std::uint64_t>(length); }
};
/// Called for all events with a time.
using SeeTime = std::function<Result<void>(const TimedEvent&)>;

/// Reads a file again. `others`: receivers of all else, whose `see` gets the events without a time.
/// Errors: ErrorKind::input if the file has changed, and those of the receivers.
Result<FileFacts> for_each_time(const RankFile& file, const SeeTime& see, EventSinks others = {});

/// The corrected request time of a clock_sync marker less `base` (ns); empty for other events.
std::string corrected_issue_time(const EventText& event, const RankFile& file, const ClockMap& map,
                                 std::int64_t base);

/// Writes a file with the times that the maps of its clocks give, and every other byte as it was.
/// Errors: those of for_each_time(); ErrorKind::input for times before 1970; ErrorKind::output.
Result<void> write_file(const std::filesystem::path& to, const RankFile& file,
                        std::span<const ClockMap> maps);

/// Reads a copy that write_file() has written of a file of JSON, side by side with the original:
/// its times must be those that the maps give, and every other byte that of the original. `copy`:
/// what is known of the original, with the path of the copy; gets what may differ. Errors:
/// ErrorKind::output where they are not; those of for_each_time().
Result<void> check_copy(const RankFile& file, RankFile& copy, std::span<const ClockMap> maps);

/// write_file() for a file that was summarised, with the maps that were fitted. A file of JSON is
/// parsed once: each piece of the copy is compared with the original, then written, and unpacked
/// again if it is packed. Errors: also ErrorKind::output if the new file is no such copy.
Result<void> write_part(const std::filesystem::path& to, const RankFile& file,
                        std::span<const ClockMap> maps);

/// Writes the unchanged text of a packed file. Errors: those of write_file().
Result<void> unpack(const RankFile& file, const std::filesystem::path& to);

}  // namespace entrain::kineto
