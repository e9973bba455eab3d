// SPDX-License-Identifier: BSD-3-Clause
#include "session/open_trace.hpp"

#include <fmt/core.h>

#include "otf2/read/archive.hpp"

namespace entrain::session {
namespace {

namespace fs = std::filesystem;

bool looks_like_json(const fs::path& path) {
  const fs::path extension = path.extension() == ".gz" ? path.stem().extension() : path.extension();
  return extension == ".json" || extension == ".jsonl" || extension == ".ndjson";
}

/// A file of JSON, or a folder with such files and without an anchor.
bool is_other_format(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return looks_like_json(path);
  bool any = false;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".otf2") return false;
    any |= looks_like_json(it->path());
  }
  return any;
}

}  // namespace

Result<std::unique_ptr<trace::Source>> open_trace(const fs::path& path) {
  std::error_code error;
  if (fs::exists(path, error) && is_other_format(path)) {
    return fail(ErrorKind::input,
                fmt::format("{} is JSON, and this verb reads OTF2 archives only; all others "
                            "but record read files of training runs and of spans, too",
                            path.string()));
  }
  return otf2::Archive::open(path);
}

}  // namespace entrain::session
