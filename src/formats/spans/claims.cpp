// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/edges.hpp"

#include <algorithm>
#include <array>

namespace entrain::spans {
namespace {

class EdgeCheck {
 public:
  explicit EdgeCheck(const Spans& spans) : spans_(spans) {
    for (std::vector<bool>& used : used_) used.resize(spans.all.size());
    for (const Link& link : spans.links) links_.emplace_back(link.span, link.id);
    std::ranges::sort(links_);
  }

  [[nodiscard]] bool holds(const Edge& edge) {
    if (edge.child >= spans_.all.size() || edge.parent >= spans_.all.size()) return false;
    const Span &child = spans_.all[edge.child], &parent = spans_.all[edge.parent];
    if (edge.is_link) {
      return std::ranges::binary_search(links_, std::pair(std::size_t{edge.child}, parent.id)) &&
             follows(edge, parent, child);
    }
    const bool is_named = child.parent != k_none && child.parent == parent.id;
    const bool is_half = edge.child != edge.parent && child.id == parent.id;
    if (!is_named && !is_half) return false;
    std::vector<bool>& used = used_[edge.is_end ? 1 : 0];
    if (used[edge.child]) return false;
    used[edge.child] = true;
    return edge.is_end ? returns(edge, parent, child) : follows(edge, parent, child);
  }

 private:
  /// True if the child begins after the parent, or gets its message after it.
  static bool follows(const Edge& edge, const Span& parent, const Span& child) {
    return edge.cause == parent.host && edge.cause_time == parent.begin &&
           edge.effect == child.host &&
           edge.effect_time == (child.polls ? child.end : child.begin) + edge.step;
  }
  /// True if the parent, a client, ends after the child, a server.
  static bool returns(const Edge& edge, const Span& parent, const Span& child) {
    return parent.role == Role::client && child.role == Role::server && !child.follows &&
           edge.cause == child.host && edge.cause_time == child.end && edge.effect == parent.host &&
           edge.effect_time == parent.end + edge.step;
  }

  const Spans& spans_;
  std::vector<std::pair<std::size_t, std::uint32_t>> links_;  ///< positions of spans, ids linked to
  std::array<std::vector<bool>, 2> used_;  ///< children whose begins, whose ends have edges
};

}  // namespace

std::uint64_t drop_refuted(BigVector<Edge>& edges, const Spans& spans) {
  EdgeCheck check(spans);
  return std::erase_if(edges, [&](const Edge& edge) { return !check.holds(edge); });
}

}  // namespace entrain::spans
