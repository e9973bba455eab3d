// SPDX-License-Identifier: BSD-3-Clause
#include "output/inputs.hpp"

#include <sys/stat.h>

#include <optional>
#include <system_error>
#include <vector>

#include "base/try.hpp"

namespace entrain {

namespace fs = std::filesystem;

namespace {

using Id = std::pair<std::uint64_t, std::uint64_t>;

std::optional<Id> id_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return Id(status.st_dev, status.st_ino);
}

/// The folder that the name stands in, without links.
fs::path real_parent(const fs::path& path) {
  std::error_code error;
  const fs::path parent = path.parent_path();
  return fs::weakly_canonical(parent.empty() ? fs::path(".") : parent, error);
}

/// A folder and those around it, the innermost first.
std::vector<fs::path> upward(const fs::path& folder) {
  std::vector<fs::path> folders{folder};
  while (folders.back().has_relative_path()) folders.push_back(folders.back().parent_path());
  return folders;
}

Result<void> refuse(const fs::path& target, const char* relation, const std::string& input) {
  return usage_error(
      "the output {} {} the input {}, which is never changed; choose another place for the output",
      target.string(), relation, input);
}

}  // namespace

void Inputs::add_parents_of(const fs::path& path, const std::string& name) {
  const fs::path parent = real_parent(path);
  if (!known_parents_.insert(parent).second) return;
  for (const fs::path& folder : upward(parent)) {
    if (const auto id = id_of(folder)) around_.emplace(*id, name);
  }
}

void Inputs::add(const fs::path& path, std::map<Id, std::string>& to) {
  std::error_code error;
  if (const auto id = id_of(path)) to.emplace(*id, path.string());
  fs::path spelled = path;
  if (!spelled.has_filename()) spelled = spelled.parent_path();
  add_parents_of(spelled, path.string());
  if (!fs::is_symlink(fs::symlink_status(spelled, error))) return;
  const fs::path real = fs::canonical(spelled, error);
  if (!error) add_parents_of(real, path.string());
}

Result<void> Inputs::check_apart(const fs::path& target, bool is_folder) const {
  if (const auto id = id_of(target)) {
    for (const auto* const known : {&files_, &folders_, &around_}) {
      const auto found = known->find(*id);
      if (found == known->end()) continue;
      return refuse(target, known == &around_ ? "contains" : "is", found->second);
    }
  }
  for (const fs::path& folder : upward(real_parent(target))) {
    const auto id = id_of(folder);
    for (const auto* const kept : {&folders_, &homes_}) {
      if (!id || (kept == &homes_ && !is_folder)) continue;
      const auto found = kept->find(*id);
      if (found != kept->end()) return refuse(target, "lies in", found->second);
    }
  }
  return {};
}

}  // namespace entrain
