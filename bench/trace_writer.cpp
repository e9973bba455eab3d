// SPDX-License-Identifier: BSD-3-Clause
//
// Writes a large trace of a made-up MPI program with the OTF2 library: see bench/README.md.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <otf2/otf2.h>

#include "base/flat_map.hpp"
#include "otf2_support.hpp"
#include "workload.hpp"

namespace {

using namespace bench;

constexpr std::uint64_t k_start = 1'800'000'000'000;  // of true time in the trace, ticks
constexpr std::uint64_t k_event_chunk = 1 << 20;
constexpr std::uint64_t k_definition_chunk = 256 << 10;
constexpr std::uint64_t k_bytes = 4096;  // of every message
constexpr double k_largest_slope = 0.05;

struct Options {
  std::filesystem::path folder;
  std::uint64_t events = 24'000'000;
  std::uint32_t locations = 8;
  double violations = 0.1;
  std::uint64_t seed = 1;
};

/// A message as the clocks will see it.
struct Received {
  std::uint64_t sent, received;
  std::uint32_t sender, receiver;
};

/// First run of the program: counts events and remembers a sample of the messages.
struct Survey {
  explicit Survey(std::uint32_t locations, std::uint64_t every_nth)
      : events(locations), begin(locations), end(locations), last(locations), every(every_nth) {}

  void enter(std::uint32_t l, std::uint64_t t, Region) { count(l, t); }
  void leave(std::uint32_t l, std::uint64_t t, Region) { count(l, t); }
  void irecv_request(std::uint32_t l, std::uint64_t t, std::uint64_t) { count(l, t); }
  void isend(std::uint32_t l, std::uint64_t t, std::uint32_t, std::uint64_t) { count(l, t); }
  void isend_complete(std::uint32_t l, std::uint64_t t, std::uint64_t) { count(l, t); }
  void send(std::uint32_t l, std::uint64_t t, std::uint32_t) { count(l, t); }
  void collective_begin(std::uint32_t l, std::uint64_t t) { count(l, t); }
  void collective_end(std::uint32_t l, std::uint64_t t) { count(l, t); }
  void after_init(std::uint32_t l, std::uint64_t t) { begin[l] = t; }
  void before_finalize(std::uint32_t l, std::uint64_t t) { end[l] = t; }
  void irecv(std::uint32_t l, std::uint64_t t, std::uint32_t from, std::uint64_t sent,
             std::uint64_t) {
    recv(l, t, from, sent);
  }
  void recv(std::uint32_t l, std::uint64_t t, std::uint32_t from, std::uint64_t sent) {
    count(l, t);
    // Not every n-th: the program is periodic, and the sample would show only some of its messages.
    if (entrain::mix(receives++) % every == 0) sample.push_back({sent, t, from, l});
  }
  void count(std::uint32_t l, std::uint64_t t) {
    ++events[l];
    last[l] = t;
  }

  std::vector<std::uint64_t> events, begin, end, last;
  std::uint64_t every;
  std::uint64_t receives = 0;
  std::vector<Received> sample;
};

/// The clocks: offsets of milliseconds and drifts of ppm, which linear interpolation of the
/// ClockOffset records removes, and waves in opposite phase at neighbours, which it does not.
class Clocks {
 public:
  /// The waves cross 0 at the true times `begin` and `end`, when the clocks are measured.
  Clocks(const Options& options, std::uint64_t begin, std::uint64_t end)
      : begin_(static_cast<double>(begin)), span_(static_cast<double>(end - begin)) {
    for (std::uint32_t l = 0; l < options.locations; ++l) {
      entrain::sim::RandomStream random(options.seed, 1'000'000 + l);
      offset_.push_back(random.uniform(-5e6, 5e6));
      drift_.push_back(random.uniform(-20e-6, 20e-6));
      wave_.push_back((l % 2 == 0 ? 1 : -1) * random.uniform(0.7, 1));
    }
  }

  [[nodiscard]] double wave(std::uint32_t l, std::uint64_t t) const {
    return wave_[l] * std::sin(k_frequency * (static_cast<double>(t) - begin_) / span_);
  }
  [[nodiscard]] std::uint64_t shown(std::uint32_t l, std::uint64_t t) const {
    const auto x = static_cast<double>(t);
    return k_start + t +
           static_cast<std::uint64_t>(
               std::llrint(offset_[l] + drift_[l] * x + amplitude_ * wave(l, t)));
  }

  /// Chooses the amplitude so that `share` of the messages arrive before they are sent.
  void violate(double share, const std::vector<Received>& messages) {
    const auto reached = [&] { return violated(messages); };
    const double largest = k_largest_slope * span_ / k_frequency;
    double low = 0, high = largest;
    for (int i = 0; i < 40; ++i) {
      amplitude_ = (low + high) / 2;
      (reached() < share ? low : high) = amplitude_;
    }
    if (share == 0) amplitude_ = 0;
    if (std::fabs(reached() - share) > 0.01) {
      die(
          fmt::format("a share of {} violated receives cannot be reached ({:.3f} can): ask for "
                      "less, or for more events",
                      share, reached()));
    }
  }
  [[nodiscard]] double violated(const std::vector<Received>& messages) const {
    const auto n = std::count_if(messages.begin(), messages.end(), [&](const Received& m) {
      const double slack = static_cast<double>(m.received - m.sent);
      return slack + amplitude_ * (wave(m.receiver, m.received) - wave(m.sender, m.sent)) < 0;
    });
    return messages.empty() ? 0 : static_cast<double>(n) / static_cast<double>(messages.size());
  }
  [[nodiscard]] double amplitude() const { return amplitude_; }

 private:
  static constexpr double k_frequency = 3 * 2 * std::numbers::pi;  // three waves over the run
  double begin_, span_;
  double amplitude_ = 0;
  std::vector<double> offset_, drift_, wave_;
};

/// Second run: writes every event with the time its clock shows.
class Writer {
 public:
  Writer(const Options& options, const Clocks& clocks)
      : clocks_(clocks),
        archive_(
            create_archive(options.folder.string(), "traces", k_event_chunk, k_definition_chunk)) {
    ok(OTF2_Archive_SetCreator(archive_, "Entrain bench/trace_writer"), "creator");
    for (std::uint32_t l = 0; l < options.locations; ++l) {
      writers_.push_back(OTF2_Archive_GetEvtWriter(archive_, l));
    }
  }

  void enter(std::uint32_t l, std::uint64_t t, Region region) {
    OTF2_EvtWriter_Enter(writers_[l], nullptr, clocks_.shown(l, t), region);
  }
  void leave(std::uint32_t l, std::uint64_t t, Region region) {
    OTF2_EvtWriter_Leave(writers_[l], nullptr, clocks_.shown(l, t), region);
  }
  void irecv_request(std::uint32_t l, std::uint64_t t, std::uint64_t request) {
    OTF2_EvtWriter_MpiIrecvRequest(writers_[l], nullptr, clocks_.shown(l, t), request);
  }
  void irecv(std::uint32_t l, std::uint64_t t, std::uint32_t from, std::uint64_t,
             std::uint64_t request) {
    OTF2_EvtWriter_MpiIrecv(writers_[l], nullptr, clocks_.shown(l, t), from, 0, 7, k_bytes,
                            request);
  }
  void isend(std::uint32_t l, std::uint64_t t, std::uint32_t to, std::uint64_t request) {
    OTF2_EvtWriter_MpiIsend(writers_[l], nullptr, clocks_.shown(l, t), to, 0, 7, k_bytes, request);
  }
  void isend_complete(std::uint32_t l, std::uint64_t t, std::uint64_t request) {
    OTF2_EvtWriter_MpiIsendComplete(writers_[l], nullptr, clocks_.shown(l, t), request);
  }
  void send(std::uint32_t l, std::uint64_t t, std::uint32_t to) {
    OTF2_EvtWriter_MpiSend(writers_[l], nullptr, clocks_.shown(l, t), to, 0, 8, k_bytes);
  }
  void recv(std::uint32_t l, std::uint64_t t, std::uint32_t from, std::uint64_t) {
    OTF2_EvtWriter_MpiRecv(writers_[l], nullptr, clocks_.shown(l, t), from, 0, 8, k_bytes);
  }
  void collective_begin(std::uint32_t l, std::uint64_t t) {
    OTF2_EvtWriter_MpiCollectiveBegin(writers_[l], nullptr, clocks_.shown(l, t));
  }
  void collective_end(std::uint32_t l, std::uint64_t t) {
    OTF2_EvtWriter_MpiCollectiveEnd(writers_[l], nullptr, clocks_.shown(l, t),
                                    OTF2_COLLECTIVE_OP_ALLREDUCE, 0, OTF2_COLLECTIVE_ROOT_NONE, 8,
                                    8);
  }
  void after_init(std::uint32_t, std::uint64_t) {}
  void before_finalize(std::uint32_t, std::uint64_t) {}

  void close(const Options& options, const Survey& survey) {
    for (std::uint32_t l = 0; l < options.locations; ++l) {
      std::uint64_t written = 0;
      ok(OTF2_EvtWriter_GetNumberOfEvents(writers_[l], &written), "number of events");
      if (written != survey.events[l]) die("the OTF2 library lost events: is the disk full?");
      ok(OTF2_Archive_CloseEvtWriter(archive_, writers_[l]), "closing event files");
    }
    ok(OTF2_Archive_CloseEvtFiles(archive_), "closing event files");
    write_clock_offsets(options, survey);
    write_definitions(options, survey);
    ok(OTF2_Archive_Close(archive_), "closing the archive");
  }

 private:
  void write_clock_offsets(const Options& options, const Survey& survey) {
    ok(OTF2_Archive_OpenDefFiles(archive_), "definition files");
    for (std::uint32_t l = 0; l < options.locations; ++l) {
      OTF2_DefWriter* writer = OTF2_Archive_GetDefWriter(archive_, l);
      for (const std::uint64_t t : {survey.begin[l], survey.end[l]}) {
        const std::uint64_t local = clocks_.shown(l, t);
        const auto offset = static_cast<std::int64_t>(clocks_.shown(0, t) - local);
        ok(OTF2_DefWriter_WriteClockOffset(writer, local, offset, 0), "clock offset");
      }
      ok(OTF2_Archive_CloseDefWriter(archive_, writer), "closing definitions");
    }
    ok(OTF2_Archive_CloseDefFiles(archive_), "closing definitions");
  }

  std::uint32_t string(const std::string& text) {
    ok(OTF2_GlobalDefWriter_WriteString(definitions_, strings_, text.c_str()), "string");
    return strings_++;
  }

  void write_definitions(const Options& options, const Survey& survey) {
    definitions_ = OTF2_Archive_GetGlobalDefWriter(archive_);
    std::uint64_t first = ~std::uint64_t{0}, last = 0;
    for (std::uint32_t l = 0; l < options.locations; ++l) {
      first = std::min(first, clocks_.shown(l, 0));
      last = std::max(last, clocks_.shown(l, survey.last[l]));
      // The clock of location 0 is the time base after correction.
      last = std::max(last, clocks_.shown(0, survey.last[l]) + 1'000'000);
    }
    ok(OTF2_GlobalDefWriter_WriteClockProperties(definitions_, 1'000'000'000, first, last - first,
                                                 OTF2_UNDEFINED_TIMESTAMP),
       "clock properties");
    empty_ = string("");
    write_locations(options, survey);
    write_regions();
    write_communicator(options);
  }

  /// Every location is a process on a node of its own, so that it may have a clock of its own.
  void write_locations(const Options& options, const Survey& survey) {
    const auto machine = string("machine"), node = string("node"), thread = string("Master thread");
    ok(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, 0, machine, machine,
                                                OTF2_UNDEFINED_SYSTEM_TREE_NODE),
       "machine");
    for (std::uint32_t l = 0; l < options.locations; ++l) {
      ok(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, 1 + l,
                                                  string("node" + std::to_string(l)), node, 0),
         "node");
      ok(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(definitions_, 1 + l,
                                                        OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY),
         "node");
      ok(OTF2_GlobalDefWriter_WriteLocationGroup(
             definitions_, l, string("MPI Rank " + std::to_string(l)),
             OTF2_LOCATION_GROUP_TYPE_PROCESS, 1 + l, OTF2_UNDEFINED_LOCATION_GROUP),
         "process");
      ok(OTF2_GlobalDefWriter_WriteLocation(definitions_, l, thread, OTF2_LOCATION_TYPE_CPU_THREAD,
                                            survey.events[l], l),
         "location");
    }
  }

  void write_regions() {
    static constexpr const char* names[k_region_count] = {
        "main",     "step",         "gather_stress", "update_nodes", "equation_of_state",
        "MPI_Init", "MPI_Finalize", "MPI_Isend",     "MPI_Irecv",    "MPI_Waitall",
        "MPI_Send", "MPI_Recv",     "MPI_Allreduce"};
    for (std::uint32_t r = 0; r < k_region_count; ++r) {
      const bool mpi = r >= k_mpi_init;
      const auto name = string(names[r]);
      const OTF2_RegionRole role = r == k_mpi_allreduce ? OTF2_REGION_ROLE_COLL_ALL2ALL
                                   : r >= k_mpi_isend   ? OTF2_REGION_ROLE_POINT2POINT
                                                        : OTF2_REGION_ROLE_FUNCTION;
      ok(OTF2_GlobalDefWriter_WriteRegion(definitions_, r, name, name, empty_, role,
                                          mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER,
                                          OTF2_REGION_FLAG_NONE, empty_, 0, 0),
         "region");
    }
  }

  void write_communicator(const Options& options) {
    std::vector<std::uint64_t> ranks(options.locations);
    for (std::uint32_t l = 0; l < options.locations; ++l) ranks[l] = l;
    ok(OTF2_GlobalDefWriter_WriteGroup(definitions_, 0, empty_, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                       OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, options.locations,
                                       ranks.data()),
       "group");
    ok(OTF2_GlobalDefWriter_WriteGroup(definitions_, 1, empty_, OTF2_GROUP_TYPE_COMM_GROUP,
                                       OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, options.locations,
                                       ranks.data()),
       "group");
    ok(OTF2_GlobalDefWriter_WriteComm(definitions_, 0, string("MPI_COMM_WORLD"), 1,
                                      OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE),
       "communicator");
  }

  const Clocks& clocks_;
  OTF2_Archive* archive_;
  OTF2_GlobalDefWriter* definitions_ = nullptr;
  std::vector<OTF2_EvtWriter*> writers_;
  std::uint32_t strings_ = 0;
  std::uint32_t empty_ = 0;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name.rfind("--", 0) != 0) {
      options.folder = name;
      continue;
    }
    if (i + 1 == argc) die(name + " needs a value");
    char* end = nullptr;
    const double value = std::strtod(argv[++i], &end);
    if (*end != '\0' || !(value >= 0)) die(name + " needs a number from 0 up");
    if (name == "--events") {
      options.events = static_cast<std::uint64_t>(value);
    } else if (name == "--locations") {
      options.locations = static_cast<std::uint32_t>(value);
    } else if (name == "--violations") {
      options.violations = value;
    } else if (name == "--seed") {
      options.seed = static_cast<std::uint64_t>(value);
    } else {
      die("unknown option " + name);
    }
  }
  if (options.folder.empty()) {
    die("usage: trace_writer FOLDER [--events 24e6] [--locations 8] [--violations 0.1] [--seed 1]");
  }
  if (options.locations < 3) die("a ring needs at least 3 locations");
  if (std::filesystem::exists(options.folder)) die(options.folder.string() + " exists already");
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const double per_step = Workload<Survey>::events_per_step() * options.locations;
  const auto steps = std::max<std::uint64_t>(
      static_cast<std::uint64_t>(static_cast<double>(options.events) / per_step), 1);

  Survey survey(options.locations, 1 + options.events / 24'000'000);
  Workload<Survey>(options.locations, steps, options.seed, survey).run();
  const std::uint64_t last = *std::max_element(survey.last.begin(), survey.last.end());
  Clocks clocks(options, survey.begin[0], survey.end[0]);
  clocks.violate(options.violations, survey.sample);

  Writer writer(options, clocks);
  Workload<Writer>(options.locations, steps, options.seed, writer).run();
  writer.close(options, survey);

  std::uint64_t events = 0;
  for (const std::uint64_t n : survey.events) events += n;
  fmt::print(
      "{{\"events\": {}, \"locations\": {}, \"receives\": {}, \"violated_share\": {:.4f}, "
      "\"span_s\": {:.3f}, \"wander_s\": {:.9f}}}\n",
      events, options.locations, survey.receives, clocks.violated(survey.sample),
      static_cast<double>(last) * 1e-9, clocks.amplitude() * 1e-9);
  return 0;
}
