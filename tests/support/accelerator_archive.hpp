// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/archive_builder.hpp"

// Archives with accelerators, as Score-P writes them: launches name the stream, by its number in
// the process; kernels stand on the location of the stream.
namespace entrain::test::accelerators {

inline constexpr std::int64_t k_micro = 1'000, k_milli = 1'000'000;
inline constexpr int k_steps = 100;
inline constexpr std::uint64_t k_stream = 2;  ///< number of the stream in its process

constexpr std::uint64_t id_of(std::uint64_t number, std::uint64_t rank) {
  return number << 32 | rank;
}

/// Two ranks with a thread and a stream each, on a machine each or on one. In each round of 5 ms,
/// rank 0 sends to rank 1 and back, and each launches two kernels that begin 8 us later and waits
/// until they are done. `shown`: what the clock of (rank, is it the device?) shows at a time.
/// `attribute`: id of the attribute that names streams, in the event files.
template <class Shown>
class AcceleratorWriter {
 public:
  AcceleratorWriter(const std::filesystem::path& folder, const Shown& shown, bool is_one_machine,
                    std::uint32_t attribute)
      : archive_(folder), shown_(shown), attribute_(attribute) {
    std::vector<std::uint64_t> threads;
    auto node = archive_.node("n0");
    for (std::uint64_t r = 0; r < 2; ++r) {
      if (r == 1 && !is_one_machine) node = archive_.node("n1");
      const auto process = archive_.process("MPI Rank " + std::to_string(r), node);
      threads.push_back(archive_.location(id_of(0, r), process, "Master thread"));
      archive_.location(id_of(k_stream, r), archive_.accelerator("CUDA Context 1", node, process),
                        "CUDA[0:7]", OTF2_LOCATION_TYPE_ACCELERATOR_STREAM);
      if (attribute != 0) {
        archive_.mapping(threads.back(), OTF2_MAPPING_ATTRIBUTE, {{attribute, 0}});
      }
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
    OTF2_AttributeList_AddLocationRef(list, attribute_, k_stream);
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
  std::uint32_t attribute_ = 0, world_ = 0, kernel_ = 0, launch_ = 0, wait_ = 0;
};

template <class Shown>
std::filesystem::path write_archive(const std::filesystem::path& folder, const Shown& shown,
                                    bool is_one_machine = false, std::uint32_t attribute = 0) {
  AcceleratorWriter<Shown>(folder, shown, is_one_machine, attribute).write();
  return folder / "traces.otf2";
}

}  // namespace entrain::test::accelerators
