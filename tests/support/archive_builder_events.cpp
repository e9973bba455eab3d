// SPDX-License-Identifier: BSD-3-Clause
#include "support/archive_builder.hpp"
#include "support/library_reader.hpp"

// The event functions of ArchiveBuilder::Events.
namespace entrain::test {

using Events = ArchiveBuilder::Events;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

/// Writes one record without attributes through the library.
#define WRITE(name, ...)                                                                     \
  do {                                                                                       \
    builder->note_time(location, time);                                                      \
    require(OTF2_EvtWriter_##name(writer, nullptr, time __VA_OPT__(, ) __VA_ARGS__), #name); \
    return *this;                                                                            \
  } while (false)

Events& Events::enter(U64 time, U32 region) { WRITE(Enter, region); }
Events& Events::leave(U64 time, U32 region) { WRITE(Leave, region); }

Events& Events::send(U64 time, U32 receiver, U32 comm, U32 tag, U64 bytes) {
  WRITE(MpiSend, receiver, comm, tag, bytes);
}
Events& Events::recv(U64 time, U32 sender, U32 comm, U32 tag, U64 bytes) {
  WRITE(MpiRecv, sender, comm, tag, bytes);
}
Events& Events::isend(U64 time, U32 receiver, U32 comm, U32 tag, U64 request, U64 bytes) {
  WRITE(MpiIsend, receiver, comm, tag, bytes, request);
}
Events& Events::isend_complete(U64 time, U64 request) { WRITE(MpiIsendComplete, request); }
Events& Events::irecv_request(U64 time, U64 request) { WRITE(MpiIrecvRequest, request); }
Events& Events::irecv(U64 time, U32 sender, U32 comm, U32 tag, U64 request, U64 bytes) {
  WRITE(MpiIrecv, sender, comm, tag, bytes, request);
}
Events& Events::cancelled(U64 time, U64 request) { WRITE(MpiRequestCancelled, request); }

Events& Events::collective_begin(U64 time) { WRITE(MpiCollectiveBegin); }
Events& Events::collective_end(U64 time, std::uint8_t op, U32 comm, U32 root, U64 sent,
                               U64 received) {
  WRITE(MpiCollectiveEnd, op, comm, root, sent, received);
}
Events& Events::nb_request(U64 time, U64 request) { WRITE(NonBlockingCollectiveRequest, request); }
Events& Events::nb_complete(U64 time, std::uint8_t op, U32 comm, U32 root, U64 request, U64 sent,
                            U64 received) {
  WRITE(NonBlockingCollectiveComplete, op, comm, root, sent, received, request);
}

Events& Events::fork(U64 time, U32 threads) { WRITE(ThreadFork, OTF2_PARADIGM_OPENMP, threads); }
Events& Events::join(U64 time) { WRITE(ThreadJoin, OTF2_PARADIGM_OPENMP); }
Events& Events::team_begin(U64 time, U32 team) { WRITE(ThreadTeamBegin, team); }
Events& Events::team_end(U64 time, U32 team) { WRITE(ThreadTeamEnd, team); }
Events& Events::acquire_lock(U64 time, U32 lock, U32 order) {
  WRITE(ThreadAcquireLock, OTF2_PARADIGM_OPENMP, lock, order);
}
Events& Events::release_lock(U64 time, U32 lock, U32 order) {
  WRITE(ThreadReleaseLock, OTF2_PARADIGM_OPENMP, lock, order);
}

Events& Events::flush(U64 time, U64 stop) {
  builder->note_time(location, stop);
  WRITE(BufferFlush, stop);
}

#undef WRITE

}  // namespace entrain::test
