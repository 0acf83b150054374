// SPDX-License-Identifier: Apache-2.0
// Images of jobs of several processes: over every transport, and ranks that are killed.
//
// The executable is its own rank program: `images_mp_test --as-rank STEPS [WAY] [FOLDER]`.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <nacre/containers/counting_set.hpp>
#include <nacre/nacre.hpp>

#include "launched.hpp"

namespace {

struct cell {
  std::vector<double> values = std::vector<double>(200, 1.0);
  void step(nacre::context& ctx, int number) {
    for (double& each : values) each = each * 1.001 + number * 1e-4;
    if ((number + static_cast<int>(ctx.index()[0])) % 5 == 0) {
      static_cast<void>(ctx.migrate(ctx.self<cell>(), nacre::rank_id((ctx.rank().value() + 1) % ctx.size())));
    }
  }
  double sum() const {
    double all = 0;
    for (const double each : values) all += each;
    return all;
  }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(values);
  }
};
/// Of which a rank has no use without its own: the job does not go on on fewer.
struct ledger {
  int steps = 0;
  void add(int count) { steps += count; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(steps);
  }
};
struct progress {
  nacre::array_ptr<cell> grid;
  nacre::group_ptr<ledger> ledgers;
  nacre::counting_set_handle<std::string> words;
  int step = 0;
};

/// Fills the disk with an image that the first life has not finished, if there has been one.
void leave_remains(const std::string& folder) {
  if (!std::filesystem::exists(folder + "/life-000001")) return;
  const std::string image = folder + "/life-000001/image-000099", zeros(1 << 16, '\0');
  std::filesystem::create_directories(image);
  std::ofstream file(image + "/rank-00000", std::ios::binary);
  while (file << zeros) continue;
}

/// In its first three starts the job may lose a rank: 2, then 0, then 1, each some steps behind where it began.
/// `grouped`: there is a group, too. `throws`: it loses the ranks by errors of their own. `prints`: the last step
/// prints for ever. `cursed`: after its second step rank 0 dies at once in each start. `fills`: later lives find no
/// room on the disk. `wordy`: of other words.
int compute(int argc, char** argv, int steps, std::string_view way, const std::string& folder) {
  const bool throws = way == "throws", grouped = way == "grouped", fills = way == "fills";
  const bool dies = throws || grouped || fills || way == "dies";
  return nacre::run(argc, argv, [&](nacre::runtime& rt) {
    auto state = rt.restored<progress>().value_or(progress{});
    const int begun = state.step;
    if (fills && rt.rank().value() == 0) leave_remains(folder);
    if (!state.grid) {
      state.grid = rt.create_array<cell>(nacre::extents{30});
      if (grouped) state.ledgers = rt.create_group<ledger>();
    }
    nacre::counting_set<std::string> words(rt, state.words);
    state.words = words.handle();
    rt.steps(state, steps, [&](progress& now) {
      const std::uint32_t victim = begun == 0 ? 2 : begun < 10 ? 0 : 1;
      if (dies && begun < 14 && now.step == begun + 6 && rt.rank().value() == victim) {
        if (throws) throw std::runtime_error("an error of its own");
        std::raise(SIGKILL);
      }
      if (way == "cursed" && (begun > 0 || now.step == 2) && rt.rank().value() == 0) std::raise(SIGKILL);
      while (way == "prints" && now.step == steps - 1) std::printf("another line\n");
      if (fills && begun != 0 && now.step == begun + 3 && rt.rank().value() == 0) leave_remains(folder);
      words.insert("word " + std::to_string(now.step % 3));
      if (way == "wordy") words.insert("another one");
      if (rt.rank().value() == 0) rt.send<&cell::step>(now.grid, now.step);
    });
    const double sum = rt.reduce<&cell::sum>(state.grid, std::plus<>{}).get();
    const std::uint64_t count = words.count_all();
    if (rt.rank().value() == 0) std::printf("sum %.15g of %llu words\n", sum, static_cast<unsigned long long>(count));
    rt.barrier();
  });
}

}  // namespace

namespace nacre::tests {
namespace {

struct images_over : testing::TestWithParam<const char*> {
  void TearDown() override { std::filesystem::remove_all(folder); }
  [[nodiscard]] outcome run_job(const std::vector<std::string>& options,
                                const std::vector<std::string>& arguments) const {
    std::vector<std::string> command{NACRE_BIN_DIR "/nacre", "run", "-n", "3", "--transport", GetParam()};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(own_path());
    command.insert(command.end(), arguments.begin(), arguments.end());
    return launched(command).end();
  }
  std::string folder = testing::TempDir() + "nacre_images_mp." + std::to_string(::getpid());
};

TEST_P(images_over, processes_give_the_result_of_the_undisturbed_job) {
  const outcome whole = run_job({}, {"--as-rank", "20"});
  ASSERT_EQ(whole.status, 0) << whole.errors;
  const outcome first =
      run_job({}, {"--as-rank", "11", "--nacre.checkpoint.folder=" + folder, "--nacre.checkpoint.every=1ns"});
  ASSERT_EQ(first.status, 0) << first.errors;
  const outcome rest = run_job({"--restore", folder}, {"--as-rank", "20"});
  EXPECT_EQ(rest.status, 0) << rest.errors;
  EXPECT_EQ(rest.output, whole.output);
}

TEST_P(images_over, processes_outlive_killed_ranks) {
  const outcome whole = run_job({}, {"--as-rank", "20"});
  const outcome killed =
      run_job({"--survive", "restart"},
              {"--as-rank", "20", "dies", "--nacre.checkpoint.folder=" + folder, "--nacre.checkpoint.every=1ns"});
  EXPECT_EQ(killed.status, 0) << killed.errors;
  EXPECT_EQ(killed.output, whole.output) << killed.errors;
  for (const char* const line : {"rank 2 was killed by signal 9", "rank 0 was killed by signal 9",
                                 "start 2 on 3 ranks, from", "start 3 on 3 ranks, from"}) {
    EXPECT_NE(killed.errors.find(line), std::string::npos) << line << "\n" << killed.errors;
  }
}

TEST_P(images_over, processes_go_on_without_killed_ranks) {
  const outcome whole = run_job({}, {"--as-rank", "20"});
  constexpr std::size_t digits = 14;  // of the sum; the others depend on which rank adds what
  const outcome killed =
      run_job({"--survive", "shrink"},
              {"--as-rank", "20", "dies", "--nacre.checkpoint.folder=" + folder, "--nacre.checkpoint.every=1ns"});
  EXPECT_EQ(killed.status, 0) << killed.errors;
  EXPECT_EQ(killed.output.substr(0, digits), whole.output.substr(0, digits)) << killed.errors;
  // Each rank has added a word a step: three in 6 steps, two in 6, and one in 8.
  EXPECT_NE(killed.output.find(" of 38 words"), std::string::npos) << killed.output << killed.errors;
  for (const char* const line : {"start 2 on 2 ranks, from", "start 3 on 1 ranks, from"}) {
    EXPECT_NE(killed.errors.find(line), std::string::npos) << line << "\n" << killed.errors;
  }
}

INSTANTIATE_TEST_SUITE_P(over, images_over, testing::Values("shm", "tcp", "udp"),
                         [](const auto& given) { return std::string(given.param); });

struct survival : testing::Test {
  void TearDown() override { std::filesystem::remove_all(folder); }
  /// A job of three ranks of 20 steps that writes images.
  [[nodiscard]] outcome run_job(const std::string& mode, const std::string& way) const {
    return launched({NACRE_BIN_DIR "/nacre", "run", "-n", "3", "--survive", mode, own_path(), "--as-rank", "20", way,
                     "--nacre.checkpoint.folder=" + folder, "--nacre.checkpoint.every=1ns"})
        .end();
  }
  std::string folder = testing::TempDir() + "nacre_survival_mp." + std::to_string(::getpid());
};

TEST_F(survival, ends_with_the_death_when_there_is_no_image) {
  const outcome ended = launched({NACRE_BIN_DIR "/nacre", "run", "-n", "3", "--survive", "restart", own_path(),
                                  "--as-rank", "20", "dies", "--nacre.checkpoint.folder=" + folder})
                            .end();
  EXPECT_TRUE(WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == 128 + SIGKILL) << ended.status;
  EXPECT_NE(ended.errors.find("the job ends, as it has no image to go on from"), std::string::npos) << ended.errors;
}

TEST_F(survival, goes_back_to_the_number_before_when_the_image_is_refused_on_fewer_ranks) {
  const outcome got = run_job("shrink", "grouped");
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_NE(got.output.find("sum"), std::string::npos) << got.output;
  for (const char* const line :
       {"start 2 on 2 ranks", "write `void merge(", "the job goes back to 3 ranks", "start 3 on 3 ranks"}) {
    EXPECT_NE(got.errors.find(line), std::string::npos) << line << "\n" << got.errors;
  }
}

TEST_F(survival, of_errors_is_asked_for) {
  const outcome ended = run_job("restart", "throws");
  EXPECT_EQ(code_of(ended), 1) << ended.errors;
  EXPECT_EQ(ended.errors.find("start 2"), std::string::npos) << ended.errors;
  std::filesystem::remove_all(folder);
  const outcome went_on = run_job("any", "throws");
  EXPECT_EQ(code_of(went_on), 0) << went_on.errors;
  EXPECT_NE(went_on.output.find("sum"), std::string::npos) << went_on.output;
  EXPECT_NE(went_on.errors.find("start 3 on 3 ranks"), std::string::npos) << went_on.errors;
}

/// The folder that --wdir names is relative, as that of the images.
TEST_F(survival, finds_the_images_of_ranks_that_run_in_another_folder) {
  std::filesystem::create_directory(folder);
  const outcome whole = launched({NACRE_BIN_DIR "/nacre", "run", "-n", "3", own_path(), "--as-rank", "20"}).end();
  for (const std::string place : {"--ranks=3", "--hosts=localhost:3"}) {
    const outcome got =
        launched({NACRE_BIN_DIR "/nacre", "run", place, "--wdir", std::filesystem::relative(folder).string(),
                  "--survive", "restart", own_path(), "--as-rank", "20", "dies", "--nacre.checkpoint.folder=images",
                  "--nacre.checkpoint.every=1ns"})
            .end();
    EXPECT_EQ(code_of(got), 0) << place << got.errors;
    EXPECT_EQ(got.output, whole.output) << place;
    EXPECT_NE(got.errors.find("start 4 on 3 ranks"), std::string::npos) << place << got.errors;
    std::filesystem::remove_all(folder + "/images");
  }
}

/// As `head -1` does; the ranks die of SIGPIPE.
TEST_F(survival, is_not_for_a_reader_that_has_gone) {
  const outcome got =
      launched({"bash", "-c",
                NACRE_BIN_DIR "/nacre run -n 3 --survive restart --restarts 2 \"$0\" --as-rank 20 prints"
                              " --nacre.checkpoint.folder=\"$1\" --nacre.checkpoint.every=1ns | head -1 >/dev/null;"
                              " exit ${PIPESTATUS[0]}",
                own_path(), folder})
          .end();
  EXPECT_EQ(code_of(got), 128 + SIGPIPE) << got.errors;
  EXPECT_NE(got.errors.find("the reader of the output has gone, so the job is not started again"), std::string::npos)
      << got.errors;
  EXPECT_EQ(got.errors.find("start 2"), std::string::npos) << got.errors;
}

/// The remote shell of host c fails twice, as while the host boots.
TEST_F(survival, waits_for_a_host_that_is_not_there_at_once) {
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/shell") << "#!/bin/sh\n[ $1 = c ] && echo call >>" << folder << "/calls\ncase $1$(wc -l <"
                                   << folder << "/calls) in c2|c3) exit 255;; esac\nexec sh -c \"$2\"\n";
  std::filesystem::permissions(folder + "/shell", std::filesystem::perms::owner_all);
  std::ofstream(folder + "/calls");
  const outcome got = launched({NACRE_BIN_DIR "/nacre",
                                "run",
                                "--ssh",
                                folder + "/shell",
                                "--address",
                                "127.0.0.1",
                                "--host-timeout",
                                "300",
                                "--hosts",
                                "a,b,c",
                                "--survive",
                                "restart",
                                "--restarts",
                                "1",
                                own_path(),
                                "--as-rank",
                                "20",
                                "dies",
                                "--nacre.checkpoint.folder=" + folder + "/images",
                                "--nacre.checkpoint.every=1ns"})
                          .end();
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_NE(got.output.find("sum"), std::string::npos) << got.output;
  for (const char* const line :
       {"host c cannot be used", "follows in 1.0 s", "follows in 2.0 s", "start 2 on 3 ranks", "start 4 on 3 ranks"}) {
    EXPECT_NE(got.errors.find(line), std::string::npos) << line << "\n" << got.errors;
  }
}

TEST_F(survival, pauses_before_it_tries_again_without_a_newer_image_until_a_signal_ends_the_job) {
  launched job({"sh", "-c",
                "exec " NACRE_BIN_DIR "/nacre run -n 3 --survive restart --restarts 99 \"$0\" --as-rank 20 cursed"
                " --nacre.checkpoint.folder=\"$1\" --nacre.checkpoint.every=1ns 2>&1",
                own_path(), folder});
  job.read_until("the next try follows in 1.0 s\n");
  job.read_until("the next try follows in 4.0 s\n");
  job.read_until("the next try follows in 16.0 s\n");
  job.signal(SIGTERM);
  const outcome got = job.end();
  EXPECT_EQ(code_of(got), 75) << got.output;
  EXPECT_LT(got.seconds, 12) << got.output;
}

TEST_F(survival, says_what_it_needs) {
  const outcome without =
      launched({NACRE_BIN_DIR "/nacre", "run", "-n", "2", "--survive", "restart", own_path(), "--as-rank", "1"}).end();
  EXPECT_TRUE(WIFEXITED(without.status) && WEXITSTATUS(without.status) == 2);
  EXPECT_NE(without.errors.find("--nacre.checkpoint.folder=DIR"), std::string::npos) << without.errors;
  const outcome unknown =
      launched({NACRE_BIN_DIR "/nacre", "run", "-n", "2", "--survive", "shrunk", own_path(), "--as-rank", "1"}).end();
  EXPECT_NE(unknown.errors.find("--survive shrunk is unknown"), std::string::npos) << unknown.errors;
}

TEST_F(survival, goes_on_from_its_own_images_whatever_another_job_writes_to_the_folder) {
  const outcome whole = launched({NACRE_BIN_DIR "/nacre", "run", "-n", "3", own_path(), "--as-rank", "20"}).end();
  // In the second life, before rank 0 looks for images, another job takes more images than are kept.
  const std::string other =
      "[ \"$NACRE_JOB_RANK\" = 0 ] && [ -e \"$0/life-000001\" ] && [ ! -e \"$0/life-000002\" ] "
      "&& env -i \"$1\" --as-rank 12 wordy --nacre.ranks=1 --nacre.checkpoint.folder=\"$0\" "
      "--nacre.checkpoint.every=1ns >/dev/null 2>&1; exec \"$@\"";
  const outcome got =
      launched({NACRE_BIN_DIR "/nacre", "run", "-n", "3", "--survive", "restart", "sh", "-c", other, folder, own_path(),
                "--as-rank", "20", "dies", "--nacre.checkpoint.folder=" + folder, "--nacre.checkpoint.every=1ns"})
          .end();
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_EQ(got.output, whole.output) << got.errors;
  EXPECT_EQ(got.errors.find("the image was taken by"), std::string::npos) << got.errors;
  EXPECT_TRUE(std::filesystem::exists(folder + "/life-000002/image-000012")) << "those of the other job stay";
}

TEST_F(survival, never_begins_anew_in_a_later_life) {
  const std::string loses = "[ \"$NACRE_JOB_RANK\" = 0 ] && rm -rf \"$0/life-000001\"; exec \"$@\"";
  const outcome got =
      launched({NACRE_BIN_DIR "/nacre", "run", "-n", "3", "--survive", "restart", "sh", "-c", loses, folder, own_path(),
                "--as-rank", "20", "dies", "--nacre.checkpoint.folder=" + folder, "--nacre.checkpoint.every=1ns"})
          .end();
  EXPECT_NE(code_of(got), 0) << got.errors;
  EXPECT_EQ(got.output, "");
  EXPECT_NE(got.errors.find("there is no image " + folder + "/life-000001/image-"), std::string::npos) << got.errors;
}

TEST_F(survival, makes_room_by_the_remains_of_killed_lives) {
  const outcome whole = launched({NACRE_BIN_DIR "/nacre", "run", "-n", "3", own_path(), "--as-rank", "20"}).end();
  std::filesystem::create_directories(folder);
  const outcome got =
      launched({"unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=4m none \"$0\" || exit 77; exec \"$@\"", folder,
                NACRE_BIN_DIR "/nacre", "run", "-n", "3", "--survive", "restart", own_path(), "--as-rank", "20",
                "fills", folder + "/i", "--nacre.checkpoint.folder=" + folder + "/i", "--nacre.checkpoint.every=1ns"})
          .end();
  if (code_of(got) == 77 || got.errors.find("unshare") != std::string::npos)
    GTEST_SKIP() << "no file system of a size can be made here: it needs root";
  EXPECT_EQ(code_of(got), 0) << got.errors;
  EXPECT_EQ(got.output, whole.output);
  EXPECT_EQ(got.errors.find("no image is taken"), std::string::npos) << got.errors;
  EXPECT_NE(got.errors.find("start 3 on 3 ranks"), std::string::npos) << got.errors;
}

/// A job of two ranks of so many steps, with `more` options of its own.
[[nodiscard]] outcome small_job(const std::string& steps, const std::vector<std::string>& more) {
  std::vector<std::string> command{NACRE_BIN_DIR "/nacre", "run", "-n", "2", own_path(), "--as-rank", steps};
  command.insert(command.end(), more.begin(), more.end());
  return launched(command).end();
}

TEST_F(survival, is_of_the_images_of_an_earlier_start_too) {
  const std::vector<std::string> writes{"--nacre.checkpoint.folder=" + folder, "--nacre.checkpoint.every=1ns"};
  const outcome first = small_job("7", writes), second = small_job("5", writes);  // the same, without a restore
  ASSERT_EQ(code_of(first), 0) << first.errors;
  ASSERT_EQ(code_of(second), 0) << second.errors;
  EXPECT_EQ(first.errors, "");
  EXPECT_NE(second.errors.find("has images of another start, which stay"), std::string::npos) << second.errors;
  EXPECT_NE(second.errors.find(folder + "/life-000001/image-000007\n"), std::string::npos) << second.errors;
  for (const char* each : {"/life-000001/image-000006", "/life-000001/image-000007", "/life-000002/image-000005"})
    EXPECT_TRUE(std::filesystem::exists(folder + each)) << each;
  EXPECT_FALSE(std::filesystem::exists(folder + "/life-000002/image-000003")) << "two are kept";
  const outcome whole = small_job("9", {});
  const outcome rest = small_job("9", {"--nacre.restore=" + folder + "/life-000001"});
  EXPECT_EQ(rest.output, whole.output) << rest.errors;
  EXPECT_NE(rest.errors.find("the job goes on from " + folder + "/life-000001/image-000007, "), std::string::npos)
      << rest.errors;
}

TEST_F(survival, is_not_of_another_image_than_the_one_that_is_named) {
  const std::vector<std::string> writes{"--nacre.checkpoint.folder=" + folder, "--nacre.checkpoint.every=1ns"};
  ASSERT_EQ(code_of(small_job("5", writes)), 0);
  for (const char* each : {"/life-000001/image-000099", "/life-000001/image-000001", "/life-000002"}) {
    const outcome got = small_job("9", {"--nacre.restore=" + folder + each});
    EXPECT_NE(code_of(got), 0);
    EXPECT_EQ(got.output, "");
    EXPECT_NE(got.errors.find("there is no image " + folder + each), std::string::npos) << got.errors;
  }
  const std::string file = folder + "/life-000001/image-000004/manifest.json";
  const outcome of_file = small_job("9", {"--nacre.restore=" + file});
  EXPECT_NE(code_of(of_file), 0);
  EXPECT_NE(of_file.errors.find(file + " is a file"), std::string::npos) << of_file.errors;
  // Back to a certain one, again and again: it stays, beside the newest two and those from which it has turned away.
  const std::string named = folder + "/life-000001/image-000004";
  for (int start = 0; start < 2; ++start) {
    const outcome got = small_job("12", {"--nacre.restore=" + named, writes[0], writes[1]});
    EXPECT_EQ(code_of(got), 0) << got.errors;
    EXPECT_NE(got.errors.find("the job goes on from " + named), std::string::npos) << got.errors;
  }
  EXPECT_TRUE(std::filesystem::exists(folder + "/life-000001/image-000005"));
}

TEST_F(survival, leaves_the_traces_of_lives_that_have_ended) {
  std::filesystem::create_directories(folder);
  const outcome got = launched({NACRE_BIN_DIR "/nacre", "run", "-n", "3", "--survive", "shrink", own_path(),
                                "--as-rank", "20", "dies", "--nacre.checkpoint.folder=" + folder + "/i",
                                "--nacre.checkpoint.every=1ns", "--nacre.trace=" + folder + "/t"})
                          .end();
  ASSERT_EQ(code_of(got), 0) << got.errors;
  for (const char* each : {"/t.0", "/t.1", "/t.2", "/t.life2.0", "/t.life2.1", "/t.life3"})
    EXPECT_TRUE(std::filesystem::exists(folder + each)) << each;
  EXPECT_FALSE(std::filesystem::exists(folder + "/t.life2.2")) << "it had two ranks";
  const outcome report = launched({NACRE_BIN_DIR "/nacre", "report", folder + "/t.life3", "--format", "text"}).end();
  EXPECT_EQ(code_of(report), 0) << report.errors;
  EXPECT_NE(report.output.find("images_mp_test"), std::string::npos) << report.output;
}

TEST_F(survival, shows_what_a_folder_holds) {
  const outcome ran = launched({NACRE_BIN_DIR "/nacre", "run", "-n", "2", own_path(), "--as-rank", "3",
                                "--nacre.checkpoint.folder=" + folder, "--nacre.checkpoint.every=1ns"})
                          .end();
  ASSERT_EQ(ran.status, 0) << ran.errors;
  const outcome shown = launched({NACRE_BIN_DIR "/nacre", "info", folder}).end();
  EXPECT_NE(shown.output.find("image-000003   a restored job goes on from here"), std::string::npos) << shown.output;
  EXPECT_NE(shown.output.find("objects    30"), std::string::npos) << shown.output;
  const outcome none = launched({NACRE_BIN_DIR "/nacre", "info", "/dev"}).end();
  EXPECT_NE(none.errors.find("/dev holds no images"), std::string::npos) << none.errors;
}

}  // namespace
}  // namespace nacre::tests

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "--as-rank") == 0) {
    return compute(argc, argv, std::atoi(argv[2]), argc > 3 ? argv[3] : "", argc > 4 ? argv[4] : "");
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
