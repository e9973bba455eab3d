// SPDX-License-Identifier: BSD-3-Clause
//
// Memory bandwidth: how fast arrays that no cache holds are copied, as in the Copy kernel of the
// STREAM benchmark. See bench/README.md.

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "arguments.hpp"

namespace {

/// Words of each of the two arrays: 256 MiB.
constexpr std::size_t k_words = std::size_t{32} << 20;

/// Calls `body(begin, end)` on `threads` threads that begin together.
template <class Body>
void on_threads(unsigned threads, Body body) {
  std::barrier start(threads + 1);
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      start.arrive_and_wait();
      body(k_words * t / threads, k_words * (t + 1) / threads);
    });
  }
  start.arrive_and_wait();
  for (std::thread& worker : workers) worker.join();
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv, "stream_copy [--threads 1,2] [--rounds N] --json",
                                   0);
  const std::unique_ptr<std::uint64_t[]> from(new std::uint64_t[k_words]);
  const std::unique_ptr<std::uint64_t[]> to(new std::uint64_t[k_words]);
  std::vector<bench::Series> all;
  for (const unsigned threads : arguments.threads) {
    on_threads(threads, [&](std::size_t begin, std::size_t end) {  // touches the pages
      std::fill(from.get() + begin, from.get() + end, begin);
      std::fill(to.get() + begin, to.get() + end, end);
    });
    bench::Series& series = all.emplace_back();
    series.name = "copy";
    series.threads = threads;
    for (unsigned round = 0; round < arguments.rounds; ++round) {
      series.measure([&] {
        on_threads(threads, [&](std::size_t begin, std::size_t end) {
          std::copy(from.get() + begin, from.get() + end, to.get() + begin);
        });
      });
    }
    if (to[k_words / 2] != from[k_words / 2]) bench::die("the copy is wrong");
  }
  // As STREAM counts: bytes read and bytes written.
  bench::print(all, {{"bytes", 2.0 * sizeof(std::uint64_t) * k_words}});
  return 0;
}
