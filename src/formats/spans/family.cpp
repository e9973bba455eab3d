// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/family.hpp"

namespace entrain::spans {

Family::Family(const Spans& spans) : spans_(spans), halves_(spans.ids.size()) {
  const auto count = static_cast<std::uint32_t>(spans.all.size());
  ignored_.reserve(count);
  parents_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) index(i);
  for (std::uint32_t i = 0; i < count; ++i) parents_.push_back(find_parent(i));
  ignore_circles();
}

void Family::index(std::uint32_t position) {
  const Span& span = spans_.all[position];
  Halves& halves = halves_[span.id];
  ignored_.push_back(false);
  // Old tracers do not mark shared ids: the server's half is known once both halves are there.
  bool is_shared = span.shared;
  if (!is_shared && halves.own != k_none && halves.shared == k_none) {
    const Role other = spans_.all[halves.own].role;
    is_shared = other == Role::client && span.role == Role::server;
    if (other == Role::server && span.role == Role::client) {
      halves = {.own = k_none, .shared = halves.own};
    }
  }
  std::uint32_t& place = is_shared ? halves.shared : halves.own;
  if (place == k_none) {
    place = position;
  } else {
    if (duplicates++ == 0) first_duplicate = position;
    ignored_.back() = true;
  }
}

std::uint32_t Family::find_parent(std::uint32_t position) const {
  const Span& span = spans_.all[position];
  const Halves& own = halves_[span.id];
  if (own.shared == position && own.own != k_none) return own.own;
  if (span.parent == k_none) return k_none;
  const Halves& parent = halves_[span.parent];
  if (parent.shared == k_none || parent.own == k_none) return std::min(parent.shared, parent.own);
  // A span of the client's host only is a child of the client's half, others of the server's half.
  const auto is_of_host = [&](std::uint32_t half) {
    return spans_.group_of(spans_.all[half]) == spans_.group_of(span);
  };
  const bool of_client = is_of_host(parent.own) && !is_of_host(parent.shared);
  return of_client ? parent.own : parent.shared;
}

/// Visits each span at most twice.
void Family::ignore_circles() {
  BigVector<std::uint32_t> seen(parents_.size(), k_none);  // span at which the walk began
  std::vector<std::uint32_t> circular;
  for (std::uint32_t i = 0; i < parents_.size(); ++i) {
    std::uint32_t at = i;
    while (at != k_none && seen[at] == k_none) {
      seen[at] = i;
      at = parents_[at];
    }
    if (at == k_none || seen[at] != i) continue;
    const std::uint32_t first = at;
    do {
      circular.push_back(at);
      at = parents_[at];
    } while (at != first);
  }
  in_circles = circular.size();
  for (const std::uint32_t position : circular) ignored_[position] = true;
}

}  // namespace entrain::spans
