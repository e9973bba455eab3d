// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/machine.hpp"

#include <algorithm>

namespace entrain::sim {

namespace {

using Shape = CollectiveKind::Shape;

constexpr std::uint64_t k_start = 1'000'000'000'000;  ///< begin of the program, ticks
constexpr std::uint64_t k_ticks_per_function = 16;    ///< least time of a function, ticks, for its
                                                      ///< Enter and its Leave

// Numbers of the requests of a process: free again when waited for.
constexpr std::uint64_t k_receive_request = 1, k_send_request = k_receive_request + k_directions,
                        k_collective_request = k_send_request + k_directions;

/// `least` to 1.5 times `least` ticks, by the lowest 16 of `bits`, which are used up.
std::uint64_t pause(std::uint64_t least, std::uint64_t& bits) {
  const std::uint64_t more = (least * (bits & 0xFFFF)) >> 17;
  bits >>= 16;
  return least + more;
}

/// Ranks and bytes as tracers record them.
Collective record_of(const CollectiveKind& kind, const Partition& partition, std::uint32_t l,
                     std::uint64_t turn, std::uint64_t bytes) {
  const std::uint32_t part = partition.part[l], rank = partition.rank[l];
  const std::uint64_t size = partition.size[part];
  const bool rooted = kind.shape == Shape::one_to_n || kind.shape == Shape::n_to_one;
  const auto root = static_cast<std::uint32_t>(turn % size);
  Collective record{kind.op, partition.first + part, rooted ? root : trace::k_root_none, 0, 0};
  if (kind.no_data) return record;
  record.sent = record.received = bytes;
  if (kind.shape == Shape::one_to_n) record.sent = rank == root ? bytes * size : 0;
  if (kind.shape == Shape::n_to_one) record.received = rank == root ? bytes * size : 0;
  if (kind.op == trace::op::exscan && rank == 0) record.received = 0;
  if (kind.some_empty && rank % 3 == 1) record.sent = 0;
  return record;
}

}  // namespace

Quota::Quota(std::uint64_t total, std::uint64_t slots, std::uint64_t seed)
    : slots_(slots),
      share_(slots == 0 ? 0 : total / slots),
      rest_(slots == 0 ? 0 : total % slots),
      random_(seed, ~std::uint64_t{0}) {}

std::uint64_t Quota::next() {
  std::uint64_t pairs = share_;
  sum_ += rest_;
  if (sum_ >= slots_ && slots_ > 0) {
    sum_ -= slots_;
    ++pairs;
  }
  // Calls go in pairs: the pairs of Enter and Leave that the first one gives up go to the second.
  if (give_back_) {
    pairs += static_cast<std::uint64_t>(owed_);
  } else if (owed_ = 0; dealt_ + 1 < slots_) {
    const std::uint64_t bits = random_.next();
    const auto part = static_cast<std::int64_t>((share_ / 2 * (bits >> 56)) >> 8);
    owed_ = (bits & 1) != 0 ? part : -part;
    pairs -= static_cast<std::uint64_t>(owed_);
  }
  give_back_ = !give_back_;
  ++dealt_;
  return pairs;
}

Machine::Machine(const Layout& layout, const Timing& timing, std::uint64_t seed, Quota quota,
                 const Reported& reported)
    : layout_(layout), timing_(timing), quota_(quota), reported_(reported) {
  processes_.reserve(layout.processes);
  for (std::uint32_t l = 0; l < layout.processes; ++l) {
    RandomStream random(seed, 2 * std::uint64_t{l});
    const double pace = 1 + timing.imbalance * random.uniform(-0.5, 0.5);
    const std::uint64_t begin = k_start + (random.next() >> 48);
    processes_.push_back(
        {begin, random, RandomStream(seed, 2 * std::uint64_t{l} + 1), pace, 0, 0, {}});
  }
  first_time_ = last_time();
  for (const Process& process : processes_) first_time_ = std::min(first_time_, process.now);
}

std::uint64_t Machine::last_time() const {
  std::uint64_t last = 0;
  for (const Process& process : processes_) last = std::max(last, process.now);
  return last;
}

/// Time that the news that a collective may end is on its way, ticks.
std::uint64_t Machine::delay(Process& process) const {
  return timing_.latency + static_cast<std::uint64_t>(timing_.tail * tailed(process.random.next()));
}

/// Time that a message is on its way, ticks.
std::uint64_t Machine::message_delay(std::uint32_t from, std::uint32_t to) {
  Process& sender = processes_[from];
  if (to > from) return delay(sender);
  return timing_.back_latency +
         static_cast<std::uint64_t>(timing_.back_tail * tailed(sender.random.next()));
}

void Machine::start() {
  std::uint64_t last = 0;
  for (std::uint32_t l = 0; l < layout_.processes; ++l) {
    Process& process = processes_[l];
    EventSink* const out = sink(l);
    if (out != nullptr) out->enter(process.now, k_main);
    std::uint64_t bits = process.random.next();
    process.now += pause(2000, bits);
    if (out != nullptr) out->enter(process.now, k_mpi_init);
    last = std::max(last, process.now);
  }
  for (std::uint32_t l = 0; l < layout_.processes; ++l) {
    processes_[l].now = last + delay(processes_[l]);
    if (EventSink* const out = sink(l)) out->leave(processes_[l].now, k_mpi_init);
  }
}

void Machine::finish() {
  std::uint64_t last = 0;
  for (std::uint32_t l = 0; l < layout_.processes; ++l) {
    Process& process = processes_[l];
    std::uint64_t bits = process.random.next();
    process.now += pause(1000, bits);
    if (EventSink* const out = sink(l)) out->enter(process.now, k_mpi_finalize);
    last = std::max(last, process.now);
  }
  for (std::uint32_t l = 0; l < layout_.processes; ++l) {
    Process& process = processes_[l];
    EventSink* const out = sink(l);
    process.now = last + delay(process);
    if (out != nullptr) out->leave(process.now, k_mpi_finalize);
    std::uint64_t bits = process.random.next();
    process.now += pause(1000, bits);
    if (out != nullptr) out->leave(process.now, k_main);
  }
}

void Machine::enter_iteration() {
  for (std::uint32_t l = 0; l < layout_.processes; ++l) {
    processes_[l].now += 50;
    if (EventSink* const out = sink(l)) out->enter(processes_[l].now, k_iteration);
  }
}

void Machine::leave_iteration() {
  for (std::uint32_t l = 0; l < layout_.processes; ++l) {
    processes_[l].now += 50;
    if (EventSink* const out = sink(l)) out->leave(processes_[l].now, k_iteration);
  }
}

void Machine::compute(double share) {
  for (std::uint32_t l = 0; l < layout_.processes; ++l) compute(l, share);
}

void Machine::compute(std::uint32_t l, double share) {
  Process& process = processes_[l];
  const std::uint64_t pairs = quota_.next();
  ++slots_;
  const double variation =
      1 - timing_.imbalance + timing_.imbalance * tailed(process.random.next());
  const auto wanted =
      static_cast<std::uint64_t>(timing_.iteration * share * process.pace * variation);
  const std::uint64_t length = std::max(wanted, (pairs + 1) * k_ticks_per_function);
  if (EventSink* const out = sink(l)) functions(*out, process, length, pairs);
  process.now += length;
}

/// Functions that call each other, `length` ticks from now on: the times lie on an even grid and
/// leave it by less than its distance, so that they need no look back and no division.
void Machine::functions(EventSink& out, Process& process, std::uint64_t length,
                        std::uint64_t pairs) {
  constexpr unsigned k_fraction = 8;  // bits of a tick
  constexpr unsigned k_deepest = 6;
  if (pairs == 0) return;
  const std::uint64_t step = (length << k_fraction) / (2 * pairs + 1);
  const std::uint64_t spread = step - step / 8;
  std::array<std::uint32_t, k_deepest> open{};
  unsigned depth = 0;
  std::uint64_t bits = 0;
  std::uint64_t grid = step / 2;
  for (std::uint64_t left = 2 * pairs; left > 0; --left, grid += step) {
    bits = left % 2 == 0 ? process.functions.next() : bits >> 32;
    const std::uint64_t time =
        process.now + ((grid + ((spread * (bits & 0xFFFF)) >> 16)) >> k_fraction);
    const bool wants_leave = (bits >> 16 & 1) != 0;
    if (depth == left || depth == k_deepest || (depth > 0 && wants_leave)) {
      out.leave(time, open[--depth]);
    } else {
      open[depth] = k_first_function + (bits >> 17) % k_functions;
      out.enter(time, open[depth++]);
    }
  }
}

void Machine::post_exchange(std::uint64_t bytes) {
  for (std::uint32_t l = 0; l < layout_.processes; ++l) {
    Process& process = processes_[l];
    EventSink* const out = sink(l);
    for (unsigned d = 0; d < layout_.directions; ++d) {
      if (layout_.neighbour[d ^ 1][l] == k_none) continue;
      std::uint64_t random = process.random.next();
      const std::uint64_t begin = process.now + pause(60, random);
      const std::uint64_t posted = begin + pause(40, random);
      process.now = posted + pause(30, random);
      if (out == nullptr) continue;
      out->enter(begin, k_mpi_irecv);
      out->irecv_request(posted, k_receive_request + d);
      out->leave(process.now, k_mpi_irecv);
    }
    for (unsigned d = 0; d < layout_.directions; ++d) {
      const std::uint32_t peer = layout_.neighbour[d][l];
      if (peer == k_none) continue;
      std::uint64_t random = process.random.next();
      const std::uint64_t begin = process.now + pause(60, random);
      const std::uint64_t sent = begin + pause(60, random);
      process.now = sent + pause(200, random);
      process.arrival[d] = sent + message_delay(l, peer);
      if (out == nullptr) continue;
      out->enter(begin, k_mpi_isend);
      out->isend(sent, {peer, 0, d, bytes}, k_send_request + d);
      out->leave(process.now, k_mpi_isend);
    }
  }
}

void Machine::wait_exchange(std::uint64_t bytes) {
  for (std::uint32_t l = 0; l < layout_.processes; ++l) {
    Process& process = processes_[l];
    EventSink* const out = sink(l);
    std::uint64_t random = process.random.next();
    process.now += pause(60, random);
    if (out != nullptr) out->enter(process.now, k_mpi_waitall);
    for (unsigned d = 0; d < layout_.directions; ++d) {
      const std::uint32_t peer = layout_.neighbour[d ^ 1][l];
      if (peer == k_none) continue;
      process.now = std::max(process.now + 30, processes_[peer].arrival[d]);
      if (out != nullptr) out->irecv(process.now, {peer, 0, d, bytes}, k_receive_request + d);
    }
    for (unsigned d = 0; d < layout_.directions; ++d) {
      if (layout_.neighbour[d][l] == k_none) continue;
      process.now += 20;
      if (out != nullptr) out->isend_complete(process.now, k_send_request + d);
    }
    process.now += pause(40, random);
    if (out != nullptr) out->leave(process.now, k_mpi_waitall);
  }
}

void Machine::shift(std::uint64_t bytes) {
  constexpr std::uint32_t k_tag = k_directions;
  for (std::uint32_t l = 0; l < layout_.processes; ++l) {
    const std::uint32_t peer = layout_.neighbour[0][l];
    if (peer != k_none) processes_[l].arrival[0] = send(l, {peer, 0, k_tag, bytes});
  }
  for (std::uint32_t l = 0; l < layout_.processes; ++l) {
    const std::uint32_t peer = layout_.neighbour[1][l];
    if (peer != k_none) receive(l, {peer, 0, k_tag, bytes}, processes_[peer].arrival[0]);
  }
}

std::uint64_t Machine::send(std::uint32_t l, const Message& message) {
  Process& process = processes_[l];
  std::uint64_t random = process.random.next();
  const std::uint64_t begin = process.now + pause(60, random);
  const std::uint64_t sent = begin + pause(60, random);
  process.now = sent + pause(300, random);
  if (EventSink* const out = sink(l)) {
    out->enter(begin, k_mpi_send);
    out->send(sent, message);
    out->leave(process.now, k_mpi_send);
  }
  return sent + message_delay(l, message.peer);
}

void Machine::receive(std::uint32_t l, const Message& message, std::uint64_t arrival) {
  Process& process = processes_[l];
  std::uint64_t random = process.random.next();
  const std::uint64_t begin = process.now + pause(60, random);
  const std::uint64_t received = std::max(begin + pause(60, random), arrival);
  process.now = received + pause(40, random);
  if (EventSink* const out = sink(l)) {
    out->enter(begin, k_mpi_recv);
    out->receive(received, message);
    out->leave(process.now, k_mpi_recv);
  }
}

void Machine::start_round(std::vector<Round>& rounds, const Partition& partition) const {
  rounds.assign(partition.size.size(), Round{});
}

/// The earliest time at which process `l`, which began at `begin`, can be done. Processes must be
/// asked in order.
std::uint64_t Machine::end_of(const CollectiveCall& call, std::vector<Round>& rounds,
                              std::uint32_t l, std::uint64_t begin) {
  const Partition& partition = call.partition;
  constexpr std::uint64_t k_own_work = 200;
  Round& round = rounds[partition.part[l]];
  const bool root = partition.rank[l] == call.turn % partition.size[partition.part[l]];
  const std::uint64_t news = delay(processes_[l]);
  const std::uint64_t alone = begin + k_own_work;
  switch (call.kind.shape) {
    case Shape::one_to_n:
      return root ? alone : std::max(alone, round.root + news);
    case Shape::n_to_one:
      return root ? round.last + news : alone;
    case Shape::n_to_n:
      return round.last + news;
    case Shape::scan:
      round.last = std::max(round.last, begin);
      return round.last + news;
  }
  return alone;
}

void Machine::collective(const CollectiveKind& kind, const Partition& partition,
                         std::uint64_t bytes, std::uint64_t turn) {
  start_round(rounds_, partition);
  for (std::uint32_t l = 0; l < layout_.processes; ++l) {
    Process& process = processes_[l];
    std::uint64_t random = process.random.next();
    process.now += pause(60, random);
    process.begin = process.now;
    Round& round = rounds_[partition.part[l]];
    if (kind.shape != Shape::scan) round.last = std::max(round.last, process.begin);
    if (partition.rank[l] == turn % partition.size[partition.part[l]]) round.root = process.begin;
    if (EventSink* const out = sink(l)) {
      out->enter(process.begin, kind.region);
      out->collective_begin(process.begin);  // one instant, as Score-P writes it
    }
  }
  for (std::uint32_t l = 0; l < layout_.processes; ++l) {
    Process& process = processes_[l];
    const std::uint64_t end = end_of({kind, partition, turn}, rounds_, l, process.begin);
    process.now = end + 40;
    if (EventSink* const out = sink(l)) {
      out->collective_end(end, record_of(kind, partition, l, turn, bytes));
      out->leave(process.now, kind.region);
    }
  }
  collectives_ += partition.size.size();
}

void Machine::post_collective(const CollectiveKind& kind, const Partition& partition,
                              std::uint64_t turn) {
  start_round(nb_rounds_, partition);
  for (std::uint32_t l = 0; l < layout_.processes; ++l) {
    Process& process = processes_[l];
    std::uint64_t random = process.random.next();
    const std::uint64_t begin = process.now + pause(60, random);
    process.nb_begin = begin + pause(60, random);
    process.now = process.nb_begin + pause(100, random);
    Round& round = nb_rounds_[partition.part[l]];
    round.last = std::max(round.last, process.nb_begin);
    if (partition.rank[l] == turn % partition.size[partition.part[l]]) {
      round.root = process.nb_begin;
    }
    if (EventSink* const out = sink(l)) {
      out->enter(begin, kind.region);
      out->nb_request(process.nb_begin, k_collective_request);
      out->leave(process.now, kind.region);
    }
  }
}

void Machine::wait_collective(const CollectiveKind& kind, const Partition& partition,
                              std::uint64_t bytes, std::uint64_t turn) {
  for (std::uint32_t l = 0; l < layout_.processes; ++l) {
    Process& process = processes_[l];
    std::uint64_t random = process.random.next();
    const std::uint64_t begin = process.now + pause(60, random);
    const std::uint64_t ready = end_of({kind, partition, turn}, nb_rounds_, l, process.nb_begin);
    const std::uint64_t complete = std::max(begin + pause(60, random), ready);
    process.now = complete + pause(40, random);
    if (EventSink* const out = sink(l)) {
      out->enter(begin, k_mpi_wait);
      out->nb_complete(complete, record_of(kind, partition, l, turn, bytes), k_collective_request);
      out->leave(process.now, k_mpi_wait);
    }
  }
  collectives_ += partition.size.size();
}

}  // namespace entrain::sim
