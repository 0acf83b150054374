// SPDX-License-Identifier: Apache-2.0
// Jobs that launchers of others start: srun of Slurm, and those that speak PMIx.
//
// A test whose launcher cannot run here is skipped, and says what is missing.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "base/sanitized.hpp"
#include "launched.hpp"
#include "transports.hpp"

namespace {

namespace fs = std::filesystem;
using namespace nacre::tests;

constexpr const char* uts = NACRE_BIN_DIR "/uts";
constexpr const char* counted = "nodes            4130071         4130071  match";

testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

// ---- launchers of others

/// What libpmix and UCX never release is not ours to find, where the programs under test look for leaks.
void ignore_all_leaks() { ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1); }

/// A transport, with what stands before and behind the program to choose it. Ranks of a launcher on one machine would
/// share memory under auto, so they are told which host they are to be on.
struct way {
  std::string title;
  std::string prefix;
  std::string suffix;
  friend void PrintTo(const way& w, std::ostream* out) { *out << w.title; }

  [[nodiscard]] bool by_ucx() const { return title.ends_with("ucx"); }
  /// For sh, in a process that the launcher has started.
  [[nodiscard]] std::string command(const std::string& arguments) const {
    return prefix + " exec " + std::string(uts) + " --nacre.workers=1 " + arguments + suffix;
  }
};

const std::vector<way>& ways() {
  const std::string split = "NACRE_AUTO_HOST=$((PMIX_RANK / 2))";
  static const std::vector<way> all{
      {"tcp", "", " --nacre.transport=tcp"},
      {"shm", "", " --nacre.transport=shm"},
      {"ucx", "", " --nacre.transport=ucx"},
      {"auto_over_tcp", split, " --nacre.transport=auto --nacre.auto.between=tcp"},
      {"auto_over_ucx", split, " --nacre.transport=auto --nacre.auto.between=ucx"},
  };
  return all;
}

/// A folder in which the shells of a job's ranks tell each other how far they are.
class shared_folder {
 public:
  shared_folder() : path_(fs::temp_directory_path() / ("nacre_killed_rank_" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  shared_folder(const shared_folder&) = delete;
  shared_folder& operator=(const shared_folder&) = delete;
  ~shared_folder() { fs::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

/// For sh in the process of each of three ranks: rank 1 is killed once it has computed for half a second, which ranks
/// do only after they have met. Its shell stays until the others have ended, as a launcher that hears of an end kills
/// them.
std::string without_rank_one(const std::string& command, const shared_folder& folder) {
  const std::string rank_has_computed = "[ \"$(cut -d \" \" -f 14 /proc/$rank/stat)\" -gt 50 ]";
  const std::string others_have_ended = "[ -e " + folder.file("0") + " ] && [ -e " + folder.file("2") + " ]";
  const std::string in_a_minute = " || [ $((tries += 1)) -gt 600 ]; do sleep 0.1; done; ";
  return "tries=0; ( " + command + " ) & rank=$!; if [ $PMIX_RANK = 1 ]; then until " + rank_has_computed +
         in_a_minute + "kill -KILL $rank; tries=0; until " + others_have_ended + in_a_minute +
         "exit 1; else wait $rank; code=$?; : >" + folder.file("$PMIX_RANK") + "; exit $code; fi";
}

/// The lines by which the others tell of the end of rank 1, each for itself, since this launcher does not. A connection
/// of a process that is killed is closed, or reset when the process had not read all.
testing::AssertionResult tells_of_rank_one(const outcome& got) {
  const std::vector<std::string> lines = lines_of(got.errors);
  const auto told = std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find(": rank 1 ") != std::string::npos && line.ends_with("; the job ends");
  });
  if (told >= 1) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "nobody has said why the job ends: " << got.errors << got.output;
}

// ---- Slurm

/// Runs the script beside a Slurm of this machine alone. Skips the test when there can be none.
class slurm : public testing::Test {
 protected:
  static outcome run(const std::string& script) {
    ignore_all_leaks();
    return launched({NACRE_SOURCE_DIR "/tools/slurm_here.sh", "sh", "-c", script}).end();
  }
};

TEST_F(slurm, starts_a_job_by_pmix_and_without_it_gets_an_answer) {
  const std::string program = std::string(uts) + " --tree T1 --nacre.workers=1";
  const outcome got = run("srun --mpi=pmix -n 2 " + program + " --nacre.transport=tcp; echo tcp $?; " +
                          "srun --mpi=pmix -n 3 " + program + "; echo default $?; " +  //
                          "srun -n 2 " + program + "; echo none $?; " + "srun -n 1 " + program +
                          " --nacre.transport=inproc; echo alone $?; " +
                          "srun --mpi=pmix -n 2 sh -c 'if [ $PMIX_RANK = 1 ]; then exit 5; fi; exec " + program +
                          " --nacre.tcp.connect_timeout=1s'; echo absent $?");
  if (code_of(got) == 77) GTEST_SKIP() << got.errors;
  const std::vector<std::string> lines = lines_of(got.output);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), counted), 3) << got.output << got.errors;
  for (const char* each : {"tcp 0", "default 0", "none 2", "alone 0"}) {
    EXPECT_EQ(std::count(lines.begin(), lines.end(), each), 1) << each << got.output << got.errors;
  }
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "absent 0"), 0) << got.output;
  EXPECT_TRUE(contains(got.errors, "srun has started this process as task 1 of 2 and offers no PMIx"));
  EXPECT_TRUE(contains(got.errors, "srun --mpi=pmix PROGRAM"));
  EXPECT_EQ(code_of(got), 0);
}

/// A rank that has its processors alone may bind its threads there; ranks that share them do not know which are theirs.
TEST_F(slurm, tells_ranks_with_processors_of_their_own_from_ranks_that_share_them) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "two ranks need two processors";
  const std::string program = std::string(uts) + " --tree T1 --quiet --nacre.workers=1 --nacre.bind=core";
  const outcome got = run("srun --mpi=pmix -n 2 sh -c 'exec taskset -c $PMIX_RANK " + program + "'; echo own $?; " +
                          "srun --mpi=pmix -n 2 sh -c 'exec taskset -c 0,1 " + program + "'; echo shared $?");
  if (code_of(got) == 77) GTEST_SKIP() << got.errors;
  EXPECT_TRUE(contains(got.output, "own 0\n")) << got.errors;
  EXPECT_TRUE(contains(got.output, "\nshared 2\n")) << got.errors;
  EXPECT_TRUE(contains(got.errors, "bind=core under a launcher that binds ranks itself"));
}

/// The ways that this build has; the others are named in the skip at the end of a test.
std::vector<way> ways_here() {
  std::vector<way> result;
  for (const way& each : ways()) {
    if (!each.by_ucx() || missing_for_ucx().empty()) result.push_back(each);
  }
  return result;
}

TEST_F(slurm, starts_a_job_over_every_transport) {
  std::string script;
  for (const way& each : ways_here()) {
    script += "srun --mpi=pmix -n 4 sh -c '" + each.command("--tree T1") + "'; echo " + each.title + " $?; ";
  }
  const outcome got = run(script);
  if (code_of(got) == 77) GTEST_SKIP() << got.errors;
  const std::vector<std::string> lines = lines_of(got.output);
  EXPECT_EQ(static_cast<std::size_t>(std::count(lines.begin(), lines.end(), counted)), ways_here().size())
      << got.output << got.errors;
  for (const way& each : ways_here()) EXPECT_TRUE(contains(got.output, "\n" + each.title + " 0\n")) << got.errors;
  EXPECT_EQ(got.errors.find("nacre"), std::string::npos) << got.errors;
  if (!missing_for_ucx().empty()) GTEST_SKIP() << "all but ucx have passed; " << missing_for_ucx();
}

TEST_F(slurm, ends_a_job_whose_rank_is_killed_over_every_transport) {
  for (const way& each : ways_here()) {
    outcome got;
    bool is_told = sanitized;  // ranks that are slow, now and then, are killed before they can say so
    for (int trial = 0; trial == 0 || (trial < 3 && !is_told); ++trial) {
      const shared_folder folder;
      got = run("srun --mpi=pmix -n 3 sh -c '" + without_rank_one(each.command("--tree T2XXL --quiet"), folder) + "'");
      if (code_of(got) == 77) GTEST_SKIP() << got.errors;
      EXPECT_NE(code_of(got), 0) << each.title;
      is_told = is_told || tells_of_rank_one(got);
    }
    EXPECT_TRUE(is_told) << each.title;
    EXPECT_LT(got.seconds, unhurried_end) << each.title << ", with the beginning and the end of Slurm";
  }
  if (!missing_for_ucx().empty()) GTEST_SKIP() << "all but ucx have passed; " << missing_for_ucx();
}

/// The script of docs/running.md, with a program that ends well, with one whose options end with --, and with one that
/// refuses to run; and the script without its number of processors.
TEST_F(slurm, runs_the_script_of_the_documents) {
  const shared_folder folder;
  const std::string script = NACRE_SOURCE_DIR "/examples/slurm_job.sh", enter = "cd " + folder.file(".") + " && ";
  const outcome got = run(enter + "sbatch --wait -o counted " + script + " " + uts + " --tree T1; echo counted $?; " +
                          "sbatch --wait -o dashes " + script + " " + uts + " --tree T1 --; echo dashes $?; " +
                          "sbatch --wait -o refused " + script + " " + uts + " --no-such-option; echo refused $?; " +
                          "sed /--cpus-per-task/d " + script + " >plain; " +
                          "sbatch --wait -o unnumbered plain sh -c 'echo $NACRE_WORKERS worker'; echo unnumbered $?; "
                          "cat counted unnumbered");
  if (code_of(got) == 77) GTEST_SKIP() << got.errors;
  EXPECT_TRUE(contains(got.output, "\ncounted 0\n")) << got.errors;
  for (const char* each : {"\ndashes 0\n", "\nrefused 2\n", "\nunnumbered 0\n", "\n1 worker\n"})
    EXPECT_TRUE(contains(got.output, each)) << each << got.output << got.errors;
  EXPECT_TRUE(contains(got.output, counted)) << got.errors;
}

// ---- mpirun of Open MPI, whose server speaks PMIx

class mpirun_of_openmpi : public testing::TestWithParam<way> {
 protected:
  void SetUp() override {
    if (std::system("command -v mpirun.openmpi >/dev/null") != 0) {
      GTEST_SKIP() << "there is no mpirun of OpenMPI: apt-get install openmpi-bin";
    }
    if (GetParam().by_ucx() && !missing_for_ucx().empty()) GTEST_SKIP() << missing_for_ucx();
    ignore_all_leaks();
  }
  static outcome run(const std::string& ranks, const std::string& command) {
    return launched({"mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", ranks, "sh", "-c", command})
        .end();
  }
};

TEST_P(mpirun_of_openmpi, starts_a_job_by_pmix) {
  const outcome got = run("4", GetParam().command("--tree T1"));
  EXPECT_EQ(code_of(got), 0) << got.errors;
  const std::vector<std::string> lines = lines_of(got.output);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), counted), 1) << got.output << got.errors;
}

TEST_P(mpirun_of_openmpi, ends_a_job_whose_rank_is_killed) {
  const shared_folder folder;
  const outcome got = run("3", without_rank_one(GetParam().command("--tree T2XXL --quiet"), folder));
  EXPECT_NE(code_of(got), 0);
  EXPECT_TRUE(sanitized || tells_of_rank_one(got));  // slow ranks may be killed before they can say so
  EXPECT_LT(got.seconds, unhurried_end);
}

INSTANTIATE_TEST_SUITE_P(each, mpirun_of_openmpi, testing::ValuesIn(ways()),
                         [](const auto& each) { return each.param.title; });

}  // namespace
