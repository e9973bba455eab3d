// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/read_back.hpp"

#include <otf2/otf2.h>

#include <cstdarg>
#include <cstdint>
#include <vector>

#include "record/archive/in_child.hpp"

namespace entrain::record {

namespace {

OTF2_ErrorCode keep_quiet(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                          const char*, va_list) {
  return code;
}

OTF2_CallbackCode note_location(void* locations, OTF2_LocationRef location, OTF2_StringRef,
                                OTF2_LocationType, std::uint64_t, OTF2_LocationGroupRef) {
  static_cast<std::vector<OTF2_LocationRef>*>(locations)->push_back(location);
  return OTF2_CALLBACK_SUCCESS;
}

bool good(OTF2_ErrorCode code) { return code == OTF2_SUCCESS; }

bool read_globals(OTF2_Reader* reader, std::vector<OTF2_LocationRef>& locations) {
  OTF2_GlobalDefReader* const globals = OTF2_Reader_GetGlobalDefReader(reader);
  OTF2_GlobalDefReaderCallbacks* const callbacks = OTF2_GlobalDefReaderCallbacks_New();
  std::uint64_t read = 0;
  const bool done =
      globals != nullptr &&
      good(OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, note_location)) &&
      good(OTF2_Reader_RegisterGlobalDefCallbacks(reader, globals, callbacks, &locations)) &&
      good(OTF2_Reader_ReadAllGlobalDefinitions(reader, globals, &read));
  OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
  return done;
}

bool read_all(const std::string& anchor) {
  OTF2_Error_RegisterCallback(keep_quiet, nullptr);
  OTF2_Reader* const reader = OTF2_Reader_Open(anchor.c_str());
  if (reader == nullptr || !good(OTF2_Reader_SetSerialCollectiveCallbacks(reader))) return false;
  std::vector<OTF2_LocationRef> locations;
  if (!read_globals(reader, locations)) return false;
  for (const OTF2_LocationRef location : locations) OTF2_Reader_SelectLocation(reader, location);
  std::uint64_t read = 0;
  if (!good(OTF2_Reader_OpenDefFiles(reader)) || !good(OTF2_Reader_OpenEvtFiles(reader))) {
    return false;
  }
  for (const OTF2_LocationRef location : locations) {
    OTF2_DefReader* const definitions = OTF2_Reader_GetDefReader(reader, location);
    if (definitions == nullptr ||
        !good(OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, &read)) ||
        !good(OTF2_Reader_CloseDefReader(reader, definitions))) {
      return false;
    }
    OTF2_EvtReader* const events = OTF2_Reader_GetEvtReader(reader, location);
    if (events == nullptr || !good(OTF2_Reader_ReadAllLocalEvents(reader, events, &read)) ||
        !good(OTF2_Reader_CloseEvtReader(reader, events))) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string read_back(const std::string& anchor) {
  return in_child(
      [&] { return std::string(read_all(anchor) ? "" : "the OTF2 library cannot read it"); });
}

}  // namespace entrain::record
