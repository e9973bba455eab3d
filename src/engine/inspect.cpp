// SPDX-License-Identifier: BSD-3-Clause
#include <memory>

#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "engine/verbs.hpp"
#include "formats/registry/open.hpp"

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

}  // namespace entrain
