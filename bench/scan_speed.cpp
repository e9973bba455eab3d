// SPDX-License-Identifier: BSD-3-Clause
//
// Measures how fast the event files of a trace are scanned, beside a plain read of their bytes and
// the OTF2 library's local readers: see bench/README.md.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "formats/otf2/read/archive.hpp"
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

/// Reads all bytes and returns their number.
std::uint64_t read_bytes(const std::vector<fs::path>& files) {
  std::vector<std::uint8_t> buffer(std::size_t{1} << 20);
  std::uint64_t total = 0;
  for (const fs::path& path : files) {
    auto file = entrain::File::open_for_reading(path);
    if (!file) die(file.error().message);
    for (std::uint64_t at = 0;;) {
      const auto n = file->read_at(at, buffer);
      if (!n) die(n.error().message);
      if (*n == 0) break;
      at += *n;
      total += *n;
    }
  }
  return total;
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

/// The work that is measured. Returns the number of events that it met (0: unknown).
struct Contestant {
  Series series;
  std::function<std::uint64_t()> work;
};

void run_once(Contestant& contestant, std::uint64_t events) {
  std::uint64_t met = 0;
  contestant.series.measure([&] { met = contestant.work(); });
  if (met != 0 && met != events) {
    die(fmt::format("{} found {} of {} events", contestant.series.name, met, events));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(
      argc, argv, "scan_speed traces.otf2 [--threads 1,2] [--rounds N] [--seed N] --json", 1);
  const fs::path anchor = arguments.paths[0];
  auto archive = entrain::otf2::Archive::open(anchor);
  if (!archive) die(archive.error().message);
  const std::vector<fs::path> files = event_files(**archive);
  std::uint64_t bytes = 0;
  for (const fs::path& file : files) bytes += fs::file_size(file);
  std::vector<Contestant> contestants;
  contestants.push_back({{"read", 1, {}, {}}, [&] {
                           if (read_bytes(files) != bytes) die("files changed");
                           return std::uint64_t{0};
                         }});
  for (const unsigned threads : arguments.threads) {
    contestants.push_back(
        {{"scan", threads, {}, {}}, [&, threads] { return scan(**archive, threads); }});
  }
  contestants.push_back(
      {{"otf2_reader", 1, {}, {}}, [&] { return read_with_library(anchor, **archive); }});
  const std::uint64_t events = scan(**archive, 1);  // not measured: warms everything up
  std::mt19937 random(arguments.seed);
  for (unsigned round = 0; round < arguments.rounds; ++round) {
    std::vector<std::size_t> order(contestants.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) run_once(contestants[i], events);
  }
  std::vector<Series> all;
  for (Contestant& contestant : contestants) all.push_back(std::move(contestant.series));
  print(all, {{"events", static_cast<double>(events)}, {"bytes", static_cast<double>(bytes)}});
  return 0;
}
