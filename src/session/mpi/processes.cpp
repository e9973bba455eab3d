// SPDX-License-Identifier: BSD-3-Clause
#include "session/mpi/processes.hpp"

#include <mpi.h>

#include <algorithm>

#include "session/mpi/launch.hpp"

namespace entrain::session {

namespace {

/// Counts of MPI 3.1 are ints: larger parcels go in pieces of this many bytes.
constexpr std::size_t k_piece = std::size_t{1} << 30;
constexpr int k_tag = 1;

/// Team over a communicator of its own, so that nothing else can meet its messages.
class MpiTeam final : public Team {
 public:
  MpiTeam() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    int rank = 0, size = 1;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &size);
    rank_ = static_cast<unsigned>(rank);
    size_ = static_cast<unsigned>(size);
  }
  ~MpiTeam() override { MPI_Comm_free(&comm_); }

  [[nodiscard]] unsigned rank() const override { return rank_; }
  [[nodiscard]] unsigned size() const override { return size_; }

  std::vector<Bytes> exchange(std::vector<Bytes> outgoing) override {
    std::vector<std::uint64_t> sent(size_), coming(size_);
    for (unsigned r = 0; r < size_; ++r) sent[r] = r == rank_ ? 0 : outgoing[r].size();
    MPI_Alltoall(sent.data(), 1, MPI_UINT64_T, coming.data(), 1, MPI_UINT64_T, comm_);
    std::vector<Bytes> received(size_);
    std::vector<MPI_Request> requests;
    for (unsigned r = 0; r < size_; ++r) {
      received[r].resize(coming[r]);
      for_pieces(received[r], [&](std::byte* piece, int size) {
        MPI_Irecv(piece, size, MPI_BYTE, static_cast<int>(r), k_tag, comm_,
                  &requests.emplace_back());
      });
    }
    for (unsigned i = 1; i < size_; ++i) {
      const unsigned r = (rank_ + i) % size_;  // not everybody to rank 0 first
      for_pieces(outgoing[r], [&](std::byte* piece, int size) {
        MPI_Isend(piece, size, MPI_BYTE, static_cast<int>(r), k_tag, comm_,
                  &requests.emplace_back());
      });
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    received[rank_] = std::move(outgoing[rank_]);
    return received;
  }

  void reduce(Reduction reduction, std::span<std::int64_t> values) override {
    constexpr std::size_t k_most = k_piece / sizeof(std::int64_t);
    const MPI_Op op = reduction == Reduction::sum   ? MPI_SUM
                      : reduction == Reduction::min ? MPI_MIN
                                                    : MPI_MAX;
    for (std::size_t at = 0; at < values.size(); at += k_most) {
      const auto count = static_cast<int>(std::min(k_most, values.size() - at));
      MPI_Allreduce(MPI_IN_PLACE, values.data() + at, count, MPI_INT64_T, op, comm_);
    }
  }
  using Team::reduce;

 private:
  template <class Body>
  static void for_pieces(Bytes& bytes, Body body) {
    for (std::size_t at = 0; at < bytes.size(); at += k_piece) {
      body(bytes.data() + at, static_cast<int>(std::min(k_piece, bytes.size() - at)));
    }
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  unsigned rank_ = 0;
  unsigned size_ = 1;
};

}  // namespace

MpiProcesses::MpiProcesses() {
  if (launched_as_mpi_process()) {
    int provided = MPI_THREAD_SINGLE;
    // Threads of a process work side by side, but only the first one calls MPI.
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    initialised_ = true;
    team_ = std::make_unique<MpiTeam>();
    if (team_->size() > 1) return;
  }
  team_ = std::make_unique<Solo>();
}

MpiProcesses::~MpiProcesses() {
  team_.reset();
  if (initialised_) MPI_Finalize();
}

void MpiProcesses::abandon(int exit_code) {
  if (team_->size() > 1) MPI_Abort(MPI_COMM_WORLD, exit_code);
}

bool MpiProcesses::launched_in_vain() { return false; }

}  // namespace entrain::session
