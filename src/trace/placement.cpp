// SPDX-License-Identifier: BSD-3-Clause
#include "trace/placement.hpp"

#include <algorithm>
#include <cstddef>
#include <queue>
#include <unordered_map>
#include <utility>

namespace entrain::trace {

namespace {

constexpr bool is_send(EventKind kind) {
  return kind == EventKind::send || kind == EventKind::isend;
}

std::uint64_t key_of(std::uint32_t a, std::uint32_t b) {
  return std::uint64_t{std::min(a, b)} << 32 | std::max(a, b);
}

/// How often processes may be looked at again: each round costs as much as reading the pairs.
constexpr int k_most_rounds = 8;

/// Blocks of processes that stay together, the messages between them, and who has them.
class Placement {
 public:
  explicit Placement(const PlacementInput& input) : members_(input.members) {
    const Definitions& definitions = input.definitions;
    const std::vector<std::uint32_t> block = blocks_of(definitions, input.together);
    std::vector<std::uint32_t> vertex_of(block.size(), k_none);  // by block
    std::vector<std::uint32_t> of_process(block.size(), k_none);
    for (LocationIndex l = 0; l < block.size(); ++l) {
      std::uint32_t& vertex = vertex_of[block[l]];
      if (vertex == k_none) {
        vertex = static_cast<std::uint32_t>(weight_.size());
        weight_.push_back(0);
      }
      weight_[vertex] += input.weight[l] + 1;
      total_ += input.weight[l] + 1;
      vertex_.push_back(vertex);
      of_process[definitions.process_of[l]] = vertex;
    }
    add_links(input.traffic, of_process);
  }

  [[nodiscard]] std::size_t size() const { return weight_.size(); }

  /// Takes over a partition; it also says how much a member may have.
  void start_from(const Partition& partition) {
    owner_.assign(size(), 0);
    for (LocationIndex l = 0; l < vertex_.size(); ++l) owner_[vertex_[l]] = partition.owner[l];
    weigh_members();
    most_ = std::max(total_ / members_ + total_ / members_ / 20,
                     *std::max_element(load_.begin(), load_.end()));
  }

  /// Each member takes what exchanges most with what it has, until it has its share.
  void grow() {
    owner_.assign(size(), k_none);
    std::vector<Pull> own(size()), all(size());
    std::priority_queue<Candidate> near_all;
    std::uint64_t before = 0;
    for (std::uint32_t member = 0; member < members_; ++member) {
      const std::uint64_t until = total_ * (member + 1) / members_;
      std::priority_queue<Candidate> near_own;
      while (before < until) {
        std::uint32_t vertex = nearest(near_own, own, member);
        if (vertex == k_none) vertex = nearest(near_all, all, 0);
        if (vertex == k_none) vertex = first_free();
        // It goes where its middle lies.
        if (vertex == k_none || before + weight_[vertex] / 2 >= until) break;
        owner_[vertex] = member;
        before += weight_[vertex];
        for (const Link& link : links(vertex)) {
          if (owner_[link.to] != k_none) continue;
          near_own.push({own[link.to].add(link.messages, member), ~link.to});
          near_all.push({all[link.to].add(link.messages, 0), ~link.to});
        }
      }
    }
    for (std::uint32_t& owner : owner_) owner = std::min(owner, members_ - 1);
    weigh_members();
  }

  /// Moves and exchanges blocks as long as fewer messages cross.
  void refine() {
    for (int round = 0; round < k_most_rounds; ++round) {
      if (!move_blocks() && !exchange_blocks()) return;
    }
  }

  [[nodiscard]] std::uint64_t crossing() const {
    std::uint64_t sum = 0;
    for (std::uint32_t v = 0; v < size(); ++v) {
      for (const Link& link : links(v)) sum += owner_[v] != owner_[link.to] ? link.messages : 0;
    }
    return sum / 2;
  }
  [[nodiscard]] std::uint64_t heaviest() const {
    return *std::max_element(load_.begin(), load_.end());
  }
  [[nodiscard]] std::uint64_t most() const { return most_; }

  [[nodiscard]] Partition partition() const {
    Partition result;
    for (const std::uint32_t vertex : vertex_) result.owner.push_back(owner_[vertex]);
    return result;
  }

 private:
  struct Link {
    std::uint32_t to = 0;
    std::uint64_t messages = 0;
  };
  using Candidate = std::pair<std::uint64_t, std::uint32_t>;  // pull, ~vertex: low numbers first
  /// Messages of a block with those that a member has, or all have.
  struct Pull {
    std::uint64_t messages = 0;
    std::uint32_t member = 0;

    std::uint64_t add(std::uint64_t more, std::uint32_t of_member) {
      if (member != of_member) *this = {0, of_member};
      return messages += more;
    }
  };
  /// Saving if a block moves to another member.
  struct Wish {
    std::int64_t saved = 0;
    std::uint32_t vertex = 0;
  };

  void add_links(std::span<const Traffic> traffic, const std::vector<std::uint32_t>& of_process) {
    std::vector<std::pair<std::uint32_t, Link>> all;
    for (const Traffic& t : traffic) {
      const std::uint32_t a = of_process[t.a], b = of_process[t.b];
      if (a == b) continue;
      all.push_back({a, {b, t.messages}});
      all.push_back({b, {a, t.messages}});
    }
    std::sort(all.begin(), all.end(), [](const auto& x, const auto& y) {
      return std::pair(x.first, x.second.to) < std::pair(y.first, y.second.to);
    });
    first_link_.assign(size() + 1, 0);
    for (const auto& [from, link] : all) {
      ++first_link_[from + 1];
      links_.push_back(link);
    }
    for (std::size_t v = 0; v < size(); ++v) first_link_[v + 1] += first_link_[v];
  }

  [[nodiscard]] std::span<const Link> links(std::uint32_t vertex) const {
    return {links_.data() + first_link_[vertex], links_.data() + first_link_[vertex + 1]};
  }

  void weigh_members() {
    load_.assign(members_, 0);
    for (std::uint32_t v = 0; v < size(); ++v) load_[owner_[v]] += weight_[v];
  }

  /// The free block that exchanges most with those of `member`, if any does.
  std::uint32_t nearest(std::priority_queue<Candidate>& candidates, const std::vector<Pull>& pull,
                        std::uint32_t member) const {
    for (; !candidates.empty(); candidates.pop()) {
      const auto [messages, number] = candidates.top();
      const Pull& now = pull[~number];
      // It may have been taken since, or stand here again with more messages.
      if (owner_[~number] == k_none && now.member == member && now.messages == messages) {
        return ~number;
      }
    }
    return k_none;
  }

  std::uint32_t first_free() {
    while (first_free_ < size() && owner_[first_free_] != k_none) ++first_free_;
    return first_free_ < size() ? first_free_ : k_none;
  }

  /// Messages of a block with those of each member that it exchanges any with.
  void ask_members(std::uint32_t vertex,
                   std::unordered_map<std::uint32_t, std::int64_t>& with) const {
    with.clear();
    for (const Link& link : links(vertex)) {
      with[owner_[link.to]] += static_cast<std::int64_t>(link.messages);
    }
  }

  /// True if some block has moved.
  bool move_blocks() {
    bool any = false;
    std::unordered_map<std::uint32_t, std::int64_t> with;
    for (std::uint32_t v = 0; v < size(); ++v) {
      ask_members(v, with);
      const std::int64_t here = with[owner_[v]];
      std::uint32_t best = owner_[v];
      for (const auto& [member, messages] : with) {
        if (load_[member] + weight_[v] > most_ || messages <= here) continue;
        if (best == owner_[v] || std::pair(messages, best) > std::pair(with[best], member)) {
          best = member;
        }
      }
      if (best == owner_[v]) continue;
      give(v, best);
      any = true;
    }
    return any;
  }

  void give(std::uint32_t vertex, std::uint32_t member) {
    load_[owner_[vertex]] -= weight_[vertex];
    load_[member] += weight_[vertex];
    owner_[vertex] = member;
  }

  /// Lets blocks of two members change places; true if some have.
  bool exchange_blocks() {
    std::unordered_map<std::uint64_t, std::vector<Wish>> wishes;  // by (from, to)
    std::vector<std::uint64_t> ways;
    std::unordered_map<std::uint32_t, std::int64_t> with;
    for (std::uint32_t v = 0; v < size(); ++v) {
      ask_members(v, with);
      const std::int64_t here = with[owner_[v]];
      for (const auto& [member, messages] : with) {
        if (member == owner_[v]) continue;
        std::vector<Wish>& of_way = wishes[std::uint64_t{owner_[v]} << 32 | member];
        if (of_way.empty()) ways.push_back(std::uint64_t{owner_[v]} << 32 | member);
        of_way.push_back({messages - here, v});
      }
    }
    std::sort(ways.begin(), ways.end());
    bool any = false;
    for (const std::uint64_t way : ways) {
      const auto back = wishes.find(way << 32 | way >> 32);
      if (way >> 32 > (way & 0xFFFFFFFF) || back == wishes.end()) continue;
      any = exchange_between(wishes[way], back->second) || any;
    }
    return any;
  }

  /// The best wish in one direction with the best one in the other, and so on.
  bool exchange_between(std::vector<Wish>& there, std::vector<Wish>& back) {
    const auto better = [](const Wish& a, const Wish& b) {
      return a.saved != b.saved ? a.saved > b.saved : a.vertex < b.vertex;
    };
    std::sort(there.begin(), there.end(), better);
    std::sort(back.begin(), back.end(), better);
    bool any = false;
    const std::size_t count = std::min(there.size(), back.size());
    for (std::size_t i = 0; i < count && there[i].saved + back[i].saved > 0; ++i) {
      any = try_exchange(there[i].vertex, back[i].vertex) || any;
    }
    return any;
  }

  bool try_exchange(std::uint32_t v, std::uint32_t w) {
    const std::uint32_t of_v = owner_[v], of_w = owner_[w];
    if (of_v == of_w) return false;
    const std::int64_t before = around(v) + around(w);
    give(v, of_w);
    give(w, of_v);
    if (std::max(load_[of_v], load_[of_w]) <= most_ && around(v) + around(w) < before) return true;
    give(v, of_v);
    give(w, of_w);
    return false;
  }

  /// Crossing messages of a block.
  [[nodiscard]] std::int64_t around(std::uint32_t vertex) const {
    std::int64_t sum = 0;
    for (const Link& link : links(vertex)) {
      if (owner_[link.to] != owner_[vertex]) sum += static_cast<std::int64_t>(link.messages);
    }
    return sum;
  }

  const std::uint32_t members_;
  std::uint64_t total_ = 0;
  std::uint64_t most_ = 0;               ///< weight that a member may have
  std::vector<std::uint32_t> vertex_;    ///< each location's block
  std::vector<std::uint64_t> weight_;    ///< weight of each block
  std::vector<std::size_t> first_link_;  ///< first link of each block, and the end
  std::vector<Link> links_;
  std::vector<std::uint32_t> owner_;  ///< owner of each block
  std::vector<std::uint64_t> load_;   ///< load of each member
  std::uint32_t first_free_ = 0;      ///< no block before it is free while they are placed
};

}  // namespace

std::vector<Traffic> traffic_of(const Trace& trace, std::span<const LocationIndex> locations) {
  const Definitions& definitions = trace.definitions;
  const Peers peers(definitions);
  std::vector<Traffic> result;
  std::unordered_map<std::uint64_t, std::uint64_t> of_peer;  // by communicator and rank
  for (const LocationIndex location : locations) {
    const std::uint32_t process = definitions.process_of[location];
    of_peer.clear();
    for (const Event& event : trace.locations[location].events) {
      if (is_send(event.kind)) ++of_peer[std::uint64_t{event.comm} << 32 | event.peer];
    }
    for (const auto& [peer, messages] : of_peer) {
      const std::uint32_t other = peers.process_of(static_cast<CommIndex>(peer >> 32), process,
                                                   static_cast<std::uint32_t>(peer & 0xFFFFFFFF));
      if (other == k_none || other == process) continue;
      result.push_back({std::min(process, other), std::max(process, other), messages});
    }
  }
  return sum_of(std::move(result));
}

std::vector<Traffic> sum_of(std::vector<Traffic> traffic) {
  std::sort(traffic.begin(), traffic.end(),
            [](const Traffic& x, const Traffic& y) { return key_of(x.a, x.b) < key_of(y.a, y.b); });
  std::vector<Traffic> result;
  for (const Traffic& t : traffic) {
    if (!result.empty() && result.back().a == t.a && result.back().b == t.b) {
      result.back().messages += t.messages;
    } else {
      result.push_back(t);
    }
  }
  return result;
}

std::uint64_t crossing(const Definitions& definitions, const Partition& partition,
                       std::span<const Traffic> traffic) {
  std::vector<std::uint32_t> owner(definitions.locations.size(), 0);  // of processes
  for (LocationIndex l = 0; l < partition.owner.size(); ++l) {
    owner[definitions.process_of[l]] = partition.owner[l];
  }
  std::uint64_t sum = 0;
  for (const Traffic& t : traffic) sum += owner[t.a] != owner[t.b] ? t.messages : 0;
  return sum;
}

Partition place(const PlacementInput& input) {
  Partition divided = divide(input.definitions, input.weight, input.members, input.together);
  if (input.members < 2 || input.traffic.empty()) return divided;
  Placement by_number(input);
  by_number.start_from(divided);
  Placement grown = by_number;
  by_number.refine();
  grown.grow();
  grown.refine();
  const bool better = grown.crossing() < by_number.crossing() && grown.heaviest() <= grown.most();
  return better ? grown.partition() : by_number.partition();
}

}  // namespace entrain::trace
