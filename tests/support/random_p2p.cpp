// SPDX-License-Identifier: BSD-3-Clause
#include "support/random_world.hpp"

namespace entrain::test {

using trace::Event;
using trace::EventKind;

PointToPoint::Route PointToPoint::route() {
  Rng& rng = world_.rng;
  const auto& comms = world_.definitions.comms;
  if (!world_.inter_comms.empty() && rng.chance(0.3)) {
    const CommIndex index = rng.pick(world_.inter_comms);
    const trace::Comm& comm = comms[index];
    const bool from_a = rng.chance(0.5);
    const auto& senders = from_a ? comm.group_a : comm.group_b;
    const auto& receivers = from_a ? comm.group_b : comm.group_a;
    const auto s = static_cast<std::uint32_t>(rng.below(senders.size()));
    const auto r = static_cast<std::uint32_t>(rng.below(receivers.size()));
    return {index, senders[s], receivers[r], s, r};
  }
  if (rng.chance(0.03)) {
    const LocationIndex self = rng.pick(world_.master);
    return {world_.self_comm, self, self, 0, 0};
  }
  const CommIndex index = rng.pick(world_.mpi_comms);
  const auto& ranks = comms[index].group_a;
  auto s = static_cast<std::uint32_t>(rng.below(ranks.size()));
  auto r = static_cast<std::uint32_t>(rng.below(ranks.size()));
  if (s == r && !rng.chance(0.1)) r = (r + 1) % static_cast<std::uint32_t>(ranks.size());
  if (rng.chance(world_.plan.downhill) &&
      world_.clock_offset(ranks[s]) < world_.clock_offset(ranks[r])) {
    std::swap(s, r);
  }
  return {index, ranks[s], ranks[r], s, r};
}

/// The thread of a process that sends or receives messages of a tag; the master unless several
/// threads call MPI. The two ends use different threads, so that a self message may be an edge.
LocationIndex PointToPoint::actor(LocationIndex master, std::uint32_t tag, bool sends) const {
  if (!world_.plan.mpi_threads) return master;
  const auto& threads = world_.members[world_.definitions.process_of[master]];
  return threads[(tag + (sends ? 0 : 1)) % threads.size()];
}

LocationIndex PointToPoint::any_actor() {
  if (!world_.plan.mpi_threads) return world_.rng.pick(world_.master);
  return world_.rng.pick(world_.rng.pick(world_.members));
}

PointToPoint::PointToPoint(World& world) : world_(world), inbox_(world.now.size()) {
  for (const auto& threads : world.members) {
    for (std::size_t i = 0; i < threads.size(); ++i) inbox_[threads[i]].next_id += i * 100'000;
  }
}

bool PointToPoint::fits(const Request& request, const Message& message) {
  const auto& [sender, receiver, comm, tag] = message.channel;
  return !request.matched && request.comm == comm &&
         (request.source == k_none || request.source == sender) &&
         (request.tag == k_none || request.tag == tag);
}

std::uint64_t PointToPoint::take_id(LocationIndex location) {
  Inbox& inbox = inbox_[location];
  if (!inbox.free_ids.empty() && world_.rng.chance(world_.plan.persistent)) {
    const std::uint64_t id = inbox.free_ids.back();
    inbox.free_ids.pop_back();
    return id;
  }
  return inbox.next_id++;
}

void PointToPoint::send(bool immediate) {
  const Route way = route();
  const auto tag = static_cast<std::uint32_t>(world_.rng.below(world_.plan.tags));
  Event event;
  event.kind = immediate ? EventKind::isend : EventKind::send;
  event.comm = way.comm;
  event.peer = way.receiver_rank;
  event.tag = tag;
  const LocationIndex sender = actor(way.sender, tag, true);
  const LocationIndex receiver = actor(way.receiver, tag, false);
  if (immediate) event.id = inbox_[sender].next_id++;
  const Ref ref = world_.append(sender, event);
  deliver({ref,
           {sender, receiver, way.comm, tag},
           way.sender_rank,
           world_.time(ref) + world_.latency(sender, receiver)});
}

void PointToPoint::deliver(Message message) {
  Inbox& inbox = inbox_[std::get<1>(message.channel)];
  for (Request& request : inbox.posted) {
    if (fits(request, message)) {
      request.matched = true;
      request.message = message;
      return;
    }
  }
  inbox.unexpected.push_back(message);
}

void PointToPoint::matched(const Message& message, Ref receive) {
  std::size_t edge = k_no_edge;
  if (message.send.location != receive.location) {
    edge = world_.edges.size();
    world_.edge(message.send, receive, EdgeKind::p2p);
  }
  records_[message.channel].push_back({message.send, receive, edge});
}

void PointToPoint::receive(LocationIndex location) {
  Inbox& inbox = inbox_[location];
  // Any message may be asked for, but of its channel only the oldest is received.
  const auto wanted = inbox.unexpected[world_.rng.below(inbox.unexpected.size())].channel;
  const auto found = std::find_if(inbox.unexpected.begin(), inbox.unexpected.end(),
                                  [&](const Message& m) { return m.channel == wanted; });
  const Message message = *found;
  inbox.unexpected.erase(found);
  Event event;
  event.kind = EventKind::recv;
  event.comm = std::get<2>(message.channel);
  event.peer = message.sender_rank;
  event.tag = std::get<3>(message.channel);
  // The receive is posted here as well: its record, too, stands for the posting.
  matched(message, world_.append(location, event, message.arrival));
}

void PointToPoint::post() {
  Rng& rng = world_.rng;
  const Route way = route();
  const auto tag = static_cast<std::uint32_t>(rng.below(world_.plan.tags));
  const LocationIndex location = actor(way.receiver, tag, false);
  Inbox& inbox = inbox_[location];
  Request request;
  request.id = take_id(location);
  request.comm = way.comm;
  if (!rng.chance(world_.plan.wildcard)) request.source = actor(way.sender, tag, true);
  if (world_.plan.mpi_threads || !rng.chance(world_.plan.wildcard)) request.tag = tag;
  Event event;
  event.kind = EventKind::irecv_request;
  event.id = request.id;
  world_.append(location, event);
  for (auto message = inbox.unexpected.begin(); message != inbox.unexpected.end(); ++message) {
    if (fits(request, *message)) {
      request.matched = true;
      request.message = *message;
      inbox.unexpected.erase(message);
      break;
    }
  }
  inbox.posted.push_back(request);
}

void PointToPoint::complete(LocationIndex location, std::size_t position) {
  Inbox& inbox = inbox_[location];
  const Request request = inbox.posted[position];
  inbox.posted.erase(inbox.posted.begin() + static_cast<std::ptrdiff_t>(position));
  inbox.free_ids.push_back(request.id);
  Event event;
  event.kind = EventKind::irecv;
  event.comm = std::get<2>(request.message.channel);
  event.peer = request.message.sender_rank;
  event.tag = std::get<3>(request.message.channel);
  event.id = request.id;
  const Ref ref = world_.append(location, event, request.message.arrival);
  // Channels list their receives in posting order, that is in the order of their sends.
  matched(request.message, ref);
}

bool PointToPoint::complete_any(LocationIndex location) {
  std::vector<std::size_t> ready;
  const auto& posted = inbox_[location].posted;
  for (std::size_t i = 0; i < posted.size(); ++i) {
    if (posted[i].matched) ready.push_back(i);
  }
  if (ready.empty()) return false;
  complete(location, world_.rng.pick(ready));
  return true;
}

void PointToPoint::blocking() {
  const LocationIndex location = any_actor();
  if (world_.rng.chance(0.5) && !inbox_[location].unexpected.empty()) {
    receive(location);
  } else {
    send(false);
  }
}

void PointToPoint::nonblocking() {
  switch (world_.rng.below(3)) {
    case 0:
      send(true);
      break;
    case 1:
      post();
      break;
    default:
      if (!complete_any(any_actor())) post();
  }
}

void PointToPoint::cancel() {
  const LocationIndex location = any_actor();
  Inbox& inbox = inbox_[location];
  Event event;
  event.kind = EventKind::request_cancelled;
  if (world_.rng.chance(0.5)) {
    for (auto request = inbox.posted.begin(); request != inbox.posted.end(); ++request) {
      if (request->matched) continue;
      event.id = request->id;
      inbox.posted.erase(request);
      world_.append(location, event);
      ++world_.result.cancelled;
      return;
    }
    return;
  }
  for (auto message = inbox.unexpected.begin(); message != inbox.unexpected.end(); ++message) {
    const Event& sent = world_.event(message->send);
    if (sent.kind != EventKind::isend) continue;
    event.id = sent.id;
    const LocationIndex sender = message->send.location;
    inbox.unexpected.erase(message);
    world_.append(sender, event);
    ++world_.result.cancelled;
    return;
  }
}

void PointToPoint::finish() {
  for (LocationIndex location = 0; location < inbox_.size(); ++location) {
    while (complete_any(location)) {
    }
    Inbox& inbox = inbox_[location];
    while (!world_.plan.unmatched && !inbox.unexpected.empty()) receive(location);
    world_.result.unmatched_sends += inbox.unexpected.size();
    world_.result.open_requests += inbox.posted.size();
  }
  if (world_.plan.unmatched) lose_records();
}

/// Deletes the last records of some channels on one side, so that no later message shifts. A
/// channel that keeps a message nobody received loses receive records only.
void PointToPoint::lose_records() {
  std::map<Channel, bool> pending;
  for (const Inbox& inbox : inbox_) {
    for (const Message& message : inbox.unexpected) pending[message.channel] = true;
  }
  for (auto& [channel, records] : records_) {
    if (!world_.rng.chance(0.3)) continue;
    std::sort(records.begin(), records.end(),
              [](const Record& a, const Record& b) { return a.send.index < b.send.index; });
    const bool lose_sends = world_.rng.chance(0.5) && !pending.contains(channel);
    std::size_t count = 1 + world_.rng.below(records.size());
    for (auto record = records.rbegin(); count > 0; ++record, --count) {
      world_.erase(lose_sends ? record->send : record->receive);
      if (record->edge != k_no_edge) world_.edges[record->edge].deleted = true;
      if (lose_sends) {
        ++world_.result.unmatched_receives;
      } else {
        ++world_.result.unmatched_sends;
        const Ref receive = record->receive;
        if (world_.event(receive).kind == EventKind::irecv) ++world_.result.open_requests;
      }
    }
  }
}

}  // namespace entrain::test
