// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench {

/// Ends the program: a benchmark that cannot run must not look like one that did.
[[noreturn]] inline void die(const std::string& why) {
  fmt::print(stderr, "{}: {}\n", program_invocation_short_name, why);
  std::exit(2);
}

/// Command line of the programs that measure something themselves.
struct Arguments {
  std::vector<std::string> paths;
  std::vector<unsigned> threads = {1, 2};
  unsigned rounds = 1;
  unsigned seed = 1;  ///< of the order in which things are measured

  Arguments(int argc, char** argv, const char* usage, std::size_t wanted_paths) {
    bool json = false;
    for (int i = 1; i < argc; ++i) {
      const std::string_view word = argv[i];
      if (word == "--json") {
        json = true;
      } else if (word.substr(0, 2) != "--") {
        paths.emplace_back(word);
      } else if (i + 1 == argc) {
        die(fmt::format("usage: {}", usage));
      } else if (word == "--threads") {
        threads = counts(argv[++i]);
      } else if (word == "--rounds") {
        rounds = counts(argv[++i]).at(0);
      } else if (word == "--seed") {
        seed = counts(argv[++i]).at(0);
      } else {
        die(fmt::format("usage: {}", usage));
      }
    }
    if (!json || paths.size() != wanted_paths) die(fmt::format("usage: {}", usage));
  }

 private:
  /// "1,2,4"; all above 0.
  static std::vector<unsigned> counts(const char* text) {
    std::vector<unsigned> found;
    for (char* at = nullptr;; text = at + 1) {
      const unsigned long value = std::strtoul(text, &at, 10);
      if (at == text || value == 0 || value > 1'000'000 || (*at != ',' && *at != '\0')) {
        die(fmt::format("'{}' is not a count", text));
      }
      found.push_back(static_cast<unsigned>(value));
      if (*at == '\0') return found;
    }
  }
};

/// How long one thing took, round by round.
struct Series {
  std::string name;
  unsigned threads = 1;
  std::vector<double> seconds;
  std::vector<double> cpu_seconds;  ///< of all threads

  /// Runs `work` and notes how long it took.
  template <class Work>
  void measure(Work work) {
    const std::clock_t cpu_begin = std::clock();
    const auto begin = std::chrono::steady_clock::now();
    work();
    const auto end = std::chrono::steady_clock::now();
    seconds.push_back(std::chrono::duration<double>(end - begin).count());
    cpu_seconds.push_back(static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC);
  }
};

/// "[0.1, 0.2]"
inline std::string as_list(const std::vector<double>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += fmt::format("{}{:.6f}", i == 0 ? "" : ", ", values[i]);
  }
  return text + "]";
}

/// One JSON document: {NAME: VALUE, ..., "series": [{"name", "threads", "seconds",
/// "cpu_seconds"}]}.
inline void print(const std::vector<Series>& all,
                  const std::vector<std::pair<std::string, double>>& values) {
  std::string text = "{";
  for (const auto& [name, value] : values) text += fmt::format("\"{}\": {:.0f}, ", name, value);
  text += "\"series\": [";
  for (const Series& series : all) {
    text += fmt::format(
        "{}\n  {{\"name\": \"{}\", \"threads\": {}, \"seconds\": {}, \"cpu_seconds\": {}}}",
        &series == &all.front() ? "" : ",", series.name, series.threads, as_list(series.seconds),
        as_list(series.cpu_seconds));
  }
  fmt::print("{}]}}\n", text);
}

}  // namespace bench
