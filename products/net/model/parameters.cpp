// SPDX-License-Identifier: BSD-3-Clause
#include "net/model/parameters.hpp"

#include <array>

#include <fmt/format.h>

#include "base/try.hpp"

namespace entrain::net {
namespace {

constexpr std::int64_t k_most_flits = 20'000;
constexpr std::int64_t k_most_slot_flits = 1'000'000;
constexpr std::int64_t k_most_flit_bytes = 4096;
constexpr Femtoseconds k_most_period = std::chrono::microseconds(1);

constexpr std::array<ParameterName, 10> k_names{
    {{"ld", "link delay: a flit on a cable, e.g. 17ns"},
     {"cp", "character period, or the rate of a link, e.g. 6.25ns or 1.28Gbps"},
     {"sd", "switching delay of a flit after the header, e.g. 2ns"},
     {"rd", "routing delay of a header, e.g. 100ns"},
     {"fc", "flow controller delay of a STOP or GO, e.g. 3.26ns"},
     {"bl", "slack buffer of an input, flits"},
     {"ks",
      "occupancy at which STOP is sent, flits; use a lower one when overruns are predicted, "
      "although "
      "interfaces then wait longer"},
     {"kg", "occupancy at which GO is sent, flits"},
     {"slot-flits",
      "flits of a time slot; use more when the skew bound is above half a slot, although the "
      "schedule "
      "then takes longer"},
     {"flit-bytes", "bytes of a flit, to turn rates into periods"}}};

/// Quantum-2: 400 Gb/s per port and less than 150 ns from port to port are published. Flow control
/// of InfiniBand counts in blocks of 64 bytes (IBA specification, volume 1, 7.9), the flit here.
constexpr Parameters k_ndr{.ld = Femtoseconds(15'000'000),
                           .cp = Femtoseconds(1'280'000),
                           .sd = Femtoseconds(1'280'000),
                           .rd = Femtoseconds(150'000'000),
                           .fc = Femtoseconds(5'000'000),
                           .bl = 256,
                           .ks = 192,
                           .kg = 64,
                           .slot_flits = 8192,
                           .flit_bytes = 64};

/// CN5000: 400 Gb/s per port and less than 100 ns of switching are published; a flit of Omni-Path
/// carries 8 bytes.
constexpr Parameters k_cn5000{.ld = Femtoseconds(15'000'000),
                              .cp = Femtoseconds(160'000),
                              .sd = Femtoseconds(160'000),
                              .rd = Femtoseconds(100'000'000),
                              .fc = Femtoseconds(5'000'000),
                              .bl = 2048,
                              .ks = 1536,
                              .kg = 512,
                              .slot_flits = 65536,
                              .flit_bytes = 8};

constexpr std::array<Preset, 3> k_presets{
    {{"myrinet-1280",
      "Myrinet-1280/SAN, 1.28 Gb/s: all values as in the paper (VITA 26-199x, draft 1.1)",
      Parameters{}},
     {"ib-ndr",
      "InfiniBand NDR, 400 Gb/s, switch QM9700: rate and the routing delay (less than 150 ns) as "
      "the "
      "vendor publishes them; flit = credit block of 64 bytes; cable of 3 m at 5 ns/m; assumed: "
      "fc 5 ns, buffers of 16 KiB per input, STOP at 3/4, GO at 1/4",
      k_ndr},
     {"omni-path-cn5000",
      "Omni-Path CN5000, 400 Gb/s: rate and the routing delay (less than 100 ns) as the vendor "
      "publishes them; flit of 8 bytes; cable of 3 m at 5 ns/m; assumed: fc 5 ns, buffers of 16 "
      "KiB "
      "per input, STOP at 3/4, GO at 1/4",
      k_cn5000}}};

Femtoseconds* time_named(Parameters& parameters, std::string_view name) {
  if (name == "ld") return &parameters.ld;
  if (name == "sd") return &parameters.sd;
  if (name == "rd") return &parameters.rd;
  if (name == "fc") return &parameters.fc;
  return nullptr;
}

std::int64_t* count_named(Parameters& parameters, std::string_view name) {
  if (name == "bl") return &parameters.bl;
  if (name == "ks") return &parameters.ks;
  if (name == "kg") return &parameters.kg;
  if (name == "slot-flits") return &parameters.slot_flits;
  if (name == "flit-bytes") return &parameters.flit_bytes;
  return nullptr;
}

Error about(std::string_view name, std::string_view text, const Error& error) {
  return {ErrorKind::usage, fmt::format("parameter {}: '{}' {}", name, text, error.message)};
}

Result<void> check_time(const char* name, Femtoseconds time, Femtoseconds most) {
  if (time >= Femtoseconds(0) && time <= most) return {};
  return fail(ErrorKind::usage, fmt::format("parameter {}: {} ns is not between 0 and {} ns", name,
                                            ns_of(time), ns_of(most)));
}

}  // namespace

std::span<const ParameterName> parameter_names() { return k_names; }

Result<Parameters> with_values(Parameters parameters,
                               const std::map<std::string, std::string>& values) {
  for (const auto& [name, text] : values) {
    if (std::int64_t* const count = count_named(parameters, name)) {
      const auto value = parse_whole(text, 0, k_most_slot_flits);
      if (!value) return tl::unexpected(about(name, text, value.error()));
      *count = *value;
    } else if (Femtoseconds* const time = time_named(parameters, name)) {
      const auto value = parse_time(text);
      if (!value) return tl::unexpected(about(name, text, value.error()));
      *time = *value;
    } else if (name != "cp") {
      return fail(
          ErrorKind::usage,
          fmt::format("there is no parameter '{}': they are ld, cp, sd, rd, fc, bl, ks, kg, "
                      "slot-flits and flit-bytes",
                      name));
    }
  }
  if (const auto found = values.find("cp"); found != values.end()) {
    const auto value = parse_period(found->second, parameters.flit_bytes);
    if (!value) return tl::unexpected(about("cp", found->second, value.error()));
    parameters.cp = *value;
  }
  TRY(validate(parameters));
  return parameters;
}

Result<void> validate(const Parameters& parameters) {
  TRY(check_time("ld", parameters.ld, k_most_delay));
  TRY(check_time("cp", parameters.cp, k_most_period));
  TRY(check_time("sd", parameters.sd, k_most_period));
  TRY(check_time("rd", parameters.rd, k_most_delay));
  TRY(check_time("fc", parameters.fc, k_most_delay));
  if (parameters.cp == Femtoseconds(0))
    return fail(ErrorKind::usage, "parameter cp: a character period of 0 would send flits at once");
  if (parameters.bl < 1 || parameters.bl > k_most_flits)
    return fail(ErrorKind::usage, fmt::format("parameter bl: {} is not between 1 and {} flits",
                                              parameters.bl, k_most_flits));
  if (parameters.ks < 1 || parameters.ks > parameters.bl)
    return fail(
        ErrorKind::usage,
        fmt::format("parameter ks: STOP at {} flits is not between 1 and the buffer of {} (bl)",
                    parameters.ks, parameters.bl));
  if (parameters.kg < 0 || parameters.kg > parameters.ks)
    return fail(ErrorKind::usage,
                fmt::format("parameter kg: GO at {} flits is not between 0 and the {} of STOP (ks)",
                            parameters.kg, parameters.ks));
  if (parameters.slot_flits <= parameters.bl || parameters.slot_flits > k_most_slot_flits)
    return fail(
        ErrorKind::usage,
        fmt::format("parameter slot-flits: {} is not above the buffer of {} flits (bl) and at "
                    "most {}: a blocked packet must reach back to its interface",
                    parameters.slot_flits, parameters.bl, k_most_slot_flits));
  if (parameters.flit_bytes < 1 || parameters.flit_bytes > k_most_flit_bytes)
    return fail(ErrorKind::usage, fmt::format("parameter flit-bytes: {} is not between 1 and {}",
                                              parameters.flit_bytes, k_most_flit_bytes));
  return {};
}

std::span<const Preset> presets() { return k_presets; }

Result<Parameters> preset(std::string_view name) {
  std::string names;
  for (const Preset& known : k_presets) {
    if (name == known.name) return known.parameters;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
  }
  return fail(ErrorKind::usage, fmt::format("is not one of {}", names));
}

}  // namespace entrain::net
