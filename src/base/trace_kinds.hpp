// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace entrain {

/// Every kind of trace that is read, for help and refusals.
inline constexpr const char* k_trace_kinds =
    "an OTF2 archive (.otf2, or its folder), a training run (JSON, or .pftrace of Perfetto), "
    "spans of services (OTLP in JSON or Protobuf, Jaeger, Zipkin, CSV), a trace of Paraver "
    "(.prv), or a folder of CTF traces";

}  // namespace entrain
