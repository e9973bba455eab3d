// SPDX-License-Identifier: BSD-3-Clause
#include "engine/timeline_explainer.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/try.hpp"
#include "carriers/carried_clocks.hpp"
#include "causal/clock_domains.hpp"
#include "explain/given_constraints.hpp"
#include "explain/least_limit.hpp"
#include "trace/properties.hpp"

namespace entrain::engine {

namespace {

/// By how much a clock's rate may differ from its mean at any moment, parts per billion: as bounds
/// assume it at least.
constexpr std::int64_t k_wander_ppb = 50'000;

double ppm_of(std::int64_t ppb) { return static_cast<double>(ppb) / 1e3; }

}  // namespace

bool TimelineExplainer::wants_estimate() const {
  return options_.presync == Presync::causal ||
         (corrects() && options_.presync == Presync::automatic);
}

bool TimelineExplainer::wants_bending() const {
  return options_.presync == Presync::causal ||
         (wants_estimate() && trace::find_property(t_.loaded.trace.definitions,
                                                   trace::k_property_correction) == nullptr);
}

std::int64_t TimelineExplainer::wander_ppb() const {
  const std::optional<double>& given = options_.bounds.max_rate_ppm;
  return given ? std::llround(*given * 1e3) : k_wander_ppb;
}

causal::AssumedRates TimelineExplainer::assumed_rates() const {
  const std::int64_t mean_ppb = std::max(raised_ppb_, t_.prior.mean_ppb);
  return {.rate_ppb = std::max(raised_ppb_,
                               std::min(t_.prior.mean_ppb + wander_ppb(), clocks::k_any_mean_ppb)),
          .mean_ppb = std::min(mean_ppb, clocks::k_any_mean_ppb),
          .is_given = options_.bounds.max_rate_ppm.has_value() || t_.prior.mean_given};
}

bool TimelineExplainer::are_usual() const {
  return given_ && t_.prior.kind == ClockKind::wall && !assumed_rates().is_given &&
         given_->edges.instances.empty();
}

bool TimelineExplainer::may_be_explained() const {
  if (given_) {
    return !given_->are_kept || !carriers::has_carried(t_.loaded.trace.definitions.process_of);
  }
  constexpr std::int64_t k_most = std::int64_t{1} << 21;  // then memory for a list is not spent
  const std::size_t own = t_.graph.edges.size() + t_.graph.participants.size();
  return processes_.reduce(Team::Reduction::sum, static_cast<std::int64_t>(own)) <= k_most;
}

Result<void> TimelineExplainer::explain(double most_bits, std::span<const ClockMap> estimate) {
  if (use_.is_explained || was_tried_ || !may_be_explained()) return {};
  was_tried_ = true;
  if (!causal::any_violation(context(), t_.measured.maps)) return {};
  if (given_) {
    if (given_->are_kept || t_.domains.trivial()) {
      records_.names = trace::clock_names(t_.loaded.trace.definitions);
    } else {
      records_ = records_of_domains(t_, given_->clocks, given_->edges);
    }
    for (const char weak : given_->weak) {
      records_.edges.push_back(weak != 0 ? explain::Evidence::weak : explain::Evidence::usual);
    }
  } else {
    TRY_ASSIGN(records_, records_of(t_, source_, options_.clock_samples));
    if (has_clocks_twice(records_)) {
      records_ = {};
      return {};
    }
  }
  find_explanation(estimate);
  t_.has_no_explanation = given_ && given_->are_kept && !explained_;
  if (explained_ && explained_->explanation().bits > most_bits) explained_.reset();
  if (explained_ && records_.are_reduced && told({}).is_too_fast) {
    // That a clock was set all the time explains anything; a check of the result could not know it.
    explained_.reset();
    records_ = {};
  }
  if (!explained_) return {};
  if (!wants_bending() && explained_->tells_of_clocks()) {
    explained_.reset();  // the correction left them as they are
    return {};
  }
  t_.told = told({});
  const explain::Explanation& found = explained_->explanation();
  if (found.rate_ppb) {
    if (assumed_rates().is_given) TRY(refuse_given_rates());
    raised_ppb_ = *found.rate_ppb;
  }
  if (!found.rate_ppb || !found.fast.empty()) {
    if (given_ && t_.told.weak + t_.told.wrong > 0)
      return set_aside({found.edges, found.instances});
    if (!given_) take_wrong_pairs();
    return {};
  }
  explained_.reset();  // higher rates of all clocks meet all edges
  return {};
}

void TimelineExplainer::find_explanation(std::span<const ClockMap> estimate) {
  const std::int64_t assumed_ppb = assumed_rates().rate_ppb;
  std::vector<ClockMap> of_clocks;
  for (std::size_t c = 0; c < run().clocks.size() && !estimate.empty(); ++c) {
    of_clocks.push_back(estimate[is_joined() ? t_.domains.members[c].front() : c]);
  }
  explained_ =
      explain::Explained::find(run(), edges(),
                               {.rate_ppb = are_usual() ? explain::Prices::usual_ppb : assumed_ppb,
                                .assumed_ppb = assumed_ppb,
                                .trust = {.edges = records_.edges,
                                          .instances = records_.instances,
                                          .are_timers = !given_,
                                          .are_apart = are_usual(),
                                          .is_weak_guessed = !given_,
                                          .may_be_exchanged = given_.has_value(),
                                          .is_limit_given = assumed_rates().is_given},
                                .offsets = records_.offsets,
                                .names = records_.names,
                                .estimate = of_clocks});
}

explain::Told TimelineExplainer::told(std::span<const ClockMap> maps) const {
  explain::Told told = explained_->told(maps);
  // Timers of machines may have any rate; but that they were set all the time explains anything.
  const bool may_be_fast = !given_ || !given_->are_kept;
  if (may_be_fast && explained_->explanation().rate_ppb) told.is_too_fast = false;
  return told;
}

/// Refuses a given limit, and names the least one that is possible together with the other limit.
/// Without an error only a limit that is assumed is too small.
Result<void> TimelineExplainer::refuse_given_rates() const {
  const auto least = [&](std::int64_t mean_ppb, std::optional<std::int64_t> wander_ppb) {
    return explain::find_least_limit(
        run(), edges(),
        {.mean_ppb = mean_ppb, .wander_ppb = wander_ppb, .reference = reference_clock()});
  };
  const auto refuse = [&](const char* option, double ppm, const explain::LeastLimit& limit) {
    return input_error(
        "{} {:.9g} is too small for {}: no clocks within {:.9g} ppm at any moment meet "
        "all edges, as these show: {}{}",
        option, ppm, t_.loaded.trace.path, ppm_of(assumed_rates().rate_ppb),
        explained_->contradiction(),
        limit ? fmt::format("; the edges need at least {} {:.9g}", option, ppm_of(*limit)) : "");
  };
  const auto is_unknown = [](const explain::LeastLimit& limit) {
    return !limit && limit.error() == explain::NoLimit::too_long;
  };
  const std::optional<double>& wander_ppm = options_.bounds.max_rate_ppm;
  if (wander_ppm) {
    const auto found =
        least(t_.prior.mean_given ? t_.prior.mean_ppb : clocks::k_any_mean_ppb, std::nullopt);
    if (found && *found > wander_ppb()) return refuse("--max-rate-ppm", *wander_ppm, found);
  }
  if (!t_.prior.mean_given) return {};
  if (!wander_ppm) {  // if any is enough beside the means, only the assumed one is raised
    const auto any = least(t_.prior.mean_ppb, std::nullopt);
    if (any || is_unknown(any)) return {};
  }
  const auto found = least(t_.prior.mean_ppb, wander_ppm ? wander_ppb() : clocks::k_any_mean_ppb);
  if (is_unknown(found)) return {};
  return refuse("--max-mean-rate-ppm", ppm_of(t_.prior.mean_ppb), found);
}

/// Position of the clock that rates are seen from among those of the run; their number: none.
std::uint32_t TimelineExplainer::reference_clock() const {
  const LocationIndex location = t_.reference.location;
  if (location != k_none) return is_joined() ? t_.domains.of[location] : location;
  return t_.reference.consensus ? static_cast<std::uint32_t>(run().clocks.size()) : 0;
}

Result<void> TimelineExplainer::set_aside(IgnoredEdges which) {
  t_.set_aside = std::move(which);
  const auto same = [](std::uint32_t clock, std::uint64_t time) {
    return EdgeList::End{clock, time};
  };
  rest_ = explain::regroup(given_->edges, {same, t_.set_aside.edges, t_.set_aside.instances});
  given_->edges = rest_.view();
  TRY(make_graph());
  return {};
}

Result<void> TimelineExplainer::explain_by_wrong_stamps(std::span<const ClockMap> estimate) {
  constexpr std::size_t k_share = 20;  // one message in so many
  if (given_ || explained_ || raised_ppb_ > 0 || records_.edges.empty()) return {};
  const auto is_in_flush = [&](NodeIndex node) {
    const auto& flushes = t_.loaded.trace.locations[t_.graph.location_of(node)].flushes;
    return std::ranges::any_of(flushes, [&](const trace::FlushInterval& flush) {
      return flush.begin <= t_.graph.stamp[node] && t_.graph.stamp[node] <= flush.end;
    });
  };
  for (std::size_t e = 0; e < records_.edges.size(); ++e) {
    const match::Edge& edge = t_.graph.edges[e];
    const bool is_doubtful =
        edge.kind == EdgeKind::p2p && !is_in_flush(edge.send) && !is_in_flush(edge.receive);
    if (is_doubtful && records_.edges[e] == explain::Evidence::certain) {
      records_.edges[e] = explain::Evidence::usual;
    }
  }
  find_explanation(estimate);
  if (!explained_) return {};
  const explain::Explanation& found = explained_->explanation();
  if (explained_->tells_of_clocks() || k_share * found.edges.size() > records_.edges.size()) {
    explained_.reset();
    return {};
  }
  t_.told = told({});
  take_wrong_pairs();
  return {};
}

/// Takes pairs that contradict others out of the graph of an archive.
void TimelineExplainer::take_wrong_pairs() {
  for (const std::uint32_t e : explained_->explanation().edges) {
    const match::Edge& edge = t_.graph.edges[e];
    t_.wrong_pairs.push_back({t_.graph.location_of(edge.send), t_.graph.location_of(edge.receive),
                              t_.graph.stamp[edge.send], t_.graph.stamp[edge.receive]});
  }
  for (const std::uint32_t i : explained_->explanation().instances) {
    const match::Participant& first = t_.graph.sends(t_.graph.exchanges[i]).front();
    const std::uint64_t stamp = t_.graph.stamp[first.node];
    t_.wrong_pairs.push_back({first.location, first.location, stamp, stamp});
  }
  std::ranges::sort(t_.wrong_pairs);
  drop_pairs(context(), t_.wrong_pairs, t_.graph);
}

}  // namespace entrain::engine
