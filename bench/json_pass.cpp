// SPDX-License-Identifier: BSD-3-Clause
//
// Reads JSON files with simdjson, whole, and adds up the sizes of their values: the least cost of a
// program that is built on this library. See bench/README.md.

#include <cstdint>
#include <filesystem>

#include <simdjson.h>

#include "arguments.hpp"

namespace {

std::uint64_t size_of(simdjson::dom::element element) {
  std::uint64_t size = 0;
  if (element.is_object()) {
    for (const auto& [key, value] : element.get_object()) size += key.size() + size_of(value);
  } else if (element.is_array()) {
    for (const simdjson::dom::element one : element.get_array()) size += size_of(one);
  } else {
    size += element.is_string() ? element.get_string_length().value() : 1;
  }
  return size;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) bench::die("usage: json_pass FOLDER");
  simdjson::dom::parser parser;
  std::uint64_t size = 0;
  for (const auto& file : std::filesystem::directory_iterator(argv[1])) {
    if (file.path().extension() != ".json") continue;
    simdjson::dom::element document;
    if (parser.load(file.path().string()).get(document) != simdjson::SUCCESS) {
      bench::die(file.path().string() + " is no JSON");
    }
    size += size_of(document);
  }
  return size > 0 ? 0 : 2;
}
