// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "formats/kineto/collective_calls.hpp"
#include "formats/kineto/events.hpp"

/// Training runs as Perfetto traces: the events of Chrome JSON in another encoding.
namespace entrain::kineto {

/// for_each_event() of a Perfetto trace; there are no parts of a text to pass. Errors: those of
/// perfetto::survey() and of EventSinks::see.
Result<FileFacts> for_each_packet_event(const std::filesystem::path& path, const EventSinks& sinks,
                                        std::uint64_t max_unpacked,
                                        std::shared_ptr<perfetto::Survey> survey);

/// write_file() of a Perfetto trace.
Result<void> write_packets(const std::filesystem::path& to, const RankFile& file,
                           std::span<const ClockMap> maps);

}  // namespace entrain::kineto
