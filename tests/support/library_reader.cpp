// SPDX-License-Identifier: BSD-3-Clause
#include "support/library_reader.hpp"

#include <cstdarg>
#include <cstdio>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace entrain::test {

namespace {

OTF2_ErrorCode keep_message(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                            const char* format, va_list arguments) {
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  last_library_message() = std::string(OTF2_Error_GetName(code)) + ": " + text;
  return code;
}

OTF2_CallbackCode note_location(void* data, OTF2_LocationRef self, OTF2_StringRef,
                                OTF2_LocationType, std::uint64_t, OTF2_LocationGroupRef) {
  static_cast<std::vector<std::uint64_t>*>(data)->push_back(self);
  return OTF2_CALLBACK_SUCCESS;
}

template <class... Rest>
OTF2_CallbackCode any_event(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data,
                            OTF2_AttributeList*, Rest...) {
  static_cast<EventSink*>(data)->event(time);
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode flush_event(OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* data,
                              OTF2_AttributeList*, OTF2_TimeStamp stop) {
  static_cast<EventSink*>(data)->event(time);
  static_cast<EventSink*>(data)->flush(time, stop);
  return OTF2_CALLBACK_SUCCESS;
}

}  // namespace

std::string& last_library_message() {
  static std::string message;
  static const bool installed = (OTF2_Error_RegisterCallback(keep_message, nullptr), true);
  static_cast<void>(installed);
  return message;
}

void require(OTF2_ErrorCode code, const std::string& what) {
  if (code == OTF2_SUCCESS) return;
  throw std::runtime_error("OTF2 library, " + what + ": " + OTF2_Error_GetName(code) + ", " +
                           last_library_message());
}

LibraryReader::LibraryReader(const std::filesystem::path& anchor) {
  last_library_message().clear();
  reader_ = OTF2_Reader_Open(anchor.c_str());
  if (reader_ == nullptr) {
    throw std::runtime_error("OTF2 library, " + anchor.string() + ": " + last_library_message());
  }
  require(OTF2_Reader_SetSerialCollectiveCallbacks(reader_), "collective callbacks");
}

void LibraryReader::read_global_definitions(const OTF2_GlobalDefReaderCallbacks* callbacks,
                                            void* user_data) {
  OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader_);
  if (definitions == nullptr) throw std::runtime_error("OTF2: " + last_library_message());
  require(OTF2_Reader_RegisterGlobalDefCallbacks(reader_, definitions, callbacks, user_data),
          "global definitions");
  std::uint64_t read = 0;
  require(OTF2_Reader_ReadAllGlobalDefinitions(reader_, definitions, &read), "global definitions");
  OTF2_Reader_CloseGlobalDefReader(reader_, definitions);
}

std::vector<std::uint64_t> LibraryReader::locations() {
  std::vector<std::uint64_t> ids;
  const GlobalCallbacks callbacks;
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks.get(), note_location);
  read_global_definitions(callbacks.get(), &ids);
  return ids;
}

void set_all_event_callbacks(OTF2_EvtReaderCallbacks* callbacks) {
  OTF2_EvtReaderCallbacks_SetBufferFlushCallback(callbacks, flush_event);
#define SET(name) require(OTF2_EvtReaderCallbacks_Set##name##Callback(callbacks, any_event), #name)
  SET(Unknown);
  SET(MeasurementOnOff);
  SET(Enter);
  SET(Leave);
  SET(MpiSend);
  SET(MpiIsend);
  SET(MpiIsendComplete);
  SET(MpiIrecvRequest);
  SET(MpiRecv);
  SET(MpiIrecv);
  SET(MpiRequestTest);
  SET(MpiRequestCancelled);
  SET(MpiCollectiveBegin);
  SET(MpiCollectiveEnd);
  SET(OmpFork);
  SET(OmpJoin);
  SET(OmpAcquireLock);
  SET(OmpReleaseLock);
  SET(OmpTaskCreate);
  SET(OmpTaskSwitch);
  SET(OmpTaskComplete);
  SET(Metric);
  SET(ParameterString);
  SET(ParameterInt);
  SET(ParameterUnsignedInt);
  SET(RmaWinCreate);
  SET(RmaWinDestroy);
  SET(RmaCollectiveBegin);
  SET(RmaCollectiveEnd);
  SET(RmaGroupSync);
  SET(RmaRequestLock);
  SET(RmaAcquireLock);
  SET(RmaTryLock);
  SET(RmaReleaseLock);
  SET(RmaSync);
  SET(RmaWaitChange);
  SET(RmaPut);
  SET(RmaGet);
  SET(RmaAtomic);
  SET(RmaOpCompleteBlocking);
  SET(RmaOpCompleteNonBlocking);
  SET(RmaOpTest);
  SET(RmaOpCompleteRemote);
  SET(ThreadFork);
  SET(ThreadJoin);
  SET(ThreadTeamBegin);
  SET(ThreadTeamEnd);
  SET(ThreadAcquireLock);
  SET(ThreadReleaseLock);
  SET(ThreadTaskCreate);
  SET(ThreadTaskSwitch);
  SET(ThreadTaskComplete);
  SET(ThreadCreate);
  SET(ThreadBegin);
  SET(ThreadWait);
  SET(ThreadEnd);
  SET(CallingContextEnter);
  SET(CallingContextLeave);
  SET(CallingContextSample);
  SET(IoCreateHandle);
  SET(IoDestroyHandle);
  SET(IoDuplicateHandle);
  SET(IoSeek);
  SET(IoChangeStatusFlags);
  SET(IoDeleteFile);
  SET(IoOperationBegin);
  SET(IoOperationTest);
  SET(IoOperationIssued);
  SET(IoOperationComplete);
  SET(IoOperationCancelled);
  SET(IoAcquireLock);
  SET(IoReleaseLock);
  SET(IoTryLock);
  SET(ProgramBegin);
  SET(ProgramEnd);
  SET(NonBlockingCollectiveRequest);
  SET(NonBlockingCollectiveComplete);
  SET(CommCreate);
  SET(CommDestroy);
#undef SET
}

}  // namespace entrain::test
