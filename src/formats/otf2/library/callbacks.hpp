// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include <otf2/otf2.h>

#include "formats/otf2/format/definition_file.hpp"
#include "formats/otf2/format/event_writer.hpp"
#include "formats/otf2/format/format.hpp"

/// Callbacks for the OTF2 library that write the records they get into a copy. Only for builds with
/// the library.
namespace entrain::otf2 {

/// Adds a field of a record as the format stores values of its type.
inline void put(Fields& fields, std::uint8_t value) { fields.u8(value); }
inline void put(Fields& fields, std::uint32_t value) { fields.c32(value); }
inline void put(Fields& fields, std::uint64_t value) { fields.c64(value); }
inline void put(Fields& fields, std::int64_t value) { fields.s64(value); }
inline void put(Fields& fields, double value) {
  fields.fixed64(std::bit_cast<std::uint64_t>(value));
}
inline void put(Fields& fields, const char* text) { fields.text(text); }

/// The definitions of the trace, or of a location.
struct DefinitionSink {
  DefinitionFile file;
  std::vector<std::uint64_t> locations;  ///< ids in order of definition
};

/// Sets a callback for every definition that the product reads. User data: DefinitionSink.
void set_definition_callbacks(OTF2_GlobalDefReaderCallbacks* callbacks);

/// Sets the callback for clock offsets. User data: DefinitionSink. Mapping tables are applied by
/// the library to what it reads.
void set_local_definition_callbacks(OTF2_DefReaderCallbacks* callbacks);

/// Sets a callback for every event record: those that the scanner decodes with their fields,
/// others with their type alone. User data: EventWriter.
void set_event_callbacks(OTF2_EvtReaderCallbacks* callbacks);

}  // namespace entrain::otf2
