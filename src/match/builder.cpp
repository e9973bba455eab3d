// SPDX-License-Identifier: BSD-3-Clause
#include "match/builder.hpp"

#include <numeric>
#include <tuple>

#include <fmt/core.h>

#include "base/counters.hpp"
#include "base/executor.hpp"
#include "base/free_memory.hpp"
#include "base/try.hpp"
#include "match/operations.hpp"
#include "trace/event.hpp"

namespace entrain::match {

namespace {

bool is_send(trace::EventKind kind) {
  return kind == trace::EventKind::send || kind == trace::EventKind::isend;
}
bool is_receive(trace::EventKind kind) {
  return kind == trace::EventKind::recv || kind == trace::EventKind::irecv;
}

/// Most numbers; the last ones are reserved (k_none, k_root_elsewhere, ...).
constexpr std::uint64_t k_most_numbers = k_none - 256;

}  // namespace

Result<void> require_countable(const GraphSize& size, const std::string& path) {
  const std::uint64_t vertices = std::max(size.nodes, std::max(size.exchanges, size.participants));
  if (size.events <= k_most_numbers && size.edges <= k_most_numbers && vertices <= k_most_numbers &&
      size.nodes + size.exchanges + size.participants <= k_most_numbers) {
    return {};
  }
  return fail(ErrorKind::input,
              fmt::format("{} has more than {} communication events, or relations between them, on "
                          "one worker; share them out among more threads or processes",
                          path, k_most_numbers));
}

Builder::Builder(const trace::Share& share, const Options& options, const Progress* progress)
    : share_(share), peers_(share.trace.definitions), options_(options), cancel_(progress) {
  graph_.process_of = definitions().process_of;
  graph_.node_of = definitions().node_of;
  for (LocationIndex l = 0; l < graph_.process_of.size(); ++l) {
    const std::uint32_t process = graph_.process_of[l];
    if (process >= processes_.size()) {
      processes_.resize(process + 1);
      owner_of_process_.resize(process + 1, 0);
    }
    owner_of_process_[process] = share.partition.owner[l];
    if (share.owns(l)) processes_[process].push_back(l);
  }
  number_instants();
}

/// Calls body(l) for every location of this member, in parallel.
template <class Body>
void Builder::for_own_locations(Body body) const {
  for_each_in_parallel(options_.threads, share_.trace.locations.size(), [&](std::size_t l) {
    if (share_.owns(static_cast<LocationIndex>(l))) body(static_cast<LocationIndex>(l));
  });
}

void Builder::number_instants() {
  constexpr std::size_t k_word = 64;
  std::size_t numbers = 0;
  for (LocationIndex l = 0; l < share_.trace.locations.size(); ++l) {
    first_event_.push_back(numbers);
    if (share_.owns(l))
      numbers += (share_.trace.locations[l].events.size() + k_word - 1) / k_word * k_word;
    graph_.granule.push_back(share_.owns(l) ? share_.trace.locations[l].granule : 0);
  }
  first_event_.push_back(numbers);
  instants_ = RankedBits(numbers);
  event_counts_.resize(share_.trace.locations.size());
  edges_.resize(share_.trace.locations.size());
  for_own_locations([&](LocationIndex l) {
    const trace::EventList& events = share_.trace.locations[l].events;
    EventCounts counts;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (options_.edges && (i == 0 || events.time(i) != events.time(i - 1))) {
        instants_.set(first_event_[l] + i);
      }
      const trace::EventKind kind = events.kind(i);
      counts.sends += is_send(kind) ? 1 : 0;
      counts.receives += is_receive(kind) ? 1 : 0;
      counts.one_sided |= trace::is_one_sided(kind);
      counts.initialises |= kind == trace::EventKind::init_enter;
      counts.finalizes |= kind == trace::EventKind::finalize_enter;
    }
    event_counts_[l] = counts;
    if (options_.edges) edges_[l].reserve(counts.receives);  // growth would touch twice the memory
  });
  instants_.seal();
}

NodeIndex Builder::here(NodeRef ref) {
  if (share_.owns(ref.location)) return ref.node;
  const std::uint64_t key = std::uint64_t{ref.location} << 32 | ref.node;
  const auto next = static_cast<NodeIndex>(instants_.count() + graph_.halo.ghosts.size());
  const auto [number, is_new] = ghosts_.insert(key, next);
  if (is_new) graph_.halo.ghosts.push_back({ref.location, ref.node});
  full_ = full_ || next >= k_most_numbers;
  return *number;
}

bool Builder::is_threaded(std::uint32_t process) const {
  return std::ranges::count_if(processes_[process],
                               [&](LocationIndex l) { return events(l).size() > 0; }) > 1;
}

void Builder::add_edge(EdgeKind kind, NodeRef send, NodeRef receive) {
  if (!options_.edges || send.location == receive.location) return;
  edges_[receive.location].push_back(
      {.send = here(send),
       .receive = receive.node,
       .kind = kind,
       .latency_class = graph_.latency_class(send.location, receive.location)});
}

void Builder::add_exchange(EdgeKind kind, bool ordered, std::span<const Participant> sends,
                           std::span<const Participant> receives) {
  if (graph_.participants.size() + sends.size() + receives.size() > k_most_numbers) {
    full_ = true;
    return;
  }
  if (!options_.edges || sends.empty() || receives.empty()) return;
  if (sends.size() == 1 && receives.size() == 1 && sends[0].location == receives[0].location) {
    return;
  }
  const auto add = [&](std::span<const Participant> side) {
    const auto first = static_cast<std::uint32_t>(graph_.participants.size());
    for (const Participant& p : side) {
      graph_.participants.push_back({here({p.location, p.node}), p.location, p.order});
    }
    return first;
  };
  Exchange exchange{.kind = kind, .ordered = ordered};
  exchange.first_send = add(sends);
  exchange.send_count = static_cast<std::uint32_t>(sends.size());
  exchange.first_receive = add(receives);
  exchange.receive_count = static_cast<std::uint32_t>(receives.size());
  graph_.exchanges.push_back(exchange);
}

Result<void> Builder::agree() {
  if (cancel_.asked()) return team().agree(Cancel::error());
  GraphSize all{.events = most_operations_,
                .nodes = instants_.count() + graph_.halo.ghosts.size(),
                .exchanges = graph_.exchanges.size(),
                .participants = graph_.participants.size()};
  for (const BigVector<Edge>& edges : edges_) all.edges += edges.size();
  if (full_) all.nodes = ~std::uint64_t{0};
  return team().agree(require_countable(all, share_.trace.path));
}

void Builder::add(Counters& counters, std::string_view name, std::uint64_t n) {
  if (n == 0) return;
  const auto known = std::ranges::find(counters, name, &Counters::value_type::first);
  if (known == counters.end()) {
    counters.emplace_back(name, n);
  } else {
    known->second += n;
  }
}

void Builder::show_ghosts() {
  Halo& halo = graph_.halo;
  const std::size_t instants = instants_.count();
  halo.ghosts_of.resize(team().size());
  std::vector<std::vector<NodeIndex>> wanted(team().size());
  for (std::size_t g = 0; g < halo.ghosts.size(); ++g) {
    const std::uint32_t owner = share_.partition.owner[halo.ghosts[g].location];
    halo.ghosts_of[owner].push_back(static_cast<NodeIndex>(instants + g));
    wanted[owner].push_back(halo.ghosts[g].node);
  }
  halo.shown_to = exchange(team(), std::move(wanted));
}

/// Keeps the instants with an edge or exchange, and renumbers everything.
void Builder::number_nodes() {
  const std::size_t instants = instants_.count();
  RankedBits nodes(instants);
  const auto keep = [&](NodeIndex n) {
    if (n < instants) nodes.set(n);
  };
  for (const BigVector<Edge>& edges : edges_) {
    for (const Edge& edge : edges) {
      keep(edge.send);
      keep(edge.receive);
    }
  }
  for (const Participant& p : graph_.participants) keep(p.node);
  for (const auto& shown : graph_.halo.shown_to) std::for_each(shown.begin(), shown.end(), keep);
  if (options_.every_event) {
    for (std::size_t n = 0; n < instants; ++n) nodes.set(n);
  }
  nodes.seal();
  const auto own = static_cast<NodeIndex>(nodes.count());
  const auto renumber = [&](NodeIndex& n) {
    n = static_cast<NodeIndex>(n < instants ? nodes.rank(n) : own + (n - instants));
  };
  constexpr std::size_t k_piece = std::size_t{1} << 16;
  BigVector<Participant>& participants = graph_.participants;
  for_each_in_parallel(
      options_.threads, (participants.size() + k_piece - 1) / k_piece, [&](std::size_t piece) {
        const std::size_t end = std::min(participants.size(), (piece + 1) * k_piece);
        for (std::size_t i = piece * k_piece; i < end; ++i) renumber(participants[i].node);
      });
  for (auto& shown : graph_.halo.shown_to) std::for_each(shown.begin(), shown.end(), renumber);
  for (auto& ghosts : graph_.halo.ghosts_of) std::for_each(ghosts.begin(), ghosts.end(), renumber);
  const auto numbers = exchange(team(), std::vector(graph_.halo.shown_to));
  for (std::size_t r = 0; r < numbers.size(); ++r) {
    for (std::size_t i = 0; i < numbers[r].size(); ++i) {
      graph_.halo.ghosts[graph_.halo.ghosts_of[r][i] - own].node = numbers[r][i];
    }
  }

  for (const std::size_t event : first_event_) {
    graph_.first_node.push_back(static_cast<NodeIndex>(nodes.rank(instants_.rank(event))));
  }
  graph_.stamp.resize(own);
  for_own_locations([&](LocationIndex l) {
    const trace::EventList& events = share_.trace.locations[l].events;
    std::size_t instant = instants_.rank(first_event_[l]);
    auto to = graph_.stamp.begin() + graph_.first_node[l];
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (instants_.test(first_event_[l] + i) && nodes.test(instant++)) *to++ = events.time(i);
    }
    for (Edge& edge : edges_[l]) {
      renumber(edge.send);
      renumber(edge.receive);
    }
    sort_edges(l);
  });
}

/// Sorts by receive, then send. Edges arrive channel by channel, far from sorted, so a radix sort
/// by receive is faster than comparisons.
void Builder::sort_edges(LocationIndex location) {
  constexpr unsigned k_digit_bits = 11;
  constexpr std::size_t k_digits = std::size_t{1} << k_digit_bits;
  BigVector<Edge>& edges = edges_[location];
  const NodeIndex first = graph_.first_node[location];
  const NodeIndex nodes = graph_.first_node[location + 1] - first;
  BigVector<Edge> sorted(edges.size());
  for (unsigned shift = 0; shift < 32 && nodes >> shift != 0 && edges.size() > 1;
       shift += k_digit_bits) {
    std::array<std::size_t, k_digits + 1> next{};
    const auto digit = [&](const Edge& edge) {
      return (edge.receive - first) >> shift & (k_digits - 1);
    };
    for (const Edge& edge : edges) ++next[digit(edge) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (const Edge& edge : edges) sorted[next[digit(edge)]++] = edge;
    edges.swap(sorted);
  }
  const auto same = [](const Edge& a, const Edge& b) { return a.receive == b.receive; };
  for (auto begin = edges.begin();
       (begin = std::adjacent_find(begin, edges.end(), same)) != edges.end();) {
    const auto end =
        std::find_if_not(begin, edges.end(), [&](const Edge& e) { return same(e, *begin); });
    std::sort(begin, end, [](const Edge& a, const Edge& b) { return a.send < b.send; });
    begin = end;
  }
}

void Builder::gather_edges() {
  std::vector<std::size_t> first{0};
  for (const BigVector<Edge>& edges : edges_) first.push_back(first.back() + edges.size());
  graph_.edges.resize(first.back());
  for_own_locations([&](LocationIndex l) {
    std::ranges::copy(edges_[l], graph_.edges.begin() + static_cast<std::ptrdiff_t>(first[l]));
    free_memory(edges_[l]);
  });
}

Graph Builder::finish() {
  call_contexts.reset();
  BigVector<Participant>& participants = graph_.participants;
  if (participants.capacity() > participants.size() + participants.size() / 8) {
    participants.shrink_to_fit();
  }
  graph_.witness.sort();
  show_ghosts();
  number_nodes();
  gather_edges();
  return std::move(graph_);
}

namespace {

/// Number of communication events of this member's locations.
std::uint64_t own_events(const trace::Share& share) {
  std::uint64_t events = 0;
  for (const LocationIndex l : share.own()) events += share.trace.locations[l].events.size();
  return events;
}

}  // namespace

Result<Graph> build_graph(const trace::Share& share, const Options& options,
                          const Progress* progress) {
  TRY(share.team.agree(require_countable({.events = own_events(share)}, share.trace.path)));
  Builder builder(share, options, progress);
  TRY(builder.agree());
  for (const auto match : {match_messages, match_collectives, match_init_finalize, match_threads,
                           match_accelerators, match_one_sided}) {
    match(builder);
    TRY(builder.agree());
  }
  return builder.finish();
}

Result<trace::Witness> find_witness(const trace::Share& share, bool messages_missing,
                                    unsigned threads, const Progress* progress) {
  TRY(share.team.agree(require_countable({.events = own_events(share)}, share.trace.path)));
  Builder builder(share, {.threads = threads, .edges = false}, progress);
  TRY(builder.agree());
  builder.incomplete = messages_missing;
  if (messages_missing) match_incomplete_messages(builder, operations_of(builder));
  TRY(builder.agree());
  for (const auto match : {match_collectives, match_one_sided}) {
    match(builder);
    TRY(builder.agree());
  }
  builder.witness().sort();
  return std::move(builder.witness());
}

namespace {

/// The values of all members, of which `own` are those of this one.
template <class List>
void gather_list(Team& team, List& own) {
  if (team.size() == 1) return;
  const std::vector<typename List::value_type> values(own.begin(), own.end());
  const auto all = gather_everywhere(team, values);
  own.assign(all.begin(), all.end());
}

/// The collectives of all members, in an order that does not depend on the team.
trace::Collectives gather_collectives(Builder& builder) {
  Team& team = builder.team();
  std::vector<Builder::Collective>& all = builder.collectives;
  trace::Collectives found;
  found.calls = std::move(builder.collective_calls);
  const auto sizes = gather_everywhere(team, std::vector<std::uint64_t>{found.calls.size()});
  const std::uint64_t before =
      std::accumulate(sizes.begin(), sizes.begin() + team.rank(), std::uint64_t{0});
  for (Builder::Collective& one : all) one.operation.first += before;
  gather_list(team, all);
  gather_list(team, found.calls);
  std::ranges::stable_sort(all, {}, [&](const Builder::Collective& one) {
    const trace::CollectiveOperation& of = one.operation;
    return std::tuple(of.group, of.members == 0 ? k_none : found.calls[of.first].location,
                      one.number);
  });
  for (const Builder::Collective& one : all) found.all.push_back(one.operation);
  return found;
}

void name_collectives(const trace::Definitions& definitions, trace::Collectives& found) {
  for (const trace::Comm& comm : definitions.comms) {
    found.groups.push_back(comm.name.empty() ? fmt::format("communicator {}", comm.id) : comm.name);
  }
  std::uint32_t operations = 0;
  for (const trace::CollectiveOperation& one : found.all) {
    operations = std::max(operations, one.operation + 1);
  }
  for (std::uint32_t o = 0; o < operations; ++o) {
    found.operations.emplace_back(trace::operation_name(static_cast<std::uint8_t>(o)));
  }
}

}  // namespace

Result<trace::Collectives> find_collectives(const trace::Share& share, bool dense_alltoallv,
                                            unsigned threads, const Progress* progress) {
  TRY(share.team.agree(require_countable({.events = own_events(share)}, share.trace.path)));
  Builder builder(
      share,
      {.dense_alltoallv = dense_alltoallv, .threads = threads, .edges = false, .collectives = true},
      progress);
  TRY(builder.agree());
  for (const auto match : {match_messages, match_collectives}) {  // lost messages align calls
    match(builder);
    TRY(builder.agree());
  }
  trace::Collectives found = gather_collectives(builder);
  name_collectives(share.trace.definitions, found);
  Builder::LeftOut& left_out = builder.left_out;
  for (std::int64_t* count : {&left_out.alltoallv, &left_out.scans, &left_out.non_blocking}) {
    *count = share.team.reduce(Team::Reduction::sum, *count);
  }
  found.left_out = nonzero({{"alltoallv_instances", left_out.alltoallv},
                            {"scans", left_out.scans},
                            {"non_blocking_collectives", left_out.non_blocking}});
  return found;
}

Graph build_graph(const trace::Trace& trace, const Options& options) {
  Solo solo;
  const trace::Partition partition = trace::undivided(trace.definitions);
  auto graph = build_graph({solo, partition, trace}, options);
  return graph ? std::move(*graph) : Graph{};
}

}  // namespace entrain::match
