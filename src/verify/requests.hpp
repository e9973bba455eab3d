// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/flat_map.hpp"
#include "base/ids.hpp"
#include "trace/skeleton.hpp"

namespace entrain::verify {

/// Finds the operation that a completion or cancellation belongs to: the latest one of the same
/// location that uses the same request id. To be called in stream order; keeps open operations
/// only.
class Requests {
 public:
  /// An operation that a request id stands for.
  struct Open {
    trace::EventKind kind{};
    std::uint32_t number = k_none;   ///< number of its event
    std::uint32_t instant = k_none;  ///< number of its instant
    std::size_t post = 0;            ///< isend: a number for the caller's own use
  };

  /// `events`: all events of the location.
  explicit Requests(const trace::EventList& events);

  /// An isend, irecv_request or nb_request begins to use the id.
  void open(std::uint64_t id, const Open& operation);
  /// The irecv_request that an irecv completes; number k_none if nobody posted it.
  Open complete_receive(std::uint64_t id);
  /// The nb_request of an nb_complete; number k_none if there is none.
  Open complete_collective(std::uint64_t id);
  /// The operation that a request_cancelled withdraws; number k_none if there is none.
  Open cancel(std::uint64_t id);

 private:
  FlatMap<std::uint64_t, Open, IntegerHash> open_;
  /// Ids that are cancelled somewhere: only for these must an isend, which never completes here,
  /// be remembered.
  FlatMap<std::uint64_t, bool, IntegerHash> cancelled_;
};

}  // namespace entrain::verify
