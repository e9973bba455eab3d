// SPDX-License-Identifier: BSD-3-Clause
// Archives with accelerators, as Score-P writes them: launches name the stream, by its number in
// the process; kernels stand on the location of the stream.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <otf2/otf2.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <entrain/entrain.hpp>

#include "support/archive_builder.hpp"
#include "support/files.hpp"
#include "support/oracle.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

using testing::Contains;
using testing::HasSubstr;

constexpr std::int64_t k_micro = 1'000, k_milli = 1'000'000;
constexpr int k_steps = 100;
constexpr std::uint64_t k_stream = 2;  ///< number of the stream in its process

constexpr std::uint64_t id_of(std::uint64_t number, std::uint64_t rank) {
  return number << 32 | rank;
}

/// Two ranks with a thread and a stream each. In each round of 5 ms, rank 0 sends to rank 1 and
/// back, and each launches two kernels that begin 8 us later and waits until they are done.
/// `shown`: what the clock of (rank, is it the device?) shows at a time.
template <class Shown>
class AcceleratorWriter {
 public:
  AcceleratorWriter(const fs::path& folder, const Shown& shown) : archive_(folder), shown_(shown) {
    std::vector<std::uint64_t> threads;
    for (std::uint64_t r = 0; r < 2; ++r) {
      const auto node = archive_.node("n" + std::to_string(r));
      const auto process = archive_.process("MPI Rank " + std::to_string(r), node);
      threads.push_back(archive_.location(id_of(0, r), process, "Master thread"));
      archive_.location(id_of(k_stream, r), archive_.accelerator("CUDA Context 1", node, process),
                        "CUDA[0:7]", OTF2_LOCATION_TYPE_ACCELERATOR_STREAM);
    }
    world_ = archive_.comm("MPI_COMM_WORLD", threads);
    kernel_ = archive_.region("axpy", Role::function, Paradigm::cuda);
    launch_ = archive_.region("cuLaunchKernel", Role::wrapper, Paradigm::cuda);
    wait_ = archive_.region("cuStreamSynchronize", Role::wrapper, Paradigm::cuda);
    const auto name = archive_.string("CUDA_STREAM_REF"), what = archive_.string("stream");
    archive_.definitions([=](OTF2_GlobalDefWriter* writer) {
      OTF2_GlobalDefWriter_WriteAttribute(writer, 0, name, what, OTF2_TYPE_LOCATION);
    });
  }

  void write() {
    for (int n = 0; n < k_steps; ++n) {
      const std::int64_t t = 1'000 * k_milli + n * 5 * k_milli, way = 5 * k_micro + n % 7 * 300;
      host(0).send(at(0, t), 1, world_, 7);
      host(1).recv(at(1, t + way), 0, world_, 7);
      host(1).send(at(1, t + 20 * k_micro), 0, world_, 8);
      host(0).recv(at(0, t + 20 * k_micro + way), 1, world_, 8);
      for (std::uint64_t r = 0; r < 2; ++r) work(r, t + 100 * k_micro);
    }
    archive_.finish();
  }

 private:
  ArchiveBuilder::Events host(std::uint64_t rank) { return archive_.at(id_of(0, rank)); }
  std::uint64_t at(std::uint64_t rank, std::int64_t time, bool is_device = false) const {
    return static_cast<std::uint64_t>(shown_(rank, is_device, time));
  }

  void call(std::uint64_t rank, std::uint32_t region, std::int64_t enter, std::int64_t leave) {
    OTF2_AttributeList* const list = OTF2_AttributeList_New();
    OTF2_AttributeList_AddLocationRef(list, 0, k_stream);
    const auto named = [&] { return region == launch_ ? list : nullptr; };
    OTF2_EvtWriter_Enter(host(rank).writer, named(), at(rank, enter), region);
    OTF2_EvtWriter_Leave(host(rank).writer, named() == nullptr ? list : nullptr, at(rank, leave),
                         region);
    archive_.note_time(id_of(0, rank), at(rank, enter));
    archive_.note_time(id_of(0, rank), at(rank, leave));
    OTF2_AttributeList_Delete(list);
  }

  void work(std::uint64_t rank, std::int64_t t) {
    call(rank, launch_, t, t + 4 * k_micro);
    call(rank, launch_, t + 5 * k_micro, t + 9 * k_micro);
    call(rank, wait_, t + 10 * k_micro, t + 266 * k_micro);
    for (const std::int64_t begin : {t + 8 * k_micro, t + 130 * k_micro}) {
      archive_.at(id_of(k_stream, rank))
          .enter(at(rank, begin, true), kernel_)
          .leave(at(rank, begin + (begin == t + 8 * k_micro ? 120 : 130) * k_micro, true), kernel_);
    }
  }

  ArchiveBuilder archive_;
  const Shown& shown_;
  std::uint32_t world_ = 0, kernel_ = 0, launch_ = 0, wait_ = 0;
};

template <class Shown>
void write_with_accelerators(const fs::path& folder, const Shown& shown) {
  AcceleratorWriter<Shown>(folder, shown).write();
}

/// Least and largest error of the times of a location: 0 and 2 are threads, 1 and 3 streams.
std::pair<std::int64_t, std::int64_t> errors_of_location(const fs::path& anchor,
                                                         const fs::path& truth,
                                                         std::size_t location) {
  const auto times = library_times(anchor), right = library_times(truth);
  std::pair<std::int64_t, std::int64_t> found{INT64_MAX, INT64_MIN};
  for (std::size_t e = 0; e < right[location].times.size(); ++e) {
    const auto error =
        static_cast<std::int64_t>(times[location].times[e] - right[location].times[e]);
    found = {std::min(found.first, error), std::max(found.second, error)};
  }
  return found;
}

constexpr auto k_true_times = [](std::uint64_t, bool, std::int64_t time) { return time; };

TEST(Accelerators, kernels_are_checked_against_launches_and_waits) {
  const TempFolder scratch;
  write_with_accelerators(scratch / "in", k_true_times);
  const auto clean = check(scratch / "in", {});
  ASSERT_TRUE(clean) << clean.error().message;
  EXPECT_EQ(clean->edges[static_cast<std::size_t>(EdgeKind::thread)].count, 2U * 3 * k_steps);
  EXPECT_EQ(clean->violations, 0U);
  EXPECT_EQ(clean->judgement.verdict, Verdict::clean);
  for (const std::int64_t off : {-300 * k_micro, 300 * k_micro}) {
    const fs::path wrong = scratch / std::to_string(off);
    write_with_accelerators(wrong, [&](std::uint64_t rank, bool is_device, std::int64_t time) {
      return time + (rank == 1 && is_device ? off : 0);
    });
    const auto found = check(wrong, {});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->judgement.verdict, Verdict::violations) << off;
  }
}

TEST(Accelerators, one_that_is_off_moves_alone) {
  const TempFolder scratch;
  write_with_accelerators(scratch / "truth", k_true_times);
  for (const std::int64_t off : {-300 * k_micro, 300 * k_micro}) {
    const fs::path wrong = scratch / std::to_string(off);
    write_with_accelerators(wrong, [&](std::uint64_t rank, bool is_device, std::int64_t time) {
      return time + (rank == 1 && is_device ? off : 0);
    });
    for (const WriteMode mode : {WriteMode::rewrite, WriteMode::overlay}) {
      CorrectOptions options;
      options.mode = mode;
      const fs::path out =
          scratch / ("out" + std::to_string(static_cast<int>(mode)) + std::to_string(off));
      const auto report = correct(wrong, out, options);
      ASSERT_TRUE(report) << report.error().message;
      EXPECT_EQ(report->after.violations, 0U);
      EXPECT_EQ(report->after.judgement.verdict, Verdict::clean);
      for (const std::size_t right : {0U, 1U, 2U}) {
        EXPECT_EQ(errors_of_location(report->output, scratch / "truth/traces.otf2", right),
                  std::pair(INT64_C(0), INT64_C(0)))
            << right;
      }
      const auto [least, most] =
          errors_of_location(report->output, scratch / "truth/traces.otf2", 3);
      EXPECT_GE(least, -10 * k_micro) << off;
      EXPECT_LE(most, 10 * k_micro) << off;
    }
  }
}

TEST(Accelerators, they_move_with_their_process) {
  const TempFolder scratch;
  write_with_accelerators(scratch / "truth", k_true_times);
  write_with_accelerators(scratch / "wrong",
                          [](std::uint64_t rank, bool is_device, std::int64_t time) {
                            if (rank == 0) return time;
                            const std::int64_t drift = (time - 1'000 * k_milli) / 20'000;  // 50 ppm
                            return time + 7 * k_milli + drift - (is_device ? 400 * k_micro : 0);
                          });
  const auto report = correct(scratch / "wrong", scratch / "out", {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->after.violations, 0U);
  EXPECT_THAT(report->timeline.notes, Contains(HasSubstr("CUDA[0:7] of MPI Rank 1 differs")));
  const auto host = errors_of_location(report->output, scratch / "truth/traces.otf2", 2);
  const auto device = errors_of_location(report->output, scratch / "truth/traces.otf2", 3);
  for (const std::int64_t error : {device.first, device.second}) {
    EXPECT_NEAR(static_cast<double>(error), static_cast<double>(host.first), 10. * k_micro);
  }
}

/// A calibration that is 400 ppm off: no constant meets the edges.
TEST(Accelerators, one_that_drifts_follows_its_process) {
  const TempFolder scratch;
  write_with_accelerators(scratch / "truth", k_true_times);
  write_with_accelerators(
      scratch / "wrong", [](std::uint64_t rank, bool is_device, std::int64_t time) {
        return time + (rank == 1 && is_device ? (time - 1'200 * k_milli) / 2'500 : 0);
      });
  const auto report = correct(scratch / "wrong", scratch / "out", {});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->after.violations, 0U);
  for (const std::size_t right : {0U, 1U, 2U}) {
    EXPECT_EQ(errors_of_location(report->output, scratch / "truth/traces.otf2", right),
              std::pair(INT64_C(0), INT64_C(0)));
  }
  const auto [least, most] = errors_of_location(report->output, scratch / "truth/traces.otf2", 3);
  EXPECT_GE(least, -10 * k_micro);
  EXPECT_LE(most, 10 * k_micro);
}

}  // namespace
}  // namespace entrain::test
