// SPDX-License-Identifier: BSD-3-Clause
// Clock sessions in a program whose events another tracer records.
#include "record/archive/clock_files.hpp"
#include "record/archive/folders.hpp"
#include "record/base/say.hpp"
#include "record/recorder/recorder.hpp"

namespace entrain::record {

void Recorder::start_measuring() {
  if (!prepare_folders()) return world_.leave();
  std::string problem;
  const bool good = world_.all_agree(open_journal(problem));
  start_journal();
  journal_.add({"clocks_only"});
  if (!good) {
    report_start_failure(problem);
    remove_archives();
    return world_.leave();
  }
  real.MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &has_all_key_,
                              nullptr);
  sessions_.set_up(session_setup());
  state = State::measuring;
}

bool Recorder::has_all(MPI_Comm handle) {
  if (handle == MPI_COMM_WORLD) return true;
  if (handle == MPI_COMM_NULL || sessions_.world_only()) return false;
  static int yes = 0, no = 0;  // only their addresses matter
  void* known = nullptr;
  int found = 0;
  real.MPI_Comm_get_attr(handle, has_all_key_, &known, &found);
  if (found != 0) return known == &yes;
  int relation = MPI_UNEQUAL;
  real.MPI_Comm_compare(handle, MPI_COMM_WORLD, &relation);
  const bool all = relation == MPI_CONGRUENT;
  real.MPI_Comm_set_attr(handle, has_all_key_, all ? &yes : &no);
  return all;
}

void Recorder::measure_clocks(const std::optional<SessionSize>& due) { sessions_.measure(due); }

void Recorder::finish_measuring() {
  state = State::over;
  if (const std::string cost = sessions_.cost(); world_.rank() == 0 && !cost.empty()) say(cost);
  journal_.add(
      {"clock_end", std::to_string(timer.now().local), std::to_string(timer.ticks_per_second())});
  const std::vector<std::string> journals = world_.gather(journal_.text());
  bool good = true;
  if (world_.rank() == 0) {
    std::vector<ProcessRecord> processes(journals.size());
    for (std::size_t i = 0; i < journals.size(); ++i) parse_journal(journals[i], processes[i]);
    good = write_clocks_only(settings_.directory, processes);
    if (!good) {
      say("the clock measurements could not be written to " + settings_.directory +
          "; make room, then finish them with entrain record --repair " + settings_.directory);
    }
  }
  if (world_.all_agree(good)) {
    remove_unfinished();
  } else {
    journal_.close();
  }
  real.MPI_Comm_free_keyval(&has_all_key_);
  world_.leave();
}

}  // namespace entrain::record
