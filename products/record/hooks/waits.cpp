// SPDX-License-Identifier: BSD-3-Clause
#include "record/hooks/waits.hpp"

namespace entrain::record {

namespace {

/// With more requests it takes too long to look whether one of them is complete.
constexpr int k_most_requests = 64;

/// True if a session may be held inside of the program's call that begins now. Errors must come
/// from that call alone if the program handles them.
bool may_meet() {
  const std::uint64_t look = Sessions::next_look.load(std::memory_order_relaxed);
  return look != Sessions::k_never && this_thread.depth == 1 && !errors_return &&
         timer.now().truth >= look;
}

/// True if the call for this request returns at once.
bool is_complete(MPI_Request request) {
  int complete = 1;
  const int result = real.MPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE);
  return result != MPI_SUCCESS || complete != 0;
}

}  // namespace

void wait_for_message(int source, int tag, MPI_Comm comm) {
  if (!may_meet()) return;
  recorder().sessions().wait([=] {
    int there = 1;
    const int result = real.MPI_Iprobe(source, tag, comm, &there, MPI_STATUS_IGNORE);
    return result != MPI_SUCCESS || there != 0;
  });
}

void wait_for_all(int count, const MPI_Request* requests) {
  if (!may_meet()) return;
  int first = 0;  // those before it are complete
  recorder().sessions().wait([&] {
    while (first < count && is_complete(requests[first])) ++first;
    return first >= count;
  });
}

void wait_for_one(int count, const MPI_Request* requests) {
  if (count > k_most_requests || !may_meet()) return;
  recorder().sessions().wait([&] {
    bool waits = false;
    for (int i = 0; i < count; ++i) {
      if (requests[i] == MPI_REQUEST_NULL) continue;
      if (is_complete(requests[i])) return true;
      waits = true;
    }
    return !waits;
  });
}

}  // namespace entrain::record
