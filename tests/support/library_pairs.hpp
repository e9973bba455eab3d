// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include <entrain/report.hpp>

#include "base/ids.hpp"
#include "trace/trace.hpp"

namespace entrain::test {

/// Position of an event in a trace.
struct LibraryEvent {
  LocationIndex location = k_none;
  std::uint32_t event = k_none;

  friend auto operator<=>(const LibraryEvent&, const LibraryEvent&) = default;
};

struct LibraryPair {
  LibraryEvent send, receive;
  EdgeKind kind = EdgeKind::p2p;
};

/// Every happened-before pair of a trace that the OTF2 library has read
/// (docs/method.md, section 2), one by one. For verify_with_library.
class LibraryPairs {
 public:
  LibraryPairs(trace::Trace trace, bool dense_alltoallv);

  trace::Trace stored;             ///< with stored stamps
  std::vector<LibraryPair> pairs;  ///< of different locations

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>;
  /// Where an operation of a process stands: stamp, location, event.
  using Order = std::tuple<std::uint64_t, LocationIndex, std::uint32_t>;
  struct Call {
    LibraryEvent begin, end;  ///< begin.location k_none: not in the trace
  };
  using Ends = std::map<Order, LibraryEvent>;
  /// Per communicator or window, and process: the calls by where they began.
  using Calls = std::map<std::uint32_t, std::map<std::uint32_t, std::map<Order, Call>>>;

  [[nodiscard]] trace::Event at(LibraryEvent e) const {
    return stored.locations[e.location].events[e.event];
  }
  [[nodiscard]] Order order(LibraryEvent e) const { return {at(e).time, e.location, e.event}; }
  [[nodiscard]] std::uint32_t process(LocationIndex l) const {
    return l < stored.definitions.process_of.size() ? stored.definitions.process_of[l] : k_none;
  }
  [[nodiscard]] std::vector<std::uint32_t> processes(const std::vector<LocationIndex>& l) const;
  [[nodiscard]] std::uint32_t peer(LibraryEvent e) const;

  void add(LibraryEvent send, LibraryEvent receive, EdgeKind kind);
  void match(const std::map<Key, Ends>& sends, const std::map<Key, Ends>& receives, EdgeKind kind);

  void messages_and_calls();
  void instances(const Calls& calls, bool rma);
  void instance(const std::vector<std::pair<std::uint32_t, Call>>& calls, const trace::Comm& comm,
                bool rma);
  [[nodiscard]] bool agree(const std::vector<std::pair<std::uint32_t, Call>>& calls,
                           const trace::Comm& comm, bool rma) const;
  void one_sided();
  void world();
  void teams();
  void thread_operations();

  bool dense_;
};

}  // namespace entrain::test
