// SPDX-License-Identifier: BSD-3-Clause
#include "clc/amortize.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/cancel.hpp"
#include "base/executor.hpp"
#include "base/free_memory.hpp"
#include "base/stopwatch.hpp"
#include "base/try.hpp"
#include "clc/backward.hpp"
#include "clc/curve.hpp"
#include "clc/flow_forward.hpp"
#include "clc/influence.hpp"
#include "clc/paper_ramps.hpp"
#include "clc/refine.hpp"
#include "match/extremes.hpp"
#include "match/parts.hpp"

namespace entrain::clc {

namespace {

/// Offsets of neighbouring knots that differ by less are met to the tick: slopes are doubles.
constexpr std::int64_t k_largest_exact_shift = std::int64_t{1} << 50;

/// A run of amortize().
class Corrector {
 public:
  /// References must outlive this.
  Corrector(const trace::Share& share, match::Graph graph, std::span<const ClockMap> presync,
            const Options& options, const Cancel& cancel)
      : share_(share),
        graph_(std::move(graph)),
        presync_(presync),
        options_(options),
        cancel_(cancel),
        halo_(share.team, graph_) {}

  Result<void> forward() {
    const Stopwatch watch(result_.forward_s);
    TRY(share_.team.agree(read_times()));
    halo_.publish(presync_times_);
    if (options_.measure_delta) {
      measure_deltas();
    } else if (options_.delta_ticks > 0) {
      deltas_.assign(graph_.location_count(), options_.delta_ticks);
    }
    TRY_ASSIGN(ForwardResult found,
               amortize_forward(share_, problem(), options_.gamma, options_.epsilon_ticks));
    forward_ = std::move(found.pass);
    result_.passes = std::move(found.passes);
    result_.gamma = found.gamma;
    result_.gamma_of = std::move(found.gamma_of);
    result_.epsilon_ticks = found.epsilon;
    result_.error_of = forward_.error_of;
    result_.cycles = cycles_.counters();
    result_.jumps = forward_.jumps;
    return {};
  }

  Result<void> backward() {
    const Stopwatch watch(result_.backward_s);
    if (options_.keep_times) {
      const auto own = static_cast<std::ptrdiff_t>(graph_.own_count());
      result_.presync.assign(presync_times_.begin(), presync_times_.begin() + own);
      result_.forward.assign(forward_.times.begin(), forward_.times.begin() + own);
    }
    free_memory(presync_times_);  // from here on C is computed where it is needed
    BigVector<std::int64_t> room;
    if (forward_.jumps > 0 && options_.backward) {
      MuTicks mu = options_.mu_ticks;  // sends must not reach the time of a receive either
      for (std::int64_t& ticks : mu) ticks += options_.separate ? 1 : 0;
      room = send_limits(halo_, cycles_, forward_.times, mu, options_.threads);
    }
    displacement_ = std::move(forward_.times);
    for_locations([&](LocationIndex l) {
      ClockMap::Cursor presync(presync_[l]);
      for (NodeIndex n = graph_.first_node[l]; n < graph_.first_node[l + 1]; ++n) {
        displacement_[n] -= presync(graph_.stamp[n]);
      }
    });
    curves_.assign(graph_.location_count(), {});
    if (forward_.jumps > 0) {
      for_locations([&](LocationIndex l) { build_curve(l, room); });
      TRY(cancel_.agree(share_.team));
      follow_processes();
    }
    halo_.publish(displacement_);
    TRY(refine(room));
    if (options_.keep_times) {
      result_.corrected = result_.jumps > 0 ? std::move(room) : result_.presync;
    }
    return {};
  }

  Amortization take() { return std::move(result_); }

 private:
  ForwardProblem problem() {
    return {.graph = graph_,
            .cycles = cycles_,
            .presync = presync_times_,
            .mu = options_.mu_ticks,
            .delta = deltas_,
            .separate = options_.separate,
            .threads = options_.threads,
            .cancel = cancel_};
  }

  /// C of all own nodes.
  Result<void> read_times() {
    presync_times_.resize(graph_.node_count());
    return parallel_for(options_.threads, graph_.location_count(),
                        [&](std::size_t l) { return read_times(static_cast<LocationIndex>(l)); });
  }

  /// The smallest granule of the locations of each process, which all have one owner.
  void measure_deltas() {
    std::map<std::uint32_t, std::int64_t> of_process;
    const auto granule = [&](LocationIndex l) {
      return static_cast<std::int64_t>(
          std::min<std::uint64_t>(graph_.granule[l], std::uint64_t{k_latest_time}));
    };
    for (LocationIndex l = 0; l < graph_.location_count(); ++l) {
      if (graph_.granule[l] == 0) continue;
      auto& smallest = of_process.try_emplace(graph_.process_of[l], granule(l)).first->second;
      smallest = std::min(smallest, granule(l));
    }
    std::int64_t least = k_latest_time, most = 0;
    deltas_.assign(graph_.location_count(), 0);
    for (LocationIndex l = 0; l < graph_.location_count(); ++l) {
      const auto found = of_process.find(graph_.process_of[l]);
      if (found == of_process.end()) continue;
      deltas_[l] = found->second;
      least = std::min(least, deltas_[l]);
      most = std::max(most, deltas_[l]);
    }
    least = share_.team.reduce(Team::Reduction::min, least);
    most = share_.team.reduce(Team::Reduction::max, most);
    result_.measured_delta = {std::min(least, most), most};
  }

  Result<void> read_times(LocationIndex l) {
    ClockMap::Cursor cursor(presync_[l]);
    for (NodeIndex n = graph_.first_node[l]; n < graph_.first_node[l + 1]; ++n) {
      const std::int64_t time = cursor(graph_.stamp[n]);
      if (time > k_latest_time || time < k_earliest_time) {
        return input_error(
            "location {} of {} has a time out of range ({} ticks); its clock offsets cannot be "
            "right, try --presync none",
            share_.trace.definitions.locations[l].id, share_.trace.path, time);
      }
      presync_times_[n] = time;
    }
    return {};
  }

  /// Turns displacements into clock maps; `times` is memory that receives their values.
  Result<void> refine(BigVector<std::int64_t>& times) {
    RefinedMaps refined = refine_maps({.share = share_,
                                       .problem = problem(),
                                       .presync_maps = presync_,
                                       .displacement = displacement_,
                                       .split_flushes = options_.split_flushes},
                                      curves_, times);
    TRY(cancel_.agree(share_.team));
    if (!refined.settled && forward_.error > k_largest_exact_shift) {
      return input_error(
          "clocks of {} are {} ticks apart, which is more than a clock map can tell to the tick; "
          "only offsets measured by the tracer can bring them together",
          share_.trace.path, forward_.error);
    }
    result_.maps = std::move(refined.maps);
    return {};
  }

  /// Calls body(l) for every location, for several at the same time.
  template <class Body>
  void for_locations(Body body) {
    for_each_in_parallel(options_.threads, graph_.location_count(), [&](std::size_t l) {
      if (!cancel_.asked()) body(static_cast<LocationIndex>(l));
    });
  }

  /// `limits`: latest times of the nodes; not used without backward amortization.
  void build_curve(LocationIndex l, std::span<std::int64_t> limits) {
    const NodeIndex begin = graph_.first_node[l], end = graph_.first_node[l + 1];
    const auto no_jump = forward_.jump.begin() + end;
    if (std::find(forward_.jump.begin() + begin, no_jump, true) == no_jump) return;
    const std::vector<std::int64_t> lower(displacement_.begin() + begin,
                                          displacement_.begin() + end);
    DisplacedLocation location{.stamps = {graph_.stamp.data() + begin, end - begin},
                               .lower = lower,
                               .limit = {},
                               .jump = &forward_.jump,
                               .first_node = begin,
                               .presync_map = &presync_[l],
                               .first_stamp = share_.trace.locations[l].first,
                               .max_slope = options_.max_slope,
                               .gamma = gamma_of(l)};
    if (!options_.backward) {
      curves_[l] = curve_of_jumps(location);
      return;
    }
    location.limit = limits.subspan(begin, end - begin);
    ClockMap::Cursor presync(presync_[l]);
    for (NodeIndex n = begin; n < end; ++n) {
      const std::int64_t c = presync(graph_.stamp[n]);
      if (limits[n] < k_no_limit) limits[n] -= c;
    }
    const std::span displacement(displacement_.data() + begin, end - begin);
    curves_[l] = options_.ramp == RampShape::paper
                     ? curve_of_paper_ramps(location, displacement, cancel_)
                     : curve_of_ramps(location, build_ramps(location, displacement));
  }

  [[nodiscard]] Decimal9 gamma_of(LocationIndex l) const {
    return result_.gamma_of.empty() ? result_.gamma : result_.gamma_of[l];
  }

  /// Per location: it has edges or takes part in exchanges.
  [[nodiscard]] std::vector<bool> connected_locations() {
    std::vector<bool> connected(graph_.location_count()), touched(graph_.node_count());
    for (const match::Edge& edge : graph_.edges) {
      touched[edge.send] = true;
      touched[edge.receive] = true;
    }
    for (const match::Exchange& exchange : graph_.exchanges) {
      for (const match::Participant& m : graph_.sends(exchange)) touched[m.node] = true;
      for (const match::Participant& m : graph_.receives(exchange)) touched[m.node] = true;
    }
    halo_.share_marks(touched);
    for (LocationIndex l = 0; l < graph_.location_count(); ++l) {
      const auto end = touched.begin() + graph_.first_node[l + 1];
      connected[l] = std::find(touched.begin() + graph_.first_node[l], end, true) != end;
    }
    return connected;
  }

  /// Locations without any edge follow the first location of their process that has edges.
  void follow_processes() {
    const std::vector<bool> connected = connected_locations();
    std::vector<LocationIndex> leader(trace::count_of(graph_.process_of), k_none);
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
        make_map(presync_[l], curves_[l], share_.trace.locations[l], options_.split_flushes);
    for (NodeIndex n = graph_.first_node[l]; n < graph_.first_node[l + 1]; ++n) {
      const std::uint64_t stamp = graph_.stamp[n];
      displacement_[n] = std::max<std::int64_t>(0, map(stamp) - presync_[l](stamp));
    }
  }

  const trace::Share& share_;
  match::Graph graph_;
  std::span<const ClockMap> presync_;
  const Options& options_;
  Cancel cancel_;
  match::HaloExchange halo_;
  Cycles cycles_;
  BigVector<std::int64_t> presync_times_;  ///< C per node, then per ghost; until backward()
  std::vector<std::int64_t> deltas_;       ///< one delta for each location, ticks; empty: all 0
  ForwardTimes forward_;
  BigVector<std::int64_t> displacement_;  ///< d per node, then per ghost
  std::vector<Curve> curves_;             ///< one curve for each location; empty: the location
                                          ///< keeps its times
  Amortization result_;
};

}  // namespace

Result<Amortization> amortize(const trace::Share& share, match::Graph graph,
                              std::span<const ClockMap> presync, const Options& options,
                              const Progress* progress) {
  Corrector corrector(share, std::move(graph), presync, options, Cancel(progress));
  TRY(corrector.forward());
  TRY(corrector.backward());
  return corrector.take();
}

namespace {

/// Properties of the times C that decide which passes are made.
struct Need {
  /// Smallest receive - send - mu over edges and exchanges, ticks.
  std::int64_t least_slack = std::numeric_limits<std::int64_t>::max();
  std::int64_t latest = 0;  ///< latest time, at least 0

  /// Every pass would return C. There are no cycles either.
  [[nodiscard]] bool nothing_moves() const { return least_slack > 0 && latest <= k_latest_time; }
};

/// Need::least_slack of a part of the graph.
std::int64_t least_slack_of(const match::Part& part, const ForwardProblem& problem) {
  const std::span<const std::int64_t> times = problem.presync;
  std::int64_t least = Need().least_slack;
  for (const match::Edge& edge : part.edges) {
    const std::int64_t mu = problem.graph.mu_of(edge, problem.mu);
    least = std::min(least, times[edge.receive] - times[edge.send] - mu);
  }
  match::for_demands(
      problem.graph, part.exchanges, problem.mu, times,
      [&](const match::Exchange&, const match::Participant& receive, std::int64_t demand) {
        if (demand == match::k_no_demand) return;
        least = std::min(least, times[receive.node] - demand);
      });
  return least;
}

/// Collective.
Need need_of(Team& team, const ForwardProblem& problem) {
  const match::Graph& graph = problem.graph;
  const std::vector<match::Part> parts = match::parts_of(graph, problem.threads);
  std::vector<std::int64_t> slack(parts.size());
  match::for_parts(parts, [&](const match::Part& part, std::size_t i) {
    slack[i] = least_slack_of(part, problem);
  });
  Need need;
  for (const std::int64_t least : slack) need.least_slack = std::min(need.least_slack, least);
  for (LocationIndex l = 0; l < graph.location_count(); ++l) {
    const NodeIndex end = graph.first_node[l + 1];
    if (end > graph.first_node[l]) need.latest = std::max(need.latest, problem.presync[end - 1]);
  }
  need.least_slack = team.reduce(Team::Reduction::min, need.least_slack);
  need.latest = team.reduce(Team::Reduction::max, need.latest);
  return need;
}

/// The pass where nothing moves: C.
std::vector<ForwardTimes> unmoved(const ForwardProblem& problem) {
  std::vector<ForwardTimes> passes(1);
  passes[0].times.assign(problem.presync.begin(), problem.presync.end());
  passes[0].jump.assign(problem.graph.own_count(), false);
  passes[0].error_of.assign(problem.graph.location_count(), 0);
  return passes;
}

}  // namespace

Result<ForwardResult> amortize_forward(const trace::Share& share, const ForwardProblem& given,
                                       std::optional<Decimal9> gamma,
                                       std::optional<std::int64_t> epsilon) {
  std::vector<Decimal9> least_gamma(given.graph.location_count());
  ForwardProblem problem = given;
  problem.least_gamma = least_gamma;
  const Need need = need_of(share.team, problem);
  const Forward flow = flow_forward(share, problem);
  const Forward forward = [&](std::span<const Decimal9> gammas) {
    return need.nothing_moves() ? Result<std::vector<ForwardTimes>>(unmoved(problem))
                                : flow(gammas);
  };
  const std::int64_t violation = std::max<std::int64_t>(-need.least_slack, 0);
  const Outlook outlook{.least_error = violation + (given.separate && violation > 0 ? 1 : 0),
                        .side_by_side = share.team.size() > 1,
                        .epsilon = epsilon};
  const Upstream upstream = [&](const ForwardTimes& pass, std::vector<bool>& marked) {
    mark_upstream(influences(share.team, problem, pass), marked);
  };
  TRY_ASSIGN(ForwardResult result,
             gamma ? fixed_gamma(forward, *gamma)
                   : control_gamma(forward, outlook, problem.cycles, upstream, least_gamma));
  if (result.pass.overflow) {
    return input_error(
        "the correction of {} runs out of the range of times: {} cannot be right", share.trace.path,
        problem.mu == MuTicks{} ? "the stamps of some clock" : "its minimum delays (mu)");
  }
  return result;
}

}  // namespace entrain::clc
