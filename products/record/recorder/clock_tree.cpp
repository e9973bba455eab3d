// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder/clock_tree.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>

#include "record/base/say.hpp"
#include "record/base/timer.hpp"
#include "record/clocks/clock_points.hpp"

namespace entrain::record {

namespace {

constexpr int k_tag_go = 1, k_tag_ask = 2, k_tag_answer = 3;

std::uint64_t local_time() { return timer.now().local; }

/// The child's part of one exchange, after its parent told it to begin.
ClockSample ask(int parent, MPI_Comm comm) {
  ClockSample sample;
  const std::uint64_t sent = local_time();
  real.MPI_Send(nullptr, 0, MPI_BYTE, parent, k_tag_ask, comm);
  real.MPI_Recv(&sample.parent, 1, MPI_UINT64_T, parent, k_tag_answer, comm, MPI_STATUS_IGNORE);
  sample.round_trip = local_time() - sent;
  sample.local = sent + sample.round_trip / 2;
  return sample;
}

/// The parent's part of one exchange, after it told the child to begin.
void answer(int child, MPI_Comm comm) {
  real.MPI_Recv(nullptr, 0, MPI_BYTE, child, k_tag_ask, comm, MPI_STATUS_IGNORE);
  const std::uint64_t now = local_time();
  real.MPI_Send(&now, 1, MPI_UINT64_T, child, k_tag_answer, comm);
}

/// Tells a child to begin an exchange, or that there are no more.
void send_go(int child, bool go_on, MPI_Comm comm) {
  const int word = go_on ? 1 : 0;
  real.MPI_Send(&word, 1, MPI_INT, child, k_tag_go, comm);
}

/// Polls until `done()`. After a while it gives its core away: others may be measuring on it.
template <class Done>
void wait_patiently(Done done) {
  constexpr std::uint64_t k_impatient_ns = 100'000;
  constexpr timespec k_nap{0, 50'000};
  const std::uint64_t begin = timer.now().truth;
  while (!done()) {
    if (timer.now().truth - begin < k_impatient_ns) {
      ::sched_yield();
    } else {
      ::nanosleep(&k_nap, nullptr);
    }
  }
}

/// True if the parent wants an exchange; waits for its word.
bool wait_for_go(int parent, MPI_Comm comm) {
  int word = 0;
  wait_patiently([&] {
    int there = 0;
    real.MPI_Iprobe(parent, k_tag_go, comm, &there, MPI_STATUS_IGNORE);
    return there != 0;
  });
  real.MPI_Recv(&word, 1, MPI_INT, parent, k_tag_go, comm, MPI_STATUS_IGNORE);
  return word != 0;
}

/// 31 bits of a text (FNV-1a).
int colour_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return static_cast<int>((hash ^ (hash >> 32)) & 0x7fffffffU);
}

bool all(bool own, MPI_Comm comm) {
  int in = own ? 1 : 0, out = 0;
  real.MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MIN, comm);
  return out != 0;
}

/// True if all processes of `comm` have the same text.
bool same_text(std::string text, MPI_Comm comm) {
  text.resize(512);
  std::string first = text;
  real.MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_CHAR, 0, comm);
  return all(first == text, comm);
}

std::vector<int> world_ranks_of(const std::vector<int>& ranks, MPI_Comm comm, MPI_Comm world) {
  MPI_Group from = MPI_GROUP_NULL, to = MPI_GROUP_NULL;
  real.MPI_Comm_group(comm, &from);
  real.MPI_Comm_group(world, &to);
  std::vector<int> result(ranks.size());
  real.MPI_Group_translate_ranks(from, static_cast<int>(ranks.size()), ranks.data(), to,
                                 result.data());
  real.MPI_Group_free(&from);
  real.MPI_Group_free(&to);
  return result;
}

/// True if ten exchanges of each process with the first one find no contradiction to the claim that
/// all processes of `comm` read the same clock.
bool check_shared_clock(MPI_Comm comm) {
  constexpr int k_exchanges = 10;
  int rank = 0, size = 0;
  real.MPI_Comm_rank(comm, &rank);
  real.MPI_Comm_size(comm, &size);
  bool fits = true;
  if (rank == 0) {
    for (int child = 1; child < size; ++child) {
      for (int i = 0; i < k_exchanges; ++i) {
        send_go(child, true, comm);
        answer(child, comm);
      }
    }
  }
  for (int i = 0; i < k_exchanges && rank != 0; ++i) {
    wait_for_go(0, comm);
    const ClockSample sample = ask(0, comm);
    const std::uint64_t apart =
        sample.parent > sample.local ? sample.parent - sample.local : sample.local - sample.parent;
    fits = fits && apart <= (sample.round_trip + 1) / 2 + 2 * timer.granularity();
  }
  const bool all_fit = all(fits, comm);
  if (!all_fit && rank == 0) {
    say("processes that should share one clock do not; each one is measured");
  }
  return all_fit;
}

}  // namespace

void ClockTree::set_up(const SyncSettings& settings, MPI_Comm world, const Identity& identity,
                       Journal& journal) {
  settings_ = settings;
  world_ = world;
  int rank = 0, host_rank = 0;
  real.MPI_Comm_rank(world, &rank);
  const bool one_clock = cluster_shares_clock(identity.in_cluster);
  if (one_clock && rank > 0) journal.add({"clock", "0", "s"});
  measures_ = settings.enabled && settings.synced_cluster != Choice::yes && !one_clock;
  if (!measures_) return;
  MPI_Comm host = MPI_COMM_NULL, leaders = MPI_COMM_NULL;
  real.MPI_Comm_split(world, colour_of(identity.in_host), rank, &host);
  real.MPI_Comm_rank(host, &host_rank);
  const bool is_host = same_text(identity.in_host, host);
  const bool shared = is_host && host_shares_clock(host);
  const bool leads = host_rank == 0 || !is_host;
  real.MPI_Comm_split(world, leads ? 0 : MPI_UNDEFINED, rank, &leaders);
  if (leads) {
    join_tree(leaders);
    real.MPI_Comm_free(&leaders);
  }
  if (is_host && !shared) join_tree(host);
  if (!leads && shared) {
    const int leader = world_ranks_of({0}, host, world).front();
    // t: the user says so.
    const bool told = settings.synced_host == Choice::yes;
    journal.add({"clock", std::to_string(leader), told ? "t" : "s"});
  } else if (parent_ >= 0) {
    journal.add({"clock", std::to_string(parent_), "m"});
  }
  real.MPI_Comm_free(&host);
  any_ = !all(parent_ < 0, world);
}

bool ClockTree::cluster_shares_clock(const std::string& identity) const {
  return settings_.enabled && settings_.synced_cluster == Choice::automatic &&
         same_text(identity, world_) && check_shared_clock(world_);
}

bool ClockTree::host_shares_clock(MPI_Comm host) const {
  if (settings_.synced_host == Choice::no) return false;
  return settings_.synced_host == Choice::yes || check_shared_clock(host);
}

void ClockTree::join_tree(MPI_Comm tree) {
  int rank = 0, size = 0;
  real.MPI_Comm_rank(tree, &rank);
  real.MPI_Comm_size(tree, &size);
  const auto fanout = static_cast<std::int64_t>(settings_.fanout);
  if (rank > 0) {
    const int parent = static_cast<int>((rank - 1) / fanout);
    parent_ = world_ranks_of({parent}, tree, world_).front();
  }
  std::vector<int> children;
  const std::int64_t first = rank * fanout + 1;
  for (std::int64_t child = first; child < first + fanout && child < size; ++child) {
    children.push_back(static_cast<int>(child));
  }
  for (const int child : world_ranks_of(children, tree, world_)) children_.push_back(child);
}

std::uint64_t ClockTree::most_levels() const {
  int size = 0;
  real.MPI_Comm_size(world_, &size);
  // Hosts and the processes below them are two trees, whose sizes have at most this product.
  std::uint64_t levels = 1, reached = 1;
  for (std::uint64_t width = 1; reached < static_cast<std::uint64_t>(size); ++levels) {
    width *= settings_.fanout;
    reached += width;
  }
  return levels;
}

std::uint64_t ClockTree::measure(std::uint32_t session, const SessionSize& size, Journal& journal) {
  if (!measures_) return size.exchanges;
  std::vector<ClockSample> samples;
  if (parent_ >= 0) samples = ask_parent(session);
  const std::uint64_t exchanges = serve_children(size);
  // Nobody goes on while others measure: a program at work would disturb them.
  MPI_Request request = MPI_REQUEST_NULL;
  real.MPI_Ibarrier(world_, &request);
  wait_patiently([&] {
    int complete = 0;
    real.MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
    return complete != 0;
  });
  note(samples, settings_.dropped_share, journal);
  return exchanges;
}

void ClockTree::note(std::vector<ClockSample>& samples, double dropped_share, Journal& journal) {
  drop_slowest(samples, dropped_share);
  std::vector<std::vector<std::string>> lines;
  for (const ClockSample& s : samples) {
    lines.push_back({"sample", std::to_string(s.session), std::to_string(s.local),
                     std::to_string(s.parent), std::to_string(s.round_trip), s.kept ? "1" : "0"});
  }
  journal.add_all(lines);
}

std::vector<ClockSample> ClockTree::ask_parent(std::uint32_t session) const {
  std::vector<ClockSample> samples;
  while (wait_for_go(parent_, world_)) {
    samples.push_back(ask(parent_, world_));
    samples.back().session = session;
  }
  return samples;
}

std::uint64_t ClockTree::serve_children(const SessionSize& size) const {
  if (children_.empty()) return size.exchanges;
  const auto longest = static_cast<std::uint64_t>(settings_.max_duration_s * 1e9);
  const std::uint64_t limit = std::min(longest, size.limit_ns);
  const std::uint64_t begin = timer.now().truth;
  std::uint64_t i = 0;
  for (; i < size.exchanges; ++i) {
    // At least one exchange: a session without a sample would be none.
    if (i > 0 && timer.now().truth - begin >= limit) break;
    for (const int child : children_) {
      send_go(child, true, world_);
      answer(child, world_);
    }
  }
  for (const int child : children_) send_go(child, false, world_);
  return i;
}

}  // namespace entrain::record
