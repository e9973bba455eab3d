// SPDX-License-Identifier: BSD-3-Clause

// The library from within another program: looks at an archive, corrects it, and prints the clock
// maps and what the correction did. Then it aligns edges of its own. Usage: embed ARCHIVE
// OUTPUT-FOLDER

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <vector>

#include <entrain/entrain.hpp>

namespace {

void print(const entrain::ArchiveInfo& info) {
  std::cout << info.archive << ": " << info.locations << " locations, " << info.events
            << " events, " << info.resolution_hz << " ticks per second\n";
}

void print(const entrain::ClockMaps& clocks) {
  for (std::size_t i = 0; i < clocks.maps.size(); ++i) {
    const entrain::ClockMap& map = clocks.maps[i];
    std::cout << "clock of location " << clocks.locations[i] << ": " << map.knots().size()
              << " knots";
    if (!map.knots().empty()) {
      const auto ticks_per_us = static_cast<double>(clocks.resolution_hz) / 1e6;
      std::cout << ", behind by " << static_cast<double>(map.knots().front().offset) / ticks_per_us
                << " us at first, " << static_cast<double>(map.knots().back().offset) / ticks_per_us
                << " us at last";
    }
    std::cout << '\n';
  }
}

void print(const entrain::CorrectReport& report) {
  std::cout << "corrected archive: " << report.output << '\n'
            << "moved: " << report.statistics.moved_events << " of "
            << report.statistics.compared_events << " communication times, by at most "
            << report.statistics.max_ticks << " ticks\n"
            << "violations after: " << report.after.violations << '\n';
  if (report.judgement) {
    std::cout << "verdict: " << entrain::name_of(report.judgement->verdict) << '\n';
  }
}

void print(const entrain::Alignment& aligned) {
  std::cout << "edges of a trace of our own: " << aligned.report.before.violations
            << " violations, aligned: " << aligned.report.after.violations << '\n';
}

/// Two clocks, of which the second is 50 ticks late, and messages both ways between them.
entrain::Result<entrain::Alignment> align_own_edges() {
  entrain::Clocks clocks;
  clocks.clocks = {{.name = "first"}, {.name = "second"}};
  std::vector<std::uint32_t> from, to;
  std::vector<std::uint64_t> sent, received;
  for (std::uint64_t time = 1'000; time < 100'000; time += 1'000) {
    const bool there = time % 2'000 == 0;
    from.push_back(there ? 0 : 1);
    to.push_back(there ? 1 : 0);
    sent.push_back(there ? time : time - 50);
    received.push_back(there ? time - 40 : time + 10);
  }
  return entrain::align(
      clocks,
      {.cause_clock = from, .cause_time = sent, .effect_clock = to, .effect_time = received}, {});
}

/// Prints the value or the error; true if there was a value.
template <class T>
bool show(const entrain::Result<T>& result) {
  if (!result) {
    std::cerr << "embed: " << result.error().message << '\n';
    return false;
  }
  print(*result);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: embed ARCHIVE OUTPUT-FOLDER\n";
    return 2;
  }
  std::cout << "entrain " << entrain::version() << '\n';

  entrain::CorrectOptions options;
  options.force = true;

  if (!show(entrain::inspect(argv[1]))) return EXIT_FAILURE;

  const auto before = entrain::check(argv[1], options.check);
  if (!before) {
    std::cerr << "embed: " << before.error().message << '\n';
    return EXIT_FAILURE;
  }
  std::cout << "violations before: " << before->violations << '\n';

  if (!show(entrain::clock_maps(argv[1], options))) return EXIT_FAILURE;
  if (!show(entrain::correct(argv[1], argv[2], options))) return EXIT_FAILURE;
  if (!show(align_own_edges())) return EXIT_FAILURE;
  return EXIT_SUCCESS;
}
