// SPDX-License-Identifier: BSD-3-Clause
#include "causal/inner_slack.hpp"

#include <algorithm>

#include "match/parts.hpp"

namespace entrain::causal {

namespace {

/// The latest participant of a group in one exchange, and the latest one of another unit.
struct Latest {
  std::uint64_t exchange = 0;  ///< number of the exchange it belongs to
  const match::Participant* first = nullptr;
  const match::Participant* other = nullptr;
};

class InnerSlackSearch {
 public:
  InnerSlackSearch(const match::Graph& graph, const InnerSlackOptions& options)
      : graph_(graph), options_(options), latest_(options.groups), slacks_(options.units) {}

  std::vector<InnerSlack> run(const match::Part& part) {
    for_edges(graph_, part, options_.times,
              [&](const match::Edge& edge, LocationIndex from, LocationIndex to) {
                if (group(from) == group(to)) add(edge.send, from, edge.receive, to);
              });
    for (const match::Exchange& exchange : part.exchanges) add(exchange);
    return std::move(slacks_);
  }

 private:
  void add(NodeIndex send, LocationIndex from, NodeIndex receive, LocationIndex to) {
    if (options_.unit_of[from] == options_.unit_of[to]) return;
    const auto c = static_cast<std::size_t>(graph_.latency_class(from, to));
    const std::int64_t slack = options_.times[receive] - options_.times[send] - options_.mu[c];
    InnerSlack& begin = slacks_[options_.unit_of[from]];
    InnerSlack& end = slacks_[options_.unit_of[to]];
    begin.out_of = std::min(begin.out_of, slack);
    end.into = std::min(end.into, slack);
  }

  /// Compares every end with the latest begin of another unit of its group, and every begin with
  /// the earliest end.
  void add(const match::Exchange& exchange) {
    const auto sends = graph_.sends(exchange);
    const auto receives = graph_.receives(exchange);
    ++exchanges_;
    std::size_t added = 0;
    for (const match::Participant& receive : receives) {
      while (added < sends.size() && (!exchange.ordered || sends[added].order < receive.order)) {
        note(sends[added++], 1);
      }
      if (const match::Participant* send = partner(receive)) add(*send, receive);
    }
    ++exchanges_;
    std::size_t left = receives.size();
    for (std::size_t i = sends.size(); i-- > 0;) {
      while (left > 0 && (!exchange.ordered || receives[left - 1].order > sends[i].order)) {
        note(receives[--left], -1);
      }
      if (const match::Participant* receive = partner(sends[i])) add(sends[i], *receive);
    }
  }
  void add(const match::Participant& send, const match::Participant& receive) {
    add(send.node, send.location, receive.node, receive.location);
  }

  void note(const match::Participant& member, std::int64_t sign) {
    Latest& latest = latest_[group(member.location)];
    if (latest.exchange != exchanges_) latest = {exchanges_, nullptr, nullptr};
    const auto later = [&](const match::Participant* than) {
      return than == nullptr ||
             sign * options_.times[member.node] > sign * options_.times[than->node];
    };
    if (latest.first == nullptr || unit(*latest.first) == unit(member)) {
      if (later(latest.first)) latest.first = &member;
    } else if (later(latest.first)) {
      latest.other = latest.first;
      latest.first = &member;
    } else if (later(latest.other)) {
      latest.other = &member;
    }
  }
  [[nodiscard]] const match::Participant* partner(const match::Participant& member) const {
    const Latest& latest = latest_[group(member.location)];
    if (latest.exchange != exchanges_ || latest.first == nullptr) return nullptr;
    return unit(*latest.first) == unit(member) ? latest.other : latest.first;
  }

  [[nodiscard]] std::uint32_t group(LocationIndex l) const { return options_.group_of[l]; }
  [[nodiscard]] std::uint32_t unit(const match::Participant& m) const {
    return options_.unit_of[m.location];
  }

  const match::Graph& graph_;
  const InnerSlackOptions& options_;
  std::vector<Latest> latest_;  ///< one per group
  std::uint64_t exchanges_ = 0;
  std::vector<InnerSlack> slacks_;
};

}  // namespace

std::vector<InnerSlack> inner_slacks(Team& team, const match::Graph& graph,
                                     const InnerSlackOptions& options) {
  const std::vector<match::Part> parts = match::parts_of(graph, options.threads);
  std::vector<std::vector<InnerSlack>> of_parts(parts.size());
  match::for_parts(parts, [&](const match::Part& part, std::size_t i) {
    of_parts[i] = InnerSlackSearch(graph, options).run(part);
  });
  std::vector<InnerSlack> slacks = std::move(of_parts.front());
  for (std::size_t i = 1; i < of_parts.size(); ++i) {
    for (std::size_t u = 0; u < slacks.size(); ++u) {
      slacks[u].into = std::min(slacks[u].into, of_parts[i][u].into);
      slacks[u].out_of = std::min(slacks[u].out_of, of_parts[i][u].out_of);
    }
  }
  if (team.size() == 1) return slacks;
  std::vector<std::int64_t> values;
  for (const InnerSlack& slack : slacks) values.insert(values.end(), {slack.into, slack.out_of});
  team.reduce(Team::Reduction::min, values);
  for (std::size_t u = 0; u < slacks.size(); ++u) slacks[u] = {values[2 * u], values[2 * u + 1]};
  return slacks;
}

}  // namespace entrain::causal
