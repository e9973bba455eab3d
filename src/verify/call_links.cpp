// SPDX-License-Identifier: BSD-3-Clause
#include "verify/call_links.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace entrain::verify {

namespace {

/// What a way to the reference costs, and its first hop. Less is better.
struct Toll {
  std::uint32_t unequal = 0;
  std::uint64_t lacking = 0;
  std::uint32_t hops = 0;
  std::uint32_t next = 0;
  friend auto operator<=>(const Toll&, const Toll&) = default;
};

/// The messages of `from` with `to`, as `from` counts them.
std::optional<std::uint32_t> counted(const MessageCounts& messages, std::uint32_t from,
                                     std::uint32_t to) {
  const auto of = messages.find(from);
  if (of == messages.end()) return std::nullopt;
  const auto with = of->second.find(to);
  if (with == of->second.end()) return std::nullopt;
  return with->second;
}

}  // namespace

std::map<std::uint32_t, CallLink> lead_to_reference(const CallCounts& callers,
                                                    const MessageCounts& messages,
                                                    std::uint32_t reference) {
  std::uint32_t highest = 0;
  for (const auto& [process, calls] : callers) highest = std::max(highest, calls);
  std::map<std::uint32_t, Toll> tolls = {{reference, Toll{.next = reference}}};
  // Tells those around a process whose toll has become less, until none does.
  std::set<std::uint32_t> changed = {reference};
  while (!changed.empty()) {
    std::set<std::uint32_t> next_changed;
    for (const std::uint32_t process : changed) {
      const auto partners = messages.find(process);
      if (partners == messages.end()) continue;
      const Toll& own = tolls.at(process);
      for (const auto& [partner, sees] : partners->second) {
        const std::optional<std::uint32_t> seen = counted(messages, partner, process);
        if (!seen || !callers.contains(partner) || partner == process) continue;
        const Toll toll{.unequal = own.unequal + (*seen == sees ? 0u : 1u),
                        .lacking = own.lacking + (highest - callers.at(process)),
                        .hops = own.hops + 1,
                        .next = process};
        const auto [known, is_new] = tolls.emplace(partner, toll);
        if (!is_new && known->second <= toll) continue;
        known->second = toll;
        next_changed.insert(partner);
      }
    }
    changed = std::move(next_changed);
  }
  std::map<std::uint32_t, CallLink> links;
  for (const auto& [process, calls] : callers) {
    const auto toll = tolls.find(process);
    links[process] = toll == tolls.end() ? CallLink{.next = reference, .hops = 1}
                                         : CallLink{toll->second.next, toll->second.hops};
  }
  return links;
}

}  // namespace entrain::verify
