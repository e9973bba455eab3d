// SPDX-License-Identifier: BSD-3-Clause
// One-sided communication. The call that ends or flushes an operation makes it complete, on this
// side or at its target as well. The record of that is written at the end of this call.
#include "record/hooks/one_sided.hpp"

#include <otf2/otf2.h>

#include <algorithm>

namespace entrain::record {

namespace {

constexpr OTF2_RmaSyncLevel k_memory = OTF2_RMA_SYNC_LEVEL_MEMORY;
constexpr OTF2_RmaSyncLevel k_process = OTF2_RMA_SYNC_LEVEL_PROCESS;

Window* window_of(MPI_Win win) { return handles().window(key_of(win)); }

/// Level of a synchronisation; it only orders memory if `processes` is false.
OTF2_RmaSyncLevel level_of(bool processes) {
  return static_cast<OTF2_RmaSyncLevel>(processes ? k_memory | k_process : k_memory);
}

/// Registers an operation. 0 if the window is not recorded, or the target is MPI_PROC_NULL.
std::uint64_t add_operation(const Call& call, Window* window, int target, bool fetches) {
  if (window == nullptr || target == MPI_PROC_NULL || !call.recorded()) return 0;
  const std::uint64_t number = handles().next_number();
  window->operations.push_back({number, target, fetches, false});
  return number;
}

void put_atomic(Call& call, OTF2_RmaAtomicType type, const Window& window, int target,
                std::uint64_t sent, std::uint64_t received, std::uint64_t number) {
  call.at().put(OTF2_EvtWriter_RmaAtomic, call.time(), window.id,
                static_cast<std::uint32_t>(target), type, sent, received, number);
}

/// Where the operations are complete: on this side, or at their target too.
enum class Progress { local, everywhere };

/// Writes which operations to `rank`, or to k_everybody, are complete now.
void complete_operations(Call& call, Window& window, int rank, Progress progress) {
  for (RemoteOperation& operation : window.operations) {
    if (rank != k_everybody && operation.target != rank) continue;
    if (!operation.local) {
      call.at().put(OTF2_EvtWriter_RmaOpCompleteNonBlocking, call.time(), window.id,
                    operation.number);
      operation.local = true;
    }
    if (progress == Progress::local && !operation.fetches) continue;
    call.at().put(OTF2_EvtWriter_RmaOpCompleteRemote, call.time(), window.id, operation.number);
    operation.number = 0;
  }
  std::erase_if(window.operations, [](const RemoteOperation& o) { return o.number == 0; });
}

/// The same at the end of an epoch that the targets end on their own: no later call says when the
/// other operations are complete at their targets.
void end_epoch(Call& call, Window& window) {
  complete_operations(call, window, k_everybody, Progress::local);
  window.operations.clear();
}

void put_group_sync(Call& call, const Window& window, const Window::Epoch& epoch) {
  call.at().put(OTF2_EvtWriter_RmaGroupSync, call.time(), level_of(epoch.synchronises), window.id,
                epoch.group);
}

}  // namespace

std::uint64_t on_put(Call& call, Count count, MPI_Datatype datatype, int target, MPI_Win win) {
  const auto lock = handles().lock();
  Window* const window = window_of(win);
  const std::uint64_t number = add_operation(call, window, target, false);
  if (number == 0) return 0;
  call.at().put(OTF2_EvtWriter_RmaPut, call.time(), window->id, static_cast<std::uint32_t>(target),
                bytes_of(count, datatype), number);
  return number;
}

std::uint64_t on_get(Call& call, Count count, MPI_Datatype datatype, int target, MPI_Win win) {
  const auto lock = handles().lock();
  Window* const window = window_of(win);
  const std::uint64_t number = add_operation(call, window, target, true);
  if (number == 0) return 0;
  call.at().put(OTF2_EvtWriter_RmaGet, call.time(), window->id, static_cast<std::uint32_t>(target),
                bytes_of(count, datatype), number);
  return number;
}

std::uint64_t on_accumulate(Call& call, Count count, MPI_Datatype datatype, int target,
                            MPI_Win win) {
  const auto lock = handles().lock();
  Window* const window = window_of(win);
  const std::uint64_t number = add_operation(call, window, target, false);
  if (number == 0) return 0;
  put_atomic(call, OTF2_RMA_ATOMIC_TYPE_ACCUMULATE, *window, target, bytes_of(count, datatype), 0,
             number);
  return number;
}

std::uint64_t on_fetch(Call& call, Count sent, MPI_Datatype sent_type, Count received,
                       MPI_Datatype received_type, MPI_Op op, int target, MPI_Win win) {
  const auto lock = handles().lock();
  Window* const window = window_of(win);
  const std::uint64_t number = add_operation(call, window, target, true);
  if (number == 0) return 0;
  const OTF2_RmaAtomicType type = op == MPI_REPLACE ? OTF2_RMA_ATOMIC_TYPE_SWAP
                                  : op == MPI_SUM   ? OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ADD
                                                    : OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE;
  // With MPI_NO_OP nothing is handed over, and the type may be none.
  put_atomic(call, type, *window, target, op == MPI_NO_OP ? 0 : bytes_of(sent, sent_type),
             bytes_of(received, received_type), number);
  return number;
}

std::uint64_t on_compare_and_swap(Call& call, MPI_Datatype datatype, int target, MPI_Win win) {
  const auto lock = handles().lock();
  Window* const window = window_of(win);
  const std::uint64_t number = add_operation(call, window, target, true);
  if (number == 0) return 0;
  const std::uint64_t size = bytes_of(1, datatype);
  put_atomic(call, OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP, *window, target, size, size, number);
  return number;
}

void after_request(int result, std::uint64_t number, MPI_Win win, const MPI_Request* request) {
  if (result != MPI_SUCCESS || *request == MPI_REQUEST_NULL) return;
  Pending pending;
  pending.kind = number == 0 ? Pending::Kind::nothing : Pending::Kind::one_sided;
  pending.number = number;
  pending.window = key_of(win);
  const auto lock = handles().lock();
  handles().requests.add(key_of(*request), pending);
}

void after_other_request(int result, const MPI_Request* request) {
  if (result != MPI_SUCCESS || *request == MPI_REQUEST_NULL) return;
  const auto lock = handles().lock();
  handles().requests.add(key_of(*request), Pending{});
}

void put_operation_end(Call& call, const Pending& pending) {
  Window* const window = handles().window(pending.window);
  if (window == nullptr) return;
  auto& operations = window->operations;
  const auto found =
      std::find_if(operations.begin(), operations.end(),
                   [&](const RemoteOperation& o) { return o.number == pending.number; });
  // A flush may have ended it already.
  if (found == operations.end() || found->local) return;
  found->local = true;
  call.at().put(OTF2_EvtWriter_RmaOpCompleteNonBlocking, call.time(), window->id, pending.number);
  if (!found->fetches) return;
  call.at().put(OTF2_EvtWriter_RmaOpCompleteRemote, call.time(), window->id, pending.number);
  operations.erase(found);
}

void put_operation_test(Call& call, const Pending& pending) {
  if (const Window* const window = handles().window(pending.window)) {
    call.at().put(OTF2_EvtWriter_RmaOpTest, call.time(), window->id, pending.number);
  }
}

// --- windows ---

namespace {

// The begin of a collective call on a window is written after the call: only then is it known that
// there is a window.
void put_window_call(Call& call, const Stamp& begin, std::uint32_t id,
                     OTF2_CollectiveOp operation) {
  const bool creates = operation == OTF2_COLLECTIVE_OP_CREATE_HANDLE ||
                       operation == OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE;
  call.at().put(OTF2_EvtWriter_RmaCollectiveBegin, begin);
  call.at().put(creates ? OTF2_EvtWriter_RmaWinCreate : OTF2_EvtWriter_RmaWinDestroy, call.time(),
                id);
  call.at().put(OTF2_EvtWriter_RmaCollectiveEnd, call.time(), operation, k_process, id,
                OTF2_COLLECTIVE_ROOT_NONE, std::uint64_t{0}, std::uint64_t{0});
}

}  // namespace

void after_new_window(Call& call, const Stamp& begin, int result, MPI_Comm comm, bool allocated,
                      const MPI_Win* win) {
  if (result != MPI_SUCCESS) return;
  const auto lock = handles().lock();
  Comm* const known = handles().comm(comm);
  if (known == nullptr) return;
  Window& window = handles().add_window(key_of(*win), *known);
  window.allocated = allocated;
  put_window_call(
      call, begin, window.id,
      allocated ? OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE : OTF2_COLLECTIVE_OP_CREATE_HANDLE);
}

FreedWindow on_free_window(Call& call, const MPI_Win* win) {
  FreedWindow freed;
  freed.begin = call.time();
  const auto lock = handles().lock();
  if (const Window* const window = window_of(*win)) {
    freed.known = true;
    freed.id = window->id;
    freed.allocated = window->allocated;
  }
  // It is forgotten before the call: right after it another thread may get the same handle.
  handles().forget_window(key_of(*win));
  return freed;
}

void after_free_window(Call& call, int result, const FreedWindow& freed) {
  if (result != MPI_SUCCESS || !freed.known) return;
  put_window_call(call, freed.begin, freed.id,
                  freed.allocated ? OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE
                                  : OTF2_COLLECTIVE_OP_DESTROY_HANDLE);
}

void after_win_set_name(int result, MPI_Win win, const char* name) {
  if (result != MPI_SUCCESS) return;
  const auto lock = handles().lock();
  if (const Window* const window = window_of(win)) handles().name_window(*window, name);
}

// --- synchronisation ---

void on_fence(Call& call, MPI_Win win) {
  const auto lock = handles().lock();
  if (window_of(win) != nullptr) call.at().put(OTF2_EvtWriter_RmaCollectiveBegin, call.time());
}

void after_fence(Call& call, int assertion, MPI_Win win) {
  const auto lock = handles().lock();
  Window* const window = window_of(win);
  if (window == nullptr) return;
  end_epoch(call, *window);
  // A fence that ends no epoch waits for no process.
  const bool waits = (assertion & MPI_MODE_NOPRECEDE) == 0;
  call.at().put(OTF2_EvtWriter_RmaCollectiveEnd, call.time(), OTF2_COLLECTIVE_OP_BARRIER,
                level_of(waits), window->id, OTF2_COLLECTIVE_ROOT_NONE, std::uint64_t{0},
                std::uint64_t{0});
}

void on_post(Call& call, MPI_Group group, int assertion, MPI_Win win) {
  const auto lock = handles().lock();
  Window* const window = window_of(win);
  if (window == nullptr) return;
  window->exposure = {handles().group(group), (assertion & MPI_MODE_NOCHECK) == 0};
  put_group_sync(call, *window, window->exposure);
}

void after_start(Call& call, int result, MPI_Group group, int assertion, MPI_Win win) {
  if (result != MPI_SUCCESS) return;
  const auto lock = handles().lock();
  Window* const window = window_of(win);
  if (window == nullptr) return;
  window->access = {handles().group(group), (assertion & MPI_MODE_NOCHECK) == 0};
  put_group_sync(call, *window, window->access);
}

void on_complete(Call& call, MPI_Win win) {
  const auto lock = handles().lock();
  Window* const window = window_of(win);
  if (window == nullptr) return;
  window->access.synchronises = true;
  put_group_sync(call, *window, window->access);
}

void after_complete(Call& call, MPI_Win win) {
  const auto lock = handles().lock();
  if (Window* const window = window_of(win)) end_epoch(call, *window);
}

void after_win_wait(Call& call, int result, bool over, MPI_Win win) {
  if (result != MPI_SUCCESS || !over) return;
  const auto lock = handles().lock();
  Window* const window = window_of(win);
  if (window == nullptr) return;
  window->exposure.synchronises = true;
  put_group_sync(call, *window, window->exposure);
}

// MPI does not report when a lock was acquired, or who had it before: no order follows from it.

namespace {

std::uint32_t rank_or_all(int rank) {
  return rank == k_everybody ? OTF2_UNDEFINED_UINT32 : static_cast<std::uint32_t>(rank);
}

}  // namespace

void on_lock(Call& call, bool exclusive, int rank, MPI_Win win) {
  const auto lock = handles().lock();
  const Window* const window = window_of(win);
  if (window == nullptr || rank == MPI_PROC_NULL) return;
  call.at().put(OTF2_EvtWriter_RmaRequestLock, call.time(), window->id, rank_or_all(rank),
                std::uint64_t{0}, exclusive ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED);
}

void after_unlock(Call& call, int result, int rank, MPI_Win win) {
  if (result != MPI_SUCCESS || rank == MPI_PROC_NULL) return;
  const auto lock = handles().lock();
  Window* const window = window_of(win);
  if (window == nullptr) return;
  complete_operations(call, *window, rank, Progress::everywhere);
  call.at().put(OTF2_EvtWriter_RmaReleaseLock, call.time(), window->id, rank_or_all(rank),
                std::uint64_t{0});
}

void after_flush(Call& call, int result, bool local, int rank, MPI_Win win) {
  if (result != MPI_SUCCESS || rank == MPI_PROC_NULL) return;
  const auto lock = handles().lock();
  if (Window* const window = window_of(win)) {
    complete_operations(call, *window, rank, local ? Progress::local : Progress::everywhere);
  }
}

void on_win_sync(Call& call, MPI_Win win) {
  const auto lock = handles().lock();
  const Window* const window = window_of(win);
  if (window == nullptr) return;
  call.at().put(OTF2_EvtWriter_RmaSync, call.time(), window->id,
                static_cast<std::uint32_t>(window->rank), OTF2_RMA_SYNC_TYPE_MEMORY);
}

}  // namespace entrain::record
