// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <entrain/error.hpp>

#include "cli/option_set.hpp"
#include "net/model/parameters.hpp"
#include "net/model/topology.hpp"
#include "net/plan/method.hpp"

namespace entrain::net {

/// The options --preset, --parameters and one per parameter.
class ParameterOptions {
 public:
  void declare(cli::OptionSet& set);
  /// The parameters: options win over the file, the file over the preset. Errors: ErrorKind::usage
  /// and ErrorKind::input.
  [[nodiscard]] Result<Parameters> get() const;

 private:
  std::string preset_;  ///< "" if not given
  std::string file_;
  std::map<std::string, std::string> values_;
};

/// The argument TOPOLOGY, a file or the description of a shape, and the option --tree.
class TopologyArgument {
 public:
  void declare(cli::OptionSet& set);
  [[nodiscard]] const std::string& name() const { return name_; }
  /// Reads or generates the topology. `seed` is for random graphs. Errors: ErrorKind::usage and
  /// ErrorKind::input.
  [[nodiscard]] Result<Topology> get(std::uint64_t seed) const;

 private:
  std::string name_;
  bool given_tree_ = false;
};

/// Adds --method. Nothing stands for the plan with the least bound.
void add_method(cli::OptionSet& set, std::optional<Method>& method);
/// Adds --drift.
void add_drift(cli::OptionSet& set, std::int64_t& drift_ppb);

}  // namespace entrain::net
