// SPDX-License-Identifier: BSD-3-Clause
//
// Copies a trace by reading every event with the OTF2 library's local readers and writing it with
// the library's writer: what a corrector built on the library costs at least. See bench/README.md.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "otf2_support.hpp"

namespace {

using namespace bench;
namespace fs = std::filesystem;

// The library deprecates its OpenMP records, but older traces hold them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/// Every event record of OTF2 3.0: the names of reader callbacks and writer functions agree, and
/// so do their arguments after the time.
// clang-format off
#define FOR_EACH_EVENT(X)                                                                      \
  X(BufferFlush) X(MeasurementOnOff) X(Enter) X(Leave) X(MpiSend) X(MpiIsend)                  \
  X(MpiIsendComplete) X(MpiIrecvRequest) X(MpiRecv) X(MpiIrecv) X(MpiRequestTest)              \
  X(MpiRequestCancelled) X(MpiCollectiveBegin) X(MpiCollectiveEnd) X(OmpFork) X(OmpJoin)       \
  X(OmpAcquireLock) X(OmpReleaseLock) X(OmpTaskCreate) X(OmpTaskSwitch) X(OmpTaskComplete)     \
  X(Metric) X(ParameterString) X(ParameterInt) X(ParameterUnsignedInt) X(RmaWinCreate)         \
  X(RmaWinDestroy) X(RmaCollectiveBegin) X(RmaCollectiveEnd) X(RmaGroupSync) X(RmaRequestLock) \
  X(RmaAcquireLock) X(RmaTryLock) X(RmaReleaseLock) X(RmaSync) X(RmaWaitChange) X(RmaPut)      \
  X(RmaGet) X(RmaAtomic) X(RmaOpCompleteBlocking) X(RmaOpCompleteNonBlocking) X(RmaOpTest)     \
  X(RmaOpCompleteRemote) X(ThreadFork) X(ThreadJoin) X(ThreadTeamBegin) X(ThreadTeamEnd)       \
  X(ThreadAcquireLock) X(ThreadReleaseLock) X(ThreadTaskCreate) X(ThreadTaskSwitch)            \
  X(ThreadTaskComplete) X(ThreadCreate) X(ThreadBegin) X(ThreadWait) X(ThreadEnd)              \
  X(CallingContextEnter) X(CallingContextLeave) X(CallingContextSample) X(IoCreateHandle)      \
  X(IoDestroyHandle) X(IoDuplicateHandle) X(IoSeek) X(IoChangeStatusFlags) X(IoDeleteFile)     \
  X(IoOperationBegin) X(IoOperationTest) X(IoOperationIssued) X(IoOperationComplete)           \
  X(IoOperationCancelled) X(IoAcquireLock) X(IoReleaseLock) X(IoTryLock) X(ProgramBegin)       \
  X(ProgramEnd) X(NonBlockingCollectiveRequest) X(NonBlockingCollectiveComplete) X(CommCreate) \
  X(CommDestroy)
// clang-format on

/// Turns a function of the writer into the reader callback that calls it.
template <auto write>
struct Forward;
template <class... Fields,
          OTF2_ErrorCode (*write)(OTF2_EvtWriter*, OTF2_AttributeList*, OTF2_TimeStamp, Fields...)>
struct Forward<write> {
  static OTF2_CallbackCode callback(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t,
                                    void* writer, OTF2_AttributeList* attributes,
                                    Fields... fields) {
    const OTF2_ErrorCode code =
        write(static_cast<OTF2_EvtWriter*>(writer), attributes, time, fields...);
    return code == OTF2_SUCCESS ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
  }
};

OTF2_EvtReaderCallbacks* event_callbacks() {
  OTF2_EvtReaderCallbacks* callbacks = OTF2_EvtReaderCallbacks_New();
#define SET_CALLBACK(name)                                                                  \
  ok(OTF2_EvtReaderCallbacks_Set##name##Callback(callbacks,                                 \
                                                 Forward<OTF2_EvtWriter_##name>::callback), \
     #name);
  FOR_EACH_EVENT(SET_CALLBACK)
#undef SET_CALLBACK
  return callbacks;
}

class Copier {
 public:
  Copier(const fs::path& anchor, const fs::path& folder)
      : anchor_(anchor), folder_(folder), reader_(OTF2_Reader_Open(anchor.c_str())) {
    if (reader_ == nullptr) die("cannot read " + anchor.string());
    ok(OTF2_Reader_SetSerialCollectiveCallbacks(reader_), "serial reader");
    std::uint64_t event_chunk = 0, definition_chunk = 0;
    ok(OTF2_Reader_GetChunkSize(reader_, &event_chunk, &definition_chunk), "chunk size");
    archive_ =
        create_archive(folder.string(), anchor.stem().string(), event_chunk, definition_chunk);
  }

  void run() {
    read_locations();
    for (const OTF2_LocationRef location : locations_) {
      ok(OTF2_Reader_SelectLocation(reader_, location), "selecting a location");
    }
    const bool local_definitions = OTF2_Reader_OpenDefFiles(reader_) == OTF2_SUCCESS;
    ok(OTF2_Archive_OpenDefFiles(archive_), "definition files");
    ok(OTF2_Reader_OpenEvtFiles(reader_), "event files");
    OTF2_EvtReaderCallbacks* callbacks = event_callbacks();
    for (const OTF2_LocationRef location : locations_) {
      if (local_definitions) read_local_definitions(location);
      copy_events(location, callbacks);
    }
    OTF2_EvtReaderCallbacks_Delete(callbacks);
    ok(OTF2_Archive_CloseDefFiles(archive_), "closing definition files");
    ok(OTF2_Archive_CloseEvtFiles(archive_), "closing event files");
    ok(OTF2_Archive_Close(archive_), "closing the archive");
    OTF2_Reader_Close(reader_);
    copy_global_files();
    fmt::print("{{\"events\": {}, \"locations\": {}}}\n", events_, locations_.size());
  }

 private:
  void read_locations() {
    OTF2_GlobalDefReader* reader = OTF2_Reader_GetGlobalDefReader(reader_);
    OTF2_GlobalDefReaderCallbacks* callbacks = OTF2_GlobalDefReaderCallbacks_New();
    ok(OTF2_GlobalDefReaderCallbacks_SetLocationCallback(
           callbacks,
           [](void* locations, OTF2_LocationRef self, OTF2_StringRef, OTF2_LocationType,
              std::uint64_t, OTF2_LocationGroupRef) -> OTF2_CallbackCode {
             static_cast<std::vector<OTF2_LocationRef>*>(locations)->push_back(self);
             return OTF2_CALLBACK_SUCCESS;
           }),
       "callbacks");
    ok(OTF2_Reader_RegisterGlobalDefCallbacks(reader_, reader, callbacks, &locations_),
       "callbacks");
    std::uint64_t read = 0;
    ok(OTF2_Reader_ReadAllGlobalDefinitions(reader_, reader, &read), "global definitions");
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
  }

  /// Lets the reader learn ClockOffset records and mapping tables. It applies both, so the copy
  /// has neither: its local definitions are empty.
  void read_local_definitions(OTF2_LocationRef location) {
    OTF2_DefReader* reader = OTF2_Reader_GetDefReader(reader_, location);
    if (reader == nullptr) return;
    std::uint64_t read = 0;
    ok(OTF2_Reader_ReadAllLocalDefinitions(reader_, reader, &read), "local definitions");
    ok(OTF2_Reader_CloseDefReader(reader_, reader), "local definitions");
    OTF2_DefWriter* writer = OTF2_Archive_GetDefWriter(archive_, location);
    ok(OTF2_Archive_CloseDefWriter(archive_, writer), "local definitions");
  }

  void copy_events(OTF2_LocationRef location, const OTF2_EvtReaderCallbacks* callbacks) {
    OTF2_EvtReader* reader = OTF2_Reader_GetEvtReader(reader_, location);
    if (reader == nullptr) die(fmt::format("no events of location {}", location));
    OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive_, location);
    ok(OTF2_Reader_RegisterEvtCallbacks(reader_, reader, callbacks, writer), "callbacks");
    std::uint64_t read = 0, written = 0;
    ok(OTF2_Reader_ReadAllLocalEvents(reader_, reader, &read), "events");
    ok(OTF2_EvtWriter_GetNumberOfEvents(writer, &written), "events");
    if (read != written) {
      die(fmt::format("read {} events of location {} but wrote {}", read, location, written));
    }
    events_ += written;
    ok(OTF2_Reader_CloseEvtReader(reader_, reader), "events");
    ok(OTF2_Archive_CloseEvtWriter(archive_, writer), "events");
  }

  /// The library has no way to copy global definitions but one record after the other; they are
  /// small, so their file and the anchor are taken as they are.
  void copy_global_files() const {
    const std::string name = anchor_.stem().string();
    for (const std::string& file : {name + ".otf2", name + ".def"}) {
      fs::copy_file(anchor_.parent_path() / file, folder_ / file,
                    fs::copy_options::overwrite_existing);
    }
  }

  fs::path anchor_, folder_;
  OTF2_Reader* reader_;
  OTF2_Archive* archive_ = nullptr;
  std::vector<OTF2_LocationRef> locations_;
  std::uint64_t events_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) die("usage: otf2_copy traces.otf2 FOLDER");
  if (fs::exists(argv[2])) die(std::string(argv[2]) + " exists already");
  Copier(argv[1], argv[2]).run();
  return 0;
}
