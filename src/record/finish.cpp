// SPDX-License-Identifier: BSD-3-Clause
// The end of a recording: rank 0 brings the journals of all processes together.
#include <sched.h>
#include <unistd.h>

#include "record/clock_files.hpp"
#include "record/recorder.hpp"

namespace entrain::record {

namespace {

/// Texts of different lengths, one per process, to rank 0.
class Texts {
 public:
  Texts(MPI_Comm comm, int rank, int size) : comm_(comm), rank_(rank), size_(size) {}

  std::vector<std::string> gather(const std::string& own) {
    int length = static_cast<int>(own.size());
    std::vector<int> lengths(static_cast<std::size_t>(size_));
    real.MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm_);
    const std::vector<int> places = places_of(lengths);
    std::string all(rank_ == 0 ? static_cast<std::size_t>(places.back()) : 0, '\0');
    real.MPI_Gatherv(own.data(), length, MPI_CHAR, all.data(), lengths.data(), places.data(),
                     MPI_CHAR, 0, comm_);
    std::vector<std::string> texts;
    for (std::size_t i = 0; rank_ == 0 && i < lengths.size(); ++i) {
      texts.push_back(
          all.substr(static_cast<std::size_t>(places[i]), static_cast<std::size_t>(lengths[i])));
    }
    return texts;
  }

  std::string scatter(const std::vector<std::string>& texts) {
    std::vector<int> lengths(static_cast<std::size_t>(size_));
    std::string all;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      lengths[i] = static_cast<int>(texts[i].size());
      all += texts[i];
    }
    const std::vector<int> places = places_of(lengths);
    int length = 0;
    real.MPI_Scatter(lengths.data(), 1, MPI_INT, &length, 1, MPI_INT, 0, comm_);
    std::string own(static_cast<std::size_t>(length), '\0');
    real.MPI_Scatterv(all.data(), lengths.data(), places.data(), MPI_CHAR, own.data(), length,
                      MPI_CHAR, 0, comm_);
    return own;
  }

 private:
  static std::vector<int> places_of(const std::vector<int>& lengths) {
    std::vector<int> places(lengths.size() + 1, 0);
    for (std::size_t i = 0; i < lengths.size(); ++i) places[i + 1] = places[i] + lengths[i];
    return places;
  }

  MPI_Comm comm_;
  int rank_, size_;
};

}  // namespace

void Recorder::close_threads() {
  for (const auto& location : locations_) {
    journal_.tell({"span", std::to_string(location->id()), std::to_string(location->events()),
                   std::to_string(location->first().local), std::to_string(location->last().local),
                   std::to_string(location->first().truth),
                   std::to_string(location->last().truth)});
  }
}

void Recorder::stop_threads() {
  {
    const std::lock_guard lock(threads_mutex_);
    state = State::over;
  }
  for (const auto& location : locations_) {
    while (location->busy) ::sched_yield();
  }
}

void Recorder::finish() {
  if (state != State::recording) return;
  stop_threads();
  if (const std::string cost = period_.cost(timer.now().truth); rank_ == 0 && !cost.empty()) {
    say(cost);
  }
  close_threads();
  bool good = true;
  for (const auto& location : locations_) good = good && !location->broken();
  for (const auto& archive : archives_) good = archive->close_writers() && good;
  const bool all_good = all_agree(good) && all_agree(write_archives());
  settle(good, all_good);
  real.MPI_Group_free(&world_group_);
  real.MPI_Comm_free(&world_);
}

bool Recorder::write_archives() {
  bool good = true;
  Texts texts(world_, rank_, size_);
  const std::vector<std::string> journals = texts.gather(journal_.text());
  std::unique_ptr<Merged> merged;
  std::vector<std::string> plans;
  if (rank_ == 0) {
    std::vector<ProcessRecord> processes(journals.size());
    for (std::size_t i = 0; i < journals.size(); ++i) parse_journal(journals[i], processes[i]);
    merged = std::make_unique<Merged>(std::move(processes));
    for (std::size_t i = 0; i < journals.size(); ++i) {
      plans.push_back(to_text(merged->local_plan(i)));
    }
  }
  const std::string plan = texts.scatter(plans);
  ProcessRecord own;
  parse_journal(journal_.text(), own);
  for (const auto& archive : archives_) {
    good = archive->write_local_definitions({{own.locations, parse_plan(plan)}}) && good;
    real.MPI_Barrier(world_);
    if (rank_ == 0) good = archive->write_global_definitions(*merged) && good;
    real.MPI_Barrier(world_);
    good = archive->close() && good;
  }
  if (rank_ == 0) good = write_clock_files(settings_.directory, *merged) && good;
  return good;
}

void Recorder::settle(bool good, bool all_good) {
  const std::string& directory = settings_.directory;
  const std::string complaint = take_otf2_complaint();
  if (!all_good) {
    // All may have the same trouble: the first one speaks.
    int speaker = good && complaint.empty() ? size_ : rank_, first = 0;
    real.MPI_Allreduce(&speaker, &first, 1, MPI_INT, MPI_MIN, world_);
    if (rank_ == (first == size_ ? 0 : first)) {
      say("the archive in " + directory + " could not be written completely" +
          (complaint.empty() ? "" : " (" + complaint + ")") +
          "; make room, then finish what was recorded with entrain record --repair " + directory);
    }
  }
  for (const auto& archive : archives_) archive->drop_buffers(!all_good);
  archives_.clear();
  if (!all_good) {
    journal_.close();
    // An anchor would make it look whole.
    for (const std::string& folder : {directory, truth_folder(directory)}) {
      if (rank_ == 0) ::unlink((folder + '/' + k_archive_name + ".otf2").c_str());
    }
    return;
  }
  journal_.remove();
  real.MPI_Barrier(world_);
  if (rank_ != 0) return;
  ::rmdir(unfinished_folder(directory).c_str());
  if (timer.is_virtual()) ::rmdir(unfinished_folder(truth_folder(directory)).c_str());
}

void Recorder::abandon() {
  State expected = State::recording;
  if (!state.compare_exchange_strong(expected, State::over)) return;
  // Other threads may be writing, until the process ends: theirs stays in the mapped files.
  if (const Location* const own = this_thread.location) {
    bool good = true;
    for (const auto& archive : archives_) good = archive->close_writer(own->id()) && good;
    for (const auto& archive : archives_) archive->drop_buffers(!good);
  }
  if (rank_ == 0 && !settings_.launched) {
    say("the program ended without MPI_Finalize; finish its archive with entrain record --repair " +
        settings_.directory);
  }
}

}  // namespace entrain::record
