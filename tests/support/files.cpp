// SPDX-License-Identifier: BSD-3-Clause
#include "support/files.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace entrain::test {

namespace fs = std::filesystem;

Bytes read_bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

void write_bytes(const fs::path& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

void copy_tree(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  for (const auto& entry : fs::directory_iterator(from)) {
    const auto target = to / entry.path().filename();
    if (entry.is_directory()) {
      copy_tree(entry.path(), target);
    } else {
      fs::copy_file(entry.path(), target);
      fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write,
                      fs::perm_options::add);
    }
  }
}

std::map<std::string, std::uint64_t> digest_tree(const fs::path& root) {
  std::map<std::string, std::uint64_t> digests;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const auto byte : read_bytes(entry.path())) hash = (hash ^ byte) * 0x100000001b3u;
    digests[fs::relative(entry.path(), root).string()] = hash;
  }
  return digests;
}

std::vector<std::string> entries_of(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path anchor_in(const fs::path& folder) {
  fs::path anchor;
  for (const auto& name : entries_of(folder)) {
    if (fs::path(name).extension() != ".otf2") continue;
    if (!anchor.empty()) throw std::runtime_error("two anchor files in " + folder.string());
    anchor = folder / name;
  }
  if (anchor.empty()) throw std::runtime_error("no anchor file in " + folder.string());
  return anchor;
}

std::vector<fs::path> archives_under(const fs::path& root) {
  std::vector<fs::path> found;
  if (!fs::is_directory(root)) return found;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (!entry.is_directory()) continue;
    const auto names = entries_of(entry.path());
    const auto anchors = std::count_if(names.begin(), names.end(), [](const std::string& name) {
      return fs::path(name).extension() == ".otf2";
    });
    if (anchors == 1) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace entrain::test
