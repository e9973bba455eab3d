// SPDX-License-Identifier: BSD-3-Clause
#include "causal/clock_domains.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "base/big_vector.hpp"
#include "base/disjoint_sets.hpp"
#include "base/flat_map.hpp"
#include "clocks/presync.hpp"
#include "constraints/edge_constraints.hpp"
#include "difference/solve.hpp"
#include "match/extremes.hpp"
#include "match/parts.hpp"
#include "trace/properties.hpp"

namespace entrain::causal {

namespace {

/// Summary of the clock offsets of a location, to decide whether two clocks are one.
struct Measured {
  std::uint64_t count = 0;  ///< number of records; 0: not measured
  std::uint64_t hash = 0;   ///< hash of all records
  trace::ClockOffset first, last;

  [[nodiscard]] bool is_reference() const {
    return first.offset == 0 && last.offset == 0 && first.stddev == 0 && last.stddev == 0;
  }
  /// Half-width of the worse of the two sessions; nothing if unknown.
  [[nodiscard]] std::optional<double> half_width() const {
    if (first.stddev > 0 && last.stddev > 0) return std::max(first.stddev, last.stddev);
    return std::nullopt;
  }
  [[nodiscard]] double offset_at(std::uint64_t time) const {
    const auto from_first = static_cast<double>(static_cast<std::int64_t>(time - first.time));
    const auto span = static_cast<double>(last.time - first.time);
    const auto rise = static_cast<double>(last.offset - first.offset);
    return static_cast<double>(first.offset) + (span > 0 ? rise * (from_first / span) : 0);
  }
};

Measured summary_of(const trace::LocationSkeleton& location) {
  Measured measured;
  for (const trace::ClockOffset& record : location.clock_offsets) {
    for (const std::uint64_t word : {record.time, static_cast<std::uint64_t>(record.offset)}) {
      measured.hash = mix(measured.hash ^ word);
    }
  }
  measured.count = location.clock_offsets.size();
  if (measured.count > 0) {
    measured.first = location.clock_offsets.front();
    measured.last = location.clock_offsets.back();
  }
  return measured;
}

/// Edges between units, the tightest of each ordered pair, as if all units read one clock.
using UnitEdges = std::vector<constraints::ClockConstraint>;

/// Widths of the intervals of constant offsets from one unit's clock that edges leave to the clocks
/// of others, ticks; of those that have both ends.
std::map<std::uint32_t, std::int64_t> open_widths(const UnitEdges& of_units,
                                                  std::uint32_t reference) {
  std::vector<std::uint32_t> units{reference};
  for (const constraints::ClockConstraint& one : of_units)
    units.insert(units.end(), {one.from, one.to});
  std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
  const auto event = [&](std::uint32_t unit) {
    const auto at = std::ranges::lower_bound(units, unit) - units.begin();
    return difference::Event{static_cast<std::uint32_t>(at), 0};
  };
  std::vector<difference::Edge> edges;
  for (const constraints::ClockConstraint& one : of_units) {
    if (one.slack < difference::k_longest)
      edges.push_back({event(one.from), event(one.to), -one.slack});
  }
  const std::vector<difference::ClockLimits> limits(units.size());
  const difference::System system(
      {.clocks = limits, .reference = event(reference).clock, .edges = edges});
  difference::Effort effort;
  const auto bounds = difference::find_bounds(system, effort);
  std::map<std::uint32_t, std::int64_t> widths;
  for (difference::Node node = 1; bounds && node < system.stamped(); ++node) {
    const difference::Exact lower = bounds->lower[node], upper = bounds->upper[node];
    if (difference::is_unbounded(lower) || difference::is_unbounded(upper)) continue;
    widths[units[system.clock(node)]] = difference::ceil_ticks(upper - lower);
  }
  return widths;
}

/// Runs choose_domains() with ClockDomain::automatic once.
class Chooser {
 public:
  explicit Chooser(const constraints::Context& context)
      : context_(context),
        definitions_(context.trace().definitions),
        locations_(definitions_.locations.size()),
        proved_(trace::proved_clocks(definitions_)) {
    if (proved_.empty()) proved_.assign(locations_, k_none);
    read_records();
    constraints::evaluate_nodes(context_, stamps_, [](LocationIndex) {
      return [](std::uint64_t stamp) {
        return static_cast<std::int64_t>(std::min<std::uint64_t>(stamp, std::uint64_t{1} << 62));
      };
    });
  }

  DomainChoice run() {
    std::vector<std::uint32_t> each(locations_);
    std::iota(each.begin(), each.end(), std::uint32_t{0});
    // The accelerators of a process are a part of it, apart from its threads.
    const trace::ClockDomains parts = trace::domains_by(parts_of_processes());
    const std::vector<bool> whole_part = agree(each, parts, "the locations of a process");
    std::vector<Measured> of_part;
    for (const auto& members : parts.members) {
      const auto first =
          std::ranges::find_if(members, [&](LocationIndex l) { return measured_[l].count > 0; });
      of_part.push_back(first == members.end() ? Measured() : measured_[*first]);
    }
    measured_ = std::move(of_part);
    const std::vector<std::uint32_t> owner = owners_of(parts);
    std::vector<std::uint32_t> machine_of = definitions_.node_of;
    for (LocationIndex l = 0; l < locations_; ++l) {
      if (owner[l] >= locations_) machine_of[l] = owner[l];
    }
    const trace::ClockDomains machines = trace::domains_by(machine_of);
    // A machine is whole if its processes are whole and agree.
    std::vector<bool> whole_machine = agree(parts.of, machines, "the processes of a node");
    for (LocationIndex l = 0; l < locations_; ++l) {
      if (!whole_part[parts.of[l]]) whole_machine[machines.of[l]] = false;
    }
    std::vector<std::uint32_t> key(locations_);
    const auto all = static_cast<std::uint32_t>(locations_);  // machines, owners, locations in turn
    for (LocationIndex l = 0; l < locations_; ++l) {
      key[l] = whole_machine[machines.of[l]] ? machines.of[l]
               : whole_part[parts.of[l]]     ? all + owner[l]
                                             : 3 * all + l;
    }
    join_proved(key);
    DomainChoice choice{trace::domains_by(key), true, false, std::move(notes_)};
    choice.proved =
        std::all_of(choice.domains.members.begin(), choice.domains.members.end(),
                    [&](const auto& members) { return members.size() == 1 || is_proved(members); });
    return choice;
  }

 private:
  [[nodiscard]] bool is_accelerator(LocationIndex l) const {
    return definitions_.locations[l].type == trace::LocationType::accelerator;
  }

  /// Per location: its process; of accelerators, a number of their location group.
  [[nodiscard]] std::vector<std::uint32_t> parts_of_processes() const {
    std::vector<std::uint32_t> part = definitions_.process_of;
    const auto processes = static_cast<std::uint32_t>(trace::domains_by(part).count());
    for (LocationIndex l = 0; l < locations_; ++l) {
      const std::uint32_t group = definitions_.locations[l].group;
      if (is_accelerator(l) && group != k_none) part[l] = processes + group;
    }
    return part;
  }

  /// Per location: its process or, of accelerators that contradict their process, the number of
  /// locations and that of the part. measured_ is that of parts.
  std::vector<std::uint32_t> owners_of(const trace::ClockDomains& parts) {
    const trace::ClockDomains processes = trace::domains_by(definitions_.process_of);
    if (parts.count() == processes.count()) return processes.of;
    const std::vector<bool> whole =
        agree(parts.of, processes, "the threads and the accelerators of a process");
    std::vector<std::uint32_t> owner = processes.of;
    for (LocationIndex l = 0; l < locations_; ++l) {
      if (whole[processes.of[l]] || !is_accelerator(l)) continue;
      owner[l] = static_cast<std::uint32_t>(locations_) + parts.of[l];
    }
    return owner;
  }

  /// True if these locations are known to share a clock.
  [[nodiscard]] bool is_proved(std::span<const LocationIndex> members) const {
    return proved_[members.front()] != k_none &&
           std::all_of(members.begin(), members.end(),
                       [&](LocationIndex l) { return proved_[l] == proved_[members.front()]; });
  }

  /// Gives locations with a proven common clock equal keys, and all locations of these keys too.
  void join_proved(std::vector<std::uint32_t>& key) const {
    DisjointSets sets(locations_);
    std::map<std::uint32_t, LocationIndex> first_with_key, first_proved;
    for (LocationIndex l = 0; l < locations_; ++l) {
      sets.join(first_with_key.try_emplace(key[l], l).first->second, l);
      if (proved_[l] != k_none) sets.join(first_proved.try_emplace(proved_[l], l).first->second, l);
    }
    key = sets.all();
  }

  void read_records() {
    struct Numbered {
      LocationIndex location = k_none;
      Measured measured;
    };
    std::vector<Numbered> own;
    for (const LocationIndex l : context_.share.own()) {
      own.push_back({l, summary_of(context_.trace().locations[l])});
    }
    measured_.resize(locations_);
    for (const Numbered& one : gather_everywhere(context_.team(), own)) {
      measured_[one.location] = one.measured;
    }
  }

  /// True per group if nothing contradicts one clock of its units. `unit_of`: per location, the
  /// index in measured_.
  std::vector<bool> agree(const std::vector<std::uint32_t>& unit_of,
                          const trace::ClockDomains& groups, const char* what) {
    const std::vector<UnitEdges> edges = edges_of_groups(unit_of, groups);
    std::vector<bool> whole(groups.count(), true);
    std::size_t split = 0;
    std::string example;
    for (std::size_t g = 0; g < groups.count(); ++g) {
      if (is_proved(groups.members[g])) continue;
      const std::string against = contradiction(unit_of, groups.members[g], edges[g]);
      if (against.empty()) continue;
      whole[g] = false;
      if (split++ == 0) example = against;
    }
    if (split > 0) {
      notes_.push_back(fmt::format("{} do not share a clock in {} of {} cases: {}", what, split,
                                   groups.count(), example));
    }
    return whole;
  }

  /// The tightest edges between the units of each group, by stamps.
  [[nodiscard]] std::vector<UnitEdges> edges_of_groups(const std::vector<std::uint32_t>& unit_of,
                                                       const trace::ClockDomains& groups) const {
    constraints::ConstraintOptions options;
    options.times = options.corrected = stamps_;
    options.clock_of = unit_of;
    options.clocks = static_cast<std::uint32_t>(measured_.size());
    options.mu = context_.mu;
    options.end = 1;  // one window holds all times
    options.group_of = groups.of;
    options.groups = static_cast<std::uint32_t>(groups.count());
    options.threads = context_.threads;
    std::vector<std::uint32_t> group_of_unit(measured_.size());
    for (LocationIndex l = 0; l < locations_; ++l) group_of_unit[unit_of[l]] = groups.of[l];
    std::vector<UnitEdges> edges(groups.count());
    for (const auto& one :
         constraints::collect_violated(context_.team(), context_.graph, options)) {
      edges[group_of_unit[one.constraint.to]].push_back(one.constraint);
    }
    return edges;
  }

  [[nodiscard]] std::string contradiction(const std::vector<std::uint32_t>& unit_of,
                                          std::span<const LocationIndex> members,
                                          const UnitEdges& edges) const {
    std::map<std::uint32_t, std::int64_t> least;  // slack of each unit's edges
    for (const constraints::ClockConstraint& edge : edges) {
      for (const std::uint32_t unit : {edge.from, edge.to}) {
        std::int64_t& own = least.try_emplace(unit, edge.slack).first->second;
        own = std::min(own, edge.slack);
      }
    }
    std::optional<std::map<std::uint32_t, std::int64_t>> open;  // widths, from the reference
    LocationIndex reference = k_none;  // the first location of the first unit that was measured
    std::uint32_t previous = k_none;
    for (const LocationIndex l : members) {
      const std::uint32_t unit = unit_of[l];
      if (unit == previous) continue;
      previous = unit;
      if (const auto own = least.find(unit); own != least.end() && own->second < 0) {
        return fmt::format("by one clock, something between {} and the others arrives {} too early",
                           name_of(l), text_of(static_cast<double>(-own->second)));
      }
      if (measured_[unit].count == 0) continue;
      if (reference == k_none) {
        reference = l;
        continue;
      }
      const double excess =
          disagreement(measured_[unit_of[reference]], measured_[unit], [&]() -> double {
            if (!open) open = open_widths(edges, unit_of[reference]);
            const auto found = open->find(unit);
            return found == open->end() ? 0 : static_cast<double>(found->second);
          });
      if (excess > 0) {
        return fmt::format("the clock offsets of {} and {} differ by {} more than they may",
                           name_of(reference), name_of(l), text_of(excess));
      }
    }
    return {};
  }

  /// The excess of the difference between two measured clocks over what one clock allows, ticks:
  /// their half-widths, or, where these are unknown, what edges leave open.
  template <class Open>
  static double disagreement(const Measured& a, const Measured& b, const Open& open) {
    if (a.count == b.count && a.hash == b.hash) return 0;
    double allowed = 0;
    const auto width = [](const Measured& m) {
      return m.is_reference() ? std::optional<double>(0) : m.half_width();
    };
    if ((a.half_width() || b.half_width()) && width(a) && width(b)) {
      allowed = *width(a) + *width(b);
    } else {
      allowed = open();
    }
    double largest = 0;
    for (const std::uint64_t time : {a.first.time, a.last.time, b.first.time, b.last.time}) {
      largest = std::max(largest, std::abs(a.offset_at(time) - b.offset_at(time)));
    }
    return largest - allowed;
  }

  [[nodiscard]] std::string name_of(LocationIndex l) const {
    const trace::Location& location = definitions_.locations[l];
    const std::string process = location.group < definitions_.location_groups.size()
                                    ? definitions_.location_groups[location.group].name
                                    : std::string();
    return process.empty() ? fmt::format("location {}", location.id)
                           : fmt::format("{} (location {})", process, location.id);
  }
  [[nodiscard]] std::string text_of(double ticks) const {
    const double seconds = ticks / static_cast<double>(definitions_.clock.resolution_hz);
    if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
    return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.4g} s", seconds);
  }

  const constraints::Context& context_;
  const trace::Definitions& definitions_;
  std::size_t locations_;
  std::vector<std::uint32_t> proved_;  ///< proven clock of each location, or k_none
  std::vector<Measured> measured_;     ///< one per unit
  BigVector<std::int64_t> stamps_;     ///< one per node, ghosts too
  std::vector<std::string> notes_;
};

/// Uncertainty of a clock, less is better: whether its rate is unknown (one measurement), then the
/// half-width of its sessions; infinite if unknown.
std::pair<bool, double> uncertainty(const trace::LocationSkeleton& location) {
  const Measured measured = summary_of(location);
  if (measured.is_reference()) return {false, 0};
  return {measured.count < 2,
          measured.half_width().value_or(std::numeric_limits<double>::infinity())};
}

}  // namespace

trace::ClockDomains defined_domains(const trace::Definitions& definitions, ClockDomain rule) {
  switch (rule) {
    case ClockDomain::process:
      return trace::domains_by(definitions.process_of);
    case ClockDomain::node:
      return trace::domains_by(definitions.node_of);
    case ClockDomain::automatic:
    case ClockDomain::location:
      break;
  }
  return trace::separate_domains(definitions.locations.size());
}

DomainChoice choose_domains(const constraints::Context& context, ClockDomain rule) {
  DomainChoice choice;
  if (rule != ClockDomain::location) choice = Chooser(context).run();
  if (rule == ClockDomain::automatic) return choice;
  return {defined_domains(context.trace().definitions, rule), false, false,
          std::move(choice.notes)};
}

bool any_violation(const constraints::Context& context, std::span<const ClockMap> maps,
                   std::int64_t tolerance) {
  const match::Graph& graph = context.graph;
  const MuTicks& mu = context.mu;
  BigVector<std::int64_t> times;
  constraints::evaluate_nodes(context, times,
                              [&](LocationIndex l) { return ClockMap::Cursor(maps[l]); });
  std::atomic<bool> violated = false;
  match::for_parts(
      match::parts_of(graph, context.threads), [&](const match::Part& part, std::size_t) {
        for (const match::Edge& edge : part.edges) {
          if (times[edge.receive] + tolerance >= times[edge.send] + graph.mu_of(edge, mu)) continue;
          violated = true;
          return;
        }
        if (violated) return;
        match::for_demands(
            graph, part.exchanges, mu, times,
            [&](const match::Exchange&, const match::Participant& receive, std::int64_t demand) {
              if (times[receive.node] + tolerance < demand) violated = true;
            });
      });
  return context.team().any(violated);
}

void share_maps(const trace::Share& share, const trace::ClockDomains& domains,
                std::span<ClockMap> maps) {
  for (const auto& members : domains.members) {
    if (members.size() < 2 || !share.owns(members.front())) continue;
    LocationIndex best = k_none;
    std::pair<bool, double> least;
    for (const LocationIndex l : members) {
      const trace::LocationSkeleton& location = share.trace.locations[l];
      if (location.clock_offsets.empty()) continue;
      if (const auto own_width = uncertainty(location); best == k_none || own_width < least) {
        best = l;
        least = own_width;
      }
    }
    if (best == k_none) continue;
    for (const LocationIndex l : members) maps[l] = maps[best];
  }
  clocks::avoid_negative_times(share, maps);
}

}  // namespace entrain::causal
