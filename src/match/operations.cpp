// SPDX-License-Identifier: BSD-3-Clause
#include "match/operations.hpp"

#include <algorithm>

#include "base/free_memory.hpp"

namespace entrain::match {

using trace::EventKind;

Operations::Operations(const Builder& builder, std::uint32_t process)
    : builder_(&builder), process_(process) {
  const auto& locations = builder.processes()[process];
  std::size_t messages = 0;
  for (const LocationIndex l : locations) {
    messages += builder.event_counts(l).sends + builder.event_counts(l).receives;
  }
  list_.reserve(messages + messages / 4);  // growth would touch twice the memory
  for (const LocationIndex l : locations) walk(l);
  if (!builder.is_threaded(process)) return;
  std::ranges::stable_sort(
      list_, [&](const Operation& a, const Operation& b) { return time(a) < time(b); });
  for (Sums& sums : sums_) sums.lengths = 0;
  for (const Operation& one : list_) {
    std::uint64_t& lengths = sums_[one.kind].lengths;
    lengths = (lengths ^ trace::length_code(builder.event(one.event))) * 0x9E3779B97F4A7C15u;
  }
}

void Operations::walk(LocationIndex location) {
  const trace::EventList& events = builder_->events(location);
  const Requests requests(events);
  kind_of_form_.assign(events.form_count(), k_unseen);
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    switch (events.kind(i)) {
      case EventKind::send:
      case EventKind::isend:
        if (requests.cancelled(i)) {
          ++sends.cancelled;
        } else {
          add(OperationType::send, {location, i}, i);
        }
        break;
      case EventKind::recv:
        add(OperationType::receive, {location, i}, i);
        break;
      case EventKind::irecv:
        if (requests.was_posted(i)) break;
        after_unposted_ = std::max(after_unposted_, events.time(i) + 1);
        add(OperationType::receive, {location, i}, i);
        break;
      case EventKind::irecv_request:
        if (requests.cancelled(i)) {
          ++receives.cancelled;
        } else if (requests.completion(i) != k_none) {
          some_posted_ = true;
          add(OperationType::receive, {location, requests.completion(i)}, i);
        } else {
          first_open_ = std::min(first_open_, events.time(i));
          after_open_ = std::max(after_open_, events.time(i) + 1);
        }
        break;
      case EventKind::collective_end:
      case EventKind::rma_collective_end:
        add(OperationType::call, {location, i}, i);
        break;
      default:
        break;
    }
  }
}

void Operations::add(OperationType type, EventRef at, std::uint32_t posted) {
  const trace::Event event = builder_->event(at);
  std::uint32_t& kind = kind_of_form_[builder_->events(at.location).form(at.index)];
  if (kind == k_unseen) {
    const Kind known = kind_of(event, type);
    const auto next = static_cast<std::uint32_t>(kinds_.size());
    kind = known.other == k_none ? k_none : *numbers_.insert(known, next).first;
    if (kind == next) {
      kinds_.push_back(known);
      sums_.emplace_back();
    }
  }
  if (type != OperationType::call) {
    Counts& counts = type == OperationType::send ? sends : receives;
    ++(kind == k_none ? counts.lost : counts.known);
  }
  if (kind == k_none) return;
  Sums& sums = sums_[kind];
  ++sums.count;
  sums.lengths = (sums.lengths ^ trace::length_code(event)) * 0x9E3779B97F4A7C15u;
  list_.push_back({.event = at, .posted = posted, .kind = kind});
}

/// Kind of an operation; `other` is k_none if it names an undefined process or no communicator.
Kind Operations::kind_of(const trace::Event& event, OperationType type) const {
  if (type != OperationType::call) {
    return {type, event.comm, builder_->process_of_peer(event.comm, process_, event.peer),
            event.tag};
  }
  const bool one_sided = event.kind == EventKind::rma_collective_end;
  return {.type = type,
          .comm = one_sided ? name_of_window(builder_->definitions(), event.comm) : event.comm,
          .other = event.comm == k_none ? k_none : event.op};
}

void Operations::sort_by_kind() {
  first_.assign(kinds_.size() + 1, 0);
  for (std::size_t k = 0; k < kinds_.size(); ++k) first_[k + 1] = first_[k] + sums_[k].count;
  std::vector<std::uint32_t> next(first_.begin(), first_.end());
  ends_.resize(list_.size());
  for (const Operation& one : list_) ends_[next[one.kind]++] = builder_->ref(one.event);
  free_memory(list_);
}

Requests::Requests(const trace::EventList& events) : fate_(events.size(), k_none) {
  // Only cancellations need isends, of which a location may have millions.
  bool any_cancelled = false;
  for (std::uint32_t i = 0; i < events.size() && !any_cancelled; ++i) {
    any_cancelled = events.kind(i) == EventKind::request_cancelled;
  }
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const trace::Event& event = events[i];
    switch (event.kind) {
      case EventKind::isend:
        if (any_cancelled) {
          *open_.insert(event.id, i).first = i;
        } else {
          open_.erase(event.id);
        }
        break;
      case EventKind::irecv_request:
      case EventKind::nb_request:
        *open_.insert(event.id, i).first = i;
        break;
      case EventKind::nb_complete:
        open_.erase(event.id);
        break;
      case EventKind::irecv:
        if (const std::uint32_t* posted = posted_receive(events, event.id)) {
          fate_[*posted] = i;
          fate_[i] = k_posted;
          open_.erase(event.id);
        }
        break;
      case EventKind::request_cancelled:
        if (const std::uint32_t* started = open_.find(event.id)) {
          fate_[*started] = k_cancelled;
          open_.erase(event.id);
        }
        break;
      default:
        break;
    }
  }
}

}  // namespace entrain::match
