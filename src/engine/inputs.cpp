// SPDX-License-Identifier: BSD-3-Clause
#include "engine/verbs.hpp"

#include <filesystem>
#include <memory>
#include <system_error>

#include "formats/registry/open.hpp"

namespace entrain::engine {

namespace fs = std::filesystem;

OutputRule output_rule(const Paths& inputs, bool force) {
  return output_rule(inputs, CheckOptions(), force);
}

OutputRule output_rule(const Paths& inputs, const CheckOptions& options, bool force) {
  auto all = std::make_shared<Inputs>();
  for (const fs::path& path : inputs) formats::add_inputs(*all, path);
  if (!options.clock_samples.empty()) {
    std::error_code error;
    for (fs::directory_iterator it(options.clock_samples, error), end; !error && it != end;
         it.increment(error)) {
      all->add_file(it->path());
    }
  }
  return {.force = force, .inputs = std::move(all)};
}

}  // namespace entrain::engine
