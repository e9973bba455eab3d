// SPDX-License-Identifier: BSD-3-Clause
#include "match/call_tree.hpp"

#include <algorithm>
#include <functional>
#include <queue>

#include "base/ids.hpp"

namespace entrain::match {

namespace {

class Tree {
 public:
  Tree(std::span<const Caller> callers, std::span<const std::vector<Partner>> partners,
       std::uint32_t reference)
      : partners_(partners) {
    for (const Caller& caller : callers) {
      links_.push_back({.caller = caller, .parent = k_none});
      most_ = std::max(most_, caller.calls);
    }
    grow(reference);
    for (CallLink& link : links_) {
      if (link.parent != k_none) continue;
      link.parent = reference;
      link.depth = 1;
    }
  }

  [[nodiscard]] const std::vector<CallLink>& links() const { return links_; }

 private:
  /// A path to a caller, ordered by cost: unequal links, missing calls, links, parent.
  struct Path {
    std::uint32_t unequal = 0;
    std::uint64_t missing = 0;
    std::uint32_t depth = 0;
    std::uint32_t parent = 0;
    std::uint32_t process = 0;
    auto operator<=>(const Path&) const = default;
  };

  CallLink* find(std::uint32_t process) {
    const auto process_of = [](const CallLink& link) { return link.caller.process; };
    const auto found = std::ranges::lower_bound(links_, process, {}, process_of);
    return found == links_.end() || found->caller.process != process ? nullptr : &*found;
  }

  void grow(std::uint32_t reference) {
    std::priority_queue<Path, std::vector<Path>, std::greater<>> paths;
    paths.push({.parent = reference, .process = reference});
    while (!paths.empty()) {
      const Path path = paths.top();
      paths.pop();
      CallLink* link = find(path.process);
      if (link == nullptr || link->parent != k_none) continue;
      link->parent = path.parent;
      link->depth = path.depth;
      const std::uint64_t missing = path.missing + (most_ - link->caller.calls);
      for (const Partner& partner : partners_[path.process]) {
        const Partner* back = find(partner.process, path.process);
        if (back == nullptr) continue;
        const std::uint32_t unequal = path.unequal + (back->messages != partner.messages ? 1 : 0);
        paths.push({unequal, missing, path.depth + 1, path.process, partner.process});
      }
    }
  }
  [[nodiscard]] const Partner* find(std::uint32_t of, std::uint32_t process) const {
    const std::vector<Partner>& all = partners_[of];
    const auto found = std::ranges::lower_bound(all, process, {}, &Partner::process);
    return found == all.end() || found->process != process ? nullptr : &*found;
  }

  std::span<const std::vector<Partner>> partners_;
  std::vector<CallLink> links_;
  std::uint32_t most_ = 0;  ///< calls of the caller with the most
};

}  // namespace

std::vector<CallLink> link_callers(std::span<const Caller> callers,
                                   std::span<const std::vector<Partner>> partners,
                                   std::span<const std::uint32_t> references) {
  std::vector<CallLink> links;
  for (std::size_t first = 0; first < callers.size();) {
    std::size_t end = first;
    while (end < callers.size() && callers[end].space == callers[first].space) ++end;
    const std::uint32_t reference = references[callers[first].space];
    if (reference != k_none) {
      const Tree tree(callers.subspan(first, end - first), partners, reference);
      links.insert(links.end(), tree.links().begin(), tree.links().end());
    }
    first = end;
  }
  return links;
}

}  // namespace entrain::match
