// SPDX-License-Identifier: BSD-3-Clause
#include "tool/mpi/processes.hpp"

#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <thread>

#include "base/executor.hpp"
#include "tool/mpi/launch.hpp"

namespace entrain::mpi {

namespace {

/// Counts of MPI 3.1 are ints: larger parcels go in pieces of this many bytes.
constexpr std::size_t k_piece = std::size_t{1} << 30;
constexpr int k_tag = 1;       // of exchange()
constexpr int k_post_tag = 2;  // of post()

/// A process that waits for long looks so often.
constexpr std::chrono::milliseconds k_rest{5};

/// Waits for what other processes do, between looks whether they have done it. MPI libraries look
/// without end, and keep a core from the process that they wait for, or from a stranger.
class Wait {
 public:
  /// Returns at once during the first 100 us, which nearly all messages need less than. Then it
  /// sleeps for an eighth of the time waited so far, so that no wait gets longer than by that.
  void rest() {
    constexpr int k_looks = 50;  // cheaper than to read the clock each time
    if (++looks_ <= k_looks) return;
    const Clock::time_point now = Clock::now();
    if (!begin_) begin_ = now;
    const Clock::duration waited = now - *begin_;
    if (waited < k_awake) return;
    std::this_thread::sleep_for(std::min<Clock::duration>(waited / 8, k_rest));
  }
  /// Time since the first looks.
  [[nodiscard]] std::chrono::steady_clock::duration waited() const {
    return begin_ ? Clock::now() - *begin_ : Clock::duration::zero();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::microseconds k_awake{100};
  int looks_ = 0;
  std::optional<Clock::time_point> begin_;
};

void finish(std::span<MPI_Request> requests) {
  int done = 0;
  for (Wait wait;; wait.rest()) {
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) return;
  }
}

/// The processes of this machine, and what they have of it.
struct Machine {
  unsigned rank = 0;  ///< rank of this process on the machine
  unsigned processes = 1;
  cpu_set_t cores;  ///< cores that any of them may use

  [[nodiscard]] unsigned core_count() const {
    const int count = CPU_COUNT(&cores);
    return count > 0 ? static_cast<unsigned>(count) : worker_count(0);
  }
  /// Lets this thread, and those that it will start, use all cores. Launchers often give each
  /// process cores of its own.
  void take_all_cores() const { sched_setaffinity(0, sizeof(cores), &cores); }
};

/// Collective.
Machine this_machine() {
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  int rank = 0, processes = 1;
  MPI_Comm_rank(machine, &rank);
  MPI_Comm_size(machine, &processes);
  Machine result{static_cast<unsigned>(rank), static_cast<unsigned>(processes), {}};
  if (sched_getaffinity(0, sizeof(result.cores), &result.cores) != 0) CPU_ZERO(&result.cores);
  MPI_Allreduce(MPI_IN_PLACE, &result.cores, sizeof(result.cores), MPI_BYTE, MPI_BOR, machine);
  MPI_Comm_free(&machine);
  return result;
}

/// The user wants all processes to work, however few cores there are.
bool all_shall_work() {
  const char* wanted = std::getenv("ENTRAIN_PROCESSES");
  return wanted != nullptr && std::strcmp(wanted, "all") == 0;
}

/// Team over a communicator of its own, so that nothing else can meet its messages.
class MpiTeam final : public Team {
 public:
  /// `comm` becomes its own.
  explicit MpiTeam(MPI_Comm comm) : comm_(comm) {
    int rank = 0, size = 1;
    MPI_Comm_rank(comm_, &rank);
    MPI_Comm_size(comm_, &size);
    rank_ = static_cast<unsigned>(rank);
    size_ = static_cast<unsigned>(size);
  }
  ~MpiTeam() override {
    for (Posted& posted : posted_) finish({&posted.request, 1});
    MPI_Comm_free(&comm_);
  }

  [[nodiscard]] unsigned rank() const override { return rank_; }
  [[nodiscard]] unsigned size() const override { return size_; }

  std::vector<Bytes> exchange(std::vector<Bytes> outgoing) override {
    std::vector<std::uint64_t> sent(size_), coming(size_);
    for (unsigned r = 0; r < size_; ++r) sent[r] = r == rank_ ? 0 : outgoing[r].size();
    std::vector<MPI_Request> requests(1);
    MPI_Ialltoall(sent.data(), 1, MPI_UINT64_T, coming.data(), 1, MPI_UINT64_T, comm_,
                  requests.data());
    finish(requests);
    requests.clear();
    std::vector<Bytes> received(size_);
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
    finish(requests);
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
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Iallreduce(MPI_IN_PLACE, values.data() + at, count, MPI_INT64_T, op, comm_, &request);
      finish({&request, 1});
    }
  }
  using Team::reduce;

  void post(unsigned to, Bytes parcel) override {
    forget_arrived();
    Posted& posted = posted_.emplace_back();
    posted.bytes = std::move(parcel);
    MPI_Isend(posted.bytes.data(), static_cast<int>(posted.bytes.size()), MPI_BYTE,
              static_cast<int>(to), k_post_tag, comm_, &posted.request);
  }

  std::optional<Parcel> receive(std::chrono::microseconds patience) override {
    for (Wait wait;; wait.rest()) {
      if (std::optional<Parcel> parcel = look_for_parcel()) return parcel;
      if (patience.count() == 0 || wait.waited() > patience) return std::nullopt;
    }
  }

 private:
  struct Posted {
    Bytes bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  std::optional<Parcel> look_for_parcel() {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(MPI_ANY_SOURCE, k_post_tag, comm_, &found, &message, &status);
    if (found == 0) return std::nullopt;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    Parcel parcel{static_cast<unsigned>(status.MPI_SOURCE), Bytes(static_cast<std::size_t>(size))};
    MPI_Mrecv(parcel.bytes.data(), size, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    return parcel;
  }

  /// Frees the memory of posted parcels that have left, the oldest ones first.
  void forget_arrived() {
    while (!posted_.empty()) {
      int left = 0;
      MPI_Test(&posted_.front().request, &left, MPI_STATUS_IGNORE);
      if (left == 0) return;
      posted_.pop_front();
    }
  }

  template <class Body>
  static void for_pieces(Bytes& bytes, Body body) {
    for (std::size_t at = 0; at < bytes.size(); at += k_piece) {
      body(bytes.data() + at, static_cast<int>(std::min(k_piece, bytes.size() - at)));
    }
  }

  MPI_Comm comm_;
  std::deque<Posted> posted_;  ///< parcels that MPI may still read
  unsigned rank_ = 0;
  unsigned size_ = 1;
};

}  // namespace

MpiProcesses::MpiProcesses() : team_(std::make_unique<Solo>()) {
  if (!launched_as_mpi_process()) return;
  leave_networks_alone_on_one_machine();
  int provided = MPI_THREAD_SINGLE;
  // Threads of a process work side by side, but only the first one calls MPI.
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  initialised_ = true;
  const Machine machine = this_machine();
  int rank = 0, all = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  const bool is_one_machine = machine.processes == static_cast<unsigned>(all);
  const unsigned most = all_shall_work() ? machine.processes
                        : is_one_machine ? 1
                                         : machine.core_count();
  rests_ = machine.rank >= most;
  int resting = rests_ ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &resting, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  resting_ = static_cast<unsigned>(resting);
  MPI_Comm working = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rests_ ? MPI_UNDEFINED : 0, rank, &working);
  if (rests_) return;
  const unsigned here = std::min(machine.processes, most);
  if (is_one_machine && here == 1) machine.take_all_cores();
  limit_workers(std::max(1u, machine.core_count() / here));
  auto team = std::make_unique<MpiTeam>(working);
  if (team->size() > 1) team_ = std::move(team);
}

std::unique_ptr<Team> MpiProcesses::everybody() const {
  if (!initialised_) return std::make_unique<Solo>();
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  return std::make_unique<MpiTeam>(all);
}

MpiProcesses::~MpiProcesses() {
  if (!initialised_) return;
  team_.reset();
  MPI_Request all_done = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all_done);
  finish({&all_done, 1});
  MPI_Finalize();
}

void MpiProcesses::abandon(int exit_code) {
  if (team_->size() + resting_ > 1) MPI_Abort(MPI_COMM_WORLD, exit_code);
}

bool MpiProcesses::launched_in_vain() { return false; }

}  // namespace entrain::mpi
