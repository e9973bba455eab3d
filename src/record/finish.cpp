// SPDX-License-Identifier: BSD-3-Clause
// The end of a recording: rank 0 brings the journals of all processes together.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "record/clock_files.hpp"
#include "record/recorder.hpp"
#include "record/rounds.hpp"

namespace entrain::record {

namespace {

/// Texts of different lengths, one per process, to rank 0.
class Texts {
 public:
  Texts(MPI_Comm comm, int rank, int size) : comm_(comm), rank_(rank), size_(size) {}

  std::vector<std::string> gather(const std::string& own) {
    const std::uint64_t length = own.size();
    std::vector<std::uint64_t> lengths(on_root(static_cast<std::size_t>(size_)));
    real.MPI_Gather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, 0, comm_);
    std::vector<std::string> texts(lengths.size());
    for (std::size_t i = 0; i < texts.size(); ++i) texts[i].reserve(lengths[i]);
    const Rounds rounds = rounds_of(length);
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

  std::string scatter(const std::vector<std::string>& texts) {
    std::vector<std::uint64_t> lengths;
    for (const std::string& text : texts) lengths.push_back(text.size());
    std::uint64_t length = 0;
    real.MPI_Scatter(lengths.data(), 1, MPI_UINT64_T, &length, 1, MPI_UINT64_T, 0, comm_);
    const Rounds rounds = rounds_of(length);
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
      real.MPI_Scatterv(all.data(), places.parts.data(), places.begins.data(), MPI_CHAR, begin,
                        part, MPI_CHAR, 0, comm_);
    }
    return own;
  }

 private:
  [[nodiscard]] std::size_t on_root(std::size_t count) const { return rank_ == 0 ? count : 0; }
  [[nodiscard]] Rounds rounds_of(std::uint64_t length) const {
    std::uint64_t longest = 0;
    real.MPI_Allreduce(&length, &longest, 1, MPI_UINT64_T, MPI_MAX, comm_);
    return {static_cast<std::uint64_t>(size_), longest};
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
  leave_world();
}

void Recorder::tell_of_limits(const std::vector<ProcessRecord>& processes) const {
  const auto tell = [&](const char* limit, const std::string& what) {
    const auto count = std::count_if(processes.begin(), processes.end(),
                                     [&](const ProcessRecord& one) { return one.limit == limit; });
    if (count == 0) return;
    say("in " + std::to_string(count) + " of " + std::to_string(processes.size()) +
        " processes the recording ended before the program, " + what +
        "; from there on messages between them and others have one end only");
  };
  tell(k_limit_size, "at the limit of " + std::to_string(settings_.most_bytes) +
                         " bytes of events per process (--max-size)");
  tell(k_limit_locations, "where they had more than " + std::to_string(settings_.most_locations) +
                              " threads to record (--max-locations)");
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
    tell_of_limits(processes);
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
  std::string complaint = take_otf2_complaint();
  int why = 0;
  for (const auto& archive : archives_) why = why != 0 ? why : archive->problem();
  // The system knows better than the library, which only sees that it got no memory.
  if (why != 0) complaint = std::strerror(why);
  const bool room = why == 0 || why == ENOSPC || why == EDQUOT || why == EFBIG;
  if (!all_good) {
    // All may have the same trouble: the first one speaks.
    int speaker = good && complaint.empty() ? size_ : rank_, first = 0;
    real.MPI_Allreduce(&speaker, &first, 1, MPI_INT, MPI_MIN, world_);
    if (rank_ == (first == size_ ? 0 : first)) {
      say("the archive in " + directory + " could not be written completely" +
          (complaint.empty() ? "" : " (" + complaint + ")") +
          (room ? "; make room, then" : "; mend that, then") +
          " finish what was recorded with entrain record --repair " + directory);
    }
  }
  for (const auto& archive : archives_) archive->drop_buffers(!all_good);
  archives_.clear();
  if (!all_good) {
    journal_.close();
    // An anchor would make it look whole.
    for (const std::string& folder : {directory, truth_folder(directory)}) {
      if (rank_ == 0) ::unlink(anchor_path(folder).c_str());
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
