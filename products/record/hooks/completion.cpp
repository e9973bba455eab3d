// SPDX-License-Identifier: BSD-3-Clause
#include "record/hooks/completion.hpp"

#include <otf2/otf2.h>

#include <algorithm>

#include "record/hooks/collectives.hpp"
#include "record/hooks/messages.hpp"
#include "record/hooks/one_sided.hpp"

namespace entrain::record {

Completion::Completion(int count, const MPI_Request* requests)
    : requests_(requests), count_(std::max(count, 0)), handles_(few_) {
  if (count_ > k_few) {
    many_.resize(static_cast<std::size_t>(count_));
    handles_ = many_.data();
  }
  for (int i = 0; i < count_; ++i) handles_[i] = key_of(requests[i]);
  if (handles().several_threads()) claim();
}

void Completion::claim() {
  Pending none;
  none.active = false;
  claimed_.assign(static_cast<std::size_t>(count_), none);
  const auto lock = handles().lock();
  for (int i = 0; i < count_; ++i) {
    const Pending* const entry = handles().requests.find(handles_[i]);
    if (entry == nullptr || entry->persistent) continue;
    claimed_[static_cast<std::size_t>(i)] = *entry;
    handles().requests.remove(handles_[i]);
  }
}

Completion::~Completion() {
  if (claimed_.empty()) return;
  const auto lock = handles().lock();
  for (int i = 0; i < count_; ++i) {
    const Pending& pending = claimed_[static_cast<std::size_t>(i)];
    if (pending.active) handles().requests.add(handles_[i], pending);
  }
}

const Pending* Completion::look(int index) const {
  if (!claimed_.empty() && claimed_[static_cast<std::size_t>(index)].active) {
    return &claimed_[static_cast<std::size_t>(index)];
  }
  const Pending* const entry = handles().requests.find(handles_[index]);
  return entry == nullptr || (!claimed_.empty() && !entry->persistent) ? nullptr : entry;
}

Pending Completion::take(int index) {
  const Pending* const found = look(index);
  if (found == nullptr || !found->active) return {};
  const Pending pending = *found;
  if (pending.persistent) {
    handles().requests.find(handles_[index])->active = false;
  } else if (!claimed_.empty()) {
    claimed_[static_cast<std::size_t>(index)].active = false;
  } else {
    handles().requests.remove(handles_[index]);
  }
  return pending;
}

void Completion::complete(Call& call, int index, const MPI_Status& status) {
  const Pending pending = take(index);
  if (pending.silent) return;
  int cancelled = 0;
  if (pending.cancelled) real.MPI_Test_cancelled(&status, &cancelled);
  if (cancelled != 0) {
    call.at().put(OTF2_EvtWriter_MpiRequestCancelled, call.time(), pending.number);
    return;
  }
  switch (pending.kind) {
    case Pending::Kind::send:
      call.at().put(OTF2_EvtWriter_MpiIsendComplete, call.time(), pending.number);
      break;
    case Pending::Kind::receive:
      put_receive(call, pending, status);
      break;
    case Pending::Kind::both_ways:
      put_both_ways(call, pending, status);
      break;
    case Pending::Kind::new_comm:
      call.at().put(OTF2_EvtWriter_CommCreate, call.time(), pending.comm);
      [[fallthrough]];
    case Pending::Kind::collective: {
      const Collective& what = pending.collective;
      call.at().put_with(what.partners, OTF2_EvtWriter_NonBlockingCollectiveComplete, call.time(),
                         static_cast<OTF2_CollectiveOp>(what.operation), what.comm, what.root,
                         what.sent, what.received, pending.number);
      break;
    }
    case Pending::Kind::one_sided:
      put_operation_end(call, pending);
      break;
    case Pending::Kind::nothing:
      break;
  }
}

void Completion::failed(Call& call, int index, int error, const MPI_Status* status) {
  const Pending pending = take(index);
  if (pending.silent) return;
  const bool received = is_too_long(error) && status != nullptr;
  if (received && pending.kind == Pending::Kind::receive) {
    put_receive(call, pending, *status);
  } else if (received && pending.kind == Pending::Kind::both_ways) {
    put_both_ways(call, pending, *status);
  } else {
    put_failure(call, pending);
  }
}

void Completion::failed(Call& call, int result, const MPI_Status* status) {
  const auto lock = handles().lock();
  for (int i = 0; i < count_; ++i) {
    const bool was_there = handles_[i] != key_of(MPI_REQUEST_NULL);
    if (was_there && requests_[i] == MPI_REQUEST_NULL) failed(call, i, result, status);
  }
}

namespace {

/// True if the library reports the error of each request in its status.
bool is_in_status(int result) {
  int kind = MPI_SUCCESS;
  if (result != MPI_SUCCESS) real.MPI_Error_class(result, &kind);
  return kind == MPI_ERR_IN_STATUS;
}

bool is_pending(int error) {
  int kind = MPI_SUCCESS;
  real.MPI_Error_class(error, &kind);
  return kind == MPI_ERR_PENDING;
}

}  // namespace

void Completion::finished(Call& call, int result, int index, const MPI_Status* status) {
  if (result != MPI_SUCCESS) return failed(call, result, status);
  if (index < 0 || index >= count_) return;
  const auto lock = handles().lock();
  complete(call, index, *status);
}

void Completion::all(Call& call, int result, const MPI_Status* statuses) {
  const bool in_status = is_in_status(result);
  if (result != MPI_SUCCESS && !in_status) return failed(call, result, nullptr);
  const auto lock = handles().lock();
  for (int i = 0; i < count_; ++i) {
    const int error = in_status ? statuses[i].MPI_ERROR : MPI_SUCCESS;
    if (error == MPI_SUCCESS) {
      complete(call, i, statuses[i]);
    } else if (!is_pending(error)) {
      failed(call, i, error, &statuses[i]);
    }
  }
}

void Completion::some(Call& call, int result, int count, const int* indices,
                      const MPI_Status* statuses) {
  const bool in_status = is_in_status(result);
  if (result != MPI_SUCCESS && !in_status) return failed(call, result, nullptr);
  if (count == MPI_UNDEFINED) return;
  const auto lock = handles().lock();
  for (int i = 0; i < count; ++i) {
    const int error = in_status ? statuses[i].MPI_ERROR : MPI_SUCCESS;
    if (error == MPI_SUCCESS) {
      complete(call, indices[i], statuses[i]);
    } else {
      failed(call, indices[i], error, &statuses[i]);
    }
  }
}

void Completion::tested(Call& call, int result) {
  if (result != MPI_SUCCESS) return failed(call, result, nullptr);
  const auto lock = handles().lock();
  for (int i = 0; i < count_; ++i) {
    const Pending* const pending = look(i);
    if (pending == nullptr || !pending->active || pending->kind == Pending::Kind::nothing ||
        pending->silent) {
      continue;
    }
    if (pending->kind == Pending::Kind::one_sided) {
      put_operation_test(call, *pending);
    } else {
      call.at().put(OTF2_EvtWriter_MpiRequestTest, call.time(), pending->number);
    }
  }
}

void on_request_free(Call& call, const MPI_Request* request) {
  const auto lock = handles().lock();
  Pending* const pending = handles().requests.find(key_of(*request));
  if (pending == nullptr) return;
  // No later call will mention a send that is under way: its records end here.
  if (pending->active && !pending->silent && pending->kind == Pending::Kind::send) {
    call.at().put(OTF2_EvtWriter_MpiIsendComplete, call.time(), pending->number);
  }
  handles().requests.remove(key_of(*request));
}

void on_cancel(const MPI_Request* request) {
  const auto lock = handles().lock();
  Pending* const pending = handles().requests.find(key_of(*request));
  if (pending != nullptr) pending->cancelled = true;
}

}  // namespace entrain::record
