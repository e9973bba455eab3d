// SPDX-License-Identifier: BSD-3-Clause
#include "clc/control.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "base/exact.hpp"
#include "base/executor.hpp"
#include "base/try.hpp"
#include "clc/first_pass.hpp"
#include "clc/rounds.hpp"
#include "clc/sweeps.hpp"
#include "clc/team_cycles.hpp"
#include "match/extremes.hpp"
#include "match/parts.hpp"

namespace entrain::clc {

namespace {

/// gamma of the control loop, from the least to the most distorting (docs/method.md, section 4).
constexpr std::array<Decimal9, 5> k_gammas{
    {{999'990'000}, {999'900'000}, {999'000'000}, {990'000'000}, {900'000'000}}};

/// One run of amortize_forward().
class Control {
 public:
  Control(const ControlInput& input, match::Graph& graph, std::span<const std::int64_t> presync)
      : team_(*input.team),
        partition_(*input.partition),
        graph_(graph),
        path_(*input.path),
        presync_(presync),
        options_(*input.options),
        progress_(input.progress) {}

  Result<ForwardResult> run() {
    const Need need = needs();
    // Where much is violated much moves.
    sweeping_ = alone() && options_.delta_ticks == 0 && !need.much_violated;
    if (need.least_slack > 0 && need.latest <= k_latest_time) {
      take_presync();
    } else if (options_.gamma) {
      Forward pass = first_pass(*options_.gamma);
      TRY(go_on());
      report_pass(pass, *options_.gamma);
      take_pass(std::move(pass), *options_.gamma, 0);
    } else {
      TRY(control_gamma(need));
    }
    count_cycles();
    if (result_.pass.overflow) {
      return fail(ErrorKind::input,
                  fmt::format("the correction of {} runs out of the range of times; its minimum "
                              "delays (mu) cannot be right",
                              path_));
    }
    return std::move(result_);
  }

 private:
  /// What C demands of every pass, or shows.
  struct Need {
    /// No pass has a smaller error: some receive has to move by so much, whatever its sender does.
    /// Does not hold where components are tied.
    std::int64_t least_error = 0;
    bool much_violated = false;  ///< more than a tenth of the edges of this member
    /// Smallest receive - send - mu. Above 0 there are no cycles either.
    std::int64_t least_slack = std::numeric_limits<std::int64_t>::max();
    std::int64_t latest = 0;  ///< time
  };

  [[nodiscard]] bool alone() const { return team_.size() == 1; }

  Incidence& prepare_incidence() {
    if (!incidence_) incidence_.emplace(graph_);
    return *incidence_;
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
      result_.schedule = make_schedule(graph_, prepare_incidence(), progress_);
      for (const TiedNodes& component : result_.schedule.tied)
        tied_nodes_ += component.nodes.size();
      return;
    }
    std::optional<Schedule> schedule = order_nodes(graph_, prepare_incidence(), {}, {}, progress_);
    if (team_.any(stopped())) return;
    if (team_.any(!schedule)) {
      settle(std::vector<bool>(graph_.node_count(), true));
    } else {
      result_.schedule = std::move(*schedule);
    }
  }

  /// Ties or cuts the cycles among `suspects`; true if there are any.
  bool settle(const std::vector<bool>& suspects) {
    cycles_settled_ = true;
    rounds_.reset();
    // The same at every member.
    if (!match::require_countable(size_between(team_, graph_, suspects), path_)) {
      countable_ = fail(ErrorKind::input,
                        fmt::format("equal stamps in {} may close cycles of more events than can "
                                    "be searched at once",
                                    path_));
      return false;
    }
    TeamCycles cycles = settle_cycles(team_, partition_, graph_, prepare_incidence(), suspects);
    const bool any = !cycles.tied.empty() || cycles.dropped_components > 0;
    if (!any && !result_.schedule.steps.empty()) return false;
    tied_nodes_ = cycles.tied_nodes;
    std::optional<Schedule> schedule =
        order_nodes(graph_, prepare_incidence(), std::move(cycles.tied), std::move(cycles.tied_of));
    assert(schedule);
    result_.schedule = std::move(*schedule);
    result_.schedule.dropped_components = cycles.dropped_components;
    result_.schedule.dropped_edges = cycles.dropped_edges;
    return any;
  }

  void count_cycles() {
    const auto add = [&](const char* name, std::uint64_t n) {
      if (n > 0) result_.cycles.emplace_back(name, n);
    };
    add("tied_components", result_.schedule.tied.size());
    add("tied_nodes", tied_nodes_);
    add("dropped_components", result_.schedule.dropped_components);
    add("dropped_edges", result_.schedule.dropped_edges);
  }

  /// A pass by sweeps; nothing where these are not for this trace.
  [[nodiscard]] std::optional<Forward> pass_by_sweeps(Decimal9 gamma) {
    if (!sweeping_) return std::nullopt;
    std::optional<Forward> pass =
        ForwardSweeps(graph_, presync_, options_.mu_ticks, options_.threads).run(gamma, progress_);
    sweeping_ = pass.has_value();
    return pass;
  }

  /// A pass over a whole graph whose order is known. Several may run at the same time.
  [[nodiscard]] Forward pass_alone(Decimal9 gamma) const {
    return ForwardPass(graph_, *incidence_, result_.schedule, presync_, options_.mu_ticks,
                       options_.delta_ticks)
        .run(gamma, progress_);
  }

  /// A pass that finds the order on its way. Several may run at the same time.
  struct Ordered {
    std::optional<Forward> pass;  ///< unset: there are cycles
    Schedule schedule;
  };
  [[nodiscard]] Ordered pass_in_unknown_order(Decimal9 gamma) const {
    FirstPass first(graph_, *incidence_, presync_, options_.mu_ticks, options_.delta_ticks);
    Ordered result;
    result.pass = first.run(gamma, progress_);
    if (result.pass) result.schedule = first.take();
    return result;
  }

  /// `meanwhile`, if it is given, takes the pass of the smallest gamma, run at the same time;
  /// nothing where there are cycles.
  [[nodiscard]] Forward first_pass(Decimal9 gamma, std::optional<Forward>* meanwhile = nullptr) {
    if (alone()) {
      if (std::optional<Forward> pass = pass_by_sweeps(gamma)) return std::move(*pass);
      if (stopped()) return {};
      prepare_incidence();
      Ordered first;
      static_cast<void>(
          parallel_for(options_.threads, meanwhile == nullptr ? 1 : 2, [&](std::size_t i) {
            if (i == 0) first = pass_in_unknown_order(gamma);
            if (i == 1) *meanwhile = pass_in_unknown_order(k_gammas.back()).pass;
            return Result<void>();
          }));
      if (first.pass) {
        result_.schedule = std::move(first.schedule);
        return std::move(*first.pass);
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
        rounds_.emplace(team_, graph_, prepare_incidence(), result_.schedule, presync_,
                        options_.mu_ticks, options_.delta_ticks);
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
    result_.pass = std::move(pass);
    result_.gamma = gamma;
    result_.passes[reported].chosen = true;
  }

  /// Takes the largest gamma whose error is at most 1.1 times that of the smallest one. A pass
  /// with gamma too near 1 may run away under clocks whose drift changes sign.
  Result<void> control_gamma(const Need& need) {
    // Where much is violated the mildest gamma seldom is the one.
    const bool guess = alone() && worker_count(options_.threads) > 1 && need.much_violated;
    std::optional<Forward> smallest;
    Forward largest = first_pass(k_gammas.front(), guess ? &smallest : nullptr);
    TRY(go_on());
    report_pass(largest, k_gammas.front());
    // Without jumps nothing decays: every gamma gives the same.
    const bool tied = !result_.schedule.tied.empty();  // demand less
    if (largest.jumps == 0 || good(largest.error, tied ? 0 : need.least_error)) {
      take_pass(std::move(largest), k_gammas.front(), 0);
      return {};
    }
    // The smallest one is what all are compared with.
    std::vector<Decimal9> order{k_gammas.back()};
    order.insert(order.end(), k_gammas.begin() + 1, k_gammas.end() - 1);
    std::vector<Forward> passes(order.size());
    std::size_t ready = 0;
    if (smallest) passes[ready++] = std::move(*smallest);
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
    if (std::optional<Forward> pass = pass_by_sweeps(gammas[begin])) {
      passes[begin] = std::move(*pass);
      return begin + 1;
    }
    if (result_.schedule.steps.empty()) order();
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

  /// Nothing has to move: every pass would return C, in whatever order.
  void take_presync() {
    Forward pass;
    pass.times.assign(presync_.begin(), presync_.end());
    pass.jump.assign(graph_.own_count(), false);
    const Decimal9 gamma = options_.gamma.value_or(k_gammas.front());
    report_pass(pass, gamma);
    take_pass(std::move(pass), gamma, 0);
  }

  [[nodiscard]] Need needs() {
    const std::span<const std::int64_t> times = presync_;
    const std::vector<match::Part> parts = match::parts_of(graph_, options_.threads);
    struct Seen {
      std::int64_t least_slack = std::numeric_limits<std::int64_t>::max();
      std::size_t violated = 0;
    };
    std::vector<Seen> of_parts(parts.size());
    match::for_parts(parts, [&](const match::Part& part, std::size_t i) {
      Seen seen;
      for (const match::Edge& edge : part.edges) {
        const auto mu = options_.mu_ticks[static_cast<std::size_t>(edge.latency_class)];
        const std::int64_t slack = times[edge.receive] - times[edge.send] - mu;
        seen.least_slack = std::min(seen.least_slack, slack);
        seen.violated += slack < 0 ? 1 : 0;
      }
      match::for_demands(
          graph_, part.exchanges, options_.mu_ticks, times,
          [&](const match::Exchange&, const match::Participant& receive, std::int64_t demand) {
            if (demand == match::k_no_demand) return;
            seen.least_slack = std::min(seen.least_slack, times[receive.node] - demand);
          });
      of_parts[i] = seen;
    });
    Need need;
    std::size_t violated = 0;
    for (const Seen& seen : of_parts) {
      need.least_slack = std::min(need.least_slack, seen.least_slack);
      violated += seen.violated;
    }
    for (LocationIndex l = 0; l < graph_.location_count(); ++l) {
      const NodeIndex end = graph_.first_node[l + 1];
      if (end > graph_.first_node[l]) need.latest = std::max(need.latest, times[end - 1]);
    }
    need.least_slack = team_.reduce(Team::Reduction::min, need.least_slack);
    need.latest = team_.reduce(Team::Reduction::max, need.latest);
    need.least_error = std::max<std::int64_t>(-need.least_slack, 0);
    need.much_violated = violated > graph_.edges.size() / 10;
    return need;
  }

  /// Rounds after which a forward pass is asked whether it goes in circles.
  static constexpr std::uint64_t k_patient_rounds = 1000;

  Team& team_;
  const trace::Partition& partition_;
  match::Graph& graph_;
  std::optional<Incidence> incidence_;  ///< once it is needed
  const std::string& path_;
  std::span<const std::int64_t> presync_;
  const Options& options_;
  const Progress* progress_;
  std::optional<ForwardRounds> rounds_;  ///< in a team
  bool sweeping_ = false;                ///< passes are made by sweeps as long as these do
  bool cycles_settled_ = false;          ///< in a team: all are known
  Result<void> countable_;               ///< in a team: rank 0 can search the cycles
  std::uint64_t tied_nodes_ = 0;
  ForwardResult result_;
};

}  // namespace

Result<ForwardResult> amortize_forward(const ControlInput& input, match::Graph& graph,
                                       std::span<const std::int64_t> presync) {
  return Control(input, graph, presync).run();
}

}  // namespace entrain::clc
