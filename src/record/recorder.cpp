// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder.hpp"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" OTF2_ErrorCode entrain_internal_set_collectives(OTF2_Archive* archive, MPI_Comm comm);

namespace entrain::record {

thread_local ThreadState this_thread;
std::atomic<State> state{State::idle};

Recorder& recorder() {
  static Recorder* const the_one = new Recorder;  // outlives threads that run at exit
  return *the_one;
}

void say(const std::string& sentence) {
  const std::string line = "entrain record: " + sentence + '\n';
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

namespace {

extern "C" void thread_ends(void* location) {
  this_thread.location = nullptr;
  recorder().thread_over(*static_cast<Location*>(location));
}

/// The key whose value, a location, is handed to thread_ends at the end of a thread. The destructor
/// of a thread_local would run at the end of the first thread too, before the program is through.
pthread_key_t end_of_thread() {
  static const pthread_key_t the_key = [] {
    pthread_key_t key{};
    ::pthread_key_create(&key, thread_ends);
    return key;
  }();
  return the_key;
}

/// The first line of a file, or the target of a link; "" if there is none.
std::string first_line(const char* path) {
  char text[256] = "";
  if (::readlink(path, text, sizeof text - 1) > 0) return text;
  if (std::FILE* const file = std::fopen(path, "r")) {
    if (std::fgets(text, sizeof text, file) == nullptr) text[0] = '\0';
    std::fclose(file);
  }
  return clean_word(text);
}

std::uint64_t realtime_ns() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

std::string host_name() {
  char name[256] = "localhost";
  ::gethostname(name, sizeof name - 1);
  return clean_word(name);
}

/// Makes a folder and those above it; an existing one is fine.
bool make_folders(const std::string& path) {
  for (std::size_t at = 1; at <= path.size(); ++at) {
    if (at != path.size() && path[at] != '/') continue;
    const std::string part = path.substr(0, at);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST && ::access(part.c_str(), F_OK) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool Recorder::all_agree(bool good) const {
  int own = good ? 1 : 0, all = 0;
  real.MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, world_);
  return all != 0;
}

std::string Recorder::agree_on_variables() const {
  const std::string own = own_variables();
  auto length = static_cast<int>(own.size());
  real.MPI_Bcast(&length, 1, MPI_INT, 0, world_);
  std::string agreed = own;
  agreed.resize(static_cast<std::size_t>(length));
  real.MPI_Bcast(agreed.data(), length, MPI_CHAR, 0, world_);
  if (!all_agree(own == agreed) && rank_ == 0) {
    say("the variables ENTRAIN_* of the processes differ; those of rank 0 are used");
  }
  return agreed;
}

void Recorder::leave_world() {
  real.MPI_Group_free(&world_group_);
  real.MPI_Comm_free(&world_);
}

void Recorder::look_at_error_handler() const {
  // It need not be the standard's: launchers may ask for another one.
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  real.MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  errors_return = handler != MPI_ERRORS_ARE_FATAL;
  if (errors_return && handler != MPI_ERRORS_RETURN) real.MPI_Errhandler_free(&handler);
}

void Recorder::start() {
  // Without a folder nothing may be said to others: they need not have the recorder at all.
  const char* const folder = std::getenv("ENTRAIN_RECORD_DIR");
  if (folder == nullptr || *folder == '\0') return;
  real.MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm parent = MPI_COMM_NULL;
  real.MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    if (rank_ == 0) say("processes that the program started with MPI_Comm_spawn are not recorded");
    return;
  }
  // A process that went by settings of its own would wait for the others for ever.
  real.MPI_Comm_dup(MPI_COMM_WORLD, &world_);
  real.MPI_Comm_size(world_, &size_);
  real.MPI_Comm_group(world_, &world_group_);
  std::string problem;
  settings_ = read_settings(agree_on_variables(), problem);
  if (!problem.empty() && rank_ == 0) say(problem + "; the default is used");
  look_at_error_handler();
  int level = MPI_THREAD_SINGLE;
  real.MPI_Query_thread(&level);
  several_threads_ = level == MPI_THREAD_MULTIPLE;
  if (!set_up_clock(settings_) || !prepare_folders() || !open_archives()) return leave_world();
  state = State::recording;
}

bool Recorder::set_up_clock(const Settings& settings) {
  std::string problem;
  timer.set_up(settings.timer, problem);
  if (!problem.empty() && rank_ == 0) say(problem);
  const VirtualCluster& cluster = settings.virtual_cluster;
  if (cluster.nodes == 0) return true;
  std::uint64_t epoch = timer.now().truth;
  real.MPI_Bcast(&epoch, 1, MPI_UINT64_T, 0, world_);
  timer.make_virtual(cluster, virtual_node(), epoch);
  return true;
}

/// Makes the folder of an archive and the one for what is unfinished. "", or what is wrong.
static std::string make_archive_folder(const std::string& directory) {
  if (::access(anchor_path(directory).c_str(), F_OK) == 0) {
    return directory + " holds an archive already; give another folder";
  }
  if (!make_folders(directory)) {
    return "cannot make the folder " + directory + ": " + std::strerror(errno);
  }
  if (::mkdir(unfinished_folder(directory).c_str(), 0777) == 0) return "";
  return errno == EEXIST ? directory + " holds an unfinished archive already; give another folder"
                         : "cannot write to " + directory + ": " + std::strerror(errno);
}

bool Recorder::prepare_folders() {
  std::string problem;
  if (rank_ == 0) {
    problem = make_archive_folder(settings_.directory);
    if (problem.empty() && timer.is_virtual()) {
      problem = make_archive_folder(truth_folder(settings_.directory));
      if (!problem.empty()) ::rmdir(unfinished_folder(settings_.directory).c_str());
    }
  }
  int good = problem.empty() ? 1 : 0;
  real.MPI_Bcast(&good, 1, MPI_INT, 0, world_);
  if (!problem.empty()) say(problem + ". Nothing is recorded");
  return good != 0;
}

std::uint64_t Recorder::virtual_node() const {
  const auto rank = static_cast<std::uint64_t>(rank_), size = static_cast<std::uint64_t>(size_);
  return rank * settings_.virtual_cluster.nodes / size;
}

std::string Recorder::host() const {
  if (!timer.is_virtual()) return host_name();
  return host_name() + '#' + std::to_string(virtual_node());
}

std::string Recorder::clock_identity() const {
  if (settings_.sync.synced_host != Choice::automatic) return host();
  return host() + '/' + timer.name() + '/' + first_line("/proc/sys/kernel/random/boot_id") + '/' +
         first_line("/proc/self/ns/time");
}

void Recorder::start_journal() {
  const std::uint64_t at = timer.now().local;
  journal_.tell({"process", std::to_string(rank_), std::to_string(size_), host(), timer.name(),
                 std::to_string(timer.granularity()), std::to_string(realtime_ns()),
                 std::to_string(at), timer.is_virtual() ? timer.description() : ""});
}

bool Recorder::open_archives() {
  const std::string path =
      unfinished_folder(settings_.directory) + '/' + std::to_string(rank_) + ".journal";
  bool good = journal_.open(path);
  std::string problem = good ? "" : "cannot write " + path + ": " + std::strerror(errno);
  if (all_agree(good)) {
    const auto set = [this](OTF2_Archive* archive) {
      return entrain_internal_set_collectives(archive, world_);
    };
    for (const bool truth : {false, true}) {
      if (truth && !timer.is_virtual()) continue;
      TraceArchive::Options options;
      options.directory = truth ? truth_folder(settings_.directory) : settings_.directory;
      options.truth = truth;
      options.buffer_bytes = settings_.buffer_bytes;
      if (!truth) {
        options.most_bytes = settings_.most_bytes;
        options.when_full = [this] { end_recording(k_limit_size); };
      }
      archives_.push_back(std::make_unique<TraceArchive>());
      good = good && archives_.back()->open(options, set) && archives_.back()->open_events();
    }
    if (!good) problem = "cannot write to " + settings_.directory + ": " + take_otf2_complaint();
  } else {
    good = false;
  }
  start_journal();
  whole_world_ = size_ == 1 ? "0" : "0-" + std::to_string(size_ - 1);
  add_comm(MPI_COMM_WORLD, "world");
  add_comm(MPI_COMM_SELF, "self");
  if (good && add_thread() == nullptr) {
    good = false;
    const int why = archives_.back()->problem() != 0 ? archives_.back()->problem()
                                                     : archives_.front()->problem();
    const std::string complaint = take_otf2_complaint();
    problem = "cannot write to " + settings_.directory + ": " +
              (why != 0 ? std::strerror(why) : complaint.c_str());
  }
  if (all_agree(good)) return true;
  // All may have the same trouble: the first one speaks.
  int speaker = problem.empty() ? size_ : rank_, first = 0;
  real.MPI_Allreduce(&speaker, &first, 1, MPI_INT, MPI_MIN, world_);
  if (first == rank_) say(problem + ". Nothing is recorded");
  remove_archives();
  return false;
}

void Recorder::remove_archives() {
  // The archives themselves stay open: the library would complete them.
  this_thread.location = nullptr;
  journal_.remove();
  const std::string& own = settings_.directory;
  for (const std::string& directory : {own, truth_folder(own)}) {
    const std::string events = directory + '/' + k_archive_name;
    ::unlink(buffer_path(unfinished_folder(directory), static_cast<std::uint64_t>(rank_)).c_str());
    real.MPI_Barrier(world_);
    if (rank_ != 0) continue;
    // Only what is empty goes: there may be other things.
    ::rmdir(events.c_str());
    ::rmdir(unfinished_folder(directory).c_str());
    if (directory != own) ::rmdir(directory.c_str());
  }
}

Location& Recorder::nobody() {
  static Location* const the_one = [] {
    auto* const location = new Location(0, nullptr, nullptr);
    location->close();
    location->stop({});
    return location;
  }();
  return *the_one;
}

void Recorder::end_recording(const char* limit) {
  if (!limit_reached.exchange(true)) journal_.tell({"limit", limit});
}

Location* Recorder::add_thread() {
  const std::lock_guard lock(threads_mutex_);
  if (state == State::over) return nullptr;
  if (limit_reached) return this_thread.location = &nobody();
  if (!left_.empty()) {
    Location* const location = left_.back();
    left_.pop_back();
    // Times must not fall, and counters of two processors need not be quite alike.
    while (timer.now().local < location->last().local) {
    }
    ::pthread_setspecific(end_of_thread(), location);
    return this_thread.location = location;
  }
  const std::uint64_t thread = locations_.size();
  if (settings_.most_locations != 0 && thread >= settings_.most_locations) {
    // Without its messages those of the others would be taken for them.
    end_recording(k_limit_locations);
    return this_thread.location = &nobody();
  }
  const std::uint64_t id = thread << 32 | static_cast<std::uint64_t>(rank_);
  OTF2_EvtWriter* writers[2] = {nullptr, nullptr};
  for (std::size_t i = 0; i < archives_.size(); ++i) {
    writers[i] = archives_[i]->event_writer(id);
    if (writers[i] == nullptr) return nullptr;
  }
  locations_.push_back(std::make_unique<Location>(id, writers[0], writers[1]));
  journal_.tell({"location", std::to_string(id),
                 thread == 0 ? "Master thread" : "Thread " + std::to_string(thread)});
  // The end of the first thread is that of the program.
  if (thread > 0) ::pthread_setspecific(end_of_thread(), locations_.back().get());
  return this_thread.location = locations_.back().get();
}

void Recorder::thread_over(Location& at) {
  {
    const Writing writing(at);
    if (!writing) return;
    const Stamp now = timer.now();
    at.resume(now);
    for (; !at.user_regions.empty(); at.user_regions.pop_back()) {
      at.leave(now, at.user_regions.back());
    }
  }
  const std::lock_guard lock(threads_mutex_);
  left_.push_back(&at);
}

void Recorder::first_use(std::uint32_t region) {
  if (used_[region].exchange(true)) return;
  if (region == k_session_region) {
    journal_.tell({"region", std::to_string(region), "r", "clock session"});
  } else {
    journal_.tell({"region", std::to_string(region), "m", k_region_names[region]});
  }
}

std::uint32_t Recorder::user_region(const char* name) {
  const std::lock_guard lock(threads_mutex_);
  const auto number = k_first_user_region + static_cast<std::uint32_t>(user_regions_.size());
  const auto [place, is_new] = user_regions_.try_emplace(name, number);
  if (is_new) journal_.tell({"region", std::to_string(number), "u", clean_word(name)});
  return place->second;
}

void Recorder::measure_clocks(Location& at, bool is_periodic) {
  use_region(k_session_region);
  const Stamp begin = timer.now();
  at.enter(begin, k_session_region);
  if (session_count_ == 0) {
    sessions_.set_up(settings_.sync, world_, clock_identity(), journal_);
    period_.set_up(sessions_.any() ? settings_.sync.period_s : 0, settings_.sync.every, world_);
    CollectiveOver::periodic = period_.on();
    // A level that each process asks for on its own: all must count alike.
    whole_world_only_ = !all_agree(!several_threads_);
  }
  sessions_.measure(session_count_++, journal_);
  const Stamp end = timer.now();
  at.leave(end, k_session_region);
  period_.session_over(end.truth, end.truth - begin.truth, is_periodic);
}

void Recorder::after_collective_on(MPI_Comm handle) {
  if (state != State::recording) return;
  {
    const auto lock = this->lock();
    const Comm* const known = comm(handle);
    // Where several threads call MPI, those of two processes may come to two communicators in
    // different orders; on one communicator there is one order.
    const bool counts = known != nullptr && known->whole && (known->id == 0 || !whole_world_only_);
    if (!counts) return;
  }
  ++this_thread.depth;
  if (period_.due()) {
    Location* const at = this_location();
    // Without a place for its records the session must be held all the same: others wait.
    measure_clocks(at != nullptr ? *at : nobody(), true);
  }
  --this_thread.depth;
}

}  // namespace entrain::record
