// SPDX-License-Identifier: BSD-3-Clause
#include "page/collect.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/edge_list.hpp"
#include "base/exact.hpp"
#include "base/team.hpp"
#include "base/try.hpp"
#include "trace/clock_maps.hpp"

namespace entrain::page {

namespace {

constexpr std::int64_t k_most = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t k_most_sessions = 200;   ///< dots per clock
constexpr std::size_t k_all_points = 120'000;  ///< limit for all curves
                                               ///< together
constexpr std::size_t k_least_points = 400,
                      k_most_points = 2'000;  ///< limits for one curve

/// Figures of a clock that its owner sends.
struct ClockFigures {
  std::uint32_t clock = 0;
  LocationIndex location = k_none;
  OffsetLine measured;
  std::int64_t moved = 0, bend = 0;  ///< see ClockCourse
  std::int64_t last = 0;             ///< final time of its last event
  std::uint64_t sessions = 0;
  bool zero = false;  ///< it was measured, and every time with offset 0
};

/// The chord of a map over the events of a location, at final time `x`.
OffsetLine chord(const ClockMap& map, const trace::LocationSkeleton& location, std::int64_t x) {
  OffsetLine line{.x = x,
                  .offset = map(location.first) - static_cast<std::int64_t>(location.first)};
  const std::int64_t end = map(location.last) - static_cast<std::int64_t>(location.last);
  if (location.last > location.first) {
    line.rate = static_cast<double>(end - line.offset) /
                static_cast<double>(location.last - location.first);
  }
  return line;
}

/// Distance of the time that a stamp gets from a line, which begins at the
/// location's first stamp. Offsets of damaged records are cut to 2^60 ticks, so
/// that sums of some of them fit.
std::int64_t distance(Int128 time, std::uint64_t local, const OffsetLine& line,
                      std::uint64_t first) {
  constexpr Int128 k_most_distance = Int128{1} << 60;
  const auto since = static_cast<double>(static_cast<std::int64_t>(local - first));
  const Int128 result = time - local - line.offset - std::llround(line.rate * since);
  return static_cast<std::int64_t>(std::clamp(result, -k_most_distance, k_most_distance));
}

std::int64_t largest_move(const ClockMap& before, const ClockMap& after,
                          const trace::LocationSkeleton& location) {
  if (before == after) return 0;
  std::int64_t most = 0;
  ClockMap::Cursor from(before), to(after);
  for (const std::uint64_t local :
       trace::straight_stamps(location.first, location.last, {&before, &after})) {
    most = std::max(most, std::abs(to(local) - from(local)));
  }
  return most;
}

std::int64_t largest_bend(const ClockMap& map, const trace::LocationSkeleton& location) {
  const OffsetLine line = chord(map, location, 0);
  ClockMap::Cursor time(map);
  std::int64_t most = 0;
  for (const std::uint64_t local : trace::straight_stamps(location.first, location.last, {&map})) {
    most = std::max(most, std::abs(distance(time(local), local, line, location.first)));
  }
  return most;
}

std::vector<ClockFigures> own_figures(const Material& from) {
  std::vector<ClockFigures> figures;
  for (const LocationIndex l : from.share.own()) {
    const trace::LocationSkeleton& location = from.share.trace.locations[l];
    if (location.event_count == 0) continue;
    const std::int64_t begin = from.after[l](location.first);
    const auto& offsets = location.clock_offsets;
    const bool zero =
        std::ranges::all_of(offsets, [](const trace::ClockOffset& o) { return o.offset == 0; });
    figures.push_back({.location = l,
                       .measured = chord(from.before[l], location, begin),
                       .moved = largest_move(from.before[l], from.after[l], location),
                       .bend = std::max(largest_bend(from.before[l], location),
                                        largest_bend(from.after[l], location)),
                       .last = from.after[l](location.last),
                       .sessions = offsets.size(),
                       .zero = zero && !offsets.empty()});
  }
  return figures;
}

/// The clock that sessions are drawn against: it did not move, if any did not.
std::uint32_t reference_of(const std::vector<ClockCourse>& clocks) {
  std::uint32_t best = 0;
  const auto key = [&](std::uint32_t c) {
    return std::tuple(!clocks[c].used, clocks[c].moved_ticks != 0, !clocks[c].zero);
  };
  for (std::uint32_t c = 1; c < clocks.size(); ++c) {
    if (key(c) < key(best)) best = c;
  }
  return best;
}

/// A value of a curve on its way to all processes.
struct Stroke {
  enum class Part : std::uint8_t { before, after, session } part{};
  std::uint32_t clock = 0;
  std::int64_t x = 0, y = 0, half_width = 0;
};

/// Adds the measurements of a clock. `after`: its map to final times.
void add_sessions(const trace::LocationSkeleton& location, const ClockMap& after,
                  std::uint32_t clock, const Data& data, std::vector<Stroke>& strokes) {
  // All times may have been moved by one amount, so that none is negative.
  const ClockCourse& reference = data.clocks[data.reference];
  const std::int64_t shift = reference.sessions > 0 ? reference.measured.offset : 0;
  const auto& offsets = location.clock_offsets;
  const std::size_t step = offsets.size() / k_most_sessions + 1;
  for (std::size_t i = 0; i < offsets.size(); i += step) {
    const trace::ClockOffset& o = offsets[i];
    const Int128 time = Int128{o.time} + o.offset + shift;
    const double half = std::isfinite(o.stddev) ? std::clamp(o.stddev, 0.0, 1e15) : 0;
    strokes.push_back({Stroke::Part::session, clock, after(o.time),
                       distance(time, o.time, data.clocks[clock].measured, location.first),
                       std::llround(half)});
  }
}

/// Adds the curves of a location, as it stands for its clock; `most`: points of each.
void add_strokes(const Material& from, LocationIndex l, const Data& data, std::size_t most,
                 std::vector<Stroke>& strokes) {
  const trace::LocationSkeleton& location = from.share.trace.locations[l];
  const std::uint32_t clock = data.layout.clock_of[l];
  const auto add = [&](Stroke::Part part, const ClockMap& map) {
    CurveReducer reducer(data.begin, data.end, most);
    ClockMap::Cursor own(map), after(from.after[l]);
    for (const std::uint64_t local :
         trace::straight_stamps(location.first, location.last, {&map})) {
      reducer.add(
          {after(local), distance(own(local), local, data.clocks[clock].measured, location.first)});
    }
    for (const Point& p : reducer.take()) strokes.push_back({part, clock, p.x, p.y, 0});
  };
  add(Stroke::Part::before, from.before[l]);
  if (data.corrected) add(Stroke::Part::after, from.after[l]);
  add_sessions(location, from.after[l], clock, data, strokes);
}

/// Puts strokes into the curves of their clocks, which are in the order of
/// `chosen`.
void put(const std::vector<Stroke>& strokes, const std::vector<std::uint32_t>& position,
         std::vector<Curve>& curves) {
  for (const Stroke& s : strokes) {
    Curve& curve = curves[position[s.clock]];
    if (s.part == Stroke::Part::session) {
      curve.sessions.push_back({s.x, s.y, s.half_width});
    } else {
      (s.part == Stroke::Part::before ? curve.before : curve.after).push_back({s.x, s.y});
    }
  }
}

void add_bands(const trace::Definitions& definitions, const ClockBounds& bounds,
               const std::vector<std::uint32_t>& position, const std::vector<std::uint64_t>& first,
               Data& data) {
  std::unordered_map<std::uint64_t, std::uint32_t> clock_of;  // by the id of the one that is drawn
  for (std::uint32_t c = 0; c < data.layout.clocks.size(); ++c) {
    if (position[c] == k_none || !data.clocks[c].used) continue;
    clock_of[definitions.locations[data.layout.clocks[c].location].id] = c;
  }
  for (const BoundsRow& row : bounds.rows) {
    const auto found = clock_of.find(row.location);
    if (found == clock_of.end() || !row.bounded) continue;
    const std::uint32_t clock = found->second;
    const OffsetLine& line = data.clocks[clock].measured;
    const auto from_line = [&](std::int64_t time) {
      return distance(time, row.local_ticks, line, first[clock]);
    };
    data.curves[position[clock]].band.push_back(
        {row.time_ticks, from_line(row.earliest_ticks), from_line(row.latest_ticks)});
  }
}

/// The courses of the clocks and, by `data.layout`, the reference: one that did not move, if there
/// is any; of these, or else of all, the first one whose measurements are all 0, else the first
/// with events. Fills `clocks`, `reference`, `begin` and `end`. Collective; the same at every
/// process.
void add_clocks(const Material& from, Data& data) {
  trace::Layout& layout = data.layout;
  data.clocks.assign(layout.clocks.size(), {});
  std::vector<ClockFigures> all = gather_everywhere(from.share.team, own_figures(from));
  std::ranges::sort(all, {}, &ClockFigures::location);
  data.begin = all.empty() ? 0 : k_most;
  data.end = all.empty() ? 1 : -k_most;
  for (const ClockFigures& figures : all) {
    const std::uint32_t clock = layout.clock_of[figures.location];
    ClockCourse& course = data.clocks[clock];
    if (!course.used) {
      layout.clocks[clock].location = figures.location;
      course = {.used = true,
                .zero = figures.zero,
                .measured = figures.measured,
                .bend_ticks = figures.bend,
                .sessions = figures.sessions};
    }
    course.moved_ticks = std::max(course.moved_ticks, figures.moved);
    data.begin = std::min(data.begin, figures.measured.x);
    data.end = std::max(data.end, figures.last);
  }
  if (data.end <= data.begin) data.end = data.begin + 1;
  data.reference = reference_of(data.clocks);
}

/// The curves of `chosen` clocks, with their intervals if there are `bounds`. Needs the courses.
/// Collective; the same at every process.
void add_curves(const Material& from, std::span<const std::uint32_t> chosen, Data& data) {
  const trace::Share& share = from.share;
  std::vector<std::uint32_t> position(data.layout.clocks.size(), k_none);
  std::vector<std::uint64_t> first(data.layout.clocks.size());
  for (std::uint32_t i = 0; i < chosen.size(); ++i) position[chosen[i]] = i;
  const std::size_t most = std::clamp(k_all_points / std::max<std::size_t>(2 * chosen.size(), 1),
                                      k_least_points, k_most_points);
  std::vector<Stroke> own;
  for (const LocationIndex l : share.own()) {
    const std::uint32_t clock = data.layout.clock_of[l];
    if (data.layout.clocks[clock].location != l || position[clock] == k_none) continue;
    add_strokes(from, l, data, most, own);
    first[clock] = share.trace.locations[l].first;
  }
  std::vector<std::int64_t> stamps(first.begin(), first.end());
  share.team.reduce(Team::Reduction::max, stamps);
  data.curves.clear();
  for (const std::uint32_t clock : chosen) data.curves.emplace_back().clock = clock;
  put(gather_everywhere(share.team, own), position, data.curves);
  if (from.bounds == nullptr) return;
  add_bands(share.trace.definitions, *from.bounds, position, {stamps.begin(), stamps.end()}, data);
}

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
  std::ranges::stable_sort(cells, [](const MatrixCell& a, const MatrixCell& b) {
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
      std::ranges::sort(tight);
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
  Data data;
  data.layout = std::move(layout);
  data.resolution_hz = definitions.clock.resolution_hz;
  data.corrected = from.edges_after != nullptr;
  add_clocks(from, data);
  const std::vector<std::uint32_t> clocks = choose_clocks(data);
  add_curves(from, clocks, data);
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
