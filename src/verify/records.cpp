// SPDX-License-Identifier: BSD-3-Clause
#include "verify/records.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace entrain::verify {

using trace::Event;
using trace::EventKind;

namespace {

bool names_request(EventKind kind) {
  switch (kind) {
    case EventKind::isend:
    case EventKind::irecv_request:
    case EventKind::irecv:
    case EventKind::request_cancelled:
    case EventKind::nb_request:
    case EventKind::nb_complete:
      return true;
    default:
      return false;
  }
}

/// Locations of each process that have events.
std::vector<std::vector<LocationIndex>> locations_by_process(const trace::Trace& trace) {
  std::vector<std::vector<LocationIndex>> by_process;
  for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
    if (trace.locations[l].events.empty()) continue;
    const std::uint32_t process = trace.definitions.process_of[l];
    if (process >= by_process.size()) by_process.resize(process + 1);
    by_process[process].push_back(l);
  }
  return by_process;
}

/// Follows one request id through the stream; `uses` are its events in stream order.
void follow_request(std::span<const Event> events, std::span<const std::uint32_t> uses,
                    Requests& requests) {
  std::uint32_t open = k_none;  // the latest event that started an operation under this id
  const auto is_open = [&](EventKind kind) { return open != k_none && events[open].kind == kind; };
  for (const std::uint32_t use : uses) {
    switch (events[use].kind) {
      case EventKind::irecv:
        if (!is_open(EventKind::irecv_request)) break;
        requests.origin[use] = open;
        open = k_none;
        break;
      case EventKind::nb_complete:
        requests.origin[use] = is_open(EventKind::nb_request) ? open : k_none;
        open = k_none;
        break;
      case EventKind::request_cancelled:
        if (is_open(EventKind::isend)) {
          requests.origin[open] = k_none;
          ++requests.cancelled_sends;
        } else if (is_open(EventKind::irecv_request)) {
          ++requests.cancelled_receives;
        }
        open = k_none;
        break;
      default:
        open = use;
        break;
    }
  }
}

}  // namespace

ProcessOrder::ProcessOrder(const trace::Trace& trace) : position_(trace.locations.size()) {
  struct Entry {
    std::uint64_t time;
    LocationIndex location;
    std::uint32_t event;
    auto key() const { return std::tuple(time, location, event); }
  };
  std::vector<Entry> entries;
  for (const auto& locations : locations_by_process(trace)) {
    if (locations.size() < 2) continue;
    entries.clear();
    for (const LocationIndex l : locations) {
      const auto& events = trace.locations[l].events;
      position_[l].resize(events.size());
      for (std::uint32_t e = 0; e < events.size(); ++e) entries.push_back({events[e].time, l, e});
    }
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.key() < b.key(); });
    for (std::uint32_t i = 0; i < entries.size(); ++i) {
      position_[entries[i].location][entries[i].event] = i;
    }
  }
}

Requests link_requests(std::span<const Event> events) {
  Requests requests;
  requests.origin.resize(events.size());
  std::iota(requests.origin.begin(), requests.origin.end(), 0U);
  std::vector<std::uint32_t> uses;
  for (std::uint32_t e = 0; e < events.size(); ++e) {
    if (names_request(events[e].kind)) uses.push_back(e);
  }
  std::sort(uses.begin(), uses.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(events[a].id, a) < std::tuple(events[b].id, b);
  });
  for (auto first = uses.begin(); first != uses.end();) {
    const auto last = std::find_if(
        first, uses.end(), [&](std::uint32_t use) { return events[use].id != events[*first].id; });
    follow_request(events, {first, last}, requests);
    first = last;
  }
  return requests;
}

Membership::Membership(const trace::Definitions& definitions, const trace::Comm& comm)
    : definitions_(&definitions), comm_(&comm) {
  const auto enter = [&](std::uint32_t group, const std::vector<LocationIndex>& members) {
    for (std::uint32_t rank = 0; rank < members.size(); ++rank) {
      const std::uint32_t process = process_at(group, rank);
      if (process != k_none) entries_.push_back({process, {group, rank}});
    }
  };
  enter(0, comm.group_a);
  if (comm.inter) enter(1, comm.group_b);
  // A process named twice has the first seat only.
  const auto by_process = [](const Entry& a, const Entry& b) { return a.process < b.process; };
  std::stable_sort(entries_.begin(), entries_.end(), by_process);
  const auto same = [](const Entry& a, const Entry& b) { return a.process == b.process; };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), same), entries_.end());
}

std::optional<Seat> Membership::seat_of(std::uint32_t process) const {
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), process,
                       [](const Entry& entry, std::uint32_t p) { return entry.process < p; });
  if (found == entries_.end() || found->process != process) return std::nullopt;
  return found->seat;
}

std::uint32_t Membership::process_at(std::uint32_t group, std::uint32_t rank) const {
  const auto& members = group == 0 ? comm_->group_a : comm_->group_b;
  if (rank >= members.size()) return k_none;
  const LocationIndex location = members[rank];
  return location < definitions_->process_of.size() ? definitions_->process_of[location] : k_none;
}

}  // namespace entrain::verify
