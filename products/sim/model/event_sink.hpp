// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "trace/event.hpp"

namespace entrain::sim {

using trace::Collective;
using trace::Message;

/// Takes the events of one process, in order of time. Every function is one record of OTF2. Times
/// are in ticks; regions and communicators are positions in the definitions; a request is the
/// number that ties the records of one non-blocking operation together.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void enter(std::uint64_t time, std::uint32_t region) = 0;
  virtual void leave(std::uint64_t time, std::uint32_t region) = 0;
  virtual void send(std::uint64_t time, const Message& message) = 0;
  virtual void receive(std::uint64_t time, const Message& message) = 0;
  virtual void isend(std::uint64_t time, const Message& message, std::uint64_t request) = 0;
  virtual void isend_complete(std::uint64_t time, std::uint64_t request) = 0;
  virtual void irecv_request(std::uint64_t time, std::uint64_t request) = 0;
  virtual void irecv(std::uint64_t time, const Message& message, std::uint64_t request) = 0;
  virtual void collective_begin(std::uint64_t time) = 0;
  virtual void collective_end(std::uint64_t time, const Collective& collective) = 0;
  virtual void nb_request(std::uint64_t time, std::uint64_t request) = 0;
  virtual void nb_complete(std::uint64_t time, const Collective& collective,
                           std::uint64_t request) = 0;
};

}  // namespace entrain::sim
