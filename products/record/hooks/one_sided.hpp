// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>

#include "record/hooks/bytes.hpp"
#include "record/hooks/call.hpp"

namespace entrain::record {

/// These write the begin of an operation and return its number in the records; 0 if it is not
/// recorded.
std::uint64_t on_put(Call& call, Count count, MPI_Datatype datatype, int target, MPI_Win win);
std::uint64_t on_get(Call& call, Count count, MPI_Datatype datatype, int target, MPI_Win win);
std::uint64_t on_accumulate(Call& call, Count count, MPI_Datatype datatype, int target,
                            MPI_Win win);
/// An atomic operation that also fetches the old value.
std::uint64_t on_fetch(Call& call, Count sent, MPI_Datatype sent_type, Count received,
                       MPI_Datatype received_type, MPI_Op op, int target, MPI_Win win);
std::uint64_t on_compare_and_swap(Call& call, MPI_Datatype datatype, int target, MPI_Win win);
/// The operation with this number has a request.
void after_request(int result, std::uint64_t number, MPI_Win win, const MPI_Request* request);
/// A request of a call that has no records but enter and leave.
void after_other_request(int result, const MPI_Request* request);
/// The request of a one-sided operation is complete.
void put_operation_end(Call& call, const Pending& pending);
void put_operation_test(Call& call, const Pending& pending);

/// A window was made by the collective call that began at `begin`. `allocated`: with its memory.
void after_new_window(Call& call, const Stamp& begin, int result, MPI_Comm comm, bool allocated,
                      const MPI_Win* win);
/// A window that is about to be freed.
struct FreedWindow {
  Stamp begin;
  bool known = false, allocated = false;
  std::uint32_t id = 0;
};
FreedWindow on_free_window(Call& call, const MPI_Win* win);
void after_free_window(Call& call, int result, const FreedWindow& freed);
void after_win_set_name(int result, MPI_Win win, const char* name);

void on_fence(Call& call, MPI_Win win);
void after_fence(Call& call, int assertion, MPI_Win win);
void on_post(Call& call, MPI_Group group, int assertion, MPI_Win win);
void after_start(Call& call, int result, MPI_Group group, int assertion, MPI_Win win);
void on_complete(Call& call, MPI_Win win);
void after_complete(Call& call, MPI_Win win);
void after_win_wait(Call& call, int result, bool over, MPI_Win win);
/// Stands for all ranks of the window. No MPI library gives this number a meaning.
inline constexpr int k_everybody = std::numeric_limits<int>::min();
void on_lock(Call& call, bool exclusive, int rank, MPI_Win win);
void after_unlock(Call& call, int result, int rank, MPI_Win win);
void after_flush(Call& call, int result, bool local, int rank, MPI_Win win);
void on_win_sync(Call& call, MPI_Win win);

}  // namespace entrain::record
