// SPDX-License-Identifier: BSD-3-Clause
#include "engine/check_times.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "base/disjoint_sets.hpp"
#include "base/team.hpp"
#include "base/try.hpp"
#include "clocks/warnings.hpp"
#include "match/parts.hpp"
#include "verify/edge_walk.hpp"
#include "verify/named_edges.hpp"

namespace entrain::engine {

namespace {

/// The edges of a graph that was made of given ones, in its order; its nodes are the events of the
/// trace. The graph must outlive it.
class GraphEdges : public verify::NamedEdges {
 public:
  explicit GraphEdges(const match::Graph& graph) : graph_(graph), location_of_(graph) {}

  void for_each_edge(const std::function<bool(LocationIndex)>& is_wanted,
                     const std::function<void(const verify::NamedEdge&)>& use) const override {
    auto edge = graph_.edges.begin();
    for (LocationIndex to = 0; to < graph_.location_count(); ++to) {
      const auto end = std::partition_point(  // edges are sorted by receive node
          edge, graph_.edges.end(),
          [&](const match::Edge& one) { return one.receive < graph_.first_node[to + 1]; });
      if (!is_wanted(to)) edge = end;
      for (; edge != end; ++edge) {
        use({.send = event_of(edge->send, location_of_(edge->send)),
             .receive = event_of(edge->receive, to),
             .number = static_cast<std::uint64_t>(edge - graph_.edges.begin()),
             .kind = edge->kind,
             .extra_mu = edge->pair == 0 ? 0 : graph_.extra_mu[edge->pair]});
      }
    }
  }
  void for_each_instance(
      const std::function<void(const verify::NamedInstance&)>& use) const override {
    verify::NamedInstance instance;
    const auto fill = [&](std::span<const match::Participant> side,
                          std::vector<verify::NamedEnd>& ends) {
      ends.clear();
      for (const match::Participant& one : side) {
        ends.push_back({event_of(one.node, one.location), one.order});
      }
    };
    for (const match::Exchange& exchange : graph_.exchanges) {
      instance.kind = exchange.kind;
      instance.ordered = exchange.ordered;
      fill(graph_.sends(exchange), instance.begins);
      fill(graph_.receives(exchange), instance.ends);
      use(instance);
    }
  }

 private:
  [[nodiscard]] verify::EventRef event_of(NodeIndex node, LocationIndex location) const {
    return {location, node - graph_.first_node[location]};
  }

  const match::Graph& graph_;
  match::LocationFinder location_of_;
};

/// What one worker notes of the edges, as far as it is wanted: a survey, and the locations that
/// they tie.
class Notes : public verify::EdgeObserver {
 public:
  /// `survey`, `groups`: to be filled; may be null.
  Notes(std::size_t locations, page::Survey* survey, std::vector<std::uint32_t>* groups)
      : sets_(locations), whole_(survey), groups_(groups) {
    if (survey != nullptr) own_.emplace(survey->scope());
  }
  [[nodiscard]] verify::EdgeObserver* observer() {
    return own_ || groups_ != nullptr ? this : nullptr;
  }

  void restart() override {
    if (own_) own_->restart();
  }
  void channel(const verify::Relation& relation, const verify::MatchedChannel& channel,
               LocationIndex from, LocationIndex to) override {
    sets_.join(from, to);
    if (own_) own_->channel(relation, channel, from, to);
  }
  void pair(const verify::Pair& pair) override {
    sets_.join(pair.send.location, pair.receive.location);
    if (own_) own_->pair(pair);
  }
  void instance(const verify::Instance& instance,
                std::span<const verify::WorstPair> deciding) override {
    for (const verify::Moment& send : instance.sends) {
      sets_.join(instance.sends.front().event.location, send.event.location);
    }
    for (const verify::WorstPair& pair : deciding) {
      sets_.join(instance.sends[pair.send].event.location,
                 instance.receives[pair.receive].event.location);
    }
    if (own_) own_->instance(instance, deciding);
  }

  /// Clocks that locations share tie them, too. Collective.
  void gather(Team& team, const trace::ClockDomains& shared, bool speaks) {
    if (own_) own_->gather(team);
    if (own_ && speaks) *whole_ = std::move(*own_);
    if (groups_ == nullptr) return;
    for (const auto& members : shared.members) {
      for (const LocationIndex l : members) sets_.join(members.front(), l);
    }
    const std::vector<std::uint32_t> own = sets_.all();
    const std::vector<std::uint32_t> all = gather_everywhere(team, own);
    for (std::size_t i = 0; i < all.size(); ++i) {
      sets_.join(static_cast<std::uint32_t>(i % own.size()), all[i]);
    }
    if (speaks) *groups_ = sets_.all();
  }

 private:
  DisjointSets sets_;
  page::Survey* whole_;
  std::optional<page::Survey> own_;
  std::vector<std::uint32_t>* groups_;
};

void count_set_aside(const explain::Told& told, Counters& skipped) {
  if (told.weak > 0) skipped.emplace_back("contradicted_links", told.weak);
  if (told.wrong > 0) skipped.emplace_back("contradicting_pairs", told.wrong);
}

/// Pairs, steps and clocks that a correction could not be sure of look right in its result.
void doubt_correction(CheckReport& report) {
  report.set_aside.push_back(
      {.kind = "unproven_correction",
       .clock = "",
       .is_decisive = true,
       .reason = "these times come from a correction that was unproven; a check of its original "
                 "says why"});
  if (report.judgement.verdict == Verdict::clean) {
    report.judgement = {Verdict::unproven, Doubt::set_aside};
  }
}

/// Adds what the records or edges cannot tell.
void complete(const CheckSetting& setting, CheckReport& report) {
  report.mu_source = setting.timeline.mu.source;
  if (setting.timeline.has_given_edges) {
    report.events = report.communication_events;
    if (setting.source != nullptr) setting.source->complete(report);
    if (setting.told != nullptr) count_set_aside(*setting.told, report.skipped);
    report.judgement = verify::judge(report, setting.options.strict_latency);
    if (report.checked_edges == 0 && report.judgement.verdict == Verdict::clean) {
      report.judgement = {Verdict::unproven, Doubt::no_edges};
    }
  }
  if (setting.timeline.is_unproven) doubt_correction(report);
  if (setting.told == nullptr) return;
  report.explanations = setting.told->all;
  const std::vector<SetAside>& aside = setting.told->set_aside;
  report.set_aside.insert(report.set_aside.end(), aside.begin(), aside.end());
  if (!aside.empty() && report.judgement.verdict != Verdict::violations) {
    report.judgement = {Verdict::unproven, Doubt::set_aside};
  }
  if (report.judgement.verdict != Verdict::clean) return;
  if (setting.told->is_tied) report.judgement = {Verdict::unproven, Doubt::tied_clocks};
  if (setting.told->is_too_fast) report.judgement = {Verdict::unproven, Doubt::fast_clocks};
  if (setting.told->is_much) report.judgement = {Verdict::unproven, Doubt::set_aside};
}

}  // namespace

CheckSetting setting_of(trace::Workers& workers, const formats::Source& source,
                        const Timeline& timeline, const CheckOptions& options,
                        const Progress* progress) {
  return {.workers = workers,
          .options = options,
          .timeline = timeline,
          .progress = progress,
          .witness = timeline.is_matched ? &timeline.witness : nullptr,
          .source = &source,
          .told = &timeline.told,
          .wrong_pairs = timeline.wrong_pairs};
}

void take_clocks(const formats::Source& source, clocks::Presynchronised& presync,
                 CheckReport& report) {
  report.presync = presync.method;
  report.estimation = std::move(presync.clocks);
  for (const std::string& warning : source.remarks().warnings) {
    report.estimation.warnings.push_back(warning);
  }
  clocks::warn_of_violations(report);  // last: the source may know why
}

Result<CheckReport> check_times(const CheckSetting& setting, const trace::LoadedTrace& loaded,
                                std::span<const ClockMap> maps) {
  TRY_ASSIGN(verify::Checks checks, check_both_times(setting, loaded, maps, nullptr));
  return std::move(checks.report);
}

Result<verify::Checks> check_both_times(const CheckSetting& setting,
                                        const trace::LoadedTrace& loaded,
                                        std::span<const ClockMap> maps, const OtherTimes* others) {
  trace::Workers& workers = setting.workers;
  const Timeline& timeline = setting.timeline;
  std::optional<GraphEdges> edges;
  if (timeline.has_given_edges) edges.emplace(timeline.graph);
  if (!workers.alone()) others = nullptr;
  verify::TimesToCheck times{
      .maps = maps,
      .mu = timeline.mu.ticks,
      .pair_mu = &timeline.mu.pairs,
      .claims = {.witness = setting.witness, .same_clock_records = setting.same_clock_records},
      .named_edges = edges ? &*edges : nullptr,
      .wrong_pairs = setting.wrong_pairs,
      .known_acyclic = setting.known_acyclic};
  if (!timeline.domains.trivial()) times.clock_of = timeline.domains.of;
  std::mutex mutex;
  Result<void> named;  // whether the regions of the worst edges could be looked up
  if (loaded.reader != nullptr) {
    times.region_at = [&](LocationIndex l, std::uint64_t stamp) {
      auto region = loaded.reader->region_at(l, stamp);
      if (region) return *std::move(region);
      const std::lock_guard lock(mutex);
      if (named) named = tl::unexpected<Error>(region.error());
      return std::string();
    };
  } else if (setting.source != nullptr) {
    times.region_at = [&](LocationIndex l, std::uint64_t stamp) {
      return setting.source->event_name(l, stamp);
    };
  }
  verify::Checks checks;
  TRY(workers.run(
      loaded.trace, loaded.partition,
      [&](const trace::Share& share, unsigned threads) -> Result<void> {
        const std::size_t locations = share.trace.locations.size();
        Notes notes(locations, setting.survey, setting.groups);
        Notes of_others(locations, others != nullptr ? others->survey : nullptr, nullptr);
        verify::TimesToCheck own_times = times, other_times = times;
        own_times.claims.find = [&](const trace::Share& all, bool messages_missing) {
          return match::find_witness(all, messages_missing, threads, setting.progress);
        };
        own_times.observer = notes.observer();
        other_times.observer = of_others.observer();
        if (others != nullptr) other_times.maps = others->maps;
        TRY_ASSIGN(verify::Checks own,
                   verify::check_both(share, own_times, others != nullptr ? &other_times : nullptr,
                                      setting.options, Cancel(setting.progress)));
        const bool speaks = workers.speaks(share.team);
        notes.gather(share.team, timeline.domains, speaks);
        if (own.others) of_others.gather(share.team, timeline.domains, speaks);
        if (speaks) checks = std::move(own);
        return {};
      }));
  TRY(workers.processes().agree(std::move(named)));
  complete(setting, checks.report);
  if (checks.others) complete(setting, *checks.others);
  return checks;
}

}  // namespace entrain::engine
