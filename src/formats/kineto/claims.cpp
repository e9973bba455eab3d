// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/claims.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace entrain::kineto {
namespace {

/// True if two known numbers differ.
bool differ(std::uint64_t a, std::uint64_t b) { return a != 0 && b != 0 && a != b; }

class InstanceCheck {
 public:
  explicit InstanceCheck(const std::vector<RankFile>& files) : files_(files) {
    for (const RankFile& file : files) used_.emplace_back(file.calls.size());
  }

  /// True if the records of an instance agree, and none is of an instance that was seen before.
  [[nodiscard]] bool holds(const Instance& instance) {
    const std::vector<Member>& members = instance.members;
    if (members.size() < 2 || !exist(members)) return false;
    const Call& first = call_of(files_, members.front());
    const bool is_message = first.operation == Operation::send_receive;
    bool root_is_member = first.root == k_no_rank;
    for (const Member& one : members) {
      const Call& call = call_of(files_, one);
      const bool agrees = call.operation == first.operation && call.group == first.group &&
                          (first.root == k_no_rank || call.root == first.root) &&
                          (is_message || !differ(call.number, first.number)) && !call.zero_splits;
      if (!agrees || used_[one.file][one.call]) return false;
      root_is_member |= files_[one.file].rank == first.root && one.file == instance.root;
    }
    return have_one_size(members) && (is_message ? is_direct(instance) : root_is_member);
  }

  void use(const Instance& instance) {
    for (const Member& one : instance.members) used_[one.file][one.call] = true;
  }

 private:
  [[nodiscard]] bool exist(const std::vector<Member>& members) const {
    const auto out_of_order = std::ranges::adjacent_find(
        members, [](const Member& a, const Member& b) { return a.file >= b.file; });
    return out_of_order == members.end() && std::ranges::all_of(members, [&](const Member& one) {
             return one.file < files_.size() && one.call < files_[one.file].calls.size();
           });
  }
  [[nodiscard]] bool have_one_size(const std::vector<Member>& members) const {
    std::uint64_t known = 0;
    for (const Member& one : members) {
      const std::uint64_t size = call_of(files_, one).size;
      if (differ(size, known)) return false;
      known = size != 0 ? size : known;
    }
    return true;
  }
  /// True for a call of the sender and one of the receiver, where these are named.
  [[nodiscard]] bool is_direct(const Instance& instance) const {
    if (instance.members.size() != 2 || instance.of(instance.root) == nullptr) return false;
    const Member& other = instance.members[instance.members.front().file == instance.root ? 1 : 0];
    const std::uint32_t from = files_[instance.root].rank, to = files_[other.file].rank;
    return std::ranges::all_of(instance.members, [&](const Member& one) {
      const Call& call = call_of(files_, one);
      return (call.from == k_no_rank || call.from == from) &&
             (call.to == k_no_rank || call.to == to);
    });
  }

  const std::vector<RankFile>& files_;
  std::vector<std::vector<bool>> used_;  ///< calls of each file that are claimed
};

}  // namespace

std::uint64_t drop_refuted(std::vector<Instance>& instances, const std::vector<RankFile>& files) {
  InstanceCheck check(files);
  std::vector<bool> holds(instances.size());
  std::vector<std::uint32_t> unnumbered;  // of those that hold by themselves
  for (std::uint32_t i = 0; i < instances.size(); ++i) {
    holds[i] = check.holds(instances[i]);
    if (!holds[i]) continue;
    check.use(instances[i]);
    const Call& first = call_of(files, instances[i].members.front());
    if (first.number == 0 || first.operation == Operation::send_receive) unnumbered.push_back(i);
  }
  const auto clock_of_first = [&](std::uint32_t i) {
    const Member& first = instances[i].members.front();
    return std::pair(first.file, call_of(files, first).clock);
  };
  std::ranges::stable_sort(unnumbered, {}, [&](std::uint32_t i) {
    return std::pair(clock_of_first(i), call_of(files, instances[i].members.front()).end);
  });
  using Channel =
      std::tuple<std::string_view, Operation, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Channel, std::uint64_t> latest;  // end per group, operation, root, file and clock
  std::pair<std::uint32_t, std::uint32_t> first{};
  for (const std::uint32_t i : unnumbered) {
    if (std::exchange(first, clock_of_first(i)) != first) latest.clear();
    for (const Member& one : instances[i].members) {
      const Call& call = call_of(files, one);
      std::uint64_t& end =
          latest[{call.group, call.operation, instances[i].root, one.file, call.clock}];
      if (call.end < end) holds[i] = false;
      end = std::max(end, call.end);
    }
  }
  std::uint64_t dropped = 0, i = 0;
  std::erase_if(instances, [&](const Instance& instance) {
    const bool is_refuted = !holds[i++];
    dropped += is_refuted ? instance.members.size() : 0;
    return is_refuted;
  });
  return dropped;
}

std::uint64_t drop_refuted(std::vector<ArrowEdge>& edges, const std::vector<RankFile>& files) {
  using Place = std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>;  // arrow, clock, time
  std::vector<Place> causes, effects;
  for (const RankFile& file : files) {
    for (const Arrow& arrow : file.arrows) {
      const Place place{arrow.key, file.numbers[arrow.clock], arrow.time};
      if (arrow.part != Arrow::Part::end) causes.push_back(place);
      if (arrow.part != Arrow::Part::start) effects.push_back(place);
    }
  }
  std::ranges::sort(causes);
  std::ranges::sort(effects);
  return std::erase_if(edges, [&](const ArrowEdge& edge) {
    return !std::ranges::binary_search(causes,
                                       Place{edge.key, edge.cause_clock, edge.cause_time}) ||
           !std::ranges::binary_search(effects,
                                       Place{edge.key, edge.effect_clock, edge.effect_time});
  });
}

}  // namespace entrain::kineto
