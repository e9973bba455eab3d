// SPDX-License-Identifier: BSD-3-Clause
//
// Measures how fast the event files of a trace are scanned, beside a plain read of their bytes and
// the OTF2 library's local readers: see bench/README.md.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "otf2/archive.hpp"
#include "otf2_support.hpp"

namespace {

using namespace bench;
namespace fs = std::filesystem;

std::vector<fs::path> event_files(const entrain::otf2::Archive& archive) {
  std::vector<fs::path> files;
  const std::size_t count = archive.definitions().locations.size();
  for (entrain::LocationIndex l = 0; l < count; ++l) {
    const fs::path file = archive.event_file(l);
    if (fs::exists(file)) files.push_back(file);
  }
  return files;
}

/// Reads all bytes; the sum keeps the compiler from dropping anything.
std::uint64_t read_bytes(const std::vector<fs::path>& files) {
  std::vector<std::uint8_t> buffer(std::size_t{1} << 20);
  std::uint64_t sum = 0;
  for (const fs::path& path : files) {
    auto file = entrain::File::open_for_reading(path);
    if (!file) die(file.error().message);
    for (std::uint64_t at = 0;;) {
      const auto n = file->read_at(at, buffer);
      if (!n) die(n.error().message);
      if (*n == 0) break;
      at += *n;
      sum += buffer[0];
    }
  }
  return sum;
}

std::uint64_t scan(const entrain::otf2::Archive& archive, unsigned threads) {
  std::vector<entrain::LocationIndex> all(archive.definitions().locations.size());
  std::iota(all.begin(), all.end(), 0);
  const auto skeletons = archive.scan_all(all, threads, nullptr);
  if (!skeletons) die(skeletons.error().message);
  std::uint64_t events = 0;
  for (const auto& skeleton : *skeletons) events += skeleton.event_count;
  return events;
}

/// Reads all events with callbacks for the commonest records.
std::uint64_t read_with_library(const fs::path& anchor, const entrain::otf2::Archive& archive) {
  OTF2_Reader* reader = OTF2_Reader_Open(anchor.c_str());
  if (reader == nullptr) die("cannot read " + anchor.string());
  ok(OTF2_Reader_SetSerialCollectiveCallbacks(reader), "serial reader");
  for (const auto& location : archive.definitions().locations) {
    ok(OTF2_Reader_SelectLocation(reader, location.id), "selecting a location");
  }
  ok(OTF2_Reader_OpenEvtFiles(reader), "event files");
  OTF2_EvtReaderCallbacks* callbacks = OTF2_EvtReaderCallbacks_New();
  const auto region = [](OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* sum,
                         OTF2_AttributeList*, OTF2_RegionRef entered) -> OTF2_CallbackCode {
    *static_cast<std::uint64_t*>(sum) += time + entered;
    return OTF2_CALLBACK_SUCCESS;
  };
  const auto message = [](OTF2_LocationRef, OTF2_TimeStamp time, std::uint64_t, void* sum,
                          OTF2_AttributeList*, std::uint32_t, OTF2_CommRef, std::uint32_t tag,
                          std::uint64_t) -> OTF2_CallbackCode {
    *static_cast<std::uint64_t*>(sum) += time + tag;
    return OTF2_CALLBACK_SUCCESS;
  };
  ok(OTF2_EvtReaderCallbacks_SetEnterCallback(callbacks, region), "callbacks");
  ok(OTF2_EvtReaderCallbacks_SetLeaveCallback(callbacks, region), "callbacks");
  ok(OTF2_EvtReaderCallbacks_SetMpiSendCallback(callbacks, message), "callbacks");
  ok(OTF2_EvtReaderCallbacks_SetMpiRecvCallback(callbacks, message), "callbacks");
  std::uint64_t events = 0, sum = 0;
  for (const auto& location : archive.definitions().locations) {
    OTF2_EvtReader* events_reader = OTF2_Reader_GetEvtReader(reader, location.id);
    if (events_reader == nullptr) die(fmt::format("no events of location {}", location.id));
    ok(OTF2_Reader_RegisterEvtCallbacks(reader, events_reader, callbacks, &sum), "callbacks");
    std::uint64_t read = 0;
    ok(OTF2_Reader_ReadAllLocalEvents(reader, events_reader, &read), "events");
    events += read;
    ok(OTF2_Reader_CloseEvtReader(reader, events_reader), "events");
  }
  OTF2_EvtReaderCallbacks_Delete(callbacks);
  OTF2_Reader_Close(reader);
  return events;
}

struct Contestant {
  std::string name;
  std::function<std::uint64_t()> run;
  std::vector<double> wall_s, cpu_s;  ///< per round; CPU time is that of all threads

  void run_once() {
    const std::clock_t cpu_begin = std::clock();
    const auto begin = std::chrono::steady_clock::now();
    if (run() == 0) die(name + " found nothing");
    const auto end = std::chrono::steady_clock::now();
    wall_s.push_back(std::chrono::duration<double>(end - begin).count());
    cpu_s.push_back(static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) die("usage: scan_speed traces.otf2 [ROUNDS]");
  const int rounds = argc > 2 ? std::max(std::atoi(argv[2]), 1) : 11;
  auto archive = entrain::otf2::Archive::open(argv[1]);
  if (!archive) die(archive.error().message);
  const std::vector<fs::path> files = event_files(**archive);
  double bytes = 0;
  for (const fs::path& file : files) bytes += static_cast<double>(fs::file_size(file));
  std::vector<Contestant> contestants = {
      {"read", [&] { return read_bytes(files); }, {}, {}},
      {"scan, 1 thread", [&] { return scan(**archive, 1); }, {}, {}},
      {"scan, 2 threads", [&] { return scan(**archive, 2); }, {}, {}},
      {"OTF2 library", [&] { return read_with_library(argv[1], **archive); }, {}, {}},
  };
  const auto events = static_cast<double>(scan(**archive, 1));
  for (int round = 0; round < rounds; ++round) {
    for (Contestant& contestant : contestants) contestant.run_once();
  }
  fmt::print("{:.1f} million events, {:.0f} MB, {} rounds\n", events / 1e6, bytes / 1e6, rounds);
  fmt::print("{:16} {:>10} {:>10} {:>10} {:>10} {:>12}\n", "", "wall: min", "median ms",
             "Mevents/s", "GB/s", "CPU: min ms");
  for (Contestant& contestant : contestants) {
    std::sort(contestant.wall_s.begin(), contestant.wall_s.end());
    const double least = contestant.wall_s.front();
    const double median = contestant.wall_s[contestant.wall_s.size() / 2];
    const double cpu = *std::min_element(contestant.cpu_s.begin(), contestant.cpu_s.end());
    fmt::print("{:16} {:10.2f} {:10.2f} {:10.1f} {:10.2f} {:12.2f}\n", contestant.name, least * 1e3,
               median * 1e3, events / median / 1e6, bytes / median / 1e9, cpu * 1e3);
  }
  return 0;
}
