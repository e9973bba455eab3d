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
  static constexpr std::uint64_t k_state = 0;  ///< stands for the type of states
  /// Names of the values of types: of states, and of calls of MPI.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> values;
  std::vector<std::string> nodes;

  /// The name of a value, or `state 3`, `event 50000001:3`.
  [[nodiscard]] std::string name(std::uint64_t type, std::uint64_t value) const;
};

/// The file of that ending beside a trace `NAME.prv` or `NAME.prv.gz`; it need not exist.
std::filesystem::path sidecar(const std::filesystem::path& trace, std::string_view ending);

/// Reads the files `.pcf` and `.row` beside a trace.
Labels read_labels(const std::filesystem::path& trace);

}  // namespace entrain::paraver
