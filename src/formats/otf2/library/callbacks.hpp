// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <otf2/otf2.h>

#include "formats/otf2/library/chunk_writer.hpp"

/// Callbacks for the OTF2 library that write the records they get into a copy. Only for builds with
/// the library.
namespace entrain::otf2 {

/// The file of the global definitions, and what later steps need to know of them.
struct DefinitionSink {
  ChunkWriter& file;
  std::vector<std::uint64_t> locations;  ///< ids in order of definition
  Fields fields;                         ///< fields of the record in work
};

/// Sets a callback for every definition that the product reads. User data: DefinitionSink.
void set_definition_callbacks(OTF2_GlobalDefReaderCallbacks* callbacks);

/// The file for the local definitions or the events of one location.
struct LocationSink {
  ChunkWriter& file;
  Fields fields;
};

/// Sets the callback for clock offsets. User data: LocationSink. Mapping tables are applied by the
/// library to what it reads.
void set_local_definition_callbacks(OTF2_DefReaderCallbacks* callbacks);

/// Sets a callback for every event record: those that the scanner decodes with their fields,
/// others with their type alone. User data: LocationSink.
void set_event_callbacks(OTF2_EvtReaderCallbacks* callbacks);

}  // namespace entrain::otf2
