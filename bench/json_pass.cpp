// SPDX-License-Identifier: BSD-3-Clause
//
// Reads JSON files with simdjson, and adds up the sizes of their values: the least cost of a
// program that is built on this library. See bench/README.md.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include <simdjson.h>

#include "arguments.hpp"

namespace {

constexpr std::size_t k_largest_line = std::size_t{16} << 20;  // bytes

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

simdjson::dom::element value_of(simdjson::simdjson_result<simdjson::dom::element> read,
                                const std::string& path) {
  simdjson::dom::element element;
  if (read.get(element) != simdjson::SUCCESS) bench::die(path + " is no JSON");
  return element;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) bench::die("usage: json_pass FOLDER");
  simdjson::dom::parser parser;
  std::uint64_t size = 0;
  for (const auto& file : std::filesystem::directory_iterator(argv[1])) {
    const std::string path = file.path().string();
    if (file.path().extension() == ".json") {
      size += size_of(value_of(parser.load(path), path));
    } else if (file.path().extension() == ".jsonl") {  // a document per line
      simdjson::dom::document_stream documents;
      if (parser.load_many(path, k_largest_line).get(documents) != simdjson::SUCCESS) {
        bench::die(path + " cannot be read");
      }
      for (const auto document : documents) size += size_of(value_of(document, path));
    }
  }
  return size > 0 ? 0 : 2;
}
