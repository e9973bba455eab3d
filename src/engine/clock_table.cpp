// SPDX-License-Identifier: BSD-3-Clause
#include "engine/clock_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "base/disjoint_sets.hpp"
#include "base/natural_order.hpp"
#include "base/team.hpp"
#include "constraints/node_times.hpp"
#include "page/layout.hpp"
#include "trace/share.hpp"

namespace entrain::engine {

namespace {

/// A clock is right if it moves by no more than rounding does, ticks.
constexpr std::int64_t k_rounding = 2;
/// No clock drifts faster than this without being set, ticks per tick.
constexpr double k_fastest_drift = 1e-3;
/// A step is at least this share of all that the distance changes, and takes at most that share of
/// the time.
constexpr double k_step_share = 0.5, k_step_time_share = 0.05;
/// A line describes a clock if what it leaves, rms, is at most this share of the distance, rms.
constexpr double k_bend_share = 0.1;

using Times = BigVector<std::int64_t>;

/// Adds the edges of a graph to the evidence of the locations of their ends.
class EvidenceCollector {
 public:
  /// `place`: position of each location's clock in order of its move.
  EvidenceCollector(const match::Graph& graph, const Times& times,
                    const std::vector<std::uint32_t>& place, ClockEvidence& evidence)
      : graph_(graph),
        times_(times),
        place_(place),
        evidence_(evidence),
        sets_(graph.location_count()) {}

  /// The first place at which a clock contradicts one before it; k_none if none does.
  [[nodiscard]] std::uint32_t first_wrong() const { return first_wrong_; }

  void add_all() {
    for (const match::Edge& edge : graph_.edges) {
      note({graph_.location_of(edge.send), times_[edge.send]},
           {graph_.location_of(edge.receive), times_[edge.receive]});
    }
    for (const match::Exchange& exchange : graph_.exchanges) add(exchange);
  }

  std::vector<std::uint32_t> groups() {
    std::vector<std::uint32_t> result(graph_.location_count());
    for (std::uint32_t l = 0; l < result.size(); ++l) result[l] = sets_.find(l);
    return result;
  }

 private:
  struct End {
    LocationIndex location = k_none;
    std::int64_t time = std::numeric_limits<std::int64_t>::min();
  };

  /// The two latest begins of different locations.
  struct Latest {
    End first, second;

    void add(const End& begin) {
      if (begin.location == first.location) {
        first.time = std::max(first.time, begin.time);
      } else if (first.location == k_none || begin.time > first.time) {
        second = std::exchange(first, begin);
      } else if (second.location == k_none || begin.time > second.time) {
        second = begin;
      }
    }
    [[nodiscard]] const End& other_than(LocationIndex l) const {
      return first.location == l ? second : first;
    }
  };

  void add(const match::Exchange& exchange) {
    const auto sends = graph_.sends(exchange);
    bool is_violated = false;
    Latest latest;
    auto next = sends.begin();
    for (const match::Participant& receive : graph_.receives(exchange)) {
      for (; next != sends.end() && (!exchange.ordered || next->order < receive.order); ++next) {
        latest.add({next->location, times_[next->node]});
      }
      const End& cause = latest.other_than(receive.location);
      if (cause.location == k_none) continue;
      const End effect{receive.location, times_[receive.node]};
      note(cause, effect);
      is_violated = is_violated || effect.time < cause.time;
    }
    if (is_violated) find_wrong(exchange);
    for (const match::Participant& send : sends) sets_.join(sends.front().location, send.location);
  }

  /// The two locations with the least places.
  struct Least {
    LocationIndex first = k_none, second = k_none;
  };
  void take(Least& least, LocationIndex l) const {
    if (l == least.first || l == least.second) return;
    if (least.first == k_none || place_[l] < place_[least.first]) {
      least.second = std::exchange(least.first, l);
    } else if (least.second == k_none || place_[l] < place_[least.second]) {
      least.second = l;
    }
  }

  /// Takes the violated pairs of a collective.
  void find_wrong(const match::Exchange& exchange) {
    const auto sends = graph_.sends(exchange), receives = graph_.receives(exchange);
    std::vector<match::Participant> begins(sends.begin(), sends.end());
    std::vector<match::Participant> ends(receives.begin(), receives.end());
    const auto time = [&](const match::Participant& one) { return times_[one.node]; };
    std::ranges::sort(begins, std::ranges::greater(), time);
    if (exchange.ordered) return find_wrong_in_order(begins, ends);
    std::ranges::sort(ends, std::ranges::greater(), time);
    Least later;  // of the begins later than the end
    auto next = begins.begin();
    for (const match::Participant& end : ends) {
      for (; next != begins.end() && time(*next) > time(end); ++next) take(later, next->location);
      const LocationIndex l = later.first == end.location ? later.second : later.first;
      if (l != k_none) note_wrong(l, end.location);
    }
  }
  /// Likewise, of a scan.
  void find_wrong_in_order(std::span<const match::Participant> begins,
                           std::span<const match::Participant> ends) {
    for (const match::Participant& end : ends) {
      for (const match::Participant& begin : begins) {
        if (times_[begin.node] <= times_[end.node]) break;
        const bool is_edge = begin.location != end.location && begin.order < end.order;
        if (is_edge) note_wrong(begin.location, end.location);
        if (place_[end.location] >= first_wrong_) break;
      }
    }
  }

  void note_wrong(LocationIndex a, LocationIndex b) {
    first_wrong_ = std::min(first_wrong_, std::max(place_[a], place_[b]));
  }

  void note(const End& cause, const End& effect) {
    sets_.join(cause.location, effect.location);
    const std::int64_t margin = effect.time - cause.time;
    if (margin < 0) note_wrong(cause.location, effect.location);
    note(cause.location, effect.location, margin);
    note(effect.location, cause.location, margin);
  }
  void note(LocationIndex own, LocationIndex other, std::int64_t margin) {
    ClockEvidence::OfLocation& of = evidence_.of[own];
    ++of.edges;
    if (margin < 0) ++of.violations;
    if (std::pair(margin, other) < std::pair(of.worst_ticks, of.worst_with)) {
      of.worst_ticks = margin;
      of.worst_with = other;
    }
  }

  const match::Graph& graph_;
  const Times& times_;
  const std::vector<std::uint32_t>& place_;
  ClockEvidence& evidence_;
  DisjointSets sets_;
  std::uint32_t first_wrong_ = k_none;
};

/// Adds up what the members of a team know.
void combine(Team& team, ClockEvidence& evidence) {
  if (team.size() == 1) return;
  const std::size_t count = evidence.of.size();
  const std::vector<ClockEvidence::OfLocation> all = gather_everywhere(team, evidence.of);
  evidence.of.assign(count, {});
  for (std::size_t i = 0; i < all.size(); ++i) {
    ClockEvidence::OfLocation& of = evidence.of[i % count];
    of.edges += all[i].edges;
    of.violations += all[i].violations;
    if (std::pair(all[i].worst_ticks, all[i].worst_with) <
        std::pair(of.worst_ticks, of.worst_with)) {
      of.worst_ticks = all[i].worst_ticks;
      of.worst_with = all[i].worst_with;
    }
  }
  DisjointSets sets(count);
  const std::vector<std::uint32_t> groups = gather_everywhere(team, evidence.group);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    sets.join(static_cast<std::uint32_t>(i % count), groups[i]);
  }
  for (std::uint32_t l = 0; l < count; ++l) evidence.group[l] = sets.find(l);
}

/// A distance from the common time, at a stamp.
struct Knot {
  double x = 0;        ///< ticks since the first stamp
  std::int64_t y = 0;  ///< corrected time minus time as measured, ticks
};

/// The distances between which it changes along straight lines.
std::vector<Knot> distance_of(const trace::LocationSkeleton& location, const ClockMap& before,
                              const ClockMap& after) {
  std::vector<std::uint64_t> stamps{location.first, location.last};
  for (const ClockMap* map : {&before, &after}) {
    for (const ClockKnot& knot : map->knots()) {
      if (knot.local > location.first && knot.local < location.last) stamps.push_back(knot.local);
    }
  }
  std::ranges::sort(stamps);
  const auto doubles = std::ranges::unique(stamps);
  stamps.erase(doubles.begin(), doubles.end());
  std::vector<Knot> knots;
  ClockMap::Cursor from(before), to(after);
  for (const std::uint64_t stamp : stamps) {
    knots.push_back({static_cast<double>(stamp - location.first), to(stamp) - from(stamp)});
  }
  return knots;
}

/// Moments of a function that is straight between knots; y counts from its first value.
struct Moments {
  double span = 0, mean = 0, slope = 0, rms = 0, rest = 0;  ///< rest: rms distance from the line

  explicit Moments(std::span<const Knot> knots) {
    const Knot& first = knots.front();
    double y1 = 0, xy = 0, yy = 0;
    span = knots.back().x - first.x;
    for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
      const double x = knots[i].x - first.x, width = knots[i + 1].x - knots[i].x;
      const auto a = static_cast<double>(knots[i].y - first.y);
      const auto b = static_cast<double>(knots[i + 1].y - first.y);
      y1 += width * (a + b) / 2;
      xy += width * (x * (a + b) / 2 + width * (a / 6 + b / 3));
      yy += width * (a * a + a * b + b * b) / 3;
    }
    if (span <= 0) return;
    mean = y1 / span;
    slope = (xy - y1 * span / 2) / (span * span * span / 12);
    const double variance = yy / span - mean * mean;
    rest = std::sqrt(std::max(0.0, variance - slope * slope * span * span / 12));
    mean += static_cast<double>(first.y);
    rms = std::sqrt(std::max(0.0, variance) + mean * mean);
  }
};

/// The knot at which the last step ends; 0: the clock was not set.
std::size_t last_step(std::span<const Knot> knots, std::int64_t range) {
  const double longest = k_step_time_share * (knots.back().x - knots.front().x);
  std::size_t end = 0;
  for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
    const double change = std::abs(static_cast<double>(knots[i + 1].y - knots[i].y));
    const double time = knots[i + 1].x - knots[i].x;
    const bool is_step = change > k_fastest_drift * time && time <= longest &&
                         change >= k_step_share * static_cast<double>(range);
    if (is_step) end = i + 1;
  }
  return end;
}

/// Figures of a location's clock that its owner sends.
struct Figures {
  LocationIndex location = k_none;
  std::int64_t begin = 0;            ///< corrected time of the first event
  std::int64_t least = 0, most = 0;  ///< range of the distance
  std::int64_t offset = 0;           ///< mean distance
  double slope = 0;
  bool is_bent = false, is_stepped = false;
  std::int64_t since = 0;  ///< corrected time of the last step
  bool is_bounded = false;
  std::int64_t bound = 0, worst_bound = 0;
  bool is_measured = false;  ///< the trace has sessions of this clock
};

void describe_distance(const trace::LocationSkeleton& location, const ClockMap& before,
                       const ClockMap& after, Figures& figures) {
  const std::vector<Knot> knots = distance_of(location, before, after);
  const auto [least, most] = std::ranges::minmax(knots | std::views::transform(&Knot::y));
  figures.least = least;
  figures.most = most;
  const Moments moments(knots);
  figures.offset = knots.size() == 1 ? least : std::llround(moments.mean);
  const bool drifts = std::abs(moments.slope) * moments.span > k_rounding;
  figures.slope = drifts ? moments.slope : 0;
  figures.is_bent = moments.rest > k_rounding && moments.rest > k_bend_share * moments.rms;
  if (!figures.is_bent) return;
  const std::size_t step = last_step(knots, most - least);
  if (step == 0) return;
  figures.is_stepped = true;
  figures.since = after(location.first + static_cast<std::uint64_t>(knots[step].x));
  const std::span<const Knot> rest = std::span(knots).subspan(step);
  figures.offset = rest.size() == 1 ? rest.front().y : std::llround(Moments(rest).mean);
}

bool has_events_in(const trace::EventList& events, std::uint64_t first, std::uint64_t last) {
  const auto numbers = std::views::iota(std::size_t{0}, events.size());
  const auto at =
      std::ranges::lower_bound(numbers, first, {}, [&](std::size_t i) { return events.time(i); });
  return at != numbers.end() && events.time(*at) <= last;
}

/// Median and maximum of the bounds of a location where it communicates.
class BoundsOfLocations {
 public:
  explicit BoundsOfLocations(const ClockBounds* bounds) : bounds_(bounds) {
    if (bounds == nullptr) return;
    for (const LocationBounds& one : bounds->locations) whole_[one.location] = &one;
    for (std::size_t i = 0; i < bounds->rows.size(); ++i) {
      auto& [first, end] = rows_.try_emplace(bounds->rows[i].location, i, i).first->second;
      end = i + 1;
    }
  }

  void describe(std::uint64_t id, const trace::EventList& events, Figures& figures) const {
    std::vector<std::int64_t> found;
    const auto half =
        static_cast<std::uint64_t>(bounds_ == nullptr ? 0 : bounds_->window_ticks / 2);
    for (const BoundsRow& row : rows_of(id)) {
      const std::uint64_t first = row.local_ticks - std::min(row.local_ticks, half);
      if (row.bounded && has_events_in(events, first, row.local_ticks + half)) {
        found.push_back(row.bound_ticks);
      }
    }
    if (!found.empty()) {
      std::ranges::sort(found);
      take(found[found.size() / 2], found.back(), figures);
    } else if (const auto one = whole_.find(id); one != whole_.end()) {
      const LocationBounds& whole = *one->second;
      if (whole.unbounded < whole.windows) take(whole.median_ticks, whole.worst_ticks, figures);
    }
  }

 private:
  static void take(std::int64_t median, std::int64_t most, Figures& figures) {
    figures.is_bounded = true;
    figures.bound = median;
    figures.worst_bound = most;
  }
  [[nodiscard]] std::span<const BoundsRow> rows_of(std::uint64_t id) const {
    const auto at = rows_.find(id);
    if (at == rows_.end()) return {};
    return std::span(bounds_->rows).subspan(at->second.first, at->second.second - at->second.first);
  }

  const ClockBounds* bounds_;
  std::unordered_map<std::uint64_t, const LocationBounds*> whole_;
  std::unordered_map<std::uint64_t, std::pair<std::size_t, std::size_t>> rows_;
};

std::vector<Figures> all_figures(const trace::Share& share, std::span<const ClockMap> before,
                                 std::span<const ClockMap> after, const ClockBounds* bounds) {
  const BoundsOfLocations bounds_of(bounds);
  std::vector<Figures> own;
  for (const LocationIndex l : share.own()) {
    const trace::LocationSkeleton& location = share.trace.locations[l];
    if (location.event_count == 0) continue;
    Figures& figures = own.emplace_back();
    figures.location = l;
    figures.begin = after[l](location.first);
    figures.is_measured = !location.clock_offsets.empty();
    describe_distance(location, before[l], after[l], figures);
    bounds_of.describe(share.trace.definitions.locations[l].id, location.events, figures);
  }
  std::vector<Figures> all = gather_everywhere(share.team, own);
  std::ranges::sort(all, {}, &Figures::location);
  return all;
}

/// The figures that stand for each clock: of its location that moves most. Clocks without events
/// have none.
std::vector<std::optional<Figures>> by_clock(const std::vector<Figures>& all,
                                             const page::Layout& layout) {
  const auto size = [](const Figures& f) { return std::max(std::abs(f.least), std::abs(f.most)); };
  std::vector<std::optional<Figures>> result(layout.clocks.size());
  for (const Figures& figures : all) {
    std::optional<Figures>& known = result[layout.clock_of[figures.location]];
    if (!known || size(figures) > size(*known)) known = figures;
  }
  return result;
}

bool stays_at(const Figures& figures, std::int64_t distance) {
  return figures.most - distance <= k_rounding && distance - figures.least <= k_rounding;
}

/// The distance at which a clock is right: 0 if any clock kept its times, else the median, which
/// is also by how much all times were moved so that none is negative.
std::int64_t common_distance(const std::vector<std::optional<Figures>>& clocks) {
  std::vector<std::int64_t> offsets;
  for (const std::optional<Figures>& figures : clocks) {
    if (!figures) continue;
    if (stays_at(*figures, 0)) return 0;
    offsets.push_back(figures->offset);
  }
  if (offsets.empty()) return 0;
  std::ranges::sort(offsets);
  // Of two in the middle the one that moved less.
  const std::int64_t low = offsets[(offsets.size() - 1) / 2], high = offsets[offsets.size() / 2];
  return std::abs(high) < std::abs(low) ? high : low;
}

ClockState state_of(const Figures& figures, std::int64_t common, bool is_right) {
  if (is_right || stays_at(figures, common)) return ClockState::right;
  if (figures.is_stepped) return ClockState::stepped;
  if (figures.is_bent) return ClockState::bent;
  return figures.offset >= common ? ClockState::slow : ClockState::fast;
}

std::int64_t size_of(const Figures& figures, std::int64_t common) {
  return std::max(std::abs(figures.least - common), std::abs(figures.most - common));
}

ClockRow row_of(const Figures& figures, std::int64_t common, bool is_right) {
  ClockRow row;
  row.state = state_of(figures, common, is_right);
  row.offset_ticks = figures.offset - common;
  row.most_ticks = stays_at(figures, common) ? 0 : size_of(figures, common);
  if (row.state != ClockState::stepped) row.drift_ppm = figures.slope * 1e6;
  if (row.state == ClockState::stepped) row.since_ticks = figures.since;
  if (row.state == ClockState::right) row.offset_ticks = 0, row.drift_ppm = 0;
  if (figures.is_bounded) {
    row.bound_ticks = figures.bound;
    row.worst_bound_ticks = figures.worst_bound;
  }
  return row;
}

/// The group with the most locations, in which clocks can be compared.
std::uint32_t largest_group(const std::vector<std::uint32_t>& group) {
  std::vector<std::size_t> size(group.size());
  for (const std::uint32_t g : group) ++size[g];
  return static_cast<std::uint32_t>(std::ranges::max_element(size) - size.begin());
}

/// Per location the position of its clock in order of how far the presync moves it.
std::vector<std::uint32_t> places(session::Workers& workers, const Timeline& timeline) {
  const trace::Share share = timeline.loaded.share(workers.processes());
  const page::Layout layout = page::make_layout(share.trace.definitions, timeline.shared_clocks);
  const std::vector<std::optional<Figures>> clocks =
      by_clock(all_figures(share, timeline.measured.maps, timeline.presync.maps, nullptr), layout);
  const std::int64_t common = common_distance(clocks);
  std::vector<std::uint32_t> order(clocks.size()), place(clocks.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(
      order, {}, [&](std::uint32_t c) { return clocks[c] ? size_of(*clocks[c], common) : 0; });
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<std::uint32_t> result;
  for (const std::uint32_t clock : layout.clock_of) result.push_back(place[clock]);
  return result;
}

class TableMaker {
 public:
  TableMaker(const Timeline& timeline, const ClockEvidence& evidence)
      : definitions_(timeline.loaded.trace.definitions),
        evidence_(evidence),
        clocks_(timeline.shared_clocks),
        layout_(page::make_layout(definitions_, clocks_)),
        largest_(largest_group(evidence.group)) {}

  [[nodiscard]] const page::Layout& layout() const { return layout_; }

  void add(std::size_t clock, const Figures& figures, std::int64_t common, ClockTable& table) {
    ClockRow& row =
        table.rows.emplace_back(row_of(figures, common, evidence_.of[figures.location].is_right));
    row.name = layout_.clocks[clock].name;
    row.machine = trace::node_name(definitions_, figures.location);
    for (const LocationIndex l : clocks_.members[clock]) add_evidence(evidence_.of[l], row);
    const bool is_tied = figures.is_measured || evidence_.group[figures.location] == largest_;
    if (is_tied || row.state != ClockState::right) return;
    row.state = ClockState::untied;
    row.drift_ppm = std::nullopt;
    row.bound_ticks = row.worst_bound_ticks = std::nullopt;
  }

 private:
  void add_evidence(const ClockEvidence::OfLocation& of, ClockRow& row) const {
    row.edges += of.edges;
    row.violations += of.violations;
    if (of.edges == 0 || (row.worst_ticks && *row.worst_ticks <= of.worst_ticks)) return;
    row.worst_ticks = of.worst_ticks;
    row.worst_with = layout_.clocks[layout_.clock_of[of.worst_with]].name;
  }

  const trace::Definitions& definitions_;
  const ClockEvidence& evidence_;
  const trace::ClockDomains& clocks_;
  page::Layout layout_;
  std::uint32_t largest_;
};

/// The wrong ones first, those furthest off before others; clocks of which nothing is known last.
void sort_rows(std::vector<ClockRow>& rows) {
  const auto key = [](const ClockRow& row) {
    if (row.state == ClockState::untied) return std::pair(2, std::int64_t{0});
    return row.state == ClockState::right ? std::pair(1, std::int64_t{0})
                                          : std::pair(0, -row.most_ticks);
  };
  std::ranges::stable_sort(rows, [&](const ClockRow& a, const ClockRow& b) {
    const auto key_a = key(a), key_b = key(b);
    return key_a != key_b ? key_a < key_b : in_natural_order(a.name, b.name);
  });
}

}  // namespace

ClockEvidence clock_evidence(session::Workers& workers, const Timeline& timeline) {
  const constraints::Context context = causal_context(workers, timeline, nullptr);
  Times times;
  constraints::evaluate_nodes(
      context, times, [&](LocationIndex l) { return ClockMap::Cursor(timeline.measured.maps[l]); });
  ClockEvidence evidence;
  evidence.of.resize(context.graph.location_count());
  const std::vector<std::uint32_t> place = places(workers, timeline);
  EvidenceCollector collector(context.graph, times, place, evidence);
  collector.add_all();
  evidence.group = collector.groups();
  combine(context.team(), evidence);
  const std::int64_t first_wrong = context.team().reduce(
      Team::Reduction::min, static_cast<std::int64_t>(collector.first_wrong()));
  for (std::size_t l = 0; l < place.size(); ++l) {
    evidence.of[l].is_right = static_cast<std::int64_t>(place[l]) < first_wrong;
  }
  return evidence;
}

ClockTable clock_table(session::Workers& workers, const Timeline& timeline,
                       std::span<const ClockMap> corrected, const ClockEvidence& evidence,
                       const ClockBounds* bounds) {
  const trace::Share share = timeline.loaded.share(workers.processes());
  const std::vector<Figures> all = all_figures(share, timeline.measured.maps, corrected, bounds);
  ClockTable table;
  table.archive = share.trace.path;
  table.resolution_hz = share.trace.definitions.clock.resolution_hz;
  if (all.empty()) return table;
  table.begin_ticks = std::ranges::min(all | std::views::transform(&Figures::begin));
  TableMaker maker(timeline, evidence);
  const std::vector<std::optional<Figures>> clocks = by_clock(all, maker.layout());
  const std::int64_t common = common_distance(clocks);
  for (std::size_t c = 0; c < clocks.size(); ++c) {
    if (clocks[c]) maker.add(c, *clocks[c], common, table);
  }
  sort_rows(table.rows);
  const auto kept = std::ranges::find_if(table.rows, [](const ClockRow& row) {
    return row.state == ClockState::right && row.most_ticks == 0;
  });
  if (kept != table.rows.end()) table.reference = kept->name;
  return table;
}

ClockTable unmoved_clocks(session::Workers& workers, const Timeline& timeline,
                          const ClockBounds* bounds) {
  ClockEvidence evidence;
  if (timeline.graph.first_node.empty()) {
    evidence.of.resize(timeline.loaded.trace.locations.size());
    evidence.group.resize(evidence.of.size());
  } else {
    evidence = clock_evidence(workers, timeline);
  }
  return clock_table(workers, timeline, timeline.measured.maps, evidence, bounds);
}

}  // namespace entrain::engine
