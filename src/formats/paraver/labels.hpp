// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace entrain::paraver {

/// Names in the files beside a trace. A file that is missing or damaged has none.
struct Labels {
  std::map<std::uint64_t, std::string> states;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> values;  ///< of calls of MPI
  std::vector<std::string> nodes;

  /// The name of a state, or `state 3`.
  [[nodiscard]] std::string state(std::uint64_t value) const;
  /// The name of a value of a type of events, or `event 50000001:3`.
  [[nodiscard]] std::string event(std::uint64_t type, std::uint64_t value) const;
};

/// The file of that ending beside a trace `NAME.prv` or `NAME.prv.gz`; it need not exist.
std::filesystem::path sidecar(const std::filesystem::path& trace, std::string_view ending);

/// Reads the files `.pcf` and `.row` beside a trace.
Labels read_labels(const std::filesystem::path& trace);

}  // namespace entrain::paraver
