// SPDX-License-Identifier: BSD-3-Clause
#include "causal/project.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

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
  /// Rate at which a clock may move off the estimate, if edges ask for no more; bench/accuracy. The
  /// estimate is wrong by what clocks wander, which is slow. A tenth carries one violation far
  /// into the run (ring-64-tails, seed 2: 17.1 -> 19.5 us, none at all: 85 us); 550 ppm bend
  /// clocks sharply (allreduce-64-no-session: 20.7 -> 21.7 us).
  static constexpr std::int64_t move_rate_ppb = 10'000;
  /// Steps per node and constraint that a search may take: sweeps.
  static constexpr std::uint64_t sweeps = 1000;
  static constexpr double largest_half_width = 0x1p50;  ///< ticks
  /// Distance of a straight line from a whole tick within which it is sure to be rounded to it.
  static constexpr double rounding = 0.45;
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
            const AssumedRates& limit, std::span<ClockMap> maps)
      : context_(context), domains_(domains), limit_(limit), maps_(maps) {}

  Result<Projection> run() {
    gather();
    if (!fits_) return Projection();
    Attempt best;
    if (estimate_fits_) {
      TRY_ASSIGN(best, attempt(Frame::estimate, Limits(domains_.count() + 1)));
      if (best.about.rounds == 0) return best.about;
    }
    if (!is_within_limit(best)) {
      TRY_ASSIGN(best, attempt(Frame::stamps, limits(false)));
      if (best.about.contradictions > 0 && !best.is_timeless && !limit_.is_given) {
        TRY_ASSIGN(best, attempt(Frame::stamps, limits(true)));
      }
    }
    if (best.about.moved > 0) set_maps(best.maps);
    return best.about;
  }

  /// The same with intervals, and at any rates.
  Result<Projection> run_inside(const KnownTimes& known) {
    known_ = &known;
    gather();
    sessions_.clear();
    if (!estimate_fits_ || !add_left(estimate_, 0)) return Projection();
    const Limits limits(domains_.count() + 1);
    TRY_ASSIGN(Attempt inside, attempt(Frame::estimate, limits));
    if (inside.about.contradictions > 0) {
      TRY_ASSIGN(inside, attempt(limits, std::nullopt));
    }
    if (inside.about.moved > 0) set_maps(inside.maps);
    return inside.about;
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
    std::int64_t rate_ppb = 0;   ///< least limit on the rates of moves, so far
  };
  using Limits = std::vector<difference::ClockLimits>;  ///< one per domain, and of no clock
  /// Times of the system, and what its limits on rates hold for.
  enum class Frame : std::uint8_t {
    estimate,  ///< times of the estimate: moves change as slowly as is possible
    stamps     ///< stamps: clocks have limited rates
  };

  /// Broken edges get a tick, if that is possible: equal times tell no order.
  Result<Attempt> attempt(Frame frame, const Limits& limits) {
    frame_ = frame;
    TRY_ASSIGN(Attempt apart, attempt(limits, 1));
    if (apart.about.contradictions == 0 || apart.is_hopeless) return apart;
    return attempt(limits, 0);
  }

  /// `least`: the least latency of broken edges, ticks; none: edges do not count.
  Result<Attempt> attempt(const Limits& limits, std::optional<std::int64_t> least) {
    BrokenEdges broken(context_, domains_, base_, least.value_or(0));
    Attempt attempt{.about = {}, .maps = estimate_};
    if (known_ != nullptr) sessions_.clear();
    const auto add = [&](std::int64_t margin) {
      const bool any = least && broken.add(attempt.maps, margin);
      return (known_ != nullptr && add_left(attempt.maps, margin)) || any;
    };
    while (add(margin(attempt.about.rounds))) {
      TRY(Cancel(context_.progress).agree(context_.team()));
      ++attempt.about.rounds;
      if (solve(broken, limits, attempt)) continue;
      attempt.about.contradictions = 1;
      attempt.about.moved = 0;
      break;
    }
    return attempt;
  }

  /// Adds intervals that maps leave, or come nearer than `margin` to the ends of. False if there
  /// are none that are new.
  bool add_left(std::span<const ClockMap> maps, std::int64_t margin) {
    const std::size_t before = sessions_.size();
    const std::set<difference::Event> taken = [&] {
      std::set<difference::Event> events;
      for (const difference::Session& session : sessions_) events.insert(session.at);
      return events;
    }();
    for (std::uint32_t d = 0; d < domains_.count(); ++d) {
      if (d == reference_ || !has_events(facts_[d])) continue;
      const auto look = [&](std::uint64_t stamp) {
        stamp = std::clamp(stamp, facts_[d].first, facts_[d].last);
        const difference::Event event = event_of(d, stamp);
        if (taken.contains(event)) return;
        const auto offsets = known_->at(d, stamp);
        if (!offsets) return;
        const std::int64_t own = maps[d](stamp) - static_cast<std::int64_t>(stamp);
        if (own - margin >= offsets->lower && own + margin <= offsets->upper) return;
        sessions_.push_back({.at = event, .lower = offsets->lower, .upper = offsets->upper});
      };
      for (const std::uint64_t stamp : known_->stamps[d]) look(stamp);
      for (const ClockKnot& knot : maps[d].knots()) look(knot.local);
    }
    return sessions_.size() > before;
  }

  /// Limits as they are assumed, or those that the estimate keeps: what it exceeds, it was given
  /// reasons to.
  [[nodiscard]] Limits limits(bool of_estimate) const {
    using difference::RateRange;
    Limits limits(domains_.count() + 1);
    for (std::uint32_t d = 0; d < domains_.count(); ++d) {
      const auto& [domain, first, last, is_master] = facts_[d];
      if (!has_events(facts_[d])) continue;
      std::int64_t rate = limit_.rate_ppb, mean = limit_.mean_ppb;
      if (of_estimate) {
        for_rates(estimate_[d].knots(), [&](auto... of) { rate = std::max(rate, rate_of(of...)); });
        rate = std::min(rate, k_most_rate_ppb);
        const auto life = static_cast<std::int64_t>(std::max<std::uint64_t>(last - first, 1));
        mean = std::max(mean, rate_of(offset_at(d, last) - offset_at(d, first), life));
      }
      limits[d] = {.rate = RateRange::within(rate),
                   .mean = difference::MeanLimit{.rates = RateRange::within(mean),
                                                 .first = event_of(d, first).stamp,
                                                 .last = event_of(d, last).stamp}};
    }
    return limits;
  }
  /// An event of a domain; stamps count from base_.
  [[nodiscard]] difference::Event event_of(std::uint32_t domain, std::uint64_t stamp) const {
    return {domain, static_cast<std::int64_t>(stamp - base_)};
  }
  /// Parts per billion, rounded up.
  static std::int64_t rate_of(std::int64_t rise, std::int64_t length) {
    return static_cast<std::int64_t>(ceil_div(Exact{std::abs(rise)} * k_billion, length));
  }
  template <class Use>
  static void for_rates(std::span<const ClockKnot> knots, Use use) {
    for (std::size_t k = 1; k < knots.size(); ++k) {
      use(knots[k].offset - knots[k - 1].offset,
          static_cast<std::int64_t>(knots[k].local - knots[k - 1].local));
    }
  }

  /// True if there is a solution whose rates are within the limits.
  [[nodiscard]] bool is_within_limit(const Attempt& attempt) const {
    if (attempt.maps.empty() || attempt.about.contradictions > 0) return false;
    bool within = true;
    for (std::uint32_t d = 0; d < domains_.count(); ++d) {
      if (!has_events(facts_[d])) continue;
      const ClockMap& map = attempt.maps[d];
      const auto check = [&](std::int64_t rise, std::int64_t length, std::int64_t ppb) {
        within = within && Exact{std::abs(rise) - 1} * k_billion <= Exact{length} * ppb;
      };
      const std::int64_t life = static_cast<std::int64_t>(facts_[d].last - facts_[d].first);
      check(map(facts_[d].last) - map(facts_[d].first) - life, life, limit_.mean_ppb);
      if (!limit_.is_given) continue;
      for_rates(map.knots(), [&](auto rise, auto length) { check(rise, length, limit_.rate_ppb); });
    }
    return within;
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
    if (known_ != nullptr) {
      reference_ = known_->reference;
      return;
    }
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
    fits_ = base_ <= last && last - base_ < difference::k_longest;
    find_earliest();
    for (difference::Session& session : sessions_) {
      session.at.stamp -= static_cast<std::int64_t>(base_);
    }
    add_points();
  }

  /// Finds the earliest time by the estimate, and whether a system can hold all of them.
  void find_earliest() {
    Exact earliest = difference::k_unbounded, latest = -difference::k_unbounded;
    for (std::uint32_t d = 0; d < domains_.count(); ++d) {
      if (!has_events(facts_[d])) continue;
      for (const std::uint64_t stamp : {facts_[d].first, facts_[d].last}) {
        const Exact time = Exact{stamp - base_} + offset_at(d, stamp);
        earliest = std::min(earliest, time);
        latest = std::max(latest, time);
      }
    }
    estimate_fits_ = fits_ && latest - earliest < difference::k_longest;
    earliest_ = static_cast<std::int64_t>(earliest);
  }

  /// Lets the system have nodes at the knots of the estimate, and at the first and the last event:
  /// a clock's rate is limited there too. An edge from an event to itself says nothing else.
  void add_points() {
    for (std::uint32_t d = 0; d < domains_.count(); ++d) {
      const Facts& facts = facts_[d];
      if (!has_events(facts)) continue;
      const auto add = [&](std::uint64_t stamp) {
        points_.push_back({event_of(d, stamp), event_of(d, stamp), 0});
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
    for (difference::Edge& edge : edges) place(edge.cause), place(edge.effect);
    std::vector<difference::Event> events(broken.events().begin(), broken.events().end());
    for (difference::Event& event : events) place(event);
    const std::vector<difference::Instance> instances = broken.instances(events);
    std::vector<difference::Session> sessions = sessions_;
    for (difference::Session& session : sessions) place(session);
    std::vector<std::int64_t> offsets;
    for (std::uint32_t d = 0; d < domains_.count(); ++d) {
      const bool differs = frame_ == Frame::stamps && has_events(facts_[d]);
      offsets.push_back(differs ? offset_at(d, facts_[d].first) : 0);
    }
    offsets.push_back(0);
    return difference::System({.clocks = limits,
                               .reference = reference_,
                               .edges = edges,
                               .sessions = sessions,
                               .instances = instances,
                               .offsets = offsets});
  }

  /// Gives an event its time in the system, and a session its limits there.
  void place(difference::Event& event) const {
    if (frame_ == Frame::stamps || event.clock >= domains_.count()) return;
    event.stamp += offset_at(event.clock, base_ + static_cast<std::uint64_t>(event.stamp));
    event.stamp -= earliest_;
  }
  void place(difference::Session& session) const {
    if (frame_ == Frame::stamps) return;
    const auto stamp = base_ + static_cast<std::uint64_t>(session.at.stamp);
    const std::int64_t offset = offset_at(session.at.clock, stamp);
    session.lower -= offset;
    session.upper -= offset;
    place(session.at);
  }

  /// Common time less the stamp, by the estimate, from the offset of the reference.
  [[nodiscard]] std::int64_t offset_at(std::uint32_t domain, std::uint64_t stamp) const {
    return estimate_[domain](stamp) - static_cast<std::int64_t>(stamp) - reference_offset_;
  }

  /// False if no clocks meet the constraints, or the search took too long.
  bool solve(const BrokenEdges& broken, const Limits& limits, Attempt& attempt) {
    difference::System system = system_of(broken, limits);
    const auto solution = frame_ == Frame::estimate ? slowest_moves(system, attempt)
                                                    : project(system, errors(system));
    if (!solution) {
      if (solution.error().certificate) judge(*solution.error().certificate, attempt);
      return false;
    }
    attempt.about.moved = 0;
    const std::vector<std::vector<std::int64_t>> stamps = stamps_of(broken);
    for (std::uint32_t d = 0; d < domains_.count(); ++d) {
      if (d != reference_) set_map(system, d, stamps[d], *solution, attempt);
    }
    return true;
  }

  /// Stamps of the system, one vector per domain, in order.
  [[nodiscard]] std::vector<std::vector<std::int64_t>> stamps_of(const BrokenEdges& broken) const {
    std::vector<std::vector<std::int64_t>> stamps(domains_.count());
    const auto add = [&](const difference::Event& event) {
      if (event.clock < stamps.size()) stamps[event.clock].push_back(event.stamp);
    };
    for (const difference::Edge& edge : broken.edges()) add(edge.cause), add(edge.effect);
    for (const difference::Edge& edge : points_) add(edge.cause);
    for (const difference::Event& event : broken.events()) add(event);
    for (const difference::Session& session : sessions_) add(session.at);
    for (std::vector<std::int64_t>& own : stamps) {
      std::ranges::sort(own);
      own.erase(std::unique(own.begin(), own.end()), own.end());
    }
    return stamps;
  }

  /// Moves of the estimate under a limit on their rates that is as low as edges permit.
  [[nodiscard]] difference::Solved<Values> slowest_moves(difference::System& system,
                                                         Attempt& attempt) const {
    difference::Effort effort = effort_of(system);
    const auto rate = set_least_rate(system, effort, {attempt.rate_ppb});
    if (!rate) return tl::unexpected(rate.error());
    if (rate->ppb > k_most_rate_ppb) return tl::unexpected(difference::Failure());
    attempt.rate_ppb = rate->ppb;
    const std::int64_t limit = std::max(rate->ppb, ProjectionLimits::move_rate_ppb);
    for (std::uint32_t c = 0; c < system.clocks(); ++c)
      system.set_rate(c, difference::RateRange::within(limit));
    return project(system, Values(system.nodes(), 0));
  }
  /// Errors of the clocks by the estimate.
  [[nodiscard]] Values errors(const difference::System& system) const {
    Values errors(system.nodes(), 0);
    for (Node node = 1; node < system.stamped(); ++node) {
      const std::uint64_t stamp = base_ + static_cast<std::uint64_t>(system.stamp(node));
      errors[node] = Exact{offset_at(system.clock(node), stamp)} * k_tick;
    }
    return errors;
  }
  [[nodiscard]] static difference::Effort effort_of(const difference::System& system) {
    return {.most = ProjectionLimits::sweeps * (std::uint64_t{system.nodes()} + 1)};
  }

  static void judge(const difference::Certificate& certificate, Attempt& attempt) {
    using Kind = difference::Certificate::Kind;
    const auto ticks = std::ranges::count_if(certificate.steps, [](const auto& step) {
      return step.kind == Kind::edge || step.kind == Kind::instance;
    });
    attempt.is_hopeless = certificate.length + Exact{ticks} * k_tick < 0;
    attempt.is_timeless = certificate.rate_ticks == 0;
  }

  /// Bounds move the estimate only where else the reference moved.
  [[nodiscard]] difference::Solved<Values> project(const difference::System& system,
                                                   const Values& estimate) const {
    using namespace difference;
    Effort effort = effort_of(system);
    Bounds bounds{Values(system.nodes(), -k_unbounded), Values(system.nodes(), k_unbounded)};
    if (reference_ < domains_.count()) {
      Solved<Bounds> found = bounds_from_reference(system, effort);
      if (!found) return tl::unexpected(std::move(found.error()));
      bounds = *std::move(found);
    }
    return difference::project(system, bounds, estimate, effort);
  }

  /// The estimate, to the bit, where it stays.
  void set_map(const difference::System& system, std::uint32_t domain,
               const std::vector<std::int64_t>& stamps, const Values& solution,
               Attempt& attempt) const {
    std::vector<ClockKnot> knots;
    std::int64_t moved = 0;
    for (const std::int64_t from_base : stamps) {
      difference::Event event{domain, from_base};
      place(event);
      const auto node = system.find(event);
      const std::uint64_t stamp = base_ + static_cast<std::uint64_t>(from_base);
      const std::int64_t before = offset_at(domain, stamp);
      std::int64_t offset = difference::floor_ticks(solution[*node]);
      if (frame_ == Frame::estimate) offset += before;
      moved = std::max(moved, std::abs(offset - before));
      knots.push_back({stamp, offset + reference_offset_});
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
  AssumedRates limit_;
  std::span<ClockMap> maps_;
  const KnownTimes* known_ = nullptr;  ///< null: only sessions

  std::vector<Facts> facts_;                   ///< one per domain
  std::vector<ClockMap> estimate_;             ///< one per domain
  std::vector<difference::Session> sessions_;  ///< sessions of all clocks
  std::vector<difference::Edge> points_;       ///< see add_points()
  std::uint32_t reference_ = 0;                ///< domain that stays; their number: none
  std::int64_t reference_offset_ = 0;          ///< ticks
  std::uint64_t base_ = 0;                     ///< stamp that those of constraints count from
  std::int64_t earliest_ = 0;                  ///< earliest time by the estimate, from base_, ticks
  Frame frame_ = Frame::estimate;
  bool fits_ = false, estimate_fits_ = false;  ///< a system can hold the stamps, the times
};

}  // namespace

Result<Projection> project_onto_edges(const constraints::Context& context,
                                      const trace::ClockDomains& domains, const AssumedRates& limit,
                                      std::span<ClockMap> maps) {
  return Projector(context, domains, limit, maps).run();
}

Result<Projection> project_into_intervals(const constraints::Context& context,
                                          const trace::ClockDomains& domains,
                                          const KnownTimes& known, std::span<ClockMap> maps) {
  return Projector(context, domains, {}, maps).run_inside(known);
}

}  // namespace entrain::causal
