// SPDX-License-Identifier: BSD-3-Clause
#include "record/cli/launch.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"

namespace entrain::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

/// Launchers and programs that are scripts, on a PATH of their own.
struct Launchers : testing::Test {
  void SetUp() override {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "SLURM_EXPORT_ENV",
                             "ENTRAIN_TEST_A", "LD_PRELOAD"}) {
      ::unsetenv(name);
    }
    path_ = std::getenv("PATH");
    ::setenv("PATH", (root.path().string() + ":" + path_).c_str(), 1);
    // What a program is linked with stands in a file beside it.
    script("ldd", "cat \"$1.libraries\" 2>/dev/null");
  }
  void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }

  std::string script(const std::string& name, const std::string& text) const {
    std::ofstream(root / name) << "#!/bin/sh\n" << text << '\n';
    ::chmod((root / name).c_str(), 0755);
    return (root / name).string();
  }
  std::string launcher(const std::string& name, const std::string& version) const {
    return script(name, "echo '" + version + "'");
  }
  std::string linked(const std::string& name, const std::string& library) const {
    std::ofstream(root / (name + ".libraries"))
        << "\tlibm.so.6 => /lib/libm.so.6\n\t" << library << " => /lib/" << library << " (0x1)\n";
    return script(name, "exit 0");
  }
  TempFolder root;

 private:
  std::string path_;
};

TEST_F(Launchers, are_known_by_their_names) {
  for (const char* name :
       {"mpirun", "/opt/bin/mpiexec", "mpiexec.hydra", "orterun", "prterun", "./srun"}) {
    EXPECT_TRUE(is_launcher({name, "app"})) << name;
  }
  for (const char* name : {"app", "mpirunner", "env", "/mpirun/app", "x.mpirun"}) {
    EXPECT_FALSE(is_launcher({name, "mpirun"})) << name;
  }
}

TEST_F(Launchers, tell_their_mpi_by_their_version) {
  for (const char* version :
       {"mpirun (Open MPI) 4.1.4", "mpirun (OpenRTE) 2.1", "prterun (PRRTE) 3"}) {
    EXPECT_EQ(mpi_of({launcher("mpirun", version), "app"}), "openmpi") << version;
  }
  for (const char* version : {"HYDRA build details:", "MPICH Version: 3.4"}) {
    EXPECT_EQ(mpi_of({launcher("mpiexec", version), "app"}), "mpich") << version;
  }
  EXPECT_EQ(mpi_of({launcher("mpiexec", "another one"), "app"}), std::nullopt);
  EXPECT_EQ(mpi_of({(root / "none" / "mpirun").string(), "app"}), std::nullopt);
  // srun belongs to no MPI, and no other program is asked.
  EXPECT_EQ(mpi_of({launcher("srun", "MPICH"), "app"}), std::nullopt);
  EXPECT_EQ(mpi_of({launcher("app", "MPICH")}), std::nullopt);
}

TEST_F(Launchers, programs_tell_their_mpi_by_their_library) {
  const std::map<std::string, std::string> known{{"libmpich.so.12", "mpich"},
                                                 {"libmpi.so.12", "mpich"},
                                                 {"libmpi.so.40", "openmpi"},
                                                 {"libmpi.so.20", "libmpi.so.20"}};
  for (const auto& [library, mpi] : known) {
    EXPECT_EQ(mpi_of({linked("app", library)}), mpi) << library;
    EXPECT_EQ(mpi_of({"app"}), mpi) << library;  // found on the PATH
    // Neither a word that names nothing nor a program without MPI hides it.
    EXPECT_EQ(mpi_of({linked("plain", "libz.so.1"), "-n", "3", "/none/app", "app"}), mpi);
  }
  ::chmod((root / "app").c_str(), 0644);
  EXPECT_EQ(mpi_of({(root / "app").string()}), std::nullopt);
  // The launcher knows better.
  linked("app", "libmpi.so.40");
  EXPECT_EQ(mpi_of({launcher("mpirun", "HYDRA"), "app"}), "mpich");
}

TEST_F(Launchers, the_one_around_this_process_is_the_last_resort) {
  ::setenv("PMI_SIZE", "2", 1);
  EXPECT_EQ(mpi_of({"true"}), std::nullopt);
  ::setenv("PMI_RANK", "0", 1);
  EXPECT_EQ(mpi_of({"true"}), "mpich");
  ::setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  EXPECT_EQ(mpi_of({"true"}), "openmpi");
  EXPECT_EQ(mpi_of({linked("app", "libmpi.so.12")}), "mpich");
}

TEST_F(Launchers, another_mpi_than_the_one_named_is_found) {
  linked("app", "libmpi.so.40");
  EXPECT_EQ(other_mpi({"app"}, "mpich"), "openmpi");
  EXPECT_EQ(other_mpi({"app"}, "openmpi"), std::nullopt);
  // The program decides, not its launcher.
  const std::string hydra = launcher("mpirun", "HYDRA");
  EXPECT_EQ(other_mpi({hydra, "app"}, "openmpi"), std::nullopt);
  EXPECT_EQ(other_mpi({hydra, "true"}, "openmpi"), "mpich");
  // What is neither may have the binary interface of one.
  linked("app", "libmpi.so.20");
  EXPECT_EQ(other_mpi({"app"}, "mpich"), std::nullopt);
  EXPECT_EQ(other_mpi({"true"}, "mpich"), std::nullopt);
}

const Environment k_variables{{"LD_PRELOAD", "lib.so"}, {"ENTRAIN_TEST_A", "1 2"}};

TEST_F(Launchers, of_open_mpi_get_the_variables_for_each_program) {
  const std::string mpirun = launcher("mpirun", "Open MPI");
  EXPECT_THAT(
      with_variables({mpirun, "-n", "1", "a", ":", "-n", "2", "b"}, k_variables),
      ElementsAre(mpirun, "-x", "LD_PRELOAD=lib.so", "-x", "ENTRAIN_TEST_A=1 2", "-n", "1", "a",
                  ":", "-x", "LD_PRELOAD=lib.so", "-x", "ENTRAIN_TEST_A=1 2", "-n", "2", "b"));
  EXPECT_EQ(std::getenv("ENTRAIN_TEST_A"), nullptr);
}

TEST_F(Launchers, of_mpich_get_the_variables_once) {
  const std::string mpiexec = launcher("mpiexec", "HYDRA");
  EXPECT_THAT(with_variables({mpiexec, "a", ":", "b"}, k_variables),
              ElementsAre(mpiexec, "-genv", "LD_PRELOAD", "lib.so", "-genv", "ENTRAIN_TEST_A",
                          "1 2", "a", ":", "b"));
}

TEST_F(Launchers, that_are_unknown_pass_the_environment_on) {
  const Environment one{{"ENTRAIN_TEST_A", "1 2"}};
  EXPECT_THAT(with_variables({launcher("mpiexec", "?"), "a"}, one),
              ElementsAre((root / "mpiexec").string(), "a"));
  EXPECT_STREQ(std::getenv("ENTRAIN_TEST_A"), "1 2");
}

TEST_F(Launchers, of_slurm_get_names_and_the_library) {
  const auto option = [&](const Command& words) {
    Command command{"srun"};
    command.insert(command.end(), words.begin(), words.end());
    command.emplace_back("app");
    const Command result = with_variables(command, k_variables);
    EXPECT_EQ(result.front(), "srun");
    EXPECT_EQ(result.back(), "app");
    return result.at(1);
  };
  const std::string ours = "LD_PRELOAD=lib.so,ENTRAIN_TEST_A";
  EXPECT_EQ(option({}), "--export=ALL," + ours);
  EXPECT_STREQ(std::getenv("ENTRAIN_TEST_A"), "1 2");
  EXPECT_EQ(std::getenv("LD_PRELOAD"), nullptr);
  EXPECT_EQ(option({"-n", "2", "--export=HOME,B=1"}), "--export=HOME,B=1," + ours);
  EXPECT_EQ(option({"--export", "HOME"}), "--export=HOME," + ours);
  EXPECT_EQ(option({"--export=NONE"}), "--export=" + ours);
  EXPECT_EQ(option({"--export=NIL"}), "--export=" + ours);
  ::setenv("SLURM_EXPORT_ENV", "PATH", 1);
  EXPECT_EQ(option({}), "--export=PATH," + ours);
  EXPECT_EQ(option({"--export=ALL"}), "--export=ALL," + ours);
  ::setenv("SLURM_EXPORT_ENV", "", 1);
  EXPECT_EQ(option({}), "--export=ALL," + ours);
  // Without its value it is the program's own word.
  EXPECT_THAT(with_variables({"srun", "app", "--export"}, k_variables),
              ElementsAre("srun", "--export=ALL," + ours, "app", "--export"));
}

TEST_F(Launchers, end_as_their_programs_do) {
  EXPECT_EXIT(std::exit(run_and_wait({"sh", "-c", "exit 7"})), testing::ExitedWithCode(7), "");
  EXPECT_EXIT(std::exit(run_and_wait({"sh", "-c", "kill -USR1 $$"})),
              testing::KilledBySignal(SIGUSR1), "");
  EXPECT_EXIT(std::exit(run_and_wait({(root / "none").string()})), testing::ExitedWithCode(2),
              "cannot start .*none: No such file");
  EXPECT_EXIT(std::exit(become({(root / "none").string()})), testing::ExitedWithCode(2),
              "cannot start .*none: No such file");
  EXPECT_EXIT(std::exit(become({"sh", "-c", "exit 5"})), testing::ExitedWithCode(5), "");
}

TEST_F(Launchers, hand_signals_to_their_programs) {
  const std::string program =
      script("app", "trap 'exit 9' TERM; echo ready > \"$0.ready\"; while :; do sleep 0.02; done");
  const pid_t child = ::fork();
  if (child == 0) {
    const int code = run_and_wait({program});
    std::exit(code);  // NOLINT(concurrency-mt-unsafe): the only thread
  }
  for (int i = 0; i < 3000 && !fs::exists(program + ".ready"); ++i) ::usleep(10'000);
  ::kill(child, SIGINT);  // a terminal sends it to the program, too
  ::usleep(50'000);
  ::kill(child, SIGTERM);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 9);
}

}  // namespace
}  // namespace entrain::cli
