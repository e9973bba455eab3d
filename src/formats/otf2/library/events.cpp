// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/library/callbacks.hpp"

#include "formats/otf2/format/format.hpp"

// The records of OTF2 1 are deprecated, and still to be read.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace entrain::otf2 {

namespace {

using U8 = std::uint8_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

#define HEAD OTF2_LocationRef, OTF2_TimeStamp time, U64, void *data, OTF2_AttributeList *

/// Adds a record with these fields, behind an attribute list with the fields `attributes` if there
/// are any: less than 255 bytes.
OTF2_CallbackCode add(void* data, U64 time, U8 type, const Fields& fields,
                      const Fields& attributes = Fields()) {
  Fields record;
  if (!attributes.bytes().empty()) {
    record.u8(mark::attribute_list).u8(static_cast<U8>(attributes.bytes().size()));
    record.append(attributes.bytes());
  }
  record.u8(type);
  // The records of events that are not bare are short: a length of one byte is enough.
  if (!is_bare(type)) record.u8(static_cast<U8>(fields.bytes().size()));
  const bool added =
      static_cast<EventWriter*>(data)->raw(time, record.append(fields.bytes()).bytes());
  return added ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

/// A record of which nothing but the type matters.
template <U8 type, class... Rest>
OTF2_CallbackCode bare_type(HEAD, Rest...) {
  return add(data, time, type, is_bare(type) ? Fields().c32(0) : Fields());
}

/// A record with these fields, which are all that it holds, in this order.
template <U8 type, class... Values>
OTF2_CallbackCode record(HEAD, Values... values) {
  Fields fields;
  (put(fields, values), ...);
  return add(data, time, type, fields);
}

OTF2_CallbackCode flush(HEAD, U64 stop) {
  return add(data, time, event::buffer_flush, Fields().fixed64(stop));
}

/// The strings of a list, one of which may name partners, as many as a short list holds.
Fields strings_of(const OTF2_AttributeList* list) {
  constexpr U32 k_most = 16;
  Fields strings;
  U32 count = 0;
  const U32 size = OTF2_AttributeList_GetNumberOfElements(list);
  for (U32 i = 0; i < size && count < k_most; ++i) {
    OTF2_AttributeRef attribute = 0;
    OTF2_Type kind = OTF2_TYPE_NONE;
    OTF2_AttributeValue value;
    const bool got =
        OTF2_AttributeList_GetAttributeByIndex(list, i, &attribute, &kind, &value) == OTF2_SUCCESS;
    if (!got || kind != OTF2_TYPE_STRING) continue;
    strings.c32(attribute).u8(attribute_type::string).c32(value.stringRef);
    ++count;
  }
  return count == 0 ? Fields() : Fields().c32(count).append(strings.bytes());
}

/// The same as record(), with the strings of its attribute list.
template <U8 type, class... Values>
OTF2_CallbackCode named_record(OTF2_LocationRef, OTF2_TimeStamp time, U64, void* data,
                               OTF2_AttributeList* list, Values... values) {
  Fields fields;
  (put(fields, values), ...);
  return add(data, time, type, fields, strings_of(list));
}

/// Any type that neither the library nor the scanner knows.
OTF2_CallbackCode unknown(HEAD) { return add(data, time, 0xFE, Fields()); }

#define SET(name, function) OTF2_EvtReaderCallbacks_Set##name##Callback(callbacks, function)

/// Records that the scanner passes over or counts.
void set_type_callbacks(OTF2_EvtReaderCallbacks* callbacks) {
  SET(Unknown, unknown);
  SET(MeasurementOnOff, record<event::measurement_on_off>);
  SET(MpiIsendComplete, bare_type<16>);
  SET(MpiRequestTest, bare_type<20>);
  SET(OmpFork, bare_type<24>);
  SET(OmpJoin, bare_type<25>);
  SET(OmpTaskCreate, bare_type<28>);
  SET(OmpTaskSwitch, bare_type<29>);
  SET(OmpTaskComplete, bare_type<30>);
  SET(Metric, bare_type<31>);
  SET(ParameterString, bare_type<32>);
  SET(ParameterInt, bare_type<33>);
  SET(ParameterUnsignedInt, bare_type<34>);
  SET(RmaWinCreate, bare_type<35>);
  SET(RmaWinDestroy, bare_type<36>);
  SET(RmaRequestLock, bare_type<40>);
  SET(RmaAcquireLock, bare_type<41>);
  SET(RmaTryLock, bare_type<42>);
  SET(RmaReleaseLock, bare_type<43>);
  SET(RmaWaitChange, bare_type<45>);
  SET(RmaPut, bare_type<46>);
  SET(RmaGet, bare_type<47>);
  SET(RmaAtomic, bare_type<48>);
  SET(RmaOpCompleteBlocking, bare_type<49>);
  SET(RmaOpCompleteNonBlocking, bare_type<50>);
  SET(RmaOpTest, bare_type<51>);
  SET(RmaOpCompleteRemote, bare_type<52>);
  SET(ThreadFork, bare_type<53>);
  SET(ThreadJoin, bare_type<54>);
  SET(ThreadTaskComplete, bare_type<61>);
  SET(CallingContextEnter, bare_type<66>);
  SET(CallingContextLeave, bare_type<67>);
  SET(CallingContextSample, bare_type<68>);
  SET(IoCreateHandle, bare_type<69>);
  SET(IoDestroyHandle, bare_type<70>);
  SET(IoDuplicateHandle, bare_type<71>);
  SET(IoSeek, bare_type<72>);
  SET(IoChangeStatusFlags, bare_type<73>);
  SET(IoDeleteFile, bare_type<74>);
  SET(IoOperationBegin, bare_type<75>);
  SET(IoOperationTest, bare_type<76>);
  SET(IoOperationIssued, bare_type<77>);
  SET(IoOperationComplete, bare_type<78>);
  SET(IoOperationCancelled, bare_type<79>);
  SET(IoAcquireLock, bare_type<80>);
  SET(IoReleaseLock, bare_type<81>);
  SET(IoTryLock, bare_type<82>);
  SET(ProgramBegin, bare_type<83>);
  SET(ProgramEnd, bare_type<84>);
  SET(CommCreate, bare_type<87>);
  SET(CommDestroy, bare_type<88>);
}

void set_mpi_callbacks(OTF2_EvtReaderCallbacks* callbacks) {
  SET(MpiSend, record<event::mpi_send>);
  SET(MpiIsend, record<event::mpi_isend>);
  SET(MpiRecv, record<event::mpi_recv>);
  SET(MpiIrecv, record<event::mpi_irecv>);
  SET(MpiIrecvRequest, record<event::mpi_irecv_request>);
  SET(MpiRequestCancelled, record<event::mpi_request_cancelled>);
  SET(MpiCollectiveBegin, bare_type<event::mpi_collective_begin>);
  SET(MpiCollectiveEnd, named_record<event::mpi_collective_end>);
  SET(NonBlockingCollectiveRequest, record<event::nb_collective_request>);
  SET(NonBlockingCollectiveComplete, named_record<event::nb_collective_complete>);
}

void set_thread_callbacks(OTF2_EvtReaderCallbacks* callbacks) {
  SET(ThreadTeamBegin, record<event::thread_team_begin>);
  SET(ThreadTeamEnd, record<event::thread_team_end>);
  SET(ThreadAcquireLock, record<event::thread_acquire_lock>);
  SET(ThreadReleaseLock, record<event::thread_release_lock>);
  SET(ThreadTaskCreate, record<event::thread_task_create>);
  SET(ThreadTaskSwitch, record<event::thread_task_switch>);
  SET(ThreadCreate, record<event::thread_create>);
  SET(ThreadBegin, record<event::thread_begin>);
  SET(ThreadWait, record<event::thread_wait>);
  SET(ThreadEnd, record<event::thread_end>);
  SET(OmpAcquireLock, record<event::omp_acquire_lock>);
  SET(OmpReleaseLock, record<event::omp_release_lock>);
}

}  // namespace

void set_event_callbacks(OTF2_EvtReaderCallbacks* callbacks) {
  set_type_callbacks(callbacks);
  set_mpi_callbacks(callbacks);
  set_thread_callbacks(callbacks);
  SET(BufferFlush, flush);
  SET(Enter, record<event::enter>);
  SET(Leave, record<event::leave>);
  SET(RmaCollectiveBegin, bare_type<event::rma_collective_begin>);
  SET(RmaCollectiveEnd, record<event::rma_collective_end>);
  SET(RmaGroupSync, record<event::rma_group_sync>);
  SET(RmaSync, record<event::rma_sync>);
}

#undef SET
#undef HEAD

}  // namespace entrain::otf2
