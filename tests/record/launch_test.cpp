// SPDX-License-Identifier: BSD-3-Clause
// The recorder linked into programs, and handed to them by launchers that start them elsewhere:
// made-up ones, whose programs get only what such a launcher gives to those on other nodes.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "record/recorded.hpp"
#include "record/samples.hpp"

namespace entrain::test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class Launch : public EveryMpi {
 protected:
  [[nodiscard]] fs::path trace() const { return scratch_ / "trace"; }

  void expect_ring(int processes) {
    expect_sound(trace());
    EXPECT_EQ(check_["locations"], processes);
    for (int rank = 0; rank < processes; ++rank) {
      EXPECT_EQ(calls_of(printed_, std::to_string(rank))["MPI_Sendrecv"], 20) << rank;
    }
  }

  /// A launcher `name` that starts `count` processes with nothing in their environment but what
  /// `reading`, shell code, finds in its arguments; it is none of the recorder's business, and sees
  /// to that.
  std::string made_up(const std::string& name, const std::string& reading) {
    const fs::path path = scratch_ / name;
    std::ofstream(path) << "#!/bin/sh\n"
                           "if grep -q libentrain-record /proc/$$/maps; then\n"
                           "  echo 'the recorder is in the launcher' >&2; exit 9\n"
                           "fi\n"
                           "clean=env\\ -i; variables=; count=1\n"
                        << reading
                        << "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n"
                           "cat > \"$0.node\" <<END\n"
                           "#!/bin/sh\n"
                           "exec env -u MARK $variables \"\\$@\"\n"
                           "END\n"
                           "chmod +x \"$0.node\"\n"
                           "exec $clean PATH=\"$PATH\" OMPI_ALLOW_RUN_AS_ROOT=1 "
                           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
                           "OMPI_MCA_orte_tmpdir_base=\"$OMPI_MCA_orte_tmpdir_base\" "
                           "ASAN_OPTIONS=\"$ASAN_OPTIONS\" LSAN_OPTIONS=\"$LSAN_OPTIONS\" "
                        << mpi_.launcher << " -n $count \"$0.node\" \"$@\"\n";
    ::chmod(path.c_str(), 0755);
    return path.string();
  }

  ChildOutcome record_with(const std::string& launcher, const std::vector<std::string>& arguments) {
    launch(mpi_, 1);  // sets variables for the launcher behind
    return run_tool(std::vector<std::string>{"record", "-o", trace().string(), "--", launcher} +
                    arguments);
  }

  [[nodiscard]] std::vector<std::string> ring() const { return {program("ring"), "20"}; }
};

TEST_P(Launch, a_linked_program_records_where_a_folder_is_named) {
  const std::vector<std::string> command =
      launch(mpi_, 3) + std::vector<std::string>{program("ring_linked"), "20"};
  const ChildOutcome plain = run_program(command, tool_limits());
  EXPECT_EQ(plain.exit_code, 3) << plain.summary();
  const std::map<std::string, std::string> variables{{"ENTRAIN_RECORD_DIR", trace().string()}};
  const WithVariables with(variables);
  const ChildOutcome outcome = run_program(command, tool_limits());
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary();
  EXPECT_EQ(outcome.out, plain.out);
  EXPECT_EQ(outcome.err.find("entrain record:"), std::string::npos) << outcome.err;
  expect_ring(3);
}

TEST_P(Launch, a_linked_program_under_the_recorder_records_once) {
  const ChildOutcome outcome = record(mpi_, 2, trace(), {program("ring_linked"), "20"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary() << outcome.err;
  expect_ring(2);
}

TEST_P(Launch, linked_in_every_language) {
  for (const char* name : {"bindings_c", "bindings_mpif_h", "bindings_mpi", "bindings_mpi_f08"}) {
    if (mpi_.fortran.empty() && std::string(name) != "bindings_c") continue;
    const fs::path folder = scratch_ / name;
    const std::map<std::string, std::string> variables{{"ENTRAIN_RECORD_DIR", folder.string()}};
    const WithVariables with(variables);
    const ChildOutcome outcome = run_program(
        launch(mpi_, 3) + std::vector<std::string>{program(std::string(name) + "_linked")},
        tool_limits());
    ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("sum 3")) << name;
    expect_sound(folder);
    for (const char* rank : {"0", "1", "2"}) {
      auto calls = calls_of(printed_, rank);
      for (const char* call : {"MPI_Init", "MPI_Sendrecv", "MPI_Irecv", "MPI_Waitall", "MPI_Send",
                               "MPI_Allreduce", "MPI_Finalize", "solve"}) {
        EXPECT_EQ(calls[call], 1) << name << " rank " << rank << ' ' << call;
      }
      EXPECT_EQ(calls["clock session"], 3) << name;  // one of them asked for by the program
    }
  }
}

TEST_P(Launch, remote_processes_get_the_variables_by_options) {
  const bool open_mpi = GetParam() == "openmpi";
  const std::string launcher = made_up(
      "mpirun", open_mpi ? "[ \"$1\" = --version ] && echo 'mpirun (Open MPI) 4.1.4' && exit\n"
                           "while :; do case \"$1\" in\n"
                           "  -x) variables=\"$variables $2\"; shift 2;;\n"
                           "  -n) count=$2; shift 2;; *) break;; esac; done\n"
                         : "[ \"$1\" = --version ] && echo 'HYDRA build details:' && exit\n"
                           "while :; do case \"$1\" in\n"
                           "  -genv) variables=\"$variables $2=$3\"; shift 3;;\n"
                           "  -n) count=$2; shift 2;; *) break;; esac; done\n");
  // Those that stand in the environment as well.
  const std::map<std::string, std::string> variables{{"ENTRAIN_VIRTUAL_NODES", "2"},
                                                     {"VT_SYNC_MAX_MESSAGES", "7"}};
  const WithVariables with(variables);
  const ChildOutcome outcome = record_with(launcher, std::vector<std::string>{"-n", "2"} + ring());
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary() << outcome.err;
  EXPECT_EQ(outcome.out, "last from 1\n");
  printed_ = print_archive(anchor_of(trace()), true);
  EXPECT_EQ(calls_of(printed_, "1")["MPI_Sendrecv"], 20);
  EXPECT_EQ(samples_in(trace()).size(), 2u * 7);
}

/// As srun does it: names stand for the value that srun has, ALL for all variables.
const char* const k_srun =
    "while :; do case \"$1\" in\n"
    "  --export=*) list=${1#--export=}; shift;;\n"
    "  -n) count=$2; shift 2;; *) break;; esac; done\n"
    "for one in $(echo \"$list\" | tr , ' '); do case \"$one\" in\n"
    "  ALL) clean=env; echo all >> \"$0.told\";;\n"
    "  *=*) variables=\"$variables $one\"; echo \"$one\" >> \"$0.told\";;\n"
    "  *) eval \"variables=\\\"\\$variables $one=\\$$one\\\"\"; echo \"$one\" >> \"$0.told\";;\n"
    "esac; done\n";

TEST_P(Launch, slurm_gets_them_by_its_option) {
  const std::string launcher = made_up("srun", k_srun);
  const ChildOutcome outcome = record_with(launcher, std::vector<std::string>{"-n", "2"} + ring());
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary() << outcome.err;
  expect_ring(2);
  EXPECT_EQ(lines_of(launcher + ".told").at(0), "all");
}

TEST_P(Launch, slurms_own_export_stays_in_force) {
  const std::string launcher = made_up("srun", k_srun);
  const ChildOutcome outcome =
      record_with(launcher, std::vector<std::string>{"--export=NONE", "-n", "2"} + ring());
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary() << outcome.err;
  expect_ring(2);
  EXPECT_THAT(lines_of(launcher + ".told"), testing::Not(testing::Contains("all")));
  fs::remove_all(trace());
  fs::remove(launcher + ".told");
  const ChildOutcome named = record_with(
      launcher, std::vector<std::string>{"--export", "HOME,MARK=1", "-n", "2"} + ring());
  EXPECT_EQ(named.exit_code, 3) << named.summary() << named.err;
  expect_ring(2);
  EXPECT_THAT(lines_of(launcher + ".told"), testing::IsSupersetOf({"HOME", "MARK=1"}));
}

TEST_P(Launch, the_version_of_the_library_tells_which_mpi_it_is) {
  prepare_mpi();
  // As far as ldd can see, the program is linked with a library of that name: one that says which
  // recorder was loaded before it.
  const std::string code =
      "#include <stdio.h>\n#include <string.h>\n"
      "int main(void) { char line[4096]; FILE* maps = fopen(\"/proc/self/maps\", \"r\");\n"
      "while (fgets(line, sizeof line, maps)) if (strstr(line, \"libentrain-record-\")) {\n"
      "  printf(\"%s\", strrchr(line, '/') + 1); return 0; }\n return 1; }\n";
  std::ofstream(scratch_ / "program.c") << code;
  std::ofstream(scratch_ / "nothing.c") << "int nothing;\n";
  const std::string folder = scratch_.path().string();
  const std::string own = GetParam() == "mpich" ? "libmpi.so.12" : "libmpi.so.40";
  for (const std::string& library : {own, std::string("libmpi.so.20")}) {
    const std::string build =
        "cd " + folder + " && cc -shared nothing.c -o " + library + " -Wl,-soname," + library +
        " && cc program.c -o program -Wl,--no-as-needed ./" + library + " -Wl,-rpath," + folder;
    ASSERT_EQ(run_program({"sh", "-c", build}, tool_limits()).exit_code, 0);
    const ChildOutcome outcome =
        run_tool({"record", "-o", trace().string(), "--", folder + "/program"});
    if (library == own) {
      // The program says so, or the loader, which misses the rest of an MPI in that library.
      EXPECT_THAT(outcome.out + outcome.err, HasSubstr("libentrain-record-" + GetParam() + ".so"));
    } else {
      EXPECT_EQ(outcome.exit_code, 2);
      EXPECT_THAT(outcome.err, HasSubstr("the program's MPI (libmpi.so.20)"));
      EXPECT_THAT(outcome.err, HasSubstr("--mpi"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Mpi, Launch, testing::Values("openmpi", "mpich"),
                         [](const auto& which) { return which.param; });

}  // namespace
}  // namespace entrain::test
