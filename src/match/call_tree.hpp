// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace entrain::match {

/// Number of calls of a process on a communicator.
struct Caller {
  std::uint32_t space = 0;
  std::uint32_t process = 0;
  std::uint32_t calls = 0;
};

/// Another process, and the number of messages exchanged with it, missing ones included.
struct Partner {
  std::uint32_t process = 0;
  std::uint32_t messages = 0;
};

/// A caller and its parent, with whose calls its own are compared.
struct CallLink {
  Caller caller;
  std::uint32_t parent = 0;  ///< process; the reference is its own parent
  std::uint32_t depth = 0;   ///< number of links up to the reference
};

/// Links every caller to the reference of its communicator along processes that exchange messages:
/// their counts tell which calls belong together (docs/method.md, section 2.1). The best path has
/// the fewest links whose processes count different numbers of messages, then the fewest missing
/// calls, then the fewest links, then the lowest process before. Callers without a path are linked
/// to the reference directly.
///
/// `callers`: sorted by communicator and process; `partners`: of each process, sorted by
/// process; `references`: per communicator a process, k_none: no links.
/// O(m log m) for m partners of callers.
///
/// Example: 0 - 1 - 2 - 3 - 0 exchange messages in a ring; the reference is 0. Then 1 and 3 have
/// the parent 0, and 2 has 1, or 3 if that misses fewer calls.
std::vector<CallLink> link_callers(std::span<const Caller> callers,
                                   std::span<const std::vector<Partner>> partners,
                                   std::span<const std::uint32_t> references);

}  // namespace entrain::match
