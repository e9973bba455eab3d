// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "base/name_table.hpp"
#include "formats/kineto/run.hpp"

namespace entrain::kineto {

/// Messages are left out. A group whose size no call tells has as many members as the largest of
/// its collectives, and one more if ranks are missing: these are incomplete.
Result<std::optional<trace::Collectives>> Run::collectives(const trace::Share&, const CheckOptions&,
                                                           Progress*) const {
  trace::Collectives found;
  NameTable names;
  std::vector<std::uint32_t> most;  // members of a collective, per group
  for (std::size_t o = 0; o <= static_cast<std::size_t>(Operation::other); ++o) {
    found.operations.emplace_back(name_of(static_cast<Operation>(o)));
  }
  for (const Instance& instance : matches_.instances) {
    if (instance.operation == Operation::send_receive) continue;
    const bool from_root = comes_from_root(instance.operation);
    const bool to_root = goes_to_root(instance.operation);
    const Member& one = instance.members.front();
    const Call& first = ranks_[one.file].calls[one.call];
    trace::CollectiveOperation collective{
        .first = found.calls.size(),
        .members = static_cast<std::uint32_t>(instance.members.size()),
        .operation = static_cast<std::uint32_t>(instance.operation),
        .group = names.number(first.group)};
    most.resize(names.all().size(), 0);
    most[collective.group] = std::max(most[collective.group], collective.members);
    for (const auto& [f, position] : instance.members) {
      const Call& call = ranks_[f].calls[position];
      const bool is_root = f == instance.root;
      collective.expected = std::max(collective.expected, call.group_size);
      if (call.step > 0 && !collective.step) collective.step = call.step - 1;
      found.calls.push_back({.begin = call.begin,
                             .end = call.end,
                             .location = ranks_[f].numbers[call.clock],
                             .gives = !from_root || is_root,
                             .takes = !(from_root && is_root) && (!to_root || is_root)});
    }
    found.all.push_back(collective);
  }
  // Ranks that are missing may be members of a group whose size nobody tells.
  const std::uint32_t unseen = missing_ranks(files_).count > 0 ? 1 : 0;
  for (trace::CollectiveOperation& one : found.all) {
    if (one.expected == 0) one.expected = most[one.group] + unseen;
  }
  found.groups = names.all();
  return found;
}

}  // namespace entrain::kineto
