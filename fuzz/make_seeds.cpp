// SPDX-License-Identifier: BSD-3-Clause
// make_seeds EXAMPLES FOLDER: writes the first inputs of all targets to FOLDER/TARGET/.
#include <cstdio>
#include <exception>

#include "fuzz/targets.hpp"
#include "support/files.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make_seeds EXAMPLES FOLDER\n");
    return 2;
  }
  try {
    for (const auto& [name, bytes] : entrain::fuzz::seeds(argv[1])) {
      const auto file = std::filesystem::path(argv[2]) / name;
      std::filesystem::create_directories(file.parent_path());
      entrain::test::write_bytes(file, bytes);
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "make_seeds: %s\n", problem.what());
    return 2;
  }
  return 0;
}
