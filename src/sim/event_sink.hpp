// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace entrain::sim {

/// A message as the process at one end knows it.
struct Message {
  std::uint32_t peer = 0;  ///< rank at the other end
  std::uint32_t comm = 0;  ///< position of the communicator in the definitions
  std::uint32_t tag = 0;
  std::uint64_t length = 0;  ///< bytes
};

/// A collective as one member knows it when it ends.
struct Collective {
  std::uint8_t op = 0;     ///< see trace::op
  std::uint32_t comm = 0;  ///< position of the communicator in the definitions
  std::uint32_t root = 0;  ///< rank, or trace::k_root_none
  std::uint64_t sent = 0;  ///< bytes
  std::uint64_t received = 0;
};

/// Receives the events of one process in order of time, in ticks; regions are positions in the
/// definitions. Every function is one record of OTF2.
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
