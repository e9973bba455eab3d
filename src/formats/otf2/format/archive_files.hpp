// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace entrain::otf2 {

/// Endings of the files of an archive. An archive "traces" with locations 0 and 7 is
///
///     traces.otf2       the anchor: versions, chunk sizes, properties
///     traces.def        the global definitions
///     traces.marker     markers, if there are any
///     traces.0.thumb    thumbnails, numbered from 0
///     traces/0.evt      the events of location 0
///     traces/0.def      its local definitions: mapping tables and clock offsets
///     traces/0.snap     its snapshots
///     traces/7.evt      ...
namespace ending {
inline constexpr const char *anchor = ".otf2", *definitions = ".def", *markers = ".marker",
                            *thumbnail = ".thumb", *events = ".evt", *snapshots = ".snap";
}

}  // namespace entrain::otf2
