// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>

#include <entrain/error.hpp>

#include "sim/model/random.hpp"

namespace entrain::sim {

/// A piece of work of a service, in true time.
struct ServiceSpan {
  /// Kinds of spans, with the numbers of OTLP.
  enum class Kind : std::uint8_t { server = 2, client = 3, producer = 4, consumer = 5 };

  std::uint32_t host = 0;
  std::uint64_t trace = 0, id = 0;  ///< numbers, starting with 1
  std::uint64_t parent = 0;         ///< 0: none
  const char* name = "";
  Kind kind = Kind::server;
  std::int64_t begin = 0, end = 0;  ///< ns since the begin of the run
};

/// Numbers of a run.
struct ServiceCounts {
  std::uint64_t requests = 0;  ///< requests that come from outside
  std::uint64_t calls = 0;     ///< calls between hosts
  std::uint64_t answers = 0;   ///< answers to calls that are no messages
  std::int64_t last = 0;       ///< end of the last span, ns since the begin of the run
};

/// Services that call each other: calls that are waited for, clients that give up ("slow"), calls
/// that nobody waits for ("tell"), and messages ("send", "take"). A call takes 80 us to another
/// host, or more; requests come every 20 ms. Memory does not depend on the number of spans.
class Services {
 public:
  using See = std::function<Result<void>(const ServiceSpan&)>;

  /// `hosts` > 0; `see` gets every span when it ends, in an order that depends on nothing but these
  /// two and the number of spans.
  Services(std::uint32_t hosts, std::uint64_t seed, See see)
      : hosts_(hosts), random_(seed, 0), see_(std::move(see)) {}

  /// Runs until there are `spans` spans, exactly. To be called once. Errors: those of `see`.
  Result<ServiceCounts> run(std::uint64_t spans);

 private:
  /// An end of work, or why the run ends.
  using Moment = Result<std::int64_t>;

  double share() { return random_.uniform(0, 1); }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(share() * static_cast<double>(high - low));
  }
  std::uint32_t any_host() { return static_cast<std::uint32_t>(random_.below(hosts_)); }
  std::int64_t way(std::uint32_t from, std::uint32_t to);
  Result<void> add(const ServiceSpan& span);
  Moment serve(const ServiceSpan& span, int depth);
  Moment call_out(const ServiceSpan& caller, std::int64_t now, int depth);

  std::uint32_t hosts_;
  RandomStream random_;
  See see_;
  std::uint64_t trace_ = 0, ids_ = 0, left_ = 0;
  ServiceCounts counts_;
};

}  // namespace entrain::sim
