// SPDX-License-Identifier: BSD-3-Clause
// The product's scanner against the OTF2 library where scan_test does not look: many random
// archives, archives of big-endian machines, damaged ones. Definitions and skeletons are compared
// field by field.
#include <gtest/gtest.h>

#include <cstdio>

#include "formats/otf2/read/archive.hpp"
#include "support/all_records.hpp"
#include "support/archive_builder.hpp"
#include "support/big_endian.hpp"
#include "support/compare_traces.hpp"
#include "support/files.hpp"
#include "support/oracle.hpp"
#include "support/otf2_print.hpp"
#include "support/process.hpp"
#include "support/random_events.hpp"
#include "support/random_trace.hpp"
#include "support/repetitions.hpp"
#include "support/scanned_trace.hpp"
#include "support/test_archives.hpp"
#include "support/trace_writer.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

AllRecordsOptions random_options(std::uint64_t seed) {
  AllRecordsOptions options;
  options.events_per_location = 300 + 70 * static_cast<unsigned>(seed % 11);
  options.base_time = seed % 3 == 0 ? 0 : std::uint64_t{1} << (seed % 55);
  options.clock_offsets = seed % 4 != 1;
  options.mappings = seed % 5 != 2;
  options.side_files = false;
  return options;
}

TEST(Library, agrees_on_random_archives_of_all_records) {
  for (std::uint64_t seed = 1000; seed < 1050; ++seed) {
    const TempFolder scratch;
    const auto anchor = write_all_records_archive(scratch / "a", seed, random_options(seed));
    ASSERT_EQ(difference(scanned_trace(anchor), library_trace(anchor)), "") << "seed " << seed;
  }
}

TracePlan random_plan(std::uint64_t seed) {
  TracePlan plan;
  plan.seed = seed;
  plan.processes = 2 + static_cast<std::uint32_t>(seed % 5);
  plan.threads = 1 + static_cast<std::uint32_t>(seed % 3);
  plan.inter_comms = static_cast<std::uint32_t>(seed % 2);
  plan.steps = 150;
  plan.init_finalize = seed % 2 == 0;
  plan.mpi_threads = seed % 7 == 0;
  plan.shuffle_locations = seed % 3 == 0;
  plan.unmatched = seed % 4 == 0;
  plan.mismatched_collective = seed % 8 == 0;
  plan.offset_ticks = 5000;
  plan.drift_ppm = 100;
  plan.granule_ticks = seed % 5 == 0 ? 100 : 1;
  return plan;
}

/// Events as they come back: groups are numbered behind the builder's own.
trace::LocationSkeleton as_written(trace::LocationSkeleton skeleton) {
  std::vector<trace::Event> events(skeleton.events.begin(), skeleton.events.end());
  for (auto& event : events) {
    if (event.kind == trace::EventKind::rma_group_sync) {
      event.peer += ArchiveBuilder::k_first_group;
    }
    switch (event.kind) {  // every message and contribution that is not empty has 8 bytes
      case trace::EventKind::send:
      case trace::EventKind::isend:
      case trace::EventKind::recv:
      case trace::EventKind::irecv:
        trace::set_length(event, 8);
        break;
      case trace::EventKind::collective_end:
      case trace::EventKind::nb_complete:
        event.tag = (event.flags & trace::k_sent) != 0 ? trace::size_code(8) : 0;
        break;
      default:
        break;
    }
  }
  skeleton.events = trace::EventList(events);
  return skeleton;
}

/// Counts and distances depend on the records around; the rest is what was written.
void adopt_surroundings(trace::LocationSkeleton& to, const trace::LocationSkeleton& from) {
  to.event_count = from.event_count;
  to.granule = from.granule;
}

TEST(Library, agrees_on_random_programs_and_with_what_was_written) {
  std::size_t events = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const TempFolder scratch;
    const RandomTrace original = random_trace(random_plan(seed));
    const auto anchor = write_trace(original.trace, scratch / "a");
    const trace::Trace ours = scanned_trace(anchor);
    ASSERT_EQ(difference(ours, library_trace(anchor)), "") << "seed " << seed;
    for (std::size_t l = 0; l < ours.locations.size(); ++l) {
      auto expected = as_written(original.trace.locations[l]);
      adopt_surroundings(expected, ours.locations[l]);
      ASSERT_EQ(difference(ours.locations[l], expected), "")
          << "seed " << seed << " location " << l;
      events += expected.events.size();
    }
    for (std::size_t c = 0; c < ours.definitions.comms.size(); ++c) {
      EXPECT_EQ(ours.definitions.comms[c].group_a, original.trace.definitions.comms[c].group_a);
      EXPECT_EQ(ours.definitions.comms[c].group_b, original.trace.definitions.comms[c].group_b);
    }
  }
  EXPECT_GT(events, 10'000u);
}

/// What scan and library read from an archive and from its big-endian twin is all the same.
void expect_same_for_big_endian(const fs::path& anchor, const fs::path& folder) {
  make_big_endian(anchor, folder);
  const fs::path turned = folder / anchor.filename();
  const trace::Trace expected = scanned_trace(anchor);
  EXPECT_EQ(difference(scanned_trace(turned), expected), "");
  EXPECT_EQ(difference(library_trace(turned), expected), "");
  const auto archive = otf2::Archive::open(turned);
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_TRUE((*archive)->anchor().big_endian);
}

TEST(BigEndian, random_archives_are_read_as_their_twins) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    const TempFolder scratch;
    const auto anchor = write_all_records_archive(scratch / "a", seed, random_options(seed));
    expect_same_for_big_endian(anchor, scratch / "b");
  }
}

TEST(BigEndian, archives_of_several_chunks_are_read_as_their_twins) {
  const TempFolder scratch;
  expect_same_for_big_endian(
      write_all_records_archive(scratch / "a", 4, {.base_time = 77, .side_files = false}),
      scratch / "b");
}

TEST(BigEndian, recorded_traces_are_read_as_their_twins) {
  for (const fs::path& root :
       {fs::path(ENTRAIN_EXAMPLES_DIR) / "traces", fs::path(ENTRAIN_SHARED_TRACES_DIR)}) {
    for (const fs::path& folder : archives_under(root)) {
      SCOPED_TRACE(folder.string());
      const TempFolder scratch;
      expect_same_for_big_endian(anchor_in(folder), scratch / "b");
    }
  }
  if (!has_shared_traces()) std::puts("skipped: no further traces at " ENTRAIN_SHARED_TRACES_DIR);
}

TEST(BigEndian, otf2_print_shows_the_same) {
  const TempFolder scratch;
  const auto anchor = write_all_records_archive(scratch / "a", 8,
                                                {.events_per_location = 900, .side_files = false});
  make_big_endian(anchor, scratch / "b");
  const auto little = print_archive(anchor, true);
  const auto big = print_archive(scratch / "b" / anchor.filename(), true);
  EXPECT_EQ(big.exit_code, 0) << big.errors;
  EXPECT_EQ(big.definitions, little.definitions);
  EXPECT_EQ(big.events, little.events);
}

// What the tests above rely on: the generated archives hold every form that the format has.
TEST(AllRecords, holds_every_form_of_the_format) {
  const TempFolder scratch;
  const auto anchor = write_all_records_archive(scratch / "a", 1);
  const FormatCensus census = make_big_endian(anchor, scratch / "b");
  unsigned types = 0;
  for (unsigned type = 10; type <= 88; ++type) {
    EXPECT_GT(census.event_types[type], 10u) << "event record type " << type;
    types += census.event_types[type] > 0 ? 1 : 0;
  }
  EXPECT_EQ(types, k_event_record_types);
  for (unsigned type = 1; type <= 25; ++type) {
    EXPECT_GT(census.attribute_types[type], 10u) << "attribute type " << type;
  }
  for (std::size_t size = 0; size <= 8; ++size) {
    EXPECT_GT(census.integer_sizes[size], 100u) << "integers of " << size << " bytes";
  }
  EXPECT_GT(census.undefined, 100u);
  EXPECT_GT(census.long_lengths, 100u);
  EXPECT_GT(census.chunks, 15u);
}

/// An archive whose files are damaged byte by byte, small enough for hundreds of child processes.
class FuzzedArchive {
 public:
  FuzzedArchive() {
    write_all_records_archive(scratch_ / "a", 3,
                              {.events_per_location = 120, .base_time = 5000, .side_files = false});
    for (const auto* file : {"traces/0.evt", "traces/7.evt", "traces/7.def", "traces.def"}) {
      files_.emplace_back(scratch_ / "a" / file, read_bytes(scratch_ / "a" / file));
    }
  }
  [[nodiscard]] fs::path anchor() const { return scratch_ / "a/traces.otf2"; }
  /// Mostly events, where the scanner's rules are.
  void damage(std::uint64_t seed) {
    Random random(seed);
    const auto& [path, whole] = files_[seed % 8 < 6 ? seed % 2 : seed % 4];
    Bytes bytes = whole;
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      const auto at = 18 + random.below(bytes.size() - 18);
      bytes[at] = static_cast<std::uint8_t>(random.one_in(2) ? bytes[at] ^ (1u << random.below(8))
                                                             : random.below(256));
    }
    write_bytes(path, bytes);
  }
  void restore() const {
    for (const auto& [path, whole] : files_) write_bytes(path, whole);
  }

 private:
  TempFolder scratch_;
  std::vector<std::pair<fs::path, Bytes>> files_;
};

// Sanitizers need the whole address space.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr rlim_t k_memory = 0;
#else
constexpr rlim_t k_memory = rlim_t{160} << 20;  // the library never stops reading some of them
#endif

TEST(Fuzzed, what_the_scanner_accepts_the_library_reads_the_same) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr std::uint64_t k_seeds = 60;  // no limit of memory ends what the library never ends
#else
  const std::uint64_t k_seeds = every_repetition() ? 600 : 200;
#endif
  FuzzedArchive fuzzed;
  unsigned agreed = 0, refused = 0, library_failed = 0;
  for (std::uint64_t seed = 0; seed < k_seeds; ++seed) {
    fuzzed.damage(seed);
    trace::Trace ours;
    try {
      ours = scanned_trace(fuzzed.anchor());
    } catch (const std::exception&) {
      ++refused;
      fuzzed.restore();
      continue;
    }
    const auto child = run_in_child(
        [&] {
          const trace::Trace theirs = library_trace(fuzzed.anchor());
          std::fputs(difference(ours, theirs).c_str(), stdout);
          return 0;
        },
        {.timeout_s = 20, .address_space = k_memory});
    if (child.exit_code == 0) {
      EXPECT_EQ(child.out, "") << "seed " << seed;
      ++agreed;
    } else {
      ++library_failed;  // it looks into records that the scanner passes over; or it crashed
    }
    fuzzed.restore();
  }
  std::printf("%u read the same, %u refused by the scanner, %u refused by the library alone\n",
              agreed, refused, library_failed);
  EXPECT_GT(agreed, k_seeds / 4);
}

}  // namespace
}  // namespace entrain::test
