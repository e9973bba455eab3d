// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <entrain/report.hpp>

#include "verify/places.hpp"

/// Edges of a format that names them: they need no pairing, only their times are checked.
namespace entrain::verify {

struct NamedEdge {
  EventRef send, receive;    ///< their locations differ
  std::uint64_t number = 0;  ///< position among all edges
  EdgeKind kind{};
  std::int64_t extra_mu = 0;  ///< least delay beyond mu of the latency class, ticks
};

struct NamedEnd {
  EventRef event;
  std::uint32_t rank = 0;  ///< order in an ordered instance
};

struct NamedInstance {
  EdgeKind kind{};
  bool ordered = false;                ///< begins precede the ends of higher ranks only
  std::vector<NamedEnd> begins, ends;  ///< one each or more, no location twice
};

/// Edges and instances in a fixed order. Const functions may be called from any thread.
class NamedEdges {
 public:
  NamedEdges() = default;
  NamedEdges(const NamedEdges&) = delete;
  NamedEdges& operator=(const NamedEdges&) = delete;
  virtual ~NamedEdges() = default;

  /// Calls `use` with the edges that end at a location for which `is_wanted` is true.
  virtual void for_each_edge(const std::function<bool(LocationIndex)>& is_wanted,
                             const std::function<void(const NamedEdge&)>& use) const = 0;
  virtual void for_each_instance(const std::function<void(const NamedInstance&)>& use) const = 0;
};

}  // namespace entrain::verify
