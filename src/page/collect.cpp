// SPDX-License-Identifier: BSD-3-Clause
#include "page/collect.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/team.hpp"
#include "base/try.hpp"
#include "page/clocks.hpp"

namespace entrain::page {

namespace {

constexpr std::size_t k_time_lines = 10;
constexpr std::size_t k_most_edges = 3'000;   ///< limit for all cells
constexpr std::size_t k_tight_edges = 12;     ///< limit for each clock with a curve, and direction
constexpr std::size_t k_records_around = 40;  ///< begins and ends of calls, per side

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

/// Clocks that moved most; among those that moved equally far, those with the worst edges.
std::vector<std::uint32_t> choose_clocks(const Survey& survey, const Data& data) {
  std::vector<std::int64_t> worst(data.clocks.size(), 0);
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t c = 0; c < data.clocks.size(); ++c) {
    if (!data.clocks[c].used) continue;
    chosen.push_back(c);
    for (const bool receiving : {false, true}) {
      for (const KeptEdge& edge : survey.tightest(c, receiving)) {
        worst[c] = std::min(worst[c], edge.margin_ticks);
      }
    }
  }
  std::stable_sort(chosen.begin(), chosen.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(-data.clocks[a].moved_ticks, worst[a]) <
           std::pair(-data.clocks[b].moved_ticks, worst[b]);
  });
  if (chosen.size() > k_most_curves) chosen.resize(k_most_curves);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

/// An end of an edge, as its owner knows it.
struct ResolvedEnd {
  std::uint32_t edge = 0;
  bool receives = false;
  std::int64_t before = 0, after = 0;
};

/// Fills the times of edges. Collective.
class Resolver {
 public:
  Resolver(const Material& material, std::span<const KeptEdge> edges)
      : from_(material), edges_(edges) {}

  void times(std::vector<PageEdge>& resolved) const {
    std::vector<ResolvedEnd> own;
    for_each_own_end(edges_.size(),
                     [&](std::uint32_t i, bool receives, LocationIndex l, std::uint64_t stamp) {
                       own.push_back({i, receives, from_.before[l](stamp), from_.after[l](stamp)});
                     });
    for (const KeptEdge& edge : edges_) {
      resolved.push_back(
          {.kind = edge.kind, .from = edge.send.location, .to = edge.receive.location});
    }
    for (const ResolvedEnd& end : gather_everywhere(from_.share.team, own)) {
      PageEdge& edge = resolved[end.edge];
      (end.receives ? edge.received_before : edge.sent_before) = end.before;
      (end.receives ? edge.received_after : edge.sent_after) = end.after;
    }
  }

  /// The calls around the first edges. Errors: those of Source::regions_around().
  Result<std::vector<NearbyRecord>> nearby(std::size_t first) const {
    std::vector<NearbyRecord> own;
    Result<void> done;
    for_each_own_end(first,
                     [&](std::uint32_t i, bool receives, LocationIndex l, std::uint64_t stamp) {
                       if (from_.source == nullptr || !done) return;
                       const auto around = from_.source->regions_around(l, stamp, k_records_around);
                       if (!around) {
                         done = tl::unexpected<Error>(around.error());
                         return;
                       }
                       for (const trace::RegionRecord& r : *around) {
                         own.push_back({.edge = i,
                                        .receiver = receives,
                                        .enter = r.enter,
                                        .region = r.region,
                                        .before = from_.before[l](r.time),
                                        .after = from_.after[l](r.time)});
                       }
                     });
    TRY(from_.share.team.agree(std::move(done)));
    std::vector<NearbyRecord> all = gather_everywhere(from_.share.team, own);
    std::stable_sort(all.begin(), all.end(), [](const NearbyRecord& a, const NearbyRecord& b) {
      return std::pair(a.edge, a.receiver) < std::pair(b.edge, b.receiver);
    });
    return all;
  }

 private:
  template <class Use>
  void for_each_own_end(std::size_t first, Use use) const {
    for (std::uint32_t i = 0; i < std::min(first, edges_.size()); ++i) {
      for (const bool receives : {false, true}) {
        const auto [l, event] = receives ? edges_[i].receive : edges_[i].send;
        if (!from_.share.owns(l)) continue;
        use(i, receives, l, from_.share.trace.locations[l].events.time(event));
      }
    }
  }

  const Material& from_;
  std::span<const KeptEdge> edges_;
};

/// Replaces positions of regions and locations by those in tables of the names that are needed.
void name_things(const trace::Definitions& definitions, Data& data) {
  std::map<std::uint32_t, std::uint32_t> regions;
  for (NearbyRecord& record : data.nearby) {
    if (record.region >= definitions.regions.size()) continue;
    const auto next = static_cast<std::uint32_t>(data.region_names.size());
    const auto [at, is_new] = regions.insert({record.region, next});
    if (is_new) data.region_names.push_back(definitions.regions[record.region].name);
    record.region = at->second;
  }
  std::vector<std::uint32_t> locations_of_process;
  for (const std::uint32_t process : definitions.process_of) {
    if (process >= locations_of_process.size()) locations_of_process.resize(process + 1);
    ++locations_of_process[process];
  }
  data.location_names.assign(definitions.locations.size(), {});
  for (const PageEdge& edge : data.edges) {
    for (const LocationIndex l : {edge.from, edge.to}) {
      std::string name = trace::process_name(definitions, l);
      if (locations_of_process[definitions.process_of[l]] > 1) {
        name += ", " + definitions.locations[l].name;
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

void take_counts(const Survey& before, const Survey* after, Data& data) {
  data.cells_before = before.cells();
  data.margins_before = before.margins();
  data.arrivals_before = before.arrivals();
  data.ends_before = before.ends();
  data.instances = before.instances();
  if (after == nullptr) return;
  data.cells_after = after->cells();
  data.margins_after = after->margins();
  data.arrivals_after = after->arrivals();
  data.ends_after = after->ends();
}

}  // namespace

Result<Data> collect(const Material& from, Layout layout) {
  Team& team = from.share.team;
  const trace::Definitions& definitions = from.share.trace.definitions;
  const PageMaps maps{from.before, from.after};
  Data data;
  data.layout = std::move(layout);
  data.resolution_hz = definitions.clock.resolution_hz;
  data.corrected = from.edges_after != nullptr;
  add_clock_rows(from.share, maps, from.bounds, data);
  std::vector<std::uint32_t> clocks;
  std::vector<KeptEdge> edges;
  if (team.rank() == 0) {
    clocks = choose_clocks(from.edges_before, data);
    edges = choose_edges(from, clocks);
  }
  clocks = gather_everywhere(team, clocks);  // only rank 0 has any
  edges = gather_everywhere(team, edges);
  add_curves(from.share, maps, from.bounds, clocks, data);
  const Resolver resolver(from, edges);
  resolver.times(data.edges);
  data.time_lines = static_cast<std::uint32_t>(std::min(k_time_lines, edges.size()));
  TRY_ASSIGN(data.nearby, resolver.nearby(data.time_lines));
  if (team.rank() != 0) return data;
  name_things(definitions, data);
  take_counts(from.edges_before, from.edges_after, data);
  join_samples(from.edges_before, from.edges_after, data);
  return data;
}

}  // namespace entrain::page
