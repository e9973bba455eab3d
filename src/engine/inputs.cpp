// SPDX-License-Identifier: BSD-3-Clause
#include "engine/inputs.hpp"

#include <filesystem>
#include <memory>
#include <system_error>

#include "engine/recordings.hpp"
#include "otf2/format/archive_files.hpp"

namespace entrain::engine {

namespace {

namespace fs = std::filesystem;

/// Calls `visit` for the entries of a folder; for none if it cannot be read.
template <class Visit>
void visit_folder(const fs::path& folder, const Visit& visit) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    visit(*it);
  }
}

void add_anchor(Inputs& inputs, const fs::path& anchor) {
  std::error_code error;
  inputs.add_file(anchor);
  const fs::path real = fs::weakly_canonical(anchor, error);
  for (const char* ending : {otf2::ending::definitions, otf2::ending::markers}) {
    inputs.add_file(fs::path(real).replace_extension(ending));
  }
  const fs::path folder = fs::path(real).replace_extension();
  if (!fs::is_directory(folder, error)) return;
  inputs.add_folder(folder);
  visit_folder(folder, [&](const fs::directory_entry& entry) {
    std::error_code unknown;
    if (entry.is_symlink(unknown)) inputs.add_file(entry.path());
  });
}

void add_trace(Inputs& inputs, const fs::path& path) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  if (const auto files = recording_files(path); files && !files->empty()) {
    if (is_folder) inputs.add_folder(path);
    for (const fs::path& file : *files) inputs.add_file(file);
  } else if (is_folder) {
    visit_folder(path, [&](const fs::directory_entry& entry) {
      if (entry.path().extension() == otf2::ending::anchor) add_anchor(inputs, entry.path());
    });
  } else if (path.extension() == otf2::ending::anchor) {
    add_anchor(inputs, path);
  } else {
    inputs.add_file(path);
  }
}

}  // namespace

OutputRule output_rule(const Paths& inputs, bool force) {
  return output_rule(inputs, CheckOptions(), force);
}

OutputRule output_rule(const Paths& inputs, const CheckOptions& options, bool force) {
  auto all = std::make_shared<Inputs>();
  for (const fs::path& path : inputs) add_trace(*all, path);
  if (!options.clock_samples.empty()) {
    visit_folder(options.clock_samples,
                 [&](const fs::directory_entry& entry) { all->add_file(entry.path()); });
  }
  return {.force = force, .inputs = std::move(all)};
}

}  // namespace entrain::engine
