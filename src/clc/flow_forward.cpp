// SPDX-License-Identifier: BSD-3-Clause
#include "clc/flow_forward.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "base/courier.hpp"
#include "base/try.hpp"
#include "clc/flow_lane.hpp"
#include "clc/relays.hpp"
#include "clc/scheduler.hpp"
#include "clc/team_cycles.hpp"
#include "match/halo.hpp"

namespace entrain::clc {

namespace {

/// After so many turns of locations a member sends what it has and looks for news.
constexpr std::uint32_t k_turns = 64;

/// Reduces jumps, errors and overflow of the members' own nodes to those of the team. Collective;
/// the same at every member.
void agree_on_counts(Team& team, ForwardTimes& pass) {
  std::array<std::int64_t, 2> largest{pass.error, pass.overflow ? 1 : 0};
  team.reduce(Team::Reduction::max, largest);
  pass.error = largest[0];
  pass.overflow = largest[1] != 0;
  team.reduce(Team::Reduction::max, pass.error_of);
  pass.jumps = static_cast<std::uint64_t>(
      team.reduce(Team::Reduction::sum, static_cast<std::int64_t>(pass.jumps)));
}

/// The part of a data-flow that the graph determines: what members of a team exchange in every
/// pass, in the numbers of this member. The graph must stay as it is.
struct FlowPlan {
  /// Collective.
  FlowPlan(Team& team, const ForwardProblem& problem)
      : ghosts(problem.graph),
        relays(team, problem.graph, problem.cycles, ghosts,
               match::Extremes::is_uniform(problem.mu)),
        incidence(problem.graph, relays.relayed()) {
    const match::Graph& graph = problem.graph;
    // Per entry of the lists: what this member needs of its ghosts.
    enum Wanted : std::uint8_t { time = 1, demand = 2 };
    std::vector<bool> sends(graph.node_count());
    for (const match::Edge& edge : graph.edges) sends[edge.send] = true;
    std::vector<std::vector<std::uint8_t>> needs(team.size());
    for (std::uint32_t r = 0; r < graph.halo.ghosts_of.size(); ++r) {  // none in a team of one
      for (const NodeIndex ghost : graph.halo.ghosts_of[r]) {
        const bool received = incidence.receives.has(ghost);
        const bool waited_for = received || sends[ghost] || incidence.sends.has(ghost);
        needs[r].push_back(
            static_cast<std::uint8_t>((waited_for ? time : 0) | (received ? demand : 0)));
        awaited += waited_for ? 1 : 0;
      }
    }
    needs = exchange(team, std::move(needs));
    std::uint32_t entries = 0;
    for (const std::vector<NodeIndex>& nodes : graph.halo.shown_to) {
      first_shown.push_back(entries);
      entries += static_cast<std::uint32_t>(nodes.size());
    }
    const auto lists_of = [&](Wanted wanted, auto body) {
      for (std::uint32_t r = 0; r < graph.halo.shown_to.size(); ++r) {
        const std::vector<NodeIndex>& nodes = graph.halo.shown_to[r];
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
          if ((needs[r][i] & wanted) != 0) body(nodes[i], first_shown[r] + i);
        }
      }
    };
    shown = NodeLists(graph.own_count(), [&](auto body) { lists_of(time, body); });
    lists_of(demand, [&](NodeIndex, std::uint32_t) { ++awaited; });
    demanding = NodeLists(graph.own_count(), [&](auto body) {
      lists_of(demand, body);
      for (const Relay& relay : relays.relays()) {
        for (const NodeIndex end : relays.ends(relay)) body(end, k_relay);
      }
    });
  }

  /// Returns the place of an entry; entries number all lists of Halo::shown_to, one after the
  /// other.
  [[nodiscard]] HaloPlace place_of_shown(std::uint32_t entry) const {
    const auto next = std::upper_bound(first_shown.begin(), first_shown.end(), entry);
    const auto rank = static_cast<std::uint32_t>(next - first_shown.begin() - 1);
    return {rank, entry - first_shown[rank]};
  }

  const GhostPlaces ghosts;
  const Relays relays;
  const Incidence incidence;  ///< incidence without the exchanges left to relays

  /// In `demanding`: demands of a relay, which is no entry.
  static constexpr std::uint32_t k_relay = k_none;

  /// By own node: its entries in Halo::shown_to at members that wait for its time.
  NodeLists shown;
  NodeLists demanding;  ///< entries of members that demand something of an own node; k_relay: a
                        ///< relay does
  std::vector<std::uint32_t> first_shown;  ///< number of each rank's first entry
  std::uint64_t awaited = 0;               ///< times of ghosts, and demands of members, that come
};

/// See flow_forward().
class FlowForward final : private Scheduler::Others, private RelayProgress::Out {
 public:
  FlowForward(const trace::Share& share, const ForwardProblem& problem)
      : share_(share), team_(share.team), problem_(problem) {}

  /// See Forward.
  Result<std::vector<ForwardTimes>> run(std::span<const Decimal9> gammas) {
    gammas = gammas.first(std::min(gammas.size(), k_most_lanes));
    for (bool settled = false;; settled = true) {
      if (!plan_) plan_.emplace(team_, problem_);
      std::optional<std::vector<ForwardTimes>> passes = try_passes(gammas);
      TRY(problem_.cancel.agree(team_));
      if (passes) return *std::move(passes);
      if (settled) break;
      lanes_.clear();
      plan_.reset();
      TRY_ASSIGN(problem_.cycles,
                 settle_cycles(share_, problem_.graph, problem_.presync, scheduler_->cursor()));
    }
    return input_error(
        "{} has events that wait for each other even after all cycles of equal stamps were found",
        share_.trace.path);
  }

 private:
  enum class About : std::uint16_t { time, demand, proposal, news };
  using Values = std::array<std::int64_t, k_most_lanes>;
  /// `index` is a position in the list of nodes that both have in the same order, or the number of
  /// a tied component, or of a relay. News for a relay are three updates, one behind the other: the
  /// first values, the second ones, and the owners of the first (match::LargestTwo).
  struct Update {
    About about = About::time;
    std::uint16_t stage = 0;  ///< stage of a relay
    std::uint32_t index = 0;
    Values values{};  ///< one value for each lane
  };
  /// News of a member of which a part has arrived.
  struct PartOfNews {
    Values first{}, second{};
    std::uint32_t parts = 0;
  };
  /// Requests of other members for a node or a tied component so far.
  struct Asked {
    std::uint32_t missing = 0;  ///< members that have not asked yet
    bool proposed = false;      ///< components: by this member
  };

  // RelayProgress::Out.
  void pass_on(const RelayTarget& target, std::uint32_t stage,
               RelayProgress::Known known) override {
    Values first{}, second{}, owner{};
    for (std::size_t i = 0; i < known.size(); ++i) {
      first[i] = known[i].first();
      second[i] = known[i].second();
      owner[i] = known[i].owner();
    }
    for (const Values& values : {first, second, owner}) {
      mail_->send(target.rank,
                  {About::news, static_cast<std::uint16_t>(stage), target.relay, values});
    }
  }
  void all_known(NodeIndex end, RelayProgress::Known known) override {
    const LocationIndex location = graph_.location_of(end);
    Values demands{};
    for (std::size_t i = 0; i < known.size(); ++i) {
      const std::int64_t latest = known[i].without(location);
      demands[i] = latest == match::k_no_demand ? latest : latest + problem_.mu[0];
    }
    hear_demand(end, demands);
  }

  // Scheduler::Others.
  [[nodiscard]] bool owe_demand(NodeIndex node) const override {
    return plan_->demanding.has(node) && asked_[plan_->demanding.rank(node)].missing > 0;
  }
  [[nodiscard]] bool owe_proposals(std::uint32_t component) override {
    const TiedNodes& tied = cycles_.tied[component];
    Asked& asked = proposals_[component];
    if (!std::exchange(asked.proposed, true)) {
      const Values own = per_lane([&](FlowLane& lane) { return lane.proposal(component); });
      for (const std::uint32_t peer : tied.peers) {
        mail_->send(peer, {About::proposal, 0, component, own});
      }
    }
    return asked.missing > 0;
  }
  void answer_tied(NodeIndex ghost) override {
    tell_demand(ghost, per_lane([&](FlowLane& lane) { return lane.demand_on_tied(ghost); }));
  }

  /// Nothing when the user wants to stop, or if nodes are left.
  std::optional<std::vector<ForwardTimes>> try_passes(std::span<const Decimal9> gammas) {
    begin(gammas);
    const bool stopped = flow() == Courier::News::stopped;
    std::array<std::int64_t, 2> any{stopped ? 1 : 0, complete() ? 0 : 1};
    team_.reduce(Team::Reduction::max, any);
    if (any[0] != 0) mail_->close();
    if (any[0] != 0 || any[1] != 0) return std::nullopt;
    if (plan_->relays.any()) {
      // Nobody needed the times of ghosts that only relays know so far.
      match::HaloExchange halo(team_, graph_);
      for (FlowLane& lane : lanes_) halo.publish(lane.times());
    }
    std::vector<ForwardTimes> passes;
    for (; !lanes_.empty(); lanes_.pop_front()) {
      passes.push_back(lanes_.front().finish());
      agree_on_counts(team_, passes.back());
    }
    return passes;
  }
  void begin(std::span<const Decimal9> gammas) {
    lanes_.clear();
    for (const Decimal9 gamma : gammas) {
      lanes_.emplace_back(problem_, plan_->incidence, plan_->demanding).start(gamma);
    }
    // Values of lanes that there are not stay behind.
    mail_.emplace(team_, offsetof(Update, values) + lanes_.size() * sizeof(std::int64_t));
    scheduler_.emplace(graph_, plan_->incidence, cycles_, static_cast<Scheduler::Others&>(*this),
                       [this](const Step& step) { carry_out(step); });
    missing_ = plan_->awaited;
    asked_.assign(plan_->demanding.count(), {});
    for (NodeIndex n = 0; n < graph_.own_count(); ++n) {
      if (!plan_->demanding.has(n)) continue;
      asked_[plan_->demanding.rank(n)].missing =
          static_cast<std::uint32_t>(plan_->demanding.of(n).size());
    }
    proposals_.clear();
    for (const TiedNodes& component : cycles_.tied) {
      proposals_.push_back({.missing = static_cast<std::uint32_t>(component.peers.size())});
      missing_ += component.peers.size();
    }
    known_.assign(graph_.participants.size(), false);
    progress_.emplace(plan_->relays, lanes_.size(), static_cast<RelayProgress::Out&>(*this));
    news_.assign(team_.size(), {});
    missing_ += 3 * progress_->awaited();
    scheduler_->start();
    progress_->start();
  }
  /// Evaluates nodes until no member can evaluate more.
  Courier::News flow() {
    const auto hear = [this](std::uint32_t rank, const Update& update) { take(rank, update); };
    while (true) {
      const bool more = scheduler_->work(k_turns);
      const bool news = mail_->poll(hear);
      if (mail_->stopped()) return Courier::News::stopped;
      if (more) mail_->flush();
      if (more && problem_.cancel.asked()) mail_->stop();
      if (more || news) continue;
      const Courier::News heard = mail_->wait(complete(), problem_.cancel, hear);
      if (heard != Courier::News::parcel) return heard;
    }
  }
  [[nodiscard]] bool complete() const { return missing_ == 0 && scheduler_->finished(); }
  void take(std::uint32_t rank, const Update& update) {
    --missing_;
    switch (update.about) {
      case About::time: {
        const NodeIndex ghost = graph_.halo.ghosts_of[rank][update.index];
        for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i].set_time(ghost, update.values[i]);
        scheduler_->arrive(ghost);
        break;
      }
      case About::demand:
        hear_demand(graph_.halo.shown_to[rank][update.index], update.values);
        break;
      case About::proposal: {
        const std::uint32_t component = update.index;
        for (std::size_t i = 0; i < lanes_.size(); ++i) {
          lanes_[i].hear_proposal(component, update.values[i]);
        }
        if (--proposals_[component].missing == 0) scheduler_->proposals_arrived(component);
        break;
      }
      case About::news:
        take_news(rank, update);
        break;
    }
  }
  /// Puts the parts of news together.
  void take_news(std::uint32_t rank, const Update& update) {
    PartOfNews& news = news_[rank];
    if (news.parts == 0) news.first = update.values;
    if (news.parts == 1) news.second = update.values;
    if (++news.parts < 3) return;
    news.parts = 0;
    std::array<match::LargestTwo, k_most_lanes> known;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      known[i] = {news.first[i], news.second[i], static_cast<std::uint32_t>(update.values[i])};
    }
    progress_->hear(update.index, update.stage, std::span(known).first(lanes_.size()));
  }
  /// Receives a demand of another member or of a relay.
  void hear_demand(NodeIndex node, const Values& times) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i].hear_demand(node, times[i]);
    if (--asked_[plan_->demanding.rank(node)].missing == 0) scheduler_->demand_arrived(node);
  }
  /// Evaluates a step and sends what others wait for.
  void carry_out(const Step& step) {
    for (FlowLane& lane : lanes_) lane.evaluate(step);
    if (team_.size() == 1) return;
    switch (step.kind) {
      case Step::Kind::run:
        for (NodeIndex n = step.begin; n < step.end; ++n) tell_time(step.index, n);
        break;
      case Step::Kind::tied:
        for (const NodeIndex n : cycles_.tied[step.index].nodes)
          tell_time(graph_.location_of(n), n);
        break;
      case Step::Kind::exchange:
        for (std::uint32_t m = step.begin; m < step.end; ++m) {
          const NodeIndex node = graph_.participants[m].node;
          if (!graph_.is_ghost(node) || known_[m]) continue;
          known_[m] = true;
          if (cycles_.component_of(node) == k_none) answer(node);
        }
        break;
    }
  }
  void tell_time(LocationIndex location, NodeIndex node) {
    const auto shown = plan_->shown.of(node), relays = plan_->relays.begun_by(node);
    if (shown.empty() && relays.empty()) return;
    const Values times = per_lane([&](const FlowLane& lane) { return lane.time_of(node); });
    for (const std::uint32_t entry : shown) {
      const HaloPlace place = plan_->place_of_shown(entry);
      mail_->send(place.rank, {About::time, 0, place.index, times});
    }
    for (const std::uint32_t relay : relays) {
      progress_->begun(relay, location, std::span(times).first(lanes_.size()));
    }
  }
  /// Sends the demand of this member's exchanges on a ghost once it is known.
  void answer(NodeIndex ghost) {
    const auto receives = plan_->incidence.receives.of(ghost);
    if (!std::ranges::all_of(receives, [&](std::uint32_t m) { return known_[m]; })) return;
    tell_demand(ghost, per_lane([&](FlowLane& lane) { return lane.demand_of_exchanges(ghost); }));
  }
  void tell_demand(NodeIndex ghost, const Values& demands) {
    const HaloPlace place = plan_->ghosts.of(ghost);
    mail_->send(place.rank, {About::demand, 0, place.index, demands});
  }
  /// value_of(lane) of every lane.
  template <class ValueOf>
  Values per_lane(ValueOf value_of) {
    Values values{};
    for (std::size_t i = 0; i < lanes_.size(); ++i) values[i] = value_of(lanes_[i]);
    return values;
  }

  const trace::Share share_;
  Team& team_;
  const ForwardProblem problem_;
  const match::Graph& graph_ = problem_.graph;
  const Cycles& cycles_ = problem_.cycles;
  std::optional<FlowPlan> plan_;
  std::deque<FlowLane> lanes_;  ///< lanes of the passes in work; all that follows belongs to them,
                                ///< too
  std::optional<Mail<Update>> mail_;
  std::optional<Scheduler> scheduler_;
  std::optional<RelayProgress> progress_;
  std::vector<PartOfNews> news_;  ///< one entry for each rank
  BigVector<Asked> asked_;        ///< index: rank of the node in FlowPlan::demanding
  std::vector<Asked> proposals_;  ///< one entry for each tied component
  std::vector<bool> known_;       ///< flag of each participant: its demand on a ghost is known
  std::uint64_t missing_ = 0;     ///< updates that will come
};

}  // namespace

Forward flow_forward(const trace::Share& share, const ForwardProblem& problem) {
  const auto flow = std::make_shared<FlowForward>(share, problem);
  return [flow](std::span<const Decimal9> gammas) { return flow->run(gammas); };
}

}  // namespace entrain::clc
