// SPDX-License-Identifier: BSD-3-Clause
#include "support/random_events.hpp"

#include <stdexcept>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace entrain::test {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

U64 Random::any64() {
  const U64 choice = below(20);
  if (choice == 0) return 0;
  if (choice == 1) return OTF2_UNDEFINED_UINT64;
  return engine_() >> below(64);
}

U32 Random::any32() {
  const U64 choice = below(20);
  if (choice == 0) return 0;
  if (choice == 1) return OTF2_UNDEFINED_UINT32;
  return static_cast<U32>((engine_() & 0xFFFFFFFFu) >> below(32));
}

U32 stored_id(IdStyle style, U32 count, U32 global) {
  switch (style) {
    case IdStyle::global:
      return global;
    case IdStyle::dense:
      return count - 1 - global;
    case IdStyle::sparse:
      return 3 * global + 5;
  }
  return global;
}

RandomEvents::RandomEvents(ArchiveBuilder& builder, U64 location, const DefinitionCounts& counts,
                           IdStyle style, Random& random)
    : builder_(builder),
      location_(location),
      counts_(counts),
      style_(style),
      random_(random),
      writer_(builder.at(location).writer),
      attributes_(OTF2_AttributeList_New()) {
  add_mpi();
  add_threads();
  add_rma();
  add_io();
  add_others();
}

RandomEvents::~RandomEvents() { OTF2_AttributeList_Delete(attributes_); }

void RandomEvents::write(unsigned type, U64 time) {
  builder_.note_time(location_, time);
  if (random_.one_in(7)) fill_attributes();
  require(types_.at(type)(time), "event record type number " + std::to_string(type));
  OTF2_AttributeList_RemoveAllAttributes(attributes_);
}

void RandomEvents::close(U64 time) {
  while (!open_.empty()) {
    builder_.note_time(location_, time);
    require(leave(time), "leave");
  }
}

/// Mostly a few entries, sometimes more than 16, which makes the list's length a long one.
void RandomEvents::fill_attributes() {
  const U32 count = random_.one_in(10) ? 17 + some(counts_.attributes - 17) : 1 + some(3);
  for (U32 i = 0; i < count; ++i) {
    OTF2_AttributeValue value;
    value.uint64 = random_.any64();
    const auto type = static_cast<OTF2_Type>(1 + i % 25);
    // References are translated by readers: only ids that exist on every location.
    if (type >= OTF2_TYPE_STRING) value.uint64 = 0;
    if (type == OTF2_TYPE_LOCATION) value.locationRef = location_;
    if (type == OTF2_TYPE_GROUP && style_ == IdStyle::global)
      value.groupRef = ArchiveBuilder::k_first_group;
    if (style_ == IdStyle::sparse && (type == OTF2_TYPE_REGION || type == OTF2_TYPE_GROUP ||
                                      type == OTF2_TYPE_COMM || type == OTF2_TYPE_RMA_WIN)) {
      value.uint64 = 5;  // the local id of global 0
    }
    require(OTF2_AttributeList_AddAttribute(attributes_, i, type, value), "an attribute");
  }
}

bool RandomEvents::in_window_call() const {
  return !open_.empty() && open_.back() >= counts_.first_window_region;
}

OTF2_ErrorCode RandomEvents::enter(U64 time) {
  if (open_.size() >= 20 || in_window_call()) return leave(time);
  open_.push_back(some(counts_.regions));
  return OTF2_EvtWriter_Enter(writer_, attributes_, time,
                              stored_id(style_, counts_.regions, open_.back()));
}

OTF2_ErrorCode RandomEvents::leave(U64 time) {
  if (open_.empty()) return enter(time);
  const U32 region = open_.back();
  open_.pop_back();
  return OTF2_EvtWriter_Leave(writer_, attributes_, time,
                              stored_id(style_, counts_.regions, region));
}

OTF2_ErrorCode RandomEvents::metric(U64 time) {
  builder_.note_time(location_, time);
  const std::uint8_t count = random_.one_in(4) ? 40 : 1;  // as the two metric classes say
  std::vector<OTF2_Type> types(count, OTF2_TYPE_UINT64);
  std::vector<OTF2_MetricValue> values(count);
  for (auto& value : values) value.unsigned_int = random_.any64();
  return OTF2_EvtWriter_Metric(writer_, attributes_, time, count == 1 ? 0 : 1, count, types.data(),
                               values.data());
}

/// Appends one record type; the arguments are evaluated for every event.
#define TYPE(name, ...)                                                                  \
  types_.push_back([this](U64 time) {                                                    \
    return OTF2_EvtWriter_##name(writer_, attributes_, time __VA_OPT__(, ) __VA_ARGS__); \
  })
#define N32 random_.any32()
#define N64 random_.any64()

void RandomEvents::add_mpi() {
  TYPE(MpiSend, N32, comm(), N32, N64);
  TYPE(MpiIsend, N32, comm(), N32, N64, N64);
  TYPE(MpiIsendComplete, N64);
  TYPE(MpiIrecvRequest, N64);
  TYPE(MpiRecv, N32, comm(), N32, N64);
  TYPE(MpiIrecv, N32, comm(), N32, N64, N64);
  TYPE(MpiRequestTest, N64);
  TYPE(MpiRequestCancelled, N64);
  TYPE(MpiCollectiveBegin);
  TYPE(MpiCollectiveEnd, small(23), comm(), N32, N64, N64);
  TYPE(NonBlockingCollectiveRequest, N64);
  TYPE(NonBlockingCollectiveComplete, small(23), comm(), N32, N64, N64, N64);
  TYPE(CommCreate, comm());
  TYPE(CommDestroy, comm());
}

void RandomEvents::add_threads() {
  TYPE(OmpFork, N32);
  TYPE(OmpJoin);
  TYPE(OmpAcquireLock, N32, N32);
  TYPE(OmpReleaseLock, N32, N32);
  TYPE(OmpTaskCreate, N64);
  TYPE(OmpTaskSwitch, N64);
  TYPE(OmpTaskComplete, N64);
  TYPE(ThreadFork, OTF2_PARADIGM_OPENMP, N32);
  TYPE(ThreadJoin, OTF2_PARADIGM_OPENMP);
  TYPE(ThreadTeamBegin, comm());
  TYPE(ThreadTeamEnd, comm());
  TYPE(ThreadAcquireLock, OTF2_PARADIGM_PTHREAD, N32, N32);
  TYPE(ThreadReleaseLock, OTF2_PARADIGM_PTHREAD, N32, N32);
  TYPE(ThreadTaskCreate, comm(), N32, N32);
  TYPE(ThreadTaskSwitch, comm(), N32, N32);
  TYPE(ThreadTaskComplete, comm(), N32, N32);
  TYPE(ThreadCreate, comm(), N64);
  TYPE(ThreadBegin, comm(), N64);
  TYPE(ThreadWait, comm(), N64);
  TYPE(ThreadEnd, comm(), N64);
}

void RandomEvents::add_rma() {
  TYPE(RmaWinCreate, window());
  TYPE(RmaWinDestroy, window());
  TYPE(RmaCollectiveBegin);
  TYPE(RmaCollectiveEnd, small(23), random_.below(4) & 3u, window(), N32, N64, N64);
  TYPE(RmaGroupSync, random_.below(4) & 3u, window(), group());
  TYPE(RmaRequestLock, window(), N32, N64, small(2));
  TYPE(RmaAcquireLock, window(), N32, N64, small(2));
  TYPE(RmaTryLock, window(), N32, N64, small(2));
  TYPE(RmaReleaseLock, window(), N32, N64);
  TYPE(RmaSync, window(), N32, small(3));
  TYPE(RmaWaitChange, window());
  TYPE(RmaPut, window(), N32, N64, N64);
  TYPE(RmaGet, window(), N32, N64, N64);
  TYPE(RmaAtomic, window(), N32, small(8), N64, N64, N64);
  TYPE(RmaOpCompleteBlocking, window(), N64);
  TYPE(RmaOpCompleteNonBlocking, window(), N64);
  TYPE(RmaOpTest, window(), N64);
  TYPE(RmaOpCompleteRemote, window(), N64);
}

void RandomEvents::add_io() {
  TYPE(IoCreateHandle, some(counts_.io_handles), small(3), some(1024), some(512));
  TYPE(IoDestroyHandle, some(counts_.io_handles));
  TYPE(IoDuplicateHandle, 0, 1, some(512));
  TYPE(IoSeek, 0, static_cast<std::int64_t>(N64), small(5), N64);
  TYPE(IoChangeStatusFlags, 0, some(512));
  TYPE(IoDeleteFile, 0, some(counts_.io_files));
  TYPE(IoOperationBegin, 0, small(3), some(4), N64, N64);
  TYPE(IoOperationTest, 0, N64);
  TYPE(IoOperationIssued, 0, N64);
  TYPE(IoOperationComplete, 0, N64, N64);
  TYPE(IoOperationCancelled, 0, N64);
  TYPE(IoAcquireLock, 0, small(2));
  TYPE(IoReleaseLock, 0, small(2));
  TYPE(IoTryLock, 0, small(2));
}

void RandomEvents::add_others() {
  types_.push_back([this](U64 time) {
    const U64 stop = time + random_.below(50);
    builder_.note_time(location_, stop);
    return OTF2_EvtWriter_BufferFlush(writer_, attributes_, time, stop);
  });
  TYPE(MeasurementOnOff, static_cast<std::uint8_t>(1 + random_.below(2)));
  types_.push_back([this](U64 time) { return enter(time); });
  types_.push_back([this](U64 time) { return leave(time); });
  types_.push_back([this](U64 time) { return metric(time); });
  TYPE(ParameterString, 0, some(counts_.strings));
  TYPE(ParameterInt, 1, static_cast<std::int64_t>(N64));
  TYPE(ParameterUnsignedInt, 2, N64);
  TYPE(CallingContextEnter, some(counts_.contexts), N32);
  TYPE(CallingContextLeave, some(counts_.contexts));
  TYPE(CallingContextSample, some(counts_.contexts), N32, 0);
  types_.push_back([this](U64 time) {
    const std::vector<OTF2_StringRef> arguments(random_.one_in(3) ? 90 : 2, 1);
    return OTF2_EvtWriter_ProgramBegin(writer_, attributes_, time, 0,
                                       static_cast<U32>(arguments.size()), arguments.data());
  });
  TYPE(ProgramEnd, static_cast<std::int64_t>(N64));
}

#undef TYPE
#undef N32
#undef N64

}  // namespace entrain::test
