// SPDX-License-Identifier: BSD-3-Clause
#include "page/collect.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/edge_list.hpp"
#include "base/team.hpp"
#include "base/try.hpp"
#include "page/clocks.hpp"

namespace entrain::page {

namespace {

constexpr std::size_t k_time_lines = 10;
constexpr std::size_t k_most_edges = 3'000;   ///< limit for all cells
constexpr std::size_t k_tight_edges = 12;     ///< limit for each clock with a curve, and direction
constexpr std::size_t k_records_around = 40;  ///< begins and ends of calls, per side
constexpr std::int64_t k_rounding = 2;        ///< maps of straight clocks bend by that, ticks

using EdgeKey = std::tuple<verify::EventRef, verify::EventRef, EdgeKind>;

/// Edges without repetitions, in the order of their first addition.
class EdgeList {
 public:
  void add(const KeptEdge& edge) {
    if (seen_.insert({edge.send, edge.receive, edge.kind}).second) edges_.push_back(edge);
  }
  [[nodiscard]] std::size_t size() const { return edges_.size(); }
  std::vector<KeptEdge> take() { return std::move(edges_); }

 private:
  std::set<EdgeKey> seen_;
  std::vector<KeptEdge> edges_;
};

/// The worst edge of every cell first, then the others, until there are enough.
void add_cells(const Survey& survey, EdgeList& list, std::size_t most) {
  std::vector<MatrixCell> cells = survey.cells();
  std::stable_sort(cells.begin(), cells.end(), [](const MatrixCell& a, const MatrixCell& b) {
    return a.cell.worst[0] < b.cell.worst[0];
  });
  for (std::size_t i = 0; i < Cell::k_kept; ++i) {
    for (const MatrixCell& cell : cells) {
      if (list.size() >= most) return;
      if (i < cell.cell.kept) list.add(cell.cell.worst[i]);
    }
  }
}

void add_tight(const Survey& survey, std::span<const std::uint32_t> clocks, EdgeList& list) {
  for (const std::uint32_t clock : clocks) {
    for (const bool receiving : {false, true}) {
      std::vector<KeptEdge> tight = survey.tightest(clock, receiving);
      std::sort(tight.begin(), tight.end());
      if (tight.size() > k_tight_edges) tight.resize(k_tight_edges);
      for (const KeptEdge& edge : tight) list.add(edge);
    }
  }
}

std::vector<KeptEdge> choose_edges(const Material& from, std::span<const std::uint32_t> clocks) {
  EdgeList list;
  add_cells(from.edges_before, list, from.edges_after == nullptr ? k_most_edges : k_most_edges / 2);
  if (from.edges_after != nullptr) add_cells(*from.edges_after, list, k_most_edges);
  add_tight(from.edges_after != nullptr ? *from.edges_after : from.edges_before, clocks, list);
  return list.take();
}

/// The clocks that bend most: a straight line needs no plot.
std::vector<std::uint32_t> choose_clocks(const Data& data) {
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t c = 0; c < data.clocks.size(); ++c) {
    if (data.clocks[c].bend_ticks > k_rounding) chosen.push_back(c);
  }
  std::ranges::stable_sort(chosen, std::ranges::greater(),
                           [&](std::uint32_t c) { return data.clocks[c].bend_ticks; });
  if (chosen.size() > k_most_curves) chosen.resize(k_most_curves);
  std::ranges::sort(chosen);
  return chosen;
}

/// An end of an edge, as its owner knows it.
struct ResolvedEnd {
  std::uint32_t edge = 0;
  bool receives = false;
  std::uint64_t stamp = 0;
  std::int64_t before = 0, after = 0;
};

/// The edges with the times of their ends. Collective.
std::vector<PageEdge> resolve(const Material& from, std::span<const KeptEdge> edges) {
  std::vector<ResolvedEnd> own;
  std::vector<PageEdge> resolved;
  for (std::uint32_t i = 0; i < edges.size(); ++i) {
    resolved.push_back(
        {.kind = edges[i].kind, .from = edges[i].send.location, .to = edges[i].receive.location});
    for (const bool receives : {false, true}) {
      const auto [l, event] = receives ? edges[i].receive : edges[i].send;
      if (!from.share.owns(l)) continue;
      const std::uint64_t stamp = from.share.trace.locations[l].events.time(event);
      own.push_back({i, receives, stamp, from.before[l](stamp), from.after[l](stamp)});
    }
  }
  for (const ResolvedEnd& end : gather_everywhere(from.share.team, own)) {
    PageEdge& edge = resolved[end.edge];
    (end.receives ? edge.received_before : edge.sent_before) = end.before;
    (end.receives ? edge.received_after : edge.sent_after) = end.after;
    (end.receives ? edge.received_stamp : edge.sent_stamp) = end.stamp;
  }
  return resolved;
}

/// The calls around the ends of the first edges that this process owns.
Result<std::vector<NearbyRecord>> own_calls(const Material& from, const trace::EventReader& reader,
                                            const Data& data) {
  std::vector<NearbyRecord> own;
  for (std::uint32_t i = 0; i < data.time_lines; ++i) {
    const PageEdge& edge = data.edges[i];
    for (const bool receives : {false, true}) {
      const LocationIndex l = receives ? edge.to : edge.from;
      if (!from.share.owns(l)) continue;
      const std::uint64_t stamp = receives ? edge.received_stamp : edge.sent_stamp;
      TRY_ASSIGN(const auto around, reader.regions_around(l, stamp, k_records_around));
      for (const trace::RegionRecord& r : around) {
        own.push_back({.edge = i,
                       .receiver = receives,
                       .enter = r.enter,
                       .region = r.region,
                       .before = from.before[l](r.time),
                       .after = from.after[l](r.time)});
      }
    }
  }
  return own;
}

/// Replaces positions of regions by those in a table of the names that are
/// needed.
void name_regions(const trace::Definitions& definitions, Data& data) {
  std::map<std::uint32_t, std::uint32_t> regions;
  for (NearbyRecord& record : data.nearby) {
    if (record.region >= definitions.regions.size()) continue;
    const auto next = static_cast<std::uint32_t>(data.region_names.size());
    const auto [at, is_new] = regions.insert({record.region, next});
    if (is_new) data.region_names.push_back(definitions.regions[record.region].name);
    record.region = at->second;
  }
}

void name_locations(const trace::Definitions& definitions, Data& data) {
  std::vector<std::uint32_t> locations_of_process;
  for (const std::uint32_t process : definitions.process_of) {
    if (process >= locations_of_process.size()) locations_of_process.resize(process + 1);
    ++locations_of_process[process];
  }
  data.location_names.assign(definitions.locations.size(), {});
  for (const PageEdge& edge : data.edges) {
    for (const LocationIndex l : {edge.from, edge.to}) {
      std::string name = trace::process_name(definitions, l);
      const std::string& own = definitions.locations[l].name;
      if (locations_of_process[definitions.process_of[l]] > 1) {
        name = own.starts_with(name) ? own : name + ", " + own;
      }
      data.location_names[l] = std::move(name);
    }
  }
}

void join_samples(const Survey& before, const Survey* after, Data& data) {
  std::map<verify::EdgeOrder, SampledInstance> found;
  if (after != nullptr) {
    for (const SampledInstance& instance : after->sample()) found[instance.order] = instance;
  }
  for (const SampledInstance& instance : before.sample()) {
    const auto at = found.find(instance.order);
    data.sample.push_back(
        {instance, at == found.end() ? std::nullopt : std::optional<SampledInstance>(at->second)});
  }
}

}  // namespace

Data collect(const Material& from, trace::Layout layout) {
  Team& team = from.share.team;
  const trace::Definitions& definitions = from.share.trace.definitions;
  const PageMaps maps{from.before, from.after};
  Data data;
  data.layout = std::move(layout);
  data.resolution_hz = definitions.clock.resolution_hz;
  data.corrected = from.edges_after != nullptr;
  add_clocks(from.share, maps, data);
  const std::vector<std::uint32_t> clocks = choose_clocks(data);
  add_curves(from.share, maps, from.bounds, clocks, data);
  std::vector<KeptEdge> edges;
  if (team.rank() == 0) edges = choose_edges(from, clocks);
  edges = gather_everywhere(team, edges);  // only rank 0 has any
  data.edges = resolve(from, edges);
  data.time_lines = static_cast<std::uint32_t>(std::min(k_time_lines, edges.size()));
  if (team.rank() != 0) return data;
  name_locations(definitions, data);
  data.before = from.edges_before.counts();
  if (from.edges_after != nullptr) data.after = from.edges_after->counts();
  data.instances = from.edges_before.instances();
  join_samples(from.edges_before, from.edges_after, data);
  return data;
}

Result<void> add_calls(const Material& from, const trace::EventReader& reader, Data& data) {
  Team& team = from.share.team;
  auto own = own_calls(from, reader, data);
  TRY(team.agree(own ? Result<void>() : tl::unexpected<Error>(own.error())));
  data.nearby = gather_everywhere(team, *own);
  std::ranges::stable_sort(data.nearby, {}, [](const NearbyRecord& record) {
    return std::pair(record.edge, record.receiver);
  });
  if (team.rank() == 0) name_regions(reader.definitions(), data);
  return {};
}

}  // namespace entrain::page
