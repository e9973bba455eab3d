// SPDX-License-Identifier: BSD-3-Clause
#include "causal/project.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/cancel.hpp"
#include "base/try.hpp"
#include "causal/broken_edges.hpp"
#include "clocks/presync.hpp"
#include "difference/solve.hpp"

namespace entrain::causal {

namespace {

using difference::Exact;
using difference::k_tick;
using difference::Node;
using difference::Values;

/// Largest limit that a system may have.
constexpr std::int64_t k_most_rate_ppb = k_billion / 10;

/// Limits of the search; project_test.cpp. Chosen, not measured.
struct ProjectionLimits {
  /// Rounds that take broken edges only. Each later one takes edges that come closer to being
  /// broken, by a factor of 8, so that all are taken at last.
  static constexpr std::uint32_t narrow_rounds = 16;
  /// Steps per node and constraint that a search may take: sweeps.
  static constexpr std::uint64_t sweeps = 1000;
  static constexpr std::int64_t largest_stamp = std::int64_t{1} << 60;  ///< of difference::Event
  static constexpr double largest_half_width = 0x1p50;                  ///< ticks
  /// Distance of a straight line from a whole tick within which it is sure to be rounded to it.
  static constexpr double rounding = 0.45;
  /// A limit that is not given counts for nothing if it moves clocks so many times as far as edges
  /// do. Twice as far it tells the truth where the fit is wrong (docs/decisions/47), 430 times as
  /// far where the fit is right and clocks are faster.
  static constexpr std::int64_t farther = 16;
  static constexpr std::size_t longest_line = 4096;  ///< points that a line may replace
};

/// Leaves out knots that the line between the others meets to the tick.
std::vector<ClockKnot> fewest_knots(const std::vector<ClockKnot>& knots) {
  if (knots.size() < 3) return knots;
  std::vector<ClockKnot> kept{knots.front()};
  for (std::size_t from = 0; from + 1 < knots.size();) {
    double low = -1, high = 1;  // slopes of lines that meet all knots up to `to`
    std::size_t last = from + 1;
    const std::size_t end = std::min(knots.size(), from + ProjectionLimits::longest_line);
    for (std::size_t to = from + 1; to < end && low <= high; ++to) {
      const auto length = static_cast<double>(knots[to].local - knots[from].local);
      const auto rise = static_cast<double>(knots[to].offset - knots[from].offset);
      if (rise / length >= low && rise / length <= high) last = to;
      low = std::max(low, (rise - ProjectionLimits::rounding) / length);
      high = std::min(high, (rise + ProjectionLimits::rounding) / length);
    }
    kept.push_back(knots[last]);
    from = last;
  }
  return kept;
}

class Projector {
 public:
  Projector(const constraints::Context& context, const trace::ClockDomains& domains,
            const MomentaryLimit& limit, std::span<ClockMap> maps)
      : context_(context), domains_(domains), limit_(limit), maps_(maps) {}

  Result<Projection> run() {
    gather();
    if (!fits_) return Projection();
    TRY_ASSIGN(Attempt best, attempt(limits_within(limit_.rate_ppb)));
    const bool may_differ =
        !limit_.is_given && !best.is_timeless && fastest_ppb() > limit_.rate_ppb;
    if (best.about.rounds > 0 && may_differ) {
      TRY_ASSIGN(Attempt fast, attempt(limits_of_estimate()));
      const std::int64_t near = ProjectionLimits::farther * fast.about.moved;
      const bool is_far = best.about.contradictions > 0 || best.about.moved > near;
      if (is_far && fast.about.contradictions == 0) best = std::move(fast);
    }
    if (best.about.moved > 0) set_maps(best.maps);
    return best.about;
  }

 private:
  /// Facts about a domain.
  struct Facts {
    std::uint32_t domain = 0;
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;
    bool is_master = false;  ///< its sessions are 0 and exact
  };
  struct Knot {
    std::uint32_t domain = 0;
    ClockKnot knot;
  };
  struct Attempt {
    Projection about;
    std::vector<ClockMap> maps;  ///< one per domain
    bool is_hopeless = false;    ///< the certificate holds without ticks between ends, too
    bool is_timeless = false;    ///< it holds at any rates
  };
  using Limits = std::vector<difference::ClockLimits>;  ///< one per domain, and of no clock

  /// Broken edges get a tick, if that is possible: equal times tell no order.
  Result<Attempt> attempt(const Limits& limits) {
    TRY_ASSIGN(Attempt apart, attempt(limits, 1));
    if (apart.about.contradictions == 0 || apart.is_hopeless) return apart;
    return attempt(limits, 0);
  }

  /// `least`: the least latency of broken edges, ticks.
  Result<Attempt> attempt(const Limits& limits, std::int64_t least) {
    BrokenEdges broken(context_, domains_, base_, least);
    Attempt attempt{.about = {}, .maps = estimate_};
    while (broken.add(attempt.maps, margin(attempt.about.rounds))) {
      TRY(Cancel(context_.progress).agree(context_.team()));
      ++attempt.about.rounds;
      if (solve(broken, limits, attempt)) continue;
      attempt.about.contradictions = 1;
      attempt.about.moved = 0;
      break;
    }
    return attempt;
  }

  [[nodiscard]] Limits limits_within(std::int64_t rate_ppb) const {
    return Limits(domains_.count() + 1, {rate_ppb, {}});
  }
  /// Limits that the estimate keeps: what it exceeds, it was given reasons to.
  [[nodiscard]] Limits limits_of_estimate() const {
    Limits limits = limits_within(limit_.rate_ppb);
    for (std::uint32_t d = 0; d < domains_.count(); ++d) {
      limits[d].rate_ppb = std::min(std::max(limits[d].rate_ppb, rate_of(d)), k_most_rate_ppb);
    }
    return limits;
  }
  /// Largest rate of a clock by the estimate, parts per billion.
  [[nodiscard]] std::int64_t rate_of(std::uint32_t domain) const {
    const auto knots = estimate_[domain].knots();
    double largest = 0;
    for (std::size_t k = 1; k < knots.size(); ++k) {
      const auto rise = static_cast<double>(knots[k].offset - knots[k - 1].offset);
      largest = std::max(largest,
                         std::abs(rise) / static_cast<double>(knots[k].local - knots[k - 1].local));
    }
    return std::llround(std::ceil(largest * 1e9));
  }
  [[nodiscard]] std::int64_t fastest_ppb() const {
    std::int64_t fastest = 0;
    for (std::uint32_t d = 0; d < domains_.count(); ++d) fastest = std::max(fastest, rate_of(d));
    return fastest;
  }

  static std::int64_t margin(std::uint32_t rounds) {
    if (rounds < ProjectionLimits::narrow_rounds) return 0;
    return std::int64_t{1} << std::min(60U, 3 * (rounds - ProjectionLimits::narrow_rounds));
  }

  /// Tells every process maps, sessions, first and last stamps of all clocks.
  void gather() {
    std::vector<Facts> facts;
    std::vector<Knot> knots;
    std::vector<difference::Session> sessions;
    for (std::uint32_t d = 0; d < domains_.count(); ++d) {
      if (!context_.share.owns(domains_.members[d].front())) continue;
      facts.push_back(facts_of(d));
      for (const ClockKnot& knot : maps_[domains_.members[d].front()].knots()) {
        knots.push_back({d, knot});
      }
      add_sessions(d, sessions);
    }
    facts_.resize(domains_.count());
    for (const Facts& one : gather_everywhere(context_.team(), facts)) facts_[one.domain] = one;
    std::vector<std::vector<ClockKnot>> of_domain(domains_.count());
    for (const Knot& one : gather_everywhere(context_.team(), knots)) {
      of_domain[one.domain].push_back(one.knot);
    }
    for (std::vector<ClockKnot>& one : of_domain) {
      estimate_.push_back(*ClockMap::from_knots(std::move(one)));
    }
    sessions_ = gather_everywhere(context_.team(), sessions);
    find_reference();
    move_to_base();
  }

  [[nodiscard]] Facts facts_of(std::uint32_t domain) const {
    Facts facts{.domain = domain};
    for (const LocationIndex l : domains_.members[domain]) {
      const trace::LocationSkeleton& location = context_.trace().locations[l];
      const auto& records = location.clock_offsets;
      facts.is_master |= !records.empty() && std::ranges::all_of(records, [](const auto& r) {
        return r.offset == 0 && r.stddev == 0;
      });
      if (location.event_count == 0) continue;
      facts.first = std::min(facts.first, location.first);
      facts.last = std::max(facts.last, location.last);
    }
    return facts;
  }
  [[nodiscard]] static bool has_events(const Facts& facts) { return facts.first <= facts.last; }

  /// Adds sessions with known half-widths that lie inside the life of a clock. Their stamps and
  /// offsets are those of the records.
  void add_sessions(std::uint32_t domain, std::vector<difference::Session>& sessions) const {
    for (const LocationIndex l : domains_.members[domain]) {
      const trace::LocationSkeleton& location = context_.trace().locations[l];
      for (const trace::ClockOffset& record : location.clock_offsets) {
        const double width = record.stddev;
        if (!(width > 0 && width < ProjectionLimits::largest_half_width)) continue;
        if (record.time < location.first || record.time > location.last) continue;
        const auto half_width = static_cast<std::int64_t>(std::ceil(width));
        sessions.push_back({.at = {domain, static_cast<std::int64_t>(record.time)},
                            .lower = record.offset - half_width,
                            .upper = record.offset + half_width});
      }
    }
  }

  /// Offset of a clock that is the same at all times.
  [[nodiscard]] std::optional<std::int64_t> constant_offset(std::uint32_t domain) const {
    const auto knots = estimate_[domain].knots();
    if (knots.size() < 2) return 0;
    const std::int64_t offset = knots.front().offset;
    const bool same = std::ranges::all_of(knots, [&](const auto& k) { return k.offset == offset; });
    return same ? std::optional(offset) : std::nullopt;
  }

  /// The reference is held only if the estimate gives it a constant offset. Sessions without it
  /// tell nothing of the clocks' times.
  void find_reference() {
    reference_ = static_cast<std::uint32_t>(domains_.count());
    const std::optional<std::uint32_t> chosen = sessions_.empty() ? chosen_reference() : master();
    const auto offset = chosen ? constant_offset(*chosen) : std::nullopt;
    if (offset) {
      reference_ = *chosen;
      reference_offset_ = *offset;
    } else {
      sessions_.clear();
    }
  }
  [[nodiscard]] std::optional<std::uint32_t> master() const {
    const auto found = std::ranges::find_if(facts_, &Facts::is_master);
    return found == facts_.end() ? std::nullopt : std::optional(found->domain);
  }
  [[nodiscard]] std::optional<std::uint32_t> chosen_reference() const {
    const clocks::Reference& reference = context_.reference;
    if (reference.location != k_none) return domains_.of[reference.location];
    if (reference.consensus) return std::nullopt;
    const auto found = std::ranges::find_if(facts_, has_events);
    return found == facts_.end() ? std::nullopt : std::optional(found->domain);
  }

  /// Stamps of the system count from the earliest one, offsets from that of the reference.
  void move_to_base() {
    std::uint64_t last = 0;
    base_ = std::numeric_limits<std::uint64_t>::max();
    for (const Facts& facts : facts_) {
      if (!has_events(facts)) continue;
      base_ = std::min(base_, facts.first);
      last = std::max(last, facts.last);
    }
    fits_ = base_ <= last && last - base_ < ProjectionLimits::largest_stamp;
    for (difference::Session& session : sessions_) {
      session.at.stamp -= static_cast<std::int64_t>(base_);
    }
    add_points();
  }

  /// Lets the system have nodes at the knots of the estimate, and at the first and the last event:
  /// a clock's rate is limited there too. An edge from an event to itself says nothing else.
  void add_points() {
    for (std::uint32_t d = 0; d < domains_.count(); ++d) {
      const Facts& facts = facts_[d];
      if (!has_events(facts)) continue;
      const auto add = [&](std::uint64_t stamp) {
        const difference::Event event{d, static_cast<std::int64_t>(stamp - base_)};
        points_.push_back({event, event, 0});
      };
      add(facts.first);
      add(facts.last);
      for (const ClockKnot& knot : estimate_[d].knots()) {
        if (knot.local > facts.first && knot.local < facts.last) add(knot.local);
      }
    }
  }

  [[nodiscard]] difference::System system_of(const BrokenEdges& broken,
                                             const Limits& limits) const {
    std::vector<difference::Edge> edges(broken.edges().begin(), broken.edges().end());
    edges.insert(edges.end(), points_.begin(), points_.end());
    const std::vector<difference::Instance> instances = broken.instances();
    std::vector<std::int64_t> offsets;
    for (std::uint32_t d = 0; d < domains_.count(); ++d) {
      offsets.push_back(has_events(facts_[d]) ? offset_at(d, facts_[d].first) : 0);
    }
    offsets.push_back(0);
    return difference::System({.clocks = limits,
                               .reference = reference_,
                               .edges = edges,
                               .sessions = sessions_,
                               .instances = instances,
                               .offsets = offsets});
  }

  /// Common time less the stamp, by the estimate, from the offset of the reference.
  [[nodiscard]] std::int64_t offset_at(std::uint32_t domain, std::uint64_t stamp) const {
    return estimate_[domain](stamp) - static_cast<std::int64_t>(stamp) - reference_offset_;
  }

  /// False if no clocks meet the constraints, or the search took too long.
  bool solve(const BrokenEdges& broken, const Limits& limits, Attempt& attempt) {
    const difference::System system = system_of(broken, limits);
    Values estimate(system.nodes(), 0);
    for (Node node = 1; node < system.stamped(); ++node) {
      const std::uint64_t stamp = base_ + static_cast<std::uint64_t>(system.stamp(node));
      estimate[node] = Exact{offset_at(system.clock(node), stamp)} * k_tick;
    }
    const auto solution = project(system, estimate);
    if (!solution) {
      if (solution.error().certificate) judge(*solution.error().certificate, attempt);
      return false;
    }
    attempt.about.moved = 0;
    for (std::uint32_t d = 0; d < domains_.count(); ++d) {
      if (d != reference_) set_map(system, d, *solution, estimate, attempt);
    }
    return true;
  }

  static void judge(const difference::Certificate& certificate, Attempt& attempt) {
    using Kind = difference::Certificate::Kind;
    const auto ticks = std::ranges::count_if(certificate.steps, [](const auto& step) {
      return step.kind == Kind::edge || step.kind == Kind::instance;
    });
    attempt.is_hopeless = certificate.length + Exact{ticks} * k_tick < 0;
    attempt.is_timeless = certificate.rate_ticks == 0;
  }

  /// Bounds move the estimate only if else the reference moved.
  [[nodiscard]] difference::Solved<Values> project(const difference::System& system,
                                                   const Values& estimate) const {
    using namespace difference;
    Effort effort{.most = ProjectionLimits::sweeps * (std::uint64_t{system.nodes()} + 1)};
    const Bounds none{Values(system.nodes(), -k_unbounded), Values(system.nodes(), k_unbounded)};
    auto solution = difference::project(system, none, estimate, effort);
    const bool held = reference_ < domains_.count();
    if (!solution || !held || (*solution)[0] == 0) return solution;
    const auto bounds = find_bounds(system, effort);
    if (!bounds) return tl::unexpected(bounds.error());
    return difference::project(system, *bounds, estimate, effort);
  }

  /// The estimate, to the bit, where it stays.
  void set_map(const difference::System& system, std::uint32_t domain, const Values& solution,
               const Values& estimate, Attempt& attempt) const {
    std::vector<ClockKnot> knots;
    std::int64_t moved = 0;
    for (Node node = system.begin(domain); node < system.end(domain); ++node) {
      const std::int64_t offset = difference::floor_ticks(solution[node]);
      moved = std::max(moved, std::abs(offset - difference::floor_ticks(estimate[node])));
      knots.push_back(
          {base_ + static_cast<std::uint64_t>(system.stamp(node)), offset + reference_offset_});
    }
    attempt.about.moved = std::max(attempt.about.moved, moved);
    attempt.maps[domain] = estimate_[domain];
    if (moved == 0) return;
    knots = fewest_knots(knots);
    if (knots.size() == 1) knots.push_back({knots.front().local + 1, knots.front().offset});
    attempt.maps[domain] = *ClockMap::from_knots(std::move(knots));
  }

  void set_maps(const std::vector<ClockMap>& maps) const {
    for (const LocationIndex l : context_.share.own()) maps_[l] = maps[domains_.of[l]];
    clocks::avoid_negative_times(context_.share, maps_);
  }

  const constraints::Context& context_;
  const trace::ClockDomains& domains_;
  MomentaryLimit limit_;
  std::span<ClockMap> maps_;

  std::vector<Facts> facts_;                   ///< one per domain
  std::vector<ClockMap> estimate_;             ///< one per domain
  std::vector<difference::Session> sessions_;  ///< of all clocks
  std::vector<difference::Edge> points_;       ///< see add_points()
  std::uint32_t reference_ = 0;                ///< domain that stays; their number: none
  std::int64_t reference_offset_ = 0;          ///< ticks
  std::uint64_t base_ = 0;                     ///< stamp that those of the system count from
  bool fits_ = false;                          ///< a system can hold the stamps
};

}  // namespace

Result<Projection> project_onto_edges(const constraints::Context& context,
                                      const trace::ClockDomains& domains,
                                      const MomentaryLimit& limit, std::span<ClockMap> maps) {
  return Projector(context, domains, limit, maps).run();
}

}  // namespace entrain::causal
