// SPDX-License-Identifier: BSD-3-Clause
// The end of a recording: rank 0 brings the journals of all processes together.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "record/archive/clock_files.hpp"
#include "record/archive/folders.hpp"
#include "record/base/say.hpp"
#include "record/recorder/recorder.hpp"

namespace entrain::record {

void Recorder::finish() {
  if (state == State::measuring) return finish_measuring();
  if (state != State::recording) return;
  threads_.stop();
  if (const std::string cost = sessions_.cost(); world_.rank() == 0 && !cost.empty()) say(cost);
  bool good = threads_.close();
  for (const auto& archive : archives_) good = archive->close_writers() && good;
  const bool all_good = world_.all_agree(good) && world_.all_agree(write_archives());
  if (!all_good) report_failure(good);
  for (const auto& archive : archives_) archive->drop_buffers(!all_good);
  archives_.clear();
  if (all_good) {
    remove_unfinished();
  } else {
    leave_unfinished();
  }
  world_.leave();
}

void Recorder::report_limits(const std::vector<ProcessRecord>& processes) const {
  const auto full = std::count_if(processes.begin(), processes.end(),
                                  [](const ProcessRecord& one) { return one.partners_full; });
  if (full > 0) {
    say("in " + std::to_string(full) + " of " + std::to_string(processes.size()) +
        " processes the partners of collective calls changed so often that later calls are "
        "recorded without them");
  }
  const auto report = [&](const char* limit, const std::string& where) {
    const auto count = std::count_if(processes.begin(), processes.end(),
                                     [&](const ProcessRecord& one) { return one.limit == limit; });
    if (count == 0) return;
    say("in " + std::to_string(count) + " of " + std::to_string(processes.size()) +
        " processes the recording ended before the program, " + where +
        "; from there on messages between them and others have one end only");
  };
  report(k_limit_size, "at the limit of " + std::to_string(settings_.most_bytes) +
                           " bytes of events per process (--max-size)");
  report(k_limit_locations, "where they had more than " + std::to_string(settings_.most_locations) +
                                " threads to record (--max-locations)");
}

bool Recorder::write_archives() {
  bool good = true;
  const std::vector<std::string> journals = world_.gather(journal_.text());
  std::unique_ptr<Merged> merged;
  std::vector<std::string> plans;
  if (world_.rank() == 0) {
    std::vector<ProcessRecord> processes(journals.size());
    for (std::size_t i = 0; i < journals.size(); ++i) parse_journal(journals[i], processes[i]);
    report_limits(processes);
    merged = std::make_unique<Merged>(std::move(processes));
    for (std::size_t i = 0; i < journals.size(); ++i) {
      plans.push_back(to_text(merged->local_plan(i)));
    }
  }
  const std::string plan = world_.scatter(plans);
  ProcessRecord own;
  parse_journal(journal_.text(), own);
  for (const auto& archive : archives_) {
    good = archive->write_local_definitions({{own.locations, parse_plan(plan)}}) && good;
    world_.wait_for_all();
    if (world_.rank() == 0) good = archive->write_global_definitions(*merged) && good;
    world_.wait_for_all();
    good = archive->close() && good;
  }
  if (world_.rank() == 0) good = write_clock_files(settings_.directory, *merged) && good;
  return good;
}

void Recorder::report_failure(bool good) const {
  std::string complaint = take_otf2_complaint();
  int why = 0;
  for (const auto& archive : archives_) why = why != 0 ? why : archive->problem();
  // The system knows better than the library, which only sees that it got no memory.
  if (why != 0) complaint = std::strerror(why);
  // All may have the same trouble: the first one speaks.
  const bool has_reason = !good || !complaint.empty();
  const int first = world_.smallest(has_reason ? world_.rank() : world_.size());
  if (world_.rank() != (first == world_.size() ? 0 : first)) return;
  const bool room = why == 0 || why == ENOSPC || why == EDQUOT || why == EFBIG;
  say("the archive in " + settings_.directory + " could not be written completely" +
      (complaint.empty() ? "" : " (" + complaint + ")") +
      (room ? "; make room, then" : "; mend that, then") +
      " finish what was recorded with entrain record --repair " + settings_.directory);
}

void Recorder::leave_unfinished() {
  journal_.close();
  // With an anchor the archive would look complete.
  for (const std::string& folder : {settings_.directory, truth_folder(settings_.directory)}) {
    if (world_.rank() == 0) ::unlink(anchor_path(folder).c_str());
  }
}

void Recorder::remove_unfinished() {
  journal_.remove();
  world_.wait_for_all();
  if (world_.rank() != 0) return;
  ::rmdir(unfinished_folder(settings_.directory).c_str());
  if (timer.is_virtual()) ::rmdir(unfinished_folder(truth_folder(settings_.directory)).c_str());
}

void Recorder::abandon() {
  State expected = State::recording, measuring = State::measuring;
  if (!state.compare_exchange_strong(expected, State::over) &&
      !state.compare_exchange_strong(measuring, State::over)) {
    return;
  }
  sessions_.abandon();
  // Other threads may be writing until the process ends: their records stay in the mapped files.
  if (const Location* const own = this_thread.location) {
    bool good = true;
    for (const auto& archive : archives_) good = archive->close_writer(own->id()) && good;
    for (const auto& archive : archives_) archive->drop_buffers(!good);
  }
  if (world_.rank() == 0 && !settings_.launched) {
    say("the program ended without MPI_Finalize; finish its archive with entrain record --repair " +
        settings_.directory);
  }
}

}  // namespace entrain::record
