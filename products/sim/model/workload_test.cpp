// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/workload.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "sim/model/machine.hpp"
#include "trace/skeleton.hpp"

namespace entrain::sim {
namespace {

constexpr SynthPattern k_patterns[] = {SynthPattern::ring,      SynthPattern::stencil2d,
                                       SynthPattern::allreduce, SynthPattern::master_worker,
                                       SynthPattern::mixed,     SynthPattern::pipeline};

/// An event as a sink gets it.
struct Told {
  enum Kind { enter, leave, send, receive, request, complete, begin, end, nb_begin, nb_end };
  Kind kind{};
  std::uint64_t time = 0;
  std::uint64_t number = 0;  ///< region or request
  Message message{};
  Collective collective{};
};

class Memory final : public EventSink {
 public:
  void enter(std::uint64_t t, std::uint32_t region) override { add({Told::enter, t, region}); }
  void leave(std::uint64_t t, std::uint32_t region) override { add({Told::leave, t, region}); }
  void send(std::uint64_t t, const Message& m) override { add({Told::send, t, 0, m}); }
  void receive(std::uint64_t t, const Message& m) override { add({Told::receive, t, 0, m}); }
  void isend(std::uint64_t t, const Message& m, std::uint64_t r) override {
    add({Told::send, t, r, m});
  }
  void isend_complete(std::uint64_t t, std::uint64_t r) override { add({Told::complete, t, r}); }
  void irecv_request(std::uint64_t t, std::uint64_t r) override { add({Told::request, t, r}); }
  void irecv(std::uint64_t t, const Message& m, std::uint64_t r) override {
    add({Told::receive, t, r, m});
  }
  void collective_begin(std::uint64_t t) override { add({Told::begin, t}); }
  void collective_end(std::uint64_t t, const Collective& c) override {
    add({Told::end, t, 0, {}, c});
  }
  void nb_request(std::uint64_t t, std::uint64_t r) override { add({Told::nb_begin, t, r}); }
  void nb_complete(std::uint64_t t, const Collective& c, std::uint64_t r) override {
    add({Told::nb_end, t, r, {}, c});
  }

  std::vector<Told> events;

 private:
  void add(const Told& told) { events.push_back(told); }
};

/// Runs a workload for the processes from `first` on.
std::vector<Memory> run(const Workload& workload, std::uint32_t first, std::uint32_t count) {
  std::vector<Memory> memories(count);
  std::vector<EventSink*> sinks;
  for (Memory& memory : memories) sinks.push_back(&memory);
  const auto span = workload.run(first, sinks, [] { return Result<void>(); });
  EXPECT_TRUE(span);
  return memories;
}

SynthOptions options_of(SynthPattern pattern, std::uint64_t locations, std::uint64_t events) {
  SynthOptions options;
  options.pattern = pattern;
  options.locations = locations;
  options.events = events;
  return options;
}

/// Times grow, functions nest, requests are open when they complete.
void expect_sound_stream(const std::vector<Told>& events) {
  std::vector<std::uint64_t> open;
  std::map<std::uint64_t, int> requests;
  std::uint64_t last = 0;
  for (const Told& event : events) {
    ASSERT_GE(event.time, last);
    if (event.kind != Told::begin) {
      ASSERT_GT(event.time, last);
    }
    last = event.time;
    if (event.kind == Told::enter) open.push_back(event.number);
    if (event.kind == Told::leave) {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), event.number);
      open.pop_back();
    }
    const bool starts = event.kind == Told::request || event.kind == Told::nb_begin ||
                        (event.kind == Told::send && event.number != 0);
    const bool ends = event.kind == Told::complete || event.kind == Told::nb_end ||
                      (event.kind == Told::receive && event.number != 0);
    if (starts) {
      ASSERT_EQ(requests[event.number]++, 0);
    }
    if (ends) {
      ASSERT_EQ(requests[event.number]--, 1);
    }
  }
  EXPECT_TRUE(open.empty());
  for (const auto& [number, count] : requests) EXPECT_EQ(count, 0) << number;
}

/// Every receive comes the latency after its send or later; nothing is left over.
void expect_messages_in_time(const std::vector<Memory>& processes, std::uint64_t latency) {
  using Channel = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Channel, std::deque<Told>> sent;
  for (std::uint32_t l = 0; l < processes.size(); ++l) {
    for (const Told& event : processes[l].events) {
      if (event.kind == Told::send) {
        sent[{l, event.message.peer, event.message.tag}].push_back(event);
      }
    }
  }
  for (std::uint32_t l = 0; l < processes.size(); ++l) {
    for (const Told& event : processes[l].events) {
      if (event.kind != Told::receive) continue;
      auto& channel = sent[{event.message.peer, l, event.message.tag}];
      ASSERT_FALSE(channel.empty());
      ASSERT_GE(event.time, channel.front().time + latency);
      ASSERT_EQ(event.message.length, channel.front().message.length);
      channel.pop_front();
    }
  }
  for (const auto& [key, channel] : sent) EXPECT_TRUE(channel.empty());
}

struct Call {
  std::uint64_t begin = 0, end = 0;
  Collective record{};
};

/// Calls of every communicator: per member in order.
std::map<std::uint32_t, std::vector<std::vector<Call>>> calls_of(
    const std::vector<Memory>& processes, bool non_blocking) {
  std::map<std::uint32_t, std::vector<std::vector<Call>>> calls;
  for (const Memory& process : processes) {
    std::map<std::uint32_t, std::vector<Call>> own;
    std::uint64_t begin = 0;
    for (const Told& event : process.events) {
      if (event.kind == (non_blocking ? Told::nb_begin : Told::begin)) begin = event.time;
      if (event.kind == (non_blocking ? Told::nb_end : Told::end)) {
        own[event.collective.comm].push_back({begin, event.time, event.collective});
      }
    }
    for (auto& [comm, list] : own) calls[comm].push_back(std::move(list));
  }
  return calls;
}

/// The members agree on operation and root, and nobody ends before what it waits for.
void expect_collective_in_time(const std::vector<const Call*>& members, std::uint64_t latency) {
  namespace op = trace::op;
  const Collective& first = members[0]->record;
  const bool one_to_n = first.op == op::bcast || first.op == op::scatter;
  const bool n_to_one = first.op == op::reduce || first.op == op::gather || first.op == op::gatherv;
  const bool scan = first.op == op::scan || first.op == op::exscan;
  for (std::size_t i = 0; i < members.size(); ++i) {
    ASSERT_EQ(members[i]->record.op, first.op);
    ASSERT_EQ(members[i]->record.root, first.root);
    for (std::size_t j = 0; j < members.size(); ++j) {
      if (i == j || (one_to_n && j != first.root) || (n_to_one && i != first.root) ||
          (scan && j > i)) {
        continue;
      }
      ASSERT_GE(members[i]->end, members[j]->begin + latency) << "operation " << int{first.op};
    }
  }
}

void expect_collectives_in_time(const std::vector<Memory>& processes, std::uint64_t latency) {
  for (const bool non_blocking : {false, true}) {
    for (const auto& [comm, members] : calls_of(processes, non_blocking)) {
      for (std::size_t k = 0; k < members[0].size(); ++k) {
        std::vector<const Call*> call;
        for (const auto& member : members) {
          ASSERT_EQ(member.size(), members[0].size()) << "communicator " << comm;
          call.push_back(&member[k]);
        }
        expect_collective_in_time(call, latency);
      }
    }
  }
}

class EveryPattern : public testing::TestWithParam<std::tuple<SynthPattern, std::uint64_t>> {};

TEST_P(EveryPattern, is_causally_valid_and_has_as_many_events_as_asked_for) {
  const auto [pattern, locations] = GetParam();
  for (const std::uint64_t seed : {1u, 2u}) {
    SynthOptions options = options_of(pattern, locations, 20'001);
    options.seed = seed;
    options.communication_share = seed == 1 ? 0.1 : 1;
    options.latency_s = 2.5e-6;
    const auto workload = Workload::plan(options);
    ASSERT_TRUE(workload) << workload.error().message;
    const std::vector<Memory> processes = run(*workload, 0, static_cast<std::uint32_t>(locations));
    std::uint64_t events = 0;
    for (const Memory& process : processes) {
      events += process.events.size();
      expect_sound_stream(process.events);
    }
    EXPECT_EQ(events, workload->counts().events);
    EXPECT_LE(events, options.events);
    EXPECT_GE(events + 1, options.events);
    expect_messages_in_time(processes, 2500);
    expect_collectives_in_time(processes, 2500);
  }
}

TEST_P(EveryPattern, tells_the_same_of_a_process_whoever_else_is_asked_for) {
  const auto [pattern, locations] = GetParam();
  const auto workload = Workload::plan(options_of(pattern, locations, 20'000));
  ASSERT_TRUE(workload);
  const auto count = static_cast<std::uint32_t>(locations);
  const std::vector<Memory> all = run(*workload, 0, count);
  const std::vector<Memory> last = run(*workload, count - 1, 1);
  ASSERT_EQ(all[count - 1].events.size(), last[0].events.size());
  for (std::size_t i = 0; i < last[0].events.size(); ++i) {
    ASSERT_EQ(all[count - 1].events[i].time, last[0].events[i].time);
    ASSERT_EQ(all[count - 1].events[i].kind, last[0].events[i].kind);
    ASSERT_EQ(all[count - 1].events[i].number, last[0].events[i].number);
  }
}

INSTANTIATE_TEST_SUITE_P(Synth, EveryPattern,
                         testing::Combine(testing::ValuesIn(k_patterns),
                                          testing::Values(1, 2, 3, 6, 8, 17)));

TEST(Workload, reaches_the_share_of_communication) {
  for (const SynthPattern pattern : k_patterns) {
    for (const double share : {0.02, 0.1, 0.2}) {
      SynthOptions options = options_of(pattern, 8, 1'000'000);
      options.communication_share = share;
      const auto workload = Workload::plan(options);
      ASSERT_TRUE(workload);
      const auto counts = workload->counts();
      EXPECT_NEAR(static_cast<double>(counts.communication) / static_cast<double>(counts.events),
                  share, 0.02 * share)
          << name_of(pattern);
    }
  }
}

TEST(Workload, takes_about_the_time_asked_for) {
  SynthOptions options = options_of(SynthPattern::ring, 16, 200'000);
  options.iteration_s = 0.01;
  const auto workload = Workload::plan(options);
  ASSERT_TRUE(workload);
  const auto span = workload->run(0, {}, [] { return Result<void>(); });
  ASSERT_TRUE(span);
  const double expected = 0.01e9 * static_cast<double>(workload->iterations());
  const double length = static_cast<double>(span->last - span->first);
  EXPECT_GT(length, expected);
  EXPECT_LT(length, 1.6 * expected);  // neighbours wait for the slowest one
}

TEST(Workload, ends_with_the_error_of_the_caller) {
  const auto workload = Workload::plan(options_of(SynthPattern::mixed, 4, 100'000));
  ASSERT_TRUE(workload);
  int calls = 0;
  const auto span = workload->run(0, {}, [&]() -> Result<void> {
    if (++calls == 3) return fail(ErrorKind::interrupted, "enough");
    return {};
  });
  ASSERT_FALSE(span);
  EXPECT_EQ(span.error().kind, ErrorKind::interrupted);
  EXPECT_EQ(calls, 3);
}

TEST(Workload, refuses_what_it_cannot_do) {
  const auto expect_refused = [](auto change) {
    SynthOptions options;
    change(options);
    const auto workload = Workload::plan(options);
    ASSERT_FALSE(workload);
    EXPECT_EQ(workload.error().kind, ErrorKind::usage);
  };
  expect_refused([](SynthOptions& o) { o.locations = 0; });
  expect_refused([](SynthOptions& o) { o.locations = k_most_synth_locations + 1; });
  expect_refused([](SynthOptions& o) { o.locations_per_node = 0; });
  expect_refused([](SynthOptions& o) { o.events = 0; });
  expect_refused([](SynthOptions& o) { o.events = 20; });
  expect_refused([](SynthOptions& o) { o.events = ~std::uint64_t{0}; });
  expect_refused([](SynthOptions& o) { o.communication_share = 0; });
  expect_refused([](SynthOptions& o) { o.communication_share = std::nan(""); });
  expect_refused([](SynthOptions& o) { o.latency_s = -1; });
  expect_refused([](SynthOptions& o) { o.tail_s = 2; });
  expect_refused([](SynthOptions& o) { o.back_latency_s = 0; });
  expect_refused([](SynthOptions& o) { o.back_tail_s = -1; });
  expect_refused([](SynthOptions& o) { o.iteration_s = 0; });
  expect_refused([](SynthOptions& o) { o.imbalance = 1.1; });
  expect_refused([](SynthOptions& o) {
    o.events = k_most_synth_events;
    o.iteration_s = 1000;
  });
}

/// The shortest time of a message in each direction, ticks: to a higher number, to a lower one.
std::pair<std::uint64_t, std::uint64_t> shortest(const std::vector<Memory>& processes) {
  std::pair<std::uint64_t, std::uint64_t> least{~std::uint64_t{0}, ~std::uint64_t{0}};
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::deque<std::uint64_t>> sent;
  for (std::uint32_t l = 0; l < processes.size(); ++l) {
    for (const Told& event : processes[l].events) {
      if (event.kind == Told::send) {
        sent[{l, event.message.peer, event.message.tag}].push_back(event.time);
      }
    }
  }
  for (std::uint32_t l = 0; l < processes.size(); ++l) {
    for (const Told& event : processes[l].events) {
      if (event.kind != Told::receive) continue;
      auto& channel = sent[{event.message.peer, l, event.message.tag}];
      std::uint64_t& side = event.message.peer < l ? least.first : least.second;
      side = std::min(side, event.time - channel.front());
      channel.pop_front();
    }
  }
  return least;
}

TEST(Workload, messages_back_take_times_of_their_own) {
  for (const SynthPattern pattern :
       {SynthPattern::ring, SynthPattern::stencil2d, SynthPattern::master_worker}) {
    SynthOptions options = options_of(pattern, 4, 20'000);
    options.imbalance = 0;  // somebody waits for every message now and then
    options.latency_s = 2e-6;
    options.tail_s = 0;
    options.back_latency_s = 500e-6;
    options.iteration_s = 1e-5;
    const auto workload = Workload::plan(options);
    ASSERT_TRUE(workload) << workload.error().message;
    const auto [there, back] = shortest(run(*workload, 0, 4));
    EXPECT_GE(there, 2'000u);
    EXPECT_LT(there, 500'000u) << name_of(pattern);
    EXPECT_GE(back, 500'000u) << name_of(pattern);
  }
}

TEST(Workload, a_pipeline_sends_one_way) {
  const auto workload = Workload::plan(options_of(SynthPattern::pipeline, 4, 20'000));
  ASSERT_TRUE(workload) << workload.error().message;
  const auto [there, back] = shortest(run(*workload, 0, 4));
  EXPECT_LT(there, ~std::uint64_t{0});
  EXPECT_EQ(back, ~std::uint64_t{0});
  EXPECT_EQ(workload->counts().collectives, 0u);
}

TEST(Workload, plans_the_largest_number_of_events_at_once) {
  for (const SynthPattern pattern : k_patterns) {
    for (const std::uint64_t locations : {1, 1000}) {
      SynthOptions options = options_of(pattern, locations, k_most_synth_events);
      options.iteration_s = 1e-7;
      const auto workload = Workload::plan(options);
      ASSERT_TRUE(workload) << workload.error().message;
      EXPECT_GE(workload->counts().events + 1, k_most_synth_events);
    }
  }
}

TEST(Quota, deals_out_everything_and_not_evenly) {
  for (const std::uint64_t total : {0u, 1u, 999u, 1000u, 123'456u}) {
    for (const std::uint64_t slots : {1u, 2u, 7u, 1000u}) {
      Quota quota(total, slots, 1);
      std::uint64_t sum = 0, largest = 0;
      for (std::uint64_t i = 0; i < slots; ++i) {
        const std::uint64_t pairs = quota.next();
        sum += pairs;
        largest = std::max(largest, pairs);
      }
      EXPECT_EQ(sum, total) << slots;
      EXPECT_LE(largest, 2 * (total / slots + 1));
    }
  }
}

}  // namespace
}  // namespace entrain::sim
