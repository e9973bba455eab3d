// SPDX-License-Identifier: BSD-3-Clause
/// Writes archives that are hard to show. Usage: write_page_archive KIND FOLDER, which must not
/// exist.
///   hostile   names try to break the page: markup, quotes, directions of writing, control
///             characters, broken UTF-8, and 10,000 characters
///   serial    calls of functions, no communication
///   one       a single event
///   unproven  most receives have no send
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "support/archive_builder.hpp"

namespace {

const std::vector<std::string> k_names{
    "</script><script>document.hostile = 1</script>",
    "\"><img src=x onerror=\"document.hostile = 2\">",
    "' onmouseover='document.hostile = 3' <!-- <script>",
    "\xE2\x80\xAE"
    "reversed \xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D \xE2\x81\xA6{{7*7}}${document.hostile = 4}",
    std::string(10'000, 'x'),
    "\xFF\xFE broken \x01\x1B[31m \xE2\x80\xA8 line",
};

using entrain::test::ArchiveBuilder;

void write_hostile(const std::string& folder) {
  ArchiveBuilder archive(folder);
  const std::size_t count = k_names.size();
  std::vector<std::uint64_t> locations;
  for (std::size_t i = 0; i < count; ++i) {
    const auto node = archive.node(k_names[(i + 1) % count]);
    locations.push_back(archive.location(i, archive.process(k_names[i], node), k_names[i]));
  }
  const auto world = archive.comm(k_names[0], locations);
  std::vector<std::uint32_t> regions;
  for (const std::string& name : k_names) regions.push_back(archive.region(name));
  archive.property("FILTER::NAMES", k_names[1]);
  for (std::uint64_t round = 0; round < 40; ++round) {
    const std::uint64_t begin = 1'000'000 * (round + 1);
    for (std::uint64_t l = 0; l < count; ++l) {
      const std::uint64_t skew = 40'000 * l;
      const auto next = static_cast<std::uint32_t>((l + 1) % count);
      const auto previous = static_cast<std::uint32_t>((l + count - 1) % count);
      auto events = archive.at(l);
      events.enter(begin + skew, regions[l]);
      events.send(begin + skew + 1'000, next, world, 1);
      events.recv(begin + skew + 5'000, previous, world, 1);
      events.leave(begin + skew + 6'000, regions[l]);
      events.collective_begin(begin + skew + 10'000);
      events.collective_end(begin + skew + 15'000, 0, world, 0xFFFFFFFFu, 0, 0);
    }
  }
  archive.finish();
}

void write_serial(const std::string& folder) {
  ArchiveBuilder archive(folder);
  const auto node = archive.node("n0");
  const auto region = archive.region("work");
  for (std::uint64_t l = 0; l < 3; ++l) {
    archive.location(l, archive.process("process " + std::to_string(l), node));
    archive.at(l).enter(1'000, region).leave(2'000 + l, region);
  }
  archive.finish();
}

void write_one(const std::string& folder) {
  ArchiveBuilder archive(folder);
  archive.location(0, archive.process("alone", archive.node("n0")));
  archive.at(0).enter(1'000, archive.region("main"));
  archive.finish();
}

void write_unproven(const std::string& folder) {
  ArchiveBuilder archive(folder);
  const auto node = archive.node("n0");
  for (std::uint64_t l = 0; l < 2; ++l) {
    archive.location(l, archive.process("MPI Rank " + std::to_string(l), node));
  }
  const auto world = archive.comm("world", {0, 1});
  archive.at(0).send(1'000, 1, world, 1);
  archive.at(1).recv(2'000, 0, world, 1);
  for (std::uint64_t i = 0; i < 9; ++i) archive.at(1).recv(3'000 + i, 0, world, 2);
  archive.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string kind = argv[1];
  try {
    if (kind == "hostile")
      write_hostile(argv[2]);
    else if (kind == "serial")
      write_serial(argv[2]);
    else if (kind == "one")
      write_one(argv[2]);
    else if (kind == "unproven")
      write_unproven(argv[2]);
    else
      return 2;
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "%s\n", exception.what());
    return 1;
  }
  return 0;
}
