// SPDX-License-Identifier: Apache-2.0
// Programs under the mpirun of each MPI: published trees, an application that uses MPI itself, and ranks that go wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "../shell_command.hpp"
#include "../stopwatch.hpp"
#include "base/sanitized.hpp"

namespace {

/// One MPI, as the build has found it.
struct installation {
  std::string flavour;
  std::string mpirun;
  friend void PrintTo(const installation& installation, std::ostream* out) { *out << installation.flavour; }
};

/// From "openmpi=/usr/bin/mpirun.openmpi,mpich=/usr/bin/mpirun.mpich".
std::vector<installation> installations() {
  std::vector<installation> result;
  std::string rest = NACRE_MPI_INSTALLATIONS;
  while (!rest.empty()) {
    const std::size_t equals = rest.find('='), end = std::min(rest.find(','), rest.size());
    result.push_back({rest.substr(0, equals), rest.substr(equals + 1, end - equals - 1)});
    rest.erase(0, end + 1);
  }
  return result;
}

/// Its output is that of both streams.
struct outcome : nacre::tests::shell_outcome {
  double seconds = 0;
};

outcome run(const std::string& command) {
  const auto start = std::chrono::steady_clock::now();
  outcome result{nacre::tests::run_in_shell("env ASAN_OPTIONS=detect_leaks=0 " + command + " 2>&1")};
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

/// mpirun starts ranks on this host, however few its cores are, also for root, as in a container.
outcome run_ranks(const installation& mpi, int ranks, const std::string& program_and_arguments) {
  const std::string freely = mpi.flavour == "openmpi" ? " --oversubscribe --allow-run-as-root" : "";
  return run(mpi.mpirun + freely + " -n " + std::to_string(ranks) + " " NACRE_BIN_DIR "/" + program_and_arguments);
}

bool holds(const outcome& outcome, const std::string& words) { return outcome.output.find(words) != std::string::npos; }

class under_mpirun : public testing::TestWithParam<installation> {
 protected:
  [[nodiscard]] outcome run_beside(int ranks, const std::string& arguments) const {
    return run_ranks(GetParam(), ranks, "beside_mpi_" + GetParam().flavour + " " + arguments);
  }
};

INSTANTIATE_TEST_SUITE_P(each, under_mpirun, testing::ValuesIn(installations()),
                         [](const auto& selection) { return selection.param.flavour; });

TEST_P(under_mpirun, uts_counts_a_published_tree_right) {
  const std::string tree = nacre::tests::sanitized ? "--type geometric --shape fixed --depth 6 --branching 4 --seed 19"
                                                   : std::string("--tree T3");
  // The program is the same as for every transport: mpirun is what tells it.
  const outcome got = run_ranks(GetParam(), 3, "uts --quiet --json " + tree);
  ASSERT_EQ(got.exit_code, 0) << got.output;
  const std::size_t json = got.output.find('{');
  ASSERT_NE(json, std::string::npos) << got.output;
  EXPECT_EQ(nlohmann::json::parse(got.output.substr(json)).at("nodes"), nacre::tests::sanitized ? 16000 : 4112897);
}

TEST_P(under_mpirun, an_application_that_uses_mpi_itself_disturbs_nobody_and_is_not_disturbed) {
  for (const int ranks : {2, 3, 4}) {
    const outcome got = run_beside(ranks, "beside");
    EXPECT_EQ(got.exit_code, 0) << got.output;
    EXPECT_TRUE(holds(got, "both ran: " + std::to_string(ranks * 4 * 31) + " steps")) << got.output;
  }
}

TEST_P(under_mpirun, an_application_hands_over_its_communicator_in_four_lines) {
  const outcome got = run_beside(2, "shortest --nacre.workers=1");
  EXPECT_EQ(got.exit_code, 0) << got.output;
  EXPECT_TRUE(holds(got, "2 ranks")) << got.output;
}

TEST_P(under_mpirun, ranks_with_other_handlers_are_refused_with_what_to_do) {
  const outcome same = run_ranks(GetParam(), 2, "handlers_few");
  EXPECT_TRUE(holds(same, "all ranks have met")) << same.output;
  const outcome other = run_ranks(GetParam(), 1, "handlers_few : -n 1 " NACRE_BIN_DIR "/handlers_many");
  EXPECT_NE(other.exit_code, 0);
  EXPECT_TRUE(holds(other, "rank 1 has other handlers (handler table ")) << other.output;
  EXPECT_TRUE(holds(other, "rebuild, and start every rank from the same executable")) << other.output;
}

TEST_P(under_mpirun, small_slots_and_buffers_carry_everything_too) {
  const outcome got = run_beside(3, "beside --nacre.mpi.slot=256B --nacre.mpi.slots=2 --nacre.mpi.output_max=64KiB");
  EXPECT_EQ(got.exit_code, 0) << got.output;
}

TEST_P(under_mpirun, an_application_whose_mpi_is_for_one_thread_is_told_what_to_call) {
  const outcome got = run_beside(2, "single");
  EXPECT_NE(got.exit_code, 0);
  EXPECT_TRUE(holds(got, "call MPI_Init_thread with MPI_THREAD_SERIALIZED")) << got.output;
}

TEST_P(under_mpirun, open_mpi_yields_in_no_call_of_nacre_and_in_those_of_the_application) {
  if (GetParam().flavour != "openmpi") GTEST_SKIP() << "only Open MPI yields";
  // As it does by itself where mpirun has started more ranks than there are cores.
  const installation yielding{"openmpi", "env OMPI_MCA_mpi_yield_when_idle=1 " + GetParam().mpirun};
  const outcome alone = run_ranks(yielding, 2, "beside_mpi_openmpi yields");
  EXPECT_EQ(alone.exit_code, 0) << alone.output;
  EXPECT_TRUE(holds(alone, "within: keeps the core, afterwards: yields")) << alone.output;
  EXPECT_FALSE(holds(alone, "within: yields")) << alone.output;
  const outcome result = run_ranks(yielding, 2, "beside_mpi_openmpi yields_beside");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(holds(result, "within: yields, afterwards: yields")) << result.output;
}

TEST_P(under_mpirun, a_job_ends_within_seconds_however_a_rank_goes_wrong) {
  struct way {
    const char* name;
    const char* words;  // the line that names the reason, where there is one
  };
  ASSERT_EQ(run_beside(3, "well").exit_code, 0) << "without a fault, it ends well";
  for (const way& each : {way{"killed", ""}, way{"leaves", ""}, way{"throws", "rank 1 has had enough"},
                          way{"refused", "no_such_balancer"}, way{"mismatch", "another value of mpi.slot"}}) {
    const outcome got = run_beside(3, each.name);
    EXPECT_NE(got.exit_code, 0) << each.name;
    EXPECT_NE(got.exit_code, 124) << each.name << " hangs";
    EXPECT_LT(got.seconds, nacre::tests::unhurried_end) << each.name;
    EXPECT_TRUE(holds(got, each.words)) << each.name << ": nobody has said '" << each.words << "'\n" << got.output;
  }
}

/// Runs a program that ends by MPI_Finalize, and expects that no rank has a request open then.
outcome run_watched(const installation& mpi, int ranks, const std::string& program_and_arguments) {
  if (nacre::tests::sanitized) return run_ranks(mpi, ranks, program_and_arguments);
  const std::string freely = mpi.flavour == "openmpi" ? " --oversubscribe --allow-run-as-root" : "";
  const outcome got = run(mpi.mpirun + freely + " -n " + std::to_string(ranks) +
                          " env LD_PRELOAD=" NACRE_BIN_DIR "/mpi_request_watch_" + mpi.flavour +
                          ".so " NACRE_BIN_DIR "/" + program_and_arguments);
  int ends = 0;
  const std::string line = "MPI_Finalize: ";
  for (std::size_t place = got.output.find(line); place != std::string::npos; place = got.output.find(line, place)) {
    place += line.size();
    ++ends;
    EXPECT_EQ(got.output.substr(place, 24), "0 open requests, at most") << got.output;
    EXPECT_GT(std::strtol(got.output.c_str() + place + 24, nullptr, 10), 0) << "it watches nothing: " << got.output;
  }
  EXPECT_EQ(ends, ranks) << "every rank has called MPI_Finalize: " << got.output;
  return got;
}

TEST_P(under_mpirun, a_job_ends_well_while_requests_are_under_way_and_leaves_none_in_mpi) {
  for (const char* mode : {"leaves_requests", "leaves_requests_beside"}) {
    for (const int ranks : {2, 4}) {
      const outcome got = run_watched(GetParam(), ranks, "beside_mpi_" + GetParam().flavour + " " + mode);
      ASSERT_EQ(got.exit_code, 0) << mode << ": " << got.output;
      const long requests = ranks * 8L * 500 * (1 + 3 + 1);
      const std::string all = std::to_string(requests) + " requests, ";
      const std::size_t place = got.output.find(all);
      ASSERT_NE(place, std::string::npos) << got.output;
      EXPECT_GT(std::strtol(got.output.c_str() + place + all.size(), nullptr, 10), 0)
          << "none was under way: " << got.output;
    }
  }
}

TEST_P(under_mpirun, searches_by_messages_leave_no_request_in_mpi) {
  const std::string tree = "uts --quiet --json --type geometric --shape fixed --depth 5 --branching 4 --seed 19 ";
  for (const char* mode : {"steal", "share"}) {
    for (int time = 0; time < (nacre::tests::sanitized ? 2 : 8); ++time) {
      const outcome got = run_watched(GetParam(), 2 + time % 3,
                                      tree + "--chunk 1 --interval " + std::to_string(1 << time) + " --mode " + mode);
      ASSERT_EQ(got.exit_code, 0) << got.output;
      EXPECT_TRUE(holds(got, "\"nodes\":3987,")) << got.output;
    }
  }
}

TEST_P(under_mpirun, a_module_that_is_not_there_is_an_error_that_names_the_package) {
  const outcome got = run_ranks(GetParam(), 2, "uts --quiet --nacre.mpi.modules=/nowhere");
  EXPECT_NE(got.exit_code, 0);
  EXPECT_TRUE(holds(got, "lib" + GetParam().flavour + "-dev")) << got.output;
}

TEST_P(under_mpirun, another_mpi_than_that_of_mpirun_is_an_error_that_says_so) {
  if (installations().size() < 2) GTEST_SKIP() << "there is one MPI only";
  const std::string other = GetParam().flavour == "mpich" ? "openmpi" : "mpich";
  const outcome got = run_ranks(GetParam(), 2, "uts --quiet --nacre.mpi.library=" + other);
  EXPECT_NE(got.exit_code, 0);
  EXPECT_TRUE(holds(got, "mpirun has started 2 ranks, but ")) << got.output;
}

TEST(without_mpirun, the_transport_mpi_says_what_to_type) {
  const outcome got = run(NACRE_BIN_DIR "/uts --quiet --nacre.transport=mpi");
  EXPECT_EQ(got.exit_code, 2);
  EXPECT_TRUE(holds(got, "type `mpirun -n 4 PROGRAM`")) << got.output;
}

}  // namespace
