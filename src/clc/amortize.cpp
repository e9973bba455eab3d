// SPDX-License-Identifier: BSD-3-Clause
#include "clc/amortize.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "base/exact.hpp"
#include "base/executor.hpp"
#include "base/try.hpp"
#include "clc/backward.hpp"
#include "clc/curve.hpp"
#include "clc/first_pass.hpp"
#include "clc/forward.hpp"
#include "clc/refine.hpp"
#include "clc/rounds.hpp"
#include "clc/schedule.hpp"
#include "clc/team_cycles.hpp"

namespace entrain::clc {

namespace {

/// gamma of the control loop, from the least to the most distorting (clc.md, section 4).
constexpr std::array<Decimal9, 5> k_gammas{
    {{999'990'000}, {999'900'000}, {999'000'000}, {990'000'000}, {900'000'000}}};

/// Offsets of neighbouring knots that differ by less are met to the tick: slopes are doubles.
constexpr std::int64_t k_largest_exact_shift = std::int64_t{1} << 50;

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// One run of amortize().
class Corrector {
 public:
  Corrector(Team& team, const trace::Partition& partition, match::Graph graph,
            const trace::Trace& trace, std::span<const ClockMap> presync, const Options& options,
            const Progress* progress)
      : team_(team),
        partition_(partition),
        graph_(std::move(graph)),
        trace_(trace),
        presync_(presync),
        options_(options),
        progress_(progress),
        incidence_(graph_),
        halo_(team, graph_) {}

  Result<void> read_times() {
    presync_times_.resize(graph_.node_count());
    return parallel_for(options_.threads, graph_.location_count(),
                        [&](std::size_t l) { return read_times(static_cast<LocationIndex>(l)); });
  }

  Result<void> read_times(LocationIndex l) {
    ClockMap::Cursor cursor(presync_[l]);
    for (NodeIndex n = graph_.first_node[l]; n < graph_.first_node[l + 1]; ++n) {
      const std::int64_t time = cursor(graph_.stamp[n]);
      if (time > k_latest_time || time < -k_latest_time) {
        return fail(ErrorKind::input,
                    fmt::format("location {} of {} has a time out of range ({} ticks); its clock "
                                "offsets cannot be right, try --presync none",
                                trace_.definitions.locations[l].id, trace_.path, time));
      }
      presync_times_[n] = time;
    }
    return {};
  }

  Result<void> forward() {
    halo_.publish(presync_times_);
    if (options_.gamma) {
      Forward pass = first_pass(*options_.gamma);
      TRY(go_on());
      report_pass(pass, *options_.gamma);
      take_pass(std::move(pass), *options_.gamma, 0);
    } else {
      TRY(control_gamma());
    }
    rounds_.reset();
    count_cycles();
    if (forward_.overflow) {
      return fail(ErrorKind::input,
                  fmt::format("the correction of {} runs out of the range of times; its minimum "
                              "delays (mu) cannot be right",
                              trace_.path));
    }
    result_.jumps = forward_.jumps;
    result_.forward_s = since_begin_.seconds();
    return {};
  }

  Result<void> backward() {
    const Stopwatch watch;
    if (options_.keep_times) {
      result_.presync.assign(presync_times_.begin(), presync_times_.begin() + own_count());
      result_.forward.assign(forward_.times.begin(), forward_.times.begin() + own_count());
    }
    // From here on C is computed where it is needed: its array is room for limits, then results.
    BigVector<std::int64_t> room = std::move(presync_times_);
    if (forward_.jumps > 0 && options_.backward) {
      room =
          send_limits(halo_, graph_, schedule_, forward_.times, options_.mu_ticks, std::move(room));
    }
    displacement_ = std::move(forward_.times);
    displacement_.resize(graph_.own_count());
    for_locations([&](LocationIndex l) { subtract_presync(l, displacement_); });
    curves_.assign(graph_.location_count(), {});
    if (forward_.jumps > 0) {
      for_locations([&](LocationIndex l) { build_curve(l, room); });
      TRY(go_on());
      follow_processes();
    }
    const RefineInput input{&team_,
                            &graph_,
                            &schedule_,
                            &trace_,
                            presync_,
                            displacement_,
                            options_.mu_ticks,
                            options_.delta_ticks,
                            options_.threads,
                            options_.split_flushes,
                            progress_};
    RefinedMaps refined = refine_maps(input, curves_, room);
    TRY(go_on());
    if (!refined.settled && forward_.error > k_largest_exact_shift) {
      return fail(ErrorKind::input,
                  fmt::format("clocks of {} are {} ticks apart, which is more than a clock map can "
                              "tell to the tick; only offsets measured by the tracer can bring "
                              "them together",
                              trace_.path, forward_.error));
    }
    result_.maps = std::move(refined.maps);
    if (options_.keep_times) {
      result_.corrected = result_.jumps > 0 ? std::move(room) : result_.presync;
    }
    result_.backward_s = watch.seconds();
    return {};
  }

  Amortization take() { return std::move(result_); }

 private:
  [[nodiscard]] bool alone() const { return team_.size() == 1; }
  [[nodiscard]] std::ptrdiff_t own_count() const {
    return static_cast<std::ptrdiff_t>(graph_.own_count());
  }

  /// True when the user wants to stop: then steps end early, at any member by itself.
  [[nodiscard]] bool stopped() const { return progress_ != nullptr && progress_->cancelled(); }
  /// Ends the work of all members if one is stopped.
  Result<void> go_on() const {
    const bool any = team_.any(stopped());
    if (any) return fail(ErrorKind::interrupted, "interrupted; nothing was written");
    return countable_;
  }

  /// Finds the order of the nodes, as far as this member can tell.
  void order() {
    if (alone()) {
      schedule_ = make_schedule(graph_, incidence_, progress_);
      for (const TiedNodes& component : schedule_.tied) tied_nodes_ += component.nodes.size();
      return;
    }
    std::optional<Schedule> schedule = order_nodes(graph_, incidence_, {}, {}, progress_);
    if (team_.any(stopped())) return;
    if (team_.any(!schedule)) {
      settle(std::vector<bool>(graph_.node_count(), true));
    } else {
      schedule_ = std::move(*schedule);
    }
  }

  /// Ties or cuts the cycles among `suspects`; true if there are any.
  bool settle(const std::vector<bool>& suspects) {
    cycles_settled_ = true;
    rounds_.reset();
    // The same at every member.
    if (!match::require_countable(size_between(team_, graph_, suspects), trace_.path)) {
      countable_ = fail(ErrorKind::input,
                        fmt::format("equal stamps in {} may close cycles of more events than can "
                                    "be searched at once",
                                    trace_.path));
      return false;
    }
    TeamCycles cycles = settle_cycles(team_, partition_, graph_, incidence_, suspects);
    const bool any = !cycles.tied.empty() || cycles.dropped_components > 0;
    if (!any && !schedule_.steps.empty()) return false;
    tied_nodes_ = cycles.tied_nodes;
    std::optional<Schedule> schedule =
        order_nodes(graph_, incidence_, std::move(cycles.tied), std::move(cycles.tied_of));
    assert(schedule);
    schedule_ = std::move(*schedule);
    schedule_.dropped_components = cycles.dropped_components;
    schedule_.dropped_edges = cycles.dropped_edges;
    return any;
  }

  void count_cycles() {
    const auto add = [&](const char* name, std::uint64_t n) {
      if (n > 0) result_.cycles.emplace_back(name, n);
    };
    add("tied_components", schedule_.tied.size());
    add("tied_nodes", tied_nodes_);
    add("dropped_components", schedule_.dropped_components);
    add("dropped_edges", schedule_.dropped_edges);
  }

  /// A pass over a whole graph whose order is known. Several may run at the same time.
  [[nodiscard]] Forward pass_alone(Decimal9 gamma) const {
    return ForwardPass(graph_, incidence_, schedule_, presync_times_, options_.mu_ticks,
                       options_.delta_ticks)
        .run(gamma, progress_);
  }

  [[nodiscard]] Forward first_pass(Decimal9 gamma) {
    if (alone()) {
      FirstPass first(graph_, incidence_, presync_times_, options_.mu_ticks, options_.delta_ticks);
      if (std::optional<Forward> pass = first.run(gamma, progress_)) {
        schedule_ = first.take();
        return std::move(*pass);
      }
      if (stopped()) return {};
    }
    order();
    if (team_.any(stopped()) || !countable_) return {};
    return alone() ? pass_alone(gamma) : pass_together(gamma);
  }

  [[nodiscard]] Forward pass_together(Decimal9 gamma) {
    while (true) {
      if (!rounds_) {
        rounds_.emplace(team_, graph_, incidence_, schedule_, presync_times_, options_.mu_ticks,
                        options_.delta_ticks);
      }
      std::optional<Forward> pass =
          rounds_->run(gamma, cycles_settled_ ? 0 : k_patient_rounds, progress_);
      if (team_.any(stopped())) return {};
      if (cycles_settled_) return std::move(*pass);
      // A cycle that crosses members shows in that the times never settle, or in a ring of equal
      // times.
      const std::vector<bool> suspects = pass ? cycle_suspects(team_, graph_, pass->times)
                                              : std::vector<bool>(graph_.node_count(), true);
      const bool any =
          team_.any(std::find(suspects.begin(), suspects.end(), true) != suspects.end());
      cycles_settled_ = true;
      if ((!any || !settle(suspects)) && pass) return std::move(*pass);
      if (!countable_) return {};
    }
  }

  void report_pass(const Forward& pass, Decimal9 gamma) {
    AmortizationPass report;
    report.gamma = static_cast<double>(gamma.billionths) / static_cast<double>(k_billion);
    report.error_ticks = pass.error;
    report.violations = pass.jumps;
    result_.passes.push_back(report);
  }

  void take_pass(Forward pass, Decimal9 gamma, std::size_t reported) {
    forward_ = std::move(pass);
    result_.gamma = gamma;
    result_.passes[reported].chosen = true;
  }

  /// Takes the largest gamma whose error is at most 1.1 times that of the smallest one. A pass
  /// with gamma too near 1 may run away under clocks whose drift changes sign.
  Result<void> control_gamma() {
    Forward largest = first_pass(k_gammas.front());
    TRY(go_on());
    report_pass(largest, k_gammas.front());
    // Without jumps nothing decays: every gamma gives the same.
    if (largest.jumps == 0 || good(largest.error, least_error())) {
      take_pass(std::move(largest), k_gammas.front(), 0);
      return {};
    }
    // The smallest one is what all are compared with.
    std::vector<Decimal9> order{k_gammas.back()};
    order.insert(order.end(), k_gammas.begin() + 1, k_gammas.end() - 1);
    std::vector<Forward> passes(order.size());
    std::size_t ready = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i >= ready) ready = run_some(order, i, passes);
      TRY(go_on());
      report_pass(passes[i], order[i]);
      Forward& candidate = i == 0 ? largest : passes[i];
      if (good(candidate.error, passes[0].error)) {
        take_pass(std::move(candidate), i == 0 ? k_gammas.front() : order[i], i == 0 ? 0 : i + 1);
        return {};
      }
      candidate = {};
    }
    take_pass(std::move(passes[0]), order[0], 1);
    return {};
  }

  /// Runs passes[begin]; alone with threads to spare also those after it. Returns where it stopped.
  std::size_t run_some(std::span<const Decimal9> gammas, std::size_t begin,
                       std::vector<Forward>& passes) {
    if (!alone()) {
      passes[begin] = pass_together(gammas[begin]);
      return begin + 1;
    }
    const std::size_t count =
        std::min<std::size_t>(worker_count(options_.threads), gammas.size() - begin);
    static_cast<void>(parallel_for(options_.threads, count, [&](std::size_t i) {
      passes[begin + i] = pass_alone(gammas[begin + i]);
      return Result<void>();
    }));
    return begin + count;
  }

  /// True if `error` is at most 1.1 times `reference`.
  static bool good(std::int64_t error, std::int64_t reference) {
    return Int128{error} * 10 <= Int128{reference} * 11;
  }

  /// No pass has a smaller error: some receive has to move by so much, whatever its sender does. 0
  /// where cycles make this hard to tell.
  [[nodiscard]] std::int64_t least_error() {
    if (!schedule_.tied.empty()) return 0;
    const BigVector<std::int64_t>& times = presync_times_;
    std::int64_t least = 0;
    for (const match::Edge& edge : graph_.edges) {
      const auto mu = options_.mu_ticks[static_cast<std::size_t>(edge.latency_class)];
      least = std::max(least, times[edge.send] + mu - times[edge.receive]);
    }
    for_demands(graph_, options_.mu_ticks, times,
                [&](const match::Exchange&, const match::Member& receive, std::int64_t demand) {
                  if (demand != k_no_demand) least = std::max(least, demand - times[receive.node]);
                });
    return team_.reduce(Team::Reduction::max, least);
  }

  /// Calls body(l) for every location, for several at the same time.
  template <class Body>
  void for_locations(Body body) {
    static_cast<void>(parallel_for(options_.threads, graph_.location_count(), [&](std::size_t l) {
      if (!stopped()) body(static_cast<LocationIndex>(l));
      return Result<void>();
    }));
  }

  void subtract_presync(LocationIndex l, std::span<std::int64_t> times) const {
    ClockMap::Cursor presync(presync_[l]);
    for (NodeIndex n = graph_.first_node[l]; n < graph_.first_node[l + 1]; ++n) {
      times[n] -= presync(graph_.stamp[n]);
    }
  }

  /// `limits`: latest times of the nodes; of no use without backward amortization.
  void build_curve(LocationIndex l, std::span<std::int64_t> limits) {
    const NodeIndex begin = graph_.first_node[l], end = graph_.first_node[l + 1];
    if (std::find(jump_at(begin), jump_at(end), true) == jump_at(end)) return;
    const std::vector<std::int64_t> lower(displacement_.begin() + begin,
                                          displacement_.begin() + end);
    const std::span stamps(graph_.stamp.data() + begin, end - begin);
    const CurveInput input{stamps, lower, &forward_.jump, begin, &presync_[l], result_.gamma};
    curves_[l] = options_.backward ? curve_of_ramps(input, ramps_of(l, lower, limits))
                                   : curve_of_jumps(input);
  }

  [[nodiscard]] std::vector<bool>::const_iterator jump_at(NodeIndex node) const {
    return forward_.jump.begin() + node;
  }

  std::vector<Ramp> ramps_of(LocationIndex l, std::span<const std::int64_t> lower,
                             std::span<std::int64_t> limits) {
    const NodeIndex begin = graph_.first_node[l], end = graph_.first_node[l + 1];
    ClockMap::Cursor presync(presync_[l]);
    for (NodeIndex n = begin; n < end; ++n) {
      const std::int64_t c = presync(graph_.stamp[n]);
      if (limits[n] < k_no_limit) limits[n] -= c;
    }
    BackwardInput input;
    input.stamps = {graph_.stamp.data() + begin, end - begin};
    input.lower = lower;
    input.limit = limits.subspan(begin, end - begin);
    input.jump = &forward_.jump;
    input.first_node = begin;
    input.first_stamp = trace_.locations[l].first;
    input.max_slope = options_.max_slope;
    input.gamma = result_.gamma;
    return build_ramps(input, {displacement_.data() + begin, end - begin});
  }

  /// Locations without any edge follow the first location of their process that has edges.
  void follow_processes() {
    std::vector<bool> touched(graph_.node_count(), false);
    for (const match::Edge& edge : graph_.edges) {
      touched[edge.send] = true;
      touched[edge.receive] = true;
    }
    for (const match::Exchange& exchange : graph_.exchanges) {
      for (const match::Member& m : graph_.sends(exchange)) touched[m.node] = true;
      for (const match::Member& m : graph_.receives(exchange)) touched[m.node] = true;
    }
    halo_.share_marks(touched);
    std::vector<bool> connected(graph_.location_count(), false);
    for (LocationIndex l = 0; l < graph_.location_count(); ++l) {
      const auto node = [&](NodeIndex n) { return touched.begin() + n; };
      const auto end = node(graph_.first_node[l + 1]);
      connected[l] = std::find(node(graph_.first_node[l]), end, true) != end;
    }
    std::vector<LocationIndex> leader(graph_.location_count(), k_none);  // by process
    for (LocationIndex l = 0; l < graph_.location_count(); ++l) {
      LocationIndex& first = leader[graph_.process_of[l]];
      if (connected[l] && first == k_none) first = l;
    }
    for (LocationIndex l = 0; l < graph_.location_count(); ++l) {
      const LocationIndex first = leader[graph_.process_of[l]];
      if (connected[l] || first == k_none || curves_[first].empty()) continue;
      curves_[l] = curves_[first];
      follow_curve(l);
    }
  }

  /// Displacements of the nodes of a location that took over another one's curve.
  void follow_curve(LocationIndex l) {
    const ClockMap map =
        make_map(presync_[l], curves_[l], trace_.locations[l], options_.split_flushes);
    for (NodeIndex n = graph_.first_node[l]; n < graph_.first_node[l + 1]; ++n) {
      const std::uint64_t stamp = graph_.stamp[n];
      displacement_[n] = std::max<std::int64_t>(0, map(stamp) - presync_[l](stamp));
    }
  }

  /// Rounds after which a forward pass is asked whether it goes in circles.
  static constexpr std::uint64_t k_patient_rounds = 1000;

  const Stopwatch since_begin_;
  Team& team_;
  const trace::Partition& partition_;
  match::Graph graph_;
  const trace::Trace& trace_;
  std::span<const ClockMap> presync_;
  const Options& options_;
  const Progress* progress_;
  Incidence incidence_;
  HaloExchange halo_;
  Schedule schedule_;
  std::optional<ForwardRounds> rounds_;  ///< in a team
  bool cycles_settled_ = false;          ///< in a team: all are known
  Result<void> countable_;               ///< in a team: rank 0 can search the cycles
  std::uint64_t tied_nodes_ = 0;
  BigVector<std::int64_t> presync_times_;  ///< C per node, then per ghost; until backward()
  Forward forward_;
  BigVector<std::int64_t> displacement_;  ///< e per node
  std::vector<Curve> curves_;             ///< per location; empty: not touched
  Amortization result_;
};

}  // namespace

Result<Amortization> amortize(Team& team, const trace::Partition& partition, match::Graph graph,
                              const trace::Trace& trace, std::span<const ClockMap> presync,
                              const Options& options, const Progress* progress) {
  Corrector corrector(team, partition, std::move(graph), trace, presync, options, progress);
  TRY(team.agree(corrector.read_times()));
  TRY(corrector.forward());
  TRY(corrector.backward());
  return corrector.take();
}

Result<Amortization> amortize(match::Graph graph, const trace::Trace& trace,
                              std::span<const ClockMap> presync, const Options& options) {
  Solo solo;
  const trace::Partition whole{std::vector<std::uint32_t>(trace.locations.size(), 0)};
  return amortize(solo, whole, std::move(graph), trace, presync, options);
}

}  // namespace entrain::clc
