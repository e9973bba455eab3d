// SPDX-License-Identifier: BSD-3-Clause
#include "engine/verbs.hpp"

#include <memory>
#include <system_error>

#include "base/try.hpp"

namespace entrain {

Result<ArchiveInfo> inspect(const std::filesystem::path& path, unsigned threads, Progress* progress,
                            std::uint64_t max_unpacked_bytes, const std::string& columns) {
  return engine::inspect({path}, threads, progress, {max_unpacked_bytes, columns});
}

Result<ArchiveInfo> engine::inspect(const Paths& paths, unsigned threads, Progress* progress,
                                    const formats::ReadOptions& how) {
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source, formats::open(paths, threads, how));
  return source->describe(threads, progress);
}

OutputRule engine::output_rule(const Paths& inputs, bool force) {
  return output_rule(inputs, CheckOptions(), force);
}

OutputRule engine::output_rule(const Paths& inputs, const CheckOptions& options, bool force) {
  auto all = std::make_shared<Inputs>();
  for (const std::filesystem::path& path : inputs) formats::add_inputs(*all, path);
  if (!options.clock_samples.empty()) {
    std::error_code error;
    for (std::filesystem::directory_iterator it(options.clock_samples, error), end;
         !error && it != end; it.increment(error)) {
      all->add_file(it->path());
    }
  }
  return {.force = force, .inputs = std::move(all)};
}

}  // namespace entrain
