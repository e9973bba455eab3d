// SPDX-License-Identifier: BSD-3-Clause
#include "record/mpi/world.hpp"

#include "record/mpi/rounds.hpp"

namespace entrain::record {

void World::join() {
  real.MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  real.MPI_Comm_rank(comm_, &rank_);
  real.MPI_Comm_size(comm_, &size_);
  real.MPI_Comm_group(comm_, &group_);
}

void World::leave() {
  real.MPI_Group_free(&group_);
  real.MPI_Comm_free(&comm_);
}

bool World::all_agree(bool good) const { return smallest(good ? 1 : 0) != 0; }

int World::smallest(int own) const {
  int all = 0;
  real.MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, comm_);
  return all;
}

void World::wait_for_all() const { real.MPI_Barrier(comm_); }

void World::broadcast(int* first, int count) const {
  real.MPI_Bcast(first, count, MPI_INT, 0, comm_);
}

std::string World::text_of_first(const std::string& own) const {
  auto length = static_cast<int>(own.size());
  broadcast(&length, 1);
  std::string first = own;
  first.resize(static_cast<std::size_t>(length));
  real.MPI_Bcast(first.data(), length, MPI_CHAR, 0, comm_);
  return first;
}

std::uint64_t World::longest(std::uint64_t own) const {
  std::uint64_t all = 0;
  real.MPI_Allreduce(&own, &all, 1, MPI_UINT64_T, MPI_MAX, comm_);
  return all;
}

std::vector<std::string> World::gather(const std::string& own) const {
  const std::uint64_t length = own.size();
  std::vector<std::uint64_t> lengths(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
  real.MPI_Gather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, 0, comm_);
  std::vector<std::string> texts(lengths.size());
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i].reserve(lengths[i]);
  const Rounds rounds(static_cast<std::uint64_t>(size_), longest(length));
  std::string all;
  for (std::uint64_t round = 0; round < rounds.count(); ++round) {
    const Rounds::Places places = rounds.places(round, lengths);
    all.resize(static_cast<std::size_t>(places.sum));
    const int part = rounds.part(round, length);
    const char* const begin = part > 0 ? own.data() + rounds.begin(round) : nullptr;
    real.MPI_Gatherv(begin, part, MPI_CHAR, all.data(), places.parts.data(), places.begins.data(),
                     MPI_CHAR, 0, comm_);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      texts[i].append(all, static_cast<std::size_t>(places.begins[i]),
                      static_cast<std::size_t>(places.parts[i]));
    }
  }
  return texts;
}

std::string World::scatter(const std::vector<std::string>& texts) const {
  std::vector<std::uint64_t> lengths;
  for (const std::string& text : texts) lengths.push_back(text.size());
  std::uint64_t length = 0;
  real.MPI_Scatter(lengths.data(), 1, MPI_UINT64_T, &length, 1, MPI_UINT64_T, 0, comm_);
  const Rounds rounds(static_cast<std::uint64_t>(size_), longest(length));
  std::string own(length, '\0'), all;
  for (std::uint64_t round = 0; round < rounds.count(); ++round) {
    const Rounds::Places places = rounds.places(round, lengths);
    all.clear();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (places.parts[i] == 0) continue;
      all.append(texts[i], rounds.begin(round), static_cast<std::size_t>(places.parts[i]));
    }
    const int part = rounds.part(round, length);
    char* const begin = part > 0 ? own.data() + rounds.begin(round) : nullptr;
    real.MPI_Scatterv(all.data(), places.parts.data(), places.begins.data(), MPI_CHAR, begin, part,
                      MPI_CHAR, 0, comm_);
  }
  return own;
}

}  // namespace entrain::record
