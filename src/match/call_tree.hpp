// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace entrain::match {

/// The calls of a process on a communicator: their number.
struct Caller {
  std::uint32_t space = 0;
  std::uint32_t process = 0;
  std::uint32_t calls = 0;
};

/// Another process, and the messages that were exchanged with it, those that are missing counted.
struct Partner {
  std::uint32_t process = 0;
  std::uint32_t messages = 0;
};

/// A caller and the one whose calls its own are compared with.
struct CallLink {
  Caller caller;
  std::uint32_t parent = 0;  ///< process; the reference is its own parent
  std::uint32_t depth = 0;   ///< links up to the reference
};

/// Links every caller to the reference of its communicator, where it can by way of processes that
/// exchange messages: counts of these tell which calls belong together (docs/method.md, section
/// 2.1). Of several ways, that with fewest links whose processes count different numbers of
/// messages, then that on which fewest calls are missing, then the shortest one, then that over the
/// lowest process. Callers without a way are linked to the reference at once.
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
