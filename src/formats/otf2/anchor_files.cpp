// SPDX-License-Identifier: BSD-3-Clause
#include <system_error>

#include "base/file.hpp"
#include "formats/otf2/format/anchor.hpp"
#include "formats/otf2/source.hpp"

namespace entrain::otf2 {

namespace fs = std::filesystem;

bool is_anchor(const fs::path& path) { return path.extension() == ending::anchor; }

void add_inputs(Inputs& inputs, const fs::path& anchor) {
  std::error_code error;
  inputs.add_file(anchor);
  const fs::path real = fs::weakly_canonical(anchor, error);
  for (const char* ending : {ending::definitions, ending::markers}) {
    inputs.add_file(fs::path(real).replace_extension(ending));
  }
  const fs::path folder = fs::path(real).replace_extension();
  if (!fs::is_directory(folder, error)) return;
  inputs.add_folder(folder);
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code unknown;
    if (it->is_symlink(unknown)) inputs.add_file(it->path());
  }
}

fs::path anchor_around(const fs::path& path) {
  fs::path part = path.has_filename() ? path : path.parent_path();
  std::error_code error;
  const bool is_folder = fs::is_directory(part, error);
  const fs::path ending = part.extension();
  if (!is_folder && (ending == ".evt" || ending == ".def" || ending == ".snap")) {
    const fs::path own = fs::path(part).replace_extension(ending::anchor);
    if (file_exists(own)) return own;
    part = fs::absolute(part, error).lexically_normal().parent_path();
  } else if (!is_folder && ending != ending::markers) {
    return {};
  }
  part.replace_extension(ending::anchor);
  return file_exists(part) ? part : fs::path();
}

}  // namespace entrain::otf2
