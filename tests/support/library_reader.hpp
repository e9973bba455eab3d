// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <otf2/otf2.h>

namespace entrain::test {

/// Text of the last message of the OTF2 library; installs the handler that catches it.
std::string& last_library_message();

/// Throws std::runtime_error unless `code` is success.
void require(OTF2_ErrorCode code, const std::string& what);

/// An archive opened by the OTF2 library for reading. Move-free RAII.
class LibraryReader {
 public:
  explicit LibraryReader(const std::filesystem::path& anchor);
  ~LibraryReader() { OTF2_Reader_Close(reader_); }
  LibraryReader(const LibraryReader&) = delete;
  LibraryReader& operator=(const LibraryReader&) = delete;

  [[nodiscard]] OTF2_Reader* get() const { return reader_; }

  /// Ids of all locations in the order of their definitions.
  std::vector<std::uint64_t> locations();

  /// Reads the local definitions of all locations (clock offsets, mapping tables take effect);
  /// `callbacks` may be null. `user_data(id)` is what the callbacks get for a location.
  template <class UserData>
  void read_local_definitions(const std::vector<std::uint64_t>& locations,
                              const OTF2_DefReaderCallbacks* callbacks, UserData user_data) {
    for (const auto id : locations) OTF2_Reader_SelectLocation(reader_, id);
    if (OTF2_Reader_OpenDefFiles(reader_) != OTF2_SUCCESS) return;
    for (const auto id : locations) {
      OTF2_DefReader* definitions = OTF2_Reader_GetDefReader(reader_, id);
      if (definitions == nullptr) continue;  // no local definitions: allowed
      if (callbacks != nullptr) {
        OTF2_Reader_RegisterDefCallbacks(reader_, definitions, callbacks, user_data(id));
      }
      std::uint64_t read = 0;
      require(OTF2_Reader_ReadAllLocalDefinitions(reader_, definitions, &read),
              "local definitions of location " + std::to_string(id));
      OTF2_Reader_CloseDefReader(reader_, definitions);
    }
    OTF2_Reader_CloseDefFiles(reader_);
  }

  /// Reads all events of the locations one after the other through `callbacks`.
  template <class UserData>
  void read_events(const std::vector<std::uint64_t>& locations,
                   const OTF2_EvtReaderCallbacks* callbacks, bool apply_clock_offsets,
                   UserData user_data) {
    for (const auto id : locations) OTF2_Reader_SelectLocation(reader_, id);
    require(OTF2_Reader_OpenEvtFiles(reader_), "event files");
    for (const auto id : locations) {
      OTF2_EvtReader* events = OTF2_Reader_GetEvtReader(reader_, id);
      const std::string what = "events of location " + std::to_string(id);
      if (events == nullptr) throw std::runtime_error(what + ": " + last_library_message());
      require(OTF2_Reader_RegisterEvtCallbacks(reader_, events, callbacks, user_data(id)), what);
      require(OTF2_EvtReader_ApplyClockOffsets(events, apply_clock_offsets), what);
      std::uint64_t read = 0;
      require(OTF2_Reader_ReadAllLocalEvents(reader_, events, &read), what);
      OTF2_Reader_CloseEvtReader(reader_, events);
    }
    OTF2_Reader_CloseEvtFiles(reader_);
  }

  /// Reads the global definitions; only once per reader.
  void read_global_definitions(const OTF2_GlobalDefReaderCallbacks* callbacks, void* user_data);

 private:
  OTF2_Reader* reader_ = nullptr;
};

/// Callback object of the library with its own deleter.
template <class T, T* (*New)(), void (*Delete)(T*)>
class Callbacks {
 public:
  Callbacks() : pointer_(New()) {}
  ~Callbacks() { Delete(pointer_); }
  Callbacks(const Callbacks&) = delete;
  Callbacks& operator=(const Callbacks&) = delete;
  [[nodiscard]] T* get() const { return pointer_; }

 private:
  T* pointer_;
};
using EventCallbacks =
    Callbacks<OTF2_EvtReaderCallbacks, OTF2_EvtReaderCallbacks_New, OTF2_EvtReaderCallbacks_Delete>;
using LocalCallbacks =
    Callbacks<OTF2_DefReaderCallbacks, OTF2_DefReaderCallbacks_New, OTF2_DefReaderCallbacks_Delete>;
using GlobalCallbacks = Callbacks<OTF2_GlobalDefReaderCallbacks, OTF2_GlobalDefReaderCallbacks_New,
                                  OTF2_GlobalDefReaderCallbacks_Delete>;
using MarkerCallbacks = Callbacks<OTF2_MarkerReaderCallbacks, OTF2_MarkerReaderCallbacks_New,
                                  OTF2_MarkerReaderCallbacks_Delete>;
using SnapCallbacks = Callbacks<OTF2_SnapReaderCallbacks, OTF2_SnapReaderCallbacks_New,
                                OTF2_SnapReaderCallbacks_Delete>;

/// Called by every event callback: an event was read at that time.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void event(std::uint64_t time) = 0;
  virtual void flush(std::uint64_t time, std::uint64_t stop) = 0;
};

/// Sets a callback that calls EventSink::event for every one of the record types (unknown ones
/// too), and EventSink::flush after it for BufferFlush. User data: EventSink*.
void set_all_event_callbacks(OTF2_EvtReaderCallbacks* callbacks);

}  // namespace entrain::test
