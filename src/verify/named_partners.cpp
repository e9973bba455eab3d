// SPDX-License-Identifier: BSD-3-Clause
#include "verify/named_partners.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <vector>

namespace entrain::verify {

namespace {

using Positions = std::vector<std::uint32_t>;  ///< increasing positions of calls

bool says(const NamedCall& call) { return call.to != nullptr; }

bool sends(const NamedCall& from, const NamedCall& to) {
  return says(from) ? from.to->contains(to.rank) : from.sends_to_all;
}

/// True if all calls of one group name all of them as partners in both directions.
bool all_with_all(std::span<const NamedCall> calls, bool inter) {
  return !inter && std::all_of(calls.begin(), calls.end(), [&](const NamedCall& call) {
    return says(call) && call.to == calls[0].to && call.from == calls[0].from &&
           call.to->contains(call.rank) && call.from->contains(call.rank);  // so all have all
  });
}

class ByRank {
 public:
  ByRank(std::span<const NamedCall> calls, bool inter) : inter_(inter) {
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      Positions& group = at_[calls[i].group];
      if (calls[i].rank >= group.size()) group.resize(calls[i].rank + 1, k_none);
      group[calls[i].rank] = i;
    }
  }
  /// Calls `found` with each call of `ranks`, as a call of `group` means them.
  template <class Found>
  void for_each(const trace::RankSet& ranks, std::uint32_t group, Found found) const {
    const Positions& others = at_[inter_ ? 1 - group : group];
    ranks.for_each_below(others.size(), [&](std::uint32_t rank) {
      if (others[rank] != k_none) found(others[rank]);
    });
  }

 private:
  bool inter_;
  std::array<Positions, 2> at_;
};

}  // namespace

void for_each_named_instance(std::span<const NamedCall> calls, bool inter, const EdgeOrder& order,
                             const std::function<void(Instance&)>& use) {
  const auto hand_over = [&](const Positions& senders, const Positions& receivers) {
    Instance instance;
    instance.order = order;
    for (const std::uint32_t i : senders) instance.sends.push_back(calls[i].begin);
    for (const std::uint32_t i : receivers) instance.receives.push_back(calls[i].end);
    sort_sides(instance);
    use(instance);
  };
  std::map<Positions, Positions> receivers;  // by their senders
  const bool regular = all_with_all(calls, inter);
  const ByRank by_rank(calls, inter);
  Positions everybody(regular ? calls.size() : 0);
  std::iota(everybody.begin(), everybody.end(), 0U);
  for (std::uint32_t b = 0; !regular && b < calls.size(); ++b) {
    Positions senders;
    const auto look_at = [&](std::uint32_t a) {
      if (sends(calls[a], calls[b])) senders.push_back(a);
    };
    if (says(calls[b])) {
      by_rank.for_each(*calls[b].from, calls[b].group, look_at);
    } else if (calls[b].receives_from_all) {
      for (std::uint32_t a = 0; a < calls.size(); ++a) {
        if (!inter || calls[a].group != calls[b].group) look_at(a);
      }
    }
    std::sort(senders.begin(), senders.end());
    if (!senders.empty() && senders != Positions{b}) receivers[senders].push_back(b);
  }
  if (regular && calls.size() > 1) hand_over(everybody, everybody);
  for (const auto& [from, to] : receivers) hand_over(from, to);
}

std::int64_t contradictions(std::span<const NamedCall> calls, bool inter) {
  if (all_with_all(calls, inter)) return 0;
  const ByRank by_rank(calls, inter);
  std::int64_t count = 0;
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    const NamedCall& call = calls[i];
    if (!says(call)) continue;
    const auto count_doubtful = [&](const trace::RankSet& named, auto back) {
      by_rank.for_each(named, call.group, [&](std::uint32_t other) {
        if (other == i || !says(calls[other])) return;
        if (!(calls[other].*back)->contains(call.rank)) ++count;
      });
    };
    count_doubtful(*call.to, &NamedCall::from);
    count_doubtful(*call.from, &NamedCall::to);
  }
  return count;
}

}  // namespace entrain::verify
