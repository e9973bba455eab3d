// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <fmt/core.h>
#include <otf2/otf2.h>

#include "arguments.hpp"

namespace bench {

inline void ok(OTF2_ErrorCode code, const char* what) {
  if (code != OTF2_SUCCESS) die(fmt::format("{}: {}", what, OTF2_Error_GetDescription(code)));
}

/// An archive for writing by one process: full buffers go to disk without a record of it.
inline OTF2_Archive* create_archive(const std::string& folder, const std::string& name,
                                    std::uint64_t event_chunk, std::uint64_t definition_chunk) {
  OTF2_Archive* archive =
      OTF2_Archive_Open(folder.c_str(), name.c_str(), OTF2_FILEMODE_WRITE, event_chunk,
                        definition_chunk, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (archive == nullptr) die("cannot create an archive in " + folder);
  static const OTF2_FlushCallbacks flush = {[](void*, OTF2_FileType, OTF2_LocationRef, void*,
                                               bool) -> OTF2_FlushType { return OTF2_FLUSH; },
                                            nullptr};
  ok(OTF2_Archive_SetFlushCallbacks(archive, &flush, nullptr), "flush callbacks");
  ok(OTF2_Archive_SetSerialCollectiveCallbacks(archive), "serial archive");
  ok(OTF2_Archive_OpenEvtFiles(archive), "event files");
  return archive;
}

}  // namespace bench
