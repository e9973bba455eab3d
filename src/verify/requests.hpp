// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/flat_map.hpp"
#include "base/ids.hpp"
#include "trace/skeleton.hpp"

namespace entrain::verify {

/// Finds the operation of a completion or cancellation: the latest one of the location with the
/// same request id. Call it in stream order; it keeps open operations only.
class Requests {
 public:
  /// An operation that a request id stands for.
  struct Open {
    trace::EventKind kind{};
    std::uint32_t number = k_none;   ///< number of its event
    std::uint32_t instant = k_none;  ///< number of its instant
    std::size_t post = 0;            ///< isend: number defined by the caller
  };

  /// `events`: all events of the location.
  explicit Requests(const trace::EventList& events);

  /// Opens an isend, irecv_request or nb_request with this id.
  void open(std::uint64_t id, const Open& operation);
  /// Returns the irecv_request that an irecv completes; number k_none: none.
  Open complete_receive(std::uint64_t id);
  /// Returns the nb_request of an nb_complete; number k_none: none.
  Open complete_collective(std::uint64_t id);
  /// Returns the operation that a request_cancelled withdraws; number k_none: none.
  Open cancel(std::uint64_t id);

 private:
  FlatMap<std::uint64_t, Open, IntegerHash> open_;
  /// Ids that are cancelled somewhere: only their isends, which never complete here, are kept.
  FlatMap<std::uint64_t, bool, IntegerHash> cancelled_;
};

}  // namespace entrain::verify
