// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "support/random_trace.hpp"

/// The parts of the random program simulator; tests use random_trace.hpp instead.
namespace entrain::test {

/// splitmix64: the same numbers with every standard library.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, bound); 0 for bound 0.
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : next() % bound; }
  /// Uniform in [0, 1).
  double real() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  bool chance(double share) { return real() < share; }
  /// Uniform in [-1, 1).
  double symmetric() { return 2 * real() - 1; }

  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }
  template <class T>
  const T& pick(const std::vector<T>& values) {
    return values[below(values.size())];
  }

 private:
  std::uint64_t state_;
};

/// True time, thousandths of a tick.
using TrueTime = std::int64_t;
inline constexpr TrueTime k_tick = 1000;

/// An event of a stream that is still being simulated.
struct Ref {
  LocationIndex location = k_none;
  std::uint32_t index = 0;
};

/// Streams, local clocks of the program (not of the observer), and the edges so far.
class World {
 public:
  explicit World(const TracePlan& plan);

  struct Stored {
    TrueTime time = 0;
    trace::Event event;
    bool deleted = false;
  };
  struct Edge {
    Ref send, receive;
    EdgeKind kind;
    bool deleted = false;
  };

  /// Appends an event to its location's stream, after a random gap and not before `earliest`.
  Ref append(LocationIndex location, trace::Event event, TrueTime earliest = 0);
  /// Records that `send` happened before `receive`; pairs inside one location are none.
  void edge(Ref send, Ref receive, EdgeKind kind);
  void erase(Ref ref) { streams[ref.location][ref.index].deleted = true; }

  [[nodiscard]] TrueTime time(Ref ref) const { return streams[ref.location][ref.index].time; }
  trace::Event& event(Ref ref) { return streams[ref.location][ref.index].event; }
  /// A random delay from a to b, never below the least one of the two locations' class.
  TrueTime latency(LocationIndex a, LocationIndex b);
  /// Offset of the location's clock, ticks.
  [[nodiscard]] double clock_offset(LocationIndex location) const;
  /// Time of the location's clock, before quantisation, minus base_ticks.
  [[nodiscard]] double clock(LocationIndex location, TrueTime time) const;

  TracePlan plan;
  Rng rng;
  trace::Definitions definitions;
  std::vector<std::vector<Stored>> streams;
  std::vector<TrueTime> now;
  std::vector<Edge> edges;
  std::vector<LocationIndex> master;                ///< per process
  std::vector<std::vector<LocationIndex>> members;  ///< per process: its locations, master first
  std::vector<CommIndex> mpi_comms;                 ///< world first, then subsets
  std::vector<CommIndex> inter_comms;
  CommIndex self_comm = k_none;
  std::vector<CommIndex> team;  ///< per process: comm of all its threads
  RandomTrace result;           ///< counters only, until the end

 private:
  struct Clock {
    double offset = 0, drift = 0, wander = 0, phase = 0;
  };
  void define_locations();
  void define_comms();
  CommIndex add_comm(trace::Comm comm);
  [[nodiscard]] std::size_t domain_of(LocationIndex location) const;
  std::vector<Clock> clocks_;
};

/// Messages: MPI's matching rules, with unexpected messages and posted receives.
class PointToPoint {
 public:
  explicit PointToPoint(World& world);

  void blocking();     ///< one blocking send, or receives of what has been sent
  void nonblocking();  ///< one of isend, irecv, completion
  void cancel();       ///< cancels a receive or a send that has no partner
  void finish();       ///< completes what is complete; receives or loses the rest

 private:
  using Channel = std::tuple<LocationIndex, LocationIndex, CommIndex, std::uint32_t>;
  struct Message {
    Ref send;
    Channel channel;
    std::uint32_t sender_rank = 0;
    TrueTime arrival = 0;
  };
  struct Request {
    std::uint64_t id = 0;
    CommIndex comm = 0;
    LocationIndex source = k_none;  ///< k_none: any
    std::uint32_t tag = k_none;     ///< k_none: any
    bool matched = false;
    Message message;
  };
  struct Inbox {
    std::deque<Message> unexpected;
    std::vector<Request> posted;  ///< in posting order
    std::uint64_t next_id = 100;
    std::vector<std::uint64_t> free_ids;  ///< of persistent requests that are inactive
  };
  struct Record {
    Ref send, receive;
    std::size_t edge;  ///< position in World::edges, or npos for a self message
    bool alive = true;
  };

  /// Communicator, ranks and locations of a possible message.
  struct Route {
    CommIndex comm;
    LocationIndex sender, receiver;
    std::uint32_t sender_rank, receiver_rank;
  };
  Route route();
  void send(bool immediate);
  void deliver(Message message);
  void receive(LocationIndex location);
  void post();
  LocationIndex actor(LocationIndex master, std::uint32_t tag, bool sends) const;
  LocationIndex any_actor();
  void complete(LocationIndex location, std::size_t request);
  bool complete_any(LocationIndex location);
  void matched(const Message& message, Ref receive);
  void lose_records();
  std::uint64_t take_id(LocationIndex location);
  static bool fits(const Request& request, const Message& message);
  static constexpr std::size_t k_no_edge = ~std::size_t{0};

  World& world_;
  std::vector<Inbox> inbox_;
  std::map<Channel, std::vector<Record>> records_;
};

/// MPI collectives, blocking or not, and collectives of one-sided communication.
class Collectives {
 public:
  explicit Collectives(World& world) : world_(world), pending_(world.now.size()) {}

  void blocking();
  void nonblocking();  ///< starts one, or completes a started one
  void init_finalize(trace::EventKind enter, trace::EventKind leave);
  void rma();
  void finish();

 private:
  struct Call {
    CommIndex comm = 0;
    std::uint8_t op = 0;
    bool inter = false;
    std::vector<LocationIndex> members;  ///< group A, then group B
    std::size_t first_b = 0;             ///< position of group B's first member
    std::size_t root = 0;                ///< position in members
    std::vector<std::uint8_t> flags;
    /// Partners of Alltoallv and Alltoallw; empty if no call of the instance names any. Positions
    /// in members.
    std::vector<bool> names;  ///< per member: it names its partners
    std::vector<std::vector<bool>> to, from;
    [[nodiscard]] bool in_b(std::size_t member) const { return inter && member >= first_b; }
  };
  struct Instance {
    Call call;
    std::vector<Ref> begin, end;
    std::vector<std::size_t> edges;
  };
  struct Pending {
    std::size_t instance;  ///< position in open_
    std::size_t member;
    std::uint64_t id;
    TrueTime earliest;
  };
  Call choose();
  void choose_flags(Call& call);
  void choose_partners(Call& call);
  void count(const Call& call);
  [[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> pairs(const Call& call) const;
  [[nodiscard]] EdgeKind kind(const Call& call) const;
  [[nodiscard]] trace::Event end_event(const Call& call, std::size_t member, bool blocking) const;
  [[nodiscard]] std::uint32_t partners_of(const Call& call, std::size_t member) const;
  std::vector<TrueTime> earliest_ends(const Instance& instance);
  void add_edges(Instance& instance);
  void complete(LocationIndex location, std::size_t pending);
  void lose_record();
  void fence();
  void post_start_complete_wait();
  void notify();

  World& world_;
  std::deque<Instance> instances_;  ///< in order of their begin
  std::vector<std::vector<Pending>> pending_;
  std::uint64_t next_id_ = 1'000'000;
};

/// Threads of one process: teams, created threads, locks, tasks.
class Threads {
 public:
  explicit Threads(World& world);

  void parallel_region();
  void create_and_wait();

 private:
  void barrier(const std::vector<LocationIndex>& threads);
  void lock(std::uint32_t process, LocationIndex thread);
  void task(std::uint32_t process, const std::vector<LocationIndex>& threads);

  struct Lock {
    std::uint32_t order = 0;
    Ref release;
    bool released = false;
  };
  World& world_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Lock> locks_;
  std::vector<std::uint64_t> sequence_;
  std::vector<std::uint32_t> generation_;
};

}  // namespace entrain::test
