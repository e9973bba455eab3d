// SPDX-License-Identifier: BSD-3-Clause
#include "record/cli/record.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "cli/common.hpp"
#include "cli/values.hpp"
#include "record/cli/launch.hpp"

namespace entrain::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_launched = "ENTRAIN_RECORD_LAUNCHED";

/// An option that sets a variable of the recorder, which has the default itself.
using Variable = std::optional<std::string>;

auto count_as_text(std::uint64_t least, std::uint64_t most) {
  return [=](std::string_view text) -> Result<Variable> {
    return parse_count(text, least, most).map([&](std::uint64_t) {
      return Variable(std::string(text));
    });
  };
}

auto number_as_text(double most, const char* unit) {
  return [=](std::string_view text) -> Result<Variable> {
    return parse_number(text, 0, most, unit).map([&](double) {
      return Variable(std::string(text));
    });
  };
}

/// An absolute path without a slash at its end: the names of other folders extend it.
std::string folder_from_everywhere(const std::string& folder) {
  const std::string path = fs::absolute(folder).lexically_normal().string();
  return path.size() > 1 && path.back() == '/' ? path.substr(0, path.size() - 1) : path;
}

class Record : public Verb {
 public:
  [[nodiscard]] const HelpText& help() const override;
  void declare(OptionSet& set) override;
  int run() override;

 private:
  void declare_recording(OptionSet& set);
  void declare_clocks(OptionSet& set);
  [[nodiscard]] Environment variables(const std::string& library) const;
  [[nodiscard]] std::string contradiction() const;
  int record();
  [[nodiscard]] int launch(const std::string& library) const;
  [[nodiscard]] int repair() const;

  std::string output_ = "entrain-trace", repair_;
  Command command_;
  const OptionSet* set_ = nullptr;  ///< knows all our options; the first other argument begins the
                                    ///< command
  Variable mpi_, buffer_, most_bytes_, most_locations_, timer_;
  Variable messages_, duration_, drop_, fanout_, period_, every_, budget_, synced_host_;
  bool synced_cluster_ = false, no_sync_ = false, clocks_only_ = false;
};

const HelpText& Record::help() const {
  static const HelpText k_help{
      "record",
      "[OPTIONS] [--] COMMAND...",
      "run an MPI program and record its events and clocks",
      {"Runs COMMAND, an MPI program or its launcher, and writes an OTF2 archive of the run: the "
       "begin and end of every MPI call, messages, collective calls and communicators. It also "
       "measures the offsets between the clocks: at MPI_Init, at MPI_Finalize and where the "
       "program calls entrain_timesync. The recorder is loaded into the program, which need not be "
       "changed or linked again.",
       "COMMAND may be the launcher (entrain record -- mpirun -n 4 app), or the launcher may start "
       "this tool (mpirun -n 4 entrain record -- app). Output and exit code are those of the "
       "program. All options but --mpi and --repair can also be given as environment variables, "
       "which docs/manual/record.md names. All processes use the settings of rank 0.",
       "If the program ends without MPI_Finalize, or the disk is full, DIR holds a folder "
       "'unfinished' in place of an archive. --repair makes the archive from it."},
      {{"entrain record -o trace -- mpirun -n 4 ./app", "Records four processes."},
       {"entrain record --clocks-only -o clocks -- mpirun -n 4 ./traced", "Measures clocks only."},
       {"mpirun -n 4 entrain record -o trace -- ./app", "The same; the launcher starts the tool."},
       {"entrain record --repair trace", "Finishes the archive of a program that crashed."}},
      {{"0", "the archive is repaired (--repair)"},
       {"N", "the program's exit code, whatever it is"},
       {"2", "bad usage, no recorder for this MPI, nothing to repair"}},
      {"--output", "--repair", "--sync-period", "--max-size", "--no-sync"}};
  return k_help;
}

void Record::declare(OptionSet& set) {
  set.keep_command();
  set_ = &set;
  set.group("OUTPUT OPTIONS");
  set.path("-o,--output", output_, "DIR",
           "The folder to write the archive to; it must not exist, or be empty. Default: "
           "entrain-trace.");
  set.path("--repair", repair_, "DIR",
           "Instead of running a program, finish the archive in DIR, which its program left "
           "unfinished. No process of the program may be running.");
  declare_recording(set);
  declare_clocks(set);
}

void Record::declare_recording(OptionSet& set) {
  const auto parse_bytes = [](std::string_view text) -> Result<Variable> {
    const auto bytes = parse_size(text);
    if (bytes && *bytes >= std::uint64_t{1} << 20 && *bytes <= std::uint64_t{1} << 40) {
      return Variable(std::to_string(*bytes));
    }
    return fail(ErrorKind::usage, "is not a size such as 16M, 1M to 1T");
  };
  set.group("OPTIONS OF THE RECORDING");
  set.choice(
      "--mpi", mpi_, {{"openmpi", "openmpi"}, {"mpich", "mpich"}},
      "The program's MPI. Use it when the tool takes the wrong one or finds none. Default: that "
      "of the launcher or of the program.");
  set.value("--buffer", buffer_, parse_bytes, "SIZE",
            "Memory for the events of one thread, bytes, 1M to 1T; older events are on disk only. "
            "Use a smaller one when the program needs the memory, a larger one when the disk is "
            "slow. Default: 16M.");
  set.value("--max-size", most_bytes_, parse_bytes, "SIZE",
            "Limit on the size of the events of one process, bytes, 1M to 1T. At the limit the "
            "recording of this process ends. The program goes on, and the archive is complete up "
            "to that point. Use it when a program may run too long for the disk. Default: no "
            "limit.");
  set.value("--max-locations", most_locations_, count_as_text(1, 1'000'000), "N",
            "Limit on the threads of one process that are recorded at the same time, 1 to 1000000. "
            "One more thread ends the recording of this process, as with --max-size. Use it when "
            "a program may start very many threads: each one takes files and memory. Default: no "
            "limit.");
  set.choice(
      "--timer", timer_,
      {{"monotonic_raw", "monotonic_raw"},
       {"monotonic", "monotonic"},
       {"realtime", "realtime"},
       {"tsc", "tsc"}},
      "The clock: CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC or CLOCK_REALTIME of the system, or the "
      "processor's invariant time stamp counter, converted to nanoseconds. realtime is for "
      "--clocks-only, since it may be set back; with --clocks-only, tsc gives the counter "
      "itself, as other tracers store it. Use tsc when reading the clock takes too long, its "
      "rate is less exact; use the clock of the other tracer with --clocks-only. Default: "
      "monotonic_raw.");
  set.flag("--clocks-only", clocks_only_,
           "Record no events: only measure the clocks, and write the measurements to DIR. Use it "
           "when another tracer records the program at the same time; then give DIR to entrain "
           "correct --clock-samples. Default: record events too.");
}

void Record::declare_clocks(OptionSet& set) {
  set.group("OPTIONS OF THE CLOCK SESSIONS");
  set.value("--sync-max-messages", messages_, count_as_text(1, 1'000'000), "N",
            "Exchanges of a process with each of its children in one session, 1 to 1000000. Use "
            "more when the network is noisy: sessions take longer, and offsets get more exact. "
            "Default: 100.");
  set.value("--sync-max-duration", duration_, number_as_text(1e6, "seconds"), "SECONDS",
            "Time after which a process begins no exchange with its children, seconds, 0 to 1e6. A "
            "session takes up to this time per level of the tree. Use a smaller one when the "
            "program must not stand still for long. Default: 60.");
  set.value("--sync-drop", drop_, number_as_text(0.9, ""), "SHARE",
            "Share of the exchanges to ignore, those with the longest round trips, 0 to 0.9. Use "
            "a larger one when many exchanges are disturbed. Default: 0.1.");
  set.value("--sync-fanout", fanout_, count_as_text(1, 1'000'000), "N",
            "Children of a process in the tree of measurements, 1 to 1000000. Use more when errors "
            "must not add up over many levels: a session then takes longer. Default: 8.");
  set.value("--sync-period", period_, number_as_text(1e6, "seconds"), "SECONDS",
            "Time between clock sessions during the run, seconds, 0 to 1e6; 0: none. A session "
            "follows a blocking collective call of the program over all processes; where there is "
            "no such call for that long, two processes at a time measure each other when both "
            "have time. Use it when a program runs for minutes and does not call "
            "entrain_timesync. Each session stops the program for a moment. Default: 0.");
  set.value(
      "--sync-every", every_, count_as_text(1, 1'000'000), "N",
      "With --sync-period: rank 0 decides at least at every N-th blocking collective call over "
      "all processes whether a "
      "session is due, 1 to 1000000. Use a smaller one when sessions come too late; each "
      "decision is a broadcast. Default: 100.");
  set.value(
      "--sync-budget", budget_, number_as_text(100, "percent"), "PERCENT",
      "With --sync-period: share of the run that periodic sessions, the decisions about "
      "them and the waiting for them may take, 0 to 100 %. Where they would take more, sessions "
      "get fewer exchanges, "
      "down to a tenth, and then come later than the period says. Use a larger one when exact "
      "times are worth it, 100 for no limit. Default: 1.");
  set.choice("--synced-host", synced_host_, {{"auto", "auto"}, {"yes", "yes"}, {"no", "no"}},
             "Whether the processes of a machine share one clock, so that one of them measures for "
             "all. auto compares the clocks' identities and checks them with messages. Use yes or "
             "no when auto decides wrongly. Default: auto.");
  set.flag("--synced-cluster", synced_cluster_,
           "All nodes share one clock, so nothing is measured. Use it on a machine with a global "
           "clock. "
           "Default: measure.");
  set.flag("--no-sync", no_sync_,
           "Do not measure the clocks. Use it when another tool measures the clocks. Default: "
           "measure.");
}

Environment Record::variables(const std::string& library) const {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  Environment result{
      {"LD_PRELOAD",
       preloaded == nullptr || *preloaded == '\0' ? library : library + ":" + preloaded},
      {"ENTRAIN_RECORD_DIR", folder_from_everywhere(output_)}};
  const auto add = [&](const char* name, const Variable& value) {
    if (value) result.emplace_back(name, *value);
  };
  add("ENTRAIN_RECORD_BUFFER", buffer_);
  add("ENTRAIN_RECORD_MAX_SIZE", most_bytes_);
  add("ENTRAIN_RECORD_MAX_LOCATIONS", most_locations_);
  add("ENTRAIN_RECORD_TIMER", timer_);
  add("ENTRAIN_SYNC_MAX_MESSAGES", messages_);
  add("ENTRAIN_SYNC_MAX_DURATION", duration_);
  add("ENTRAIN_SYNC_DROP", drop_);
  add("ENTRAIN_SYNC_FANOUT", fanout_);
  add("ENTRAIN_SYNC_PERIOD", period_);
  add("ENTRAIN_SYNC_EVERY", every_);
  add("ENTRAIN_SYNC_BUDGET", budget_);
  add("ENTRAIN_SYNCED_HOST", synced_host_);
  if (clocks_only_) result.emplace_back("ENTRAIN_RECORD_CLOCKS_ONLY", "on");
  if (synced_cluster_) result.emplace_back("ENTRAIN_SYNCED_CLUSTER", "yes");
  if (no_sync_) result.emplace_back("ENTRAIN_SYNC", "off");
  // Launchers do not hand the environment to processes on other machines.
  for (char** one = ::environ; one != nullptr && *one != nullptr; ++one) {
    const std::string variable = *one;
    const std::string name = variable.substr(0, variable.find('='));
    const bool ours = name.starts_with("ENTRAIN_") || name == "VT_CONFIG" ||
                      name.starts_with("VT_SYNC");  // those of Intel Trace Collector
    if (!ours || name == k_launched) continue;
    const bool given = std::any_of(result.begin(), result.end(),
                                   [&](const auto& known) { return known.first == name; });
    if (!given && name.size() < variable.size()) {
      result.emplace_back(name, variable.substr(name.size() + 1));
    }
  }
  return result;
}

int Record::run() {
  command_ = set_->rest();
  const bool separated = !command_.empty() && command_.front() == "--";
  if (separated) command_.erase(command_.begin());
  if (!separated && !command_.empty() && command_.front().starts_with('-')) {
    complain(fmt::format("'{}' is not an option (see entrain record --help)", command_.front()));
    return k_exit_failure;
  }
  if (!repair_.empty()) {
    if (!command_.empty() || repair_ == "--") {
      complain("--repair takes one folder and no program (see entrain record --help)");
      return k_exit_failure;
    }
    return repair();
  }
  if (command_.empty()) {
    complain("there is no program to run (see entrain record --help)");
    return k_exit_failure;
  }
  return record();
}

/// Returns the complaint on options that contradict each other or could only fail after the program
/// has run; "" if there is none.
std::string Record::contradiction() const {
  const bool measures = messages_ || duration_ || drop_ || fanout_ || period_ || every_ || budget_;
  const bool off = no_sync_ || synced_cluster_;
  if (clocks_only_ && off) return "--clocks-only measures clocks, and the other option forbids it";
  if (clocks_only_ && (buffer_ || most_bytes_ || most_locations_)) {
    return "--clocks-only records no events, so their limits cannot be given beside it";
  }
  if (!clocks_only_ && timer_ == "realtime") {
    return "--timer realtime stamps no events, since it may be set back; it is for --clocks-only";
  }
  if (off && measures) {
    return fmt::format("{} measures nothing, so the options --sync-... cannot be given beside it",
                       no_sync_ ? "--no-sync" : "--synced-cluster");
  }
  std::error_code ignored;
  if (fs::exists(output_, ignored) && !fs::is_directory(output_, ignored)) {
    return fmt::format("{} is a file; give a folder with -o", output_);
  }
  return "";
}

int Record::record() {
  const char* const set = std::getenv("ENTRAIN_RECORD_CLOCKS_ONLY");
  clocks_only_ = clocks_only_ || (set != nullptr && std::string(set) == "on");
  if (const std::string text = contradiction(); !text.empty()) {
    complain(text);
    return k_exit_failure;
  }
  if (mpi_) {
    if (const auto wrong = other_mpi(command_, *mpi_)) {
      complain(fmt::format("--mpi {} is not the program's MPI, which is {}", *mpi_, *wrong));
      return k_exit_failure;
    }
  }
  const auto library = recorder_library(mpi_ ? mpi_ : mpi_of(command_));
  if (!library) return exit_code_of(library.error());
  if (is_launcher(command_)) return launch(*library);
  for (const auto& [name, value] : variables(*library)) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  return become(command_);
}

int Record::launch(const std::string& library) const {
  const fs::path anchor =
      fs::path(output_) / (clocks_only_ ? "clock_processes.csv" : "traces.otf2");
  const fs::path unfinished = fs::path(output_) / "unfinished";
  std::error_code ignored;
  if (fs::exists(anchor, ignored) || fs::exists(unfinished, ignored)) {
    complain(fmt::format("{} holds {} already; give another folder with -o", output_,
                         clocks_only_ ? "clock measurements" : "an archive"));
    return k_exit_failure;
  }
  Environment all = variables(library);
  all.emplace_back(k_launched, "1");
  const int code = run_and_wait(with_variables(command_, all));
  if (code < 0) return k_exit_failure;
  if (fs::exists(unfinished, ignored)) {
    complain(
        fmt::format("the program did not complete its recording; finish what it recorded with "
                    "entrain record --repair {}",
                    output_));
  } else if (!fs::exists(anchor, ignored)) {
    complain(
        fmt::format("no {} written to {}: the recorder said why, or it was not loaded (a program "
                    "without MPI, linked statically, or with another MPI than that of {})",
                    clocks_only_ ? "clock measurements were" : "archive was", output_,
                    fs::path(library).filename().string()));
  }
  return code;
}

int Record::repair() const {
  const std::string program = recorder_folder() + "/entrain-record-repair";
  if (!fs::exists(program)) {
    complain(
        fmt::format("there is no {}, which repairs; the recorder is built where MPI and the "
                    "OTF2 library are",
                    program));
    return k_exit_failure;
  }
  return become({program, repair_});
}

}  // namespace

std::unique_ptr<Verb> make_record() { return std::make_unique<Record>(); }

}  // namespace entrain::cli
