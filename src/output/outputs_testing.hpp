// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "output/output.hpp"

namespace entrain::testing_outputs {

inline void put(const std::filesystem::path& path, const std::string& content = "content") {
  std::ofstream(path) << content;
}

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Number of entries of a folder, hidden ones too.
inline std::ptrdiff_t entries(const std::filesystem::path& folder) {
  return std::distance(std::filesystem::directory_iterator(folder),
                       std::filesystem::directory_iterator());
}

/// Writes a folder with one file.
inline Result<void> make_folder(const std::filesystem::path& target, const std::string& name,
                                bool force = false) {
  auto output = OutputFolder::create(target, {.force = force, .inputs = {}});
  if (!output) return tl::unexpected(output.error());
  put(output->path() / name);
  return output->commit();
}

/// Writes a file with a mark.
inline Result<void> make_file(const std::filesystem::path& target, const std::string& text,
                              bool force = false) {
  return write_output(target, file_mark() + text, {.force = force, .inputs = {}});
}

/// The hidden folder that a process leaves which is killed before its commit.
inline std::filesystem::path left_by_killed_process(const std::filesystem::path& target) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto output = OutputFolder::create(target, {});
    if (output) put(output->path() / "a");
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  for (const auto& entry : std::filesystem::directory_iterator(target.parent_path())) {
    if (entry.path().filename().string().starts_with('.')) return entry.path();
  }
  return {};
}

/// Number of such folders that the next run for `target` removes.
inline std::uint64_t removed_for(const std::filesystem::path& target) {
  const auto output = OutputFolder::create(target, {.force = true, .inputs = {}});
  return output ? output->leftovers_removed() : ~std::uint64_t{0};
}

}  // namespace entrain::testing_outputs
