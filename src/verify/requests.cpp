// SPDX-License-Identifier: BSD-3-Clause
#include "verify/requests.hpp"

namespace entrain::verify {

using trace::EventKind;

Requests::Requests(const trace::EventList& events) {
  for (std::size_t e = 0; e < events.size(); ++e) {
    if (events.kind(e) == EventKind::request_cancelled) cancelled_.insert(events[e].id, true);
  }
}

void Requests::open(std::uint64_t id, const Open& operation) {
  if (operation.kind == EventKind::isend && cancelled_.find(id) == nullptr) {
    open_.erase(id);  // an operation under this id that is still open can no longer complete
    return;
  }
  const auto [value, is_new] = open_.insert(id, operation);
  if (!is_new) *value = operation;
}

Requests::Open Requests::complete_receive(std::uint64_t id) {
  const Open* found = open_.find(id);
  if (found == nullptr || found->kind != EventKind::irecv_request) return {};
  const Open operation = *found;
  open_.erase(id);
  return operation;
}

Requests::Open Requests::complete_collective(std::uint64_t id) {
  const Open* found = open_.find(id);
  if (found == nullptr) return {};
  const Open operation = *found;
  open_.erase(id);
  return operation.kind == EventKind::nb_request ? operation : Open{};
}

Requests::Open Requests::cancel(std::uint64_t id) {
  const Open* found = open_.find(id);
  if (found == nullptr) return {};
  const Open operation = *found;
  open_.erase(id);
  return operation.kind == EventKind::nb_request ? Open{} : operation;
}

}  // namespace entrain::verify
