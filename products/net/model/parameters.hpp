// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include <entrain/error.hpp>

#include "net/model/units.hpp"

namespace entrain::net {

/// Longest delay of a link, a routing or a flow control.
inline constexpr Femtoseconds k_most_delay = std::chrono::milliseconds(1);

/// Delays and buffers of a network with stop-and-go flow control, named by the letters of the
/// paper. The defaults are those of Myrinet-1280/SAN.
struct Parameters {
  Femtoseconds ld{17'000'000};  ///< link delay: how long a flit takes on a cable; 0 to 1 ms
  Femtoseconds cp{6'250'000};  ///< character period: time to inject one flit; above 0, at most 1 us
  Femtoseconds sd{2'000'000};  ///< switching delay of a flit after the header; 0 to 1 us
  Femtoseconds rd{100'000'000};    ///< routing delay of a header, arbitration included; 0 to 1 ms
  Femtoseconds fc{3'260'000};      ///< time of a flow controller to handle a STOP or GO; 0 to 1 ms
  std::int64_t bl = 64;            ///< slack buffer of an input, flits; 1 to 20,000
  std::int64_t ks = 53;            ///< occupancy at which STOP is sent, 1 <= ks <= bl
  std::int64_t kg = 17;            ///< occupancy at which GO is sent, 0 <= kg <= ks
  std::int64_t slot_flits = 2000;  ///< flits of a time slot; more than bl, at most 1,000,000
  std::int64_t flit_bytes = 1;  ///< bytes of a flit, 1 to 4096; turns rates into character periods

  [[nodiscard]] Femtoseconds slot() const { return cp * slot_flits; }
  /// Delay from the buffer that sends a STOP or GO to the sender that obeys it.
  [[nodiscard]] Femtoseconds signal_delay() const { return ld + 2 * fc; }
};

/// The name of a parameter in with_values() and in parameter files, and its meaning.
struct ParameterName {
  const char* name;
  const char* help;
};
std::span<const ParameterName> parameter_names();

/// Changes the parameters that `values` names, e.g. {"cp", "1.28Gbps"}, {"ld", "17ns"}. A rate for
/// cp is turned into a period with the flit_bytes of the result. Errors: ErrorKind::usage, with the
/// name of the parameter.
Result<Parameters> with_values(Parameters parameters,
                               const std::map<std::string, std::string>& values);

/// Errors: ErrorKind::usage, one sentence about the first parameter out of its range.
Result<void> validate(const Parameters& parameters);

/// A fabric of which most parameters are published.
struct Preset {
  const char* name;
  const char* description;  ///< which values are published, by whom, and which are assumed
  Parameters parameters;
};
std::span<const Preset> presets();

/// Errors: ErrorKind::usage; the message is the end of a sentence that begins with the name.
Result<Parameters> preset(std::string_view name);

}  // namespace entrain::net
