// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder/host.hpp"

#include <time.h>
#include <unistd.h>

#include <cstdio>

#include "record/base/journal.hpp"

namespace entrain::record {

namespace {

/// The first line of a file, or the target of a link; "" if there is none.
std::string first_line(const char* path) {
  char text[256] = "";
  if (::readlink(path, text, sizeof text - 1) > 0) return text;
  if (std::FILE* const file = std::fopen(path, "r")) {
    if (std::fgets(text, sizeof text, file) == nullptr) text[0] = '\0';
    std::fclose(file);
  }
  return clean_word(text);
}

}  // namespace

std::string host_name() {
  char name[256] = "localhost";
  ::gethostname(name, sizeof name - 1);
  return clean_word(name);
}

std::string system_clock_identity() {
  return first_line("/proc/sys/kernel/random/boot_id") + '/' + first_line("/proc/self/ns/time");
}

std::uint64_t realtime_ns() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace entrain::record
