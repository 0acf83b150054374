// SPDX-License-Identifier: Apache-2.0
// nacre run as its users see it: how ranks start and end, what is printed, and what is passed on.
//
// The executable is its own rank program: `launcher_mp_test --as-rank NAME` runs one of the programs below.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds patience{60};

// ---- rank programs

std::uint32_t where(nacre::context& ctx) { return ctx.rank().value(); }

/// Every rank asks every other for its number, and says what it heard.
void meet(nacre::runtime& rt) {
  std::uint32_t sum = 0;
  for (std::uint32_t rank = 0; rank < rt.size(); ++rank) sum += rt.call<where>(nacre::rank_id(rank)).get();
  std::printf("rank %u of %u heard %u\n", rt.rank().value(), static_cast<unsigned>(rt.size()), sum);
  std::fflush(stdout);
}

/// Rank 1 ends in the given way while the others wait for it.
template <class End>
void wait_for_rank_one(nacre::runtime& rt, End end) {
  rt.barrier();
  if (rt.rank() == nacre::rank_id(1)) end();
  rt.barrier();
}

void ends_by_abort(nacre::runtime& rt) {
  wait_for_rank_one(rt, [] { std::signal(SIGABRT, SIG_DFL), std::abort(); });
}
void ends_by_exit(nacre::runtime& rt) {
  wait_for_rank_one(rt, [] { std::_Exit(0); });
}
void ends_by_error(nacre::runtime& rt) {
  wait_for_rank_one(rt, [] { std::_Exit(7); });
}

using rank_program = void (*)(nacre::runtime&);
const std::map<std::string_view, rank_program>& rank_programs() {
  static const std::map<std::string_view, rank_program> all{
      {"meet", meet}, {"abort", ends_by_abort}, {"exit", ends_by_exit}, {"error", ends_by_error}};
  return all;
}

// ---- the launcher as a child process

struct outcome {
  int status = -1;  ///< as from waitpid
  double seconds = 0;
  std::string output;
  std::string errors;
};

[[nodiscard]] std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

class launched {
 public:
  explicit launched(std::vector<std::string> arguments, const std::string& input = "") {
    std::array<int, 2> in{}, out{}, err{};
    EXPECT_EQ(pipe2(in.data(), O_CLOEXEC) | pipe2(out.data(), O_CLOEXEC) | pipe2(err.data(), O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      dup2(err[1], 2);
      std::vector<char*> argv{const_cast<char*>(NACRE_BIN_DIR "/nacre")};
      for (std::string& each : arguments) argv.push_back(each.data());
      argv.push_back(nullptr);
      execv(argv[0], argv.data());
      _exit(127);
    }
    for (const int end : {in[0], out[1], err[1]}) close(end);
    EXPECT_EQ(write(in[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
    close(in[1]);
    pipes_ = {out[0], err[0]};
  }
  launched(const launched&) = delete;
  launched& operator=(const launched&) = delete;
  ~launched() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    for (const int end : pipes_) close(end);
  }

  /// Reads until the output contains `text`.
  void read_until(std::string_view text) {
    const auto deadline = steady_clock::now() + patience;
    while (seen_.output.find(text) == std::string::npos && steady_clock::now() < deadline && read_some()) continue;
    EXPECT_NE(seen_.output.find(text), std::string::npos) << seen_.output << seen_.errors;
  }

  void signal(int number) const { kill(pid_, number); }

  /// Again and again, because two signals of one number may become one.
  void signal_until_over(int number) {
    const auto deadline = steady_clock::now() + patience;
    do signal(number);
    while (read_some() && steady_clock::now() < deadline);
  }

  /// Reads to the end and waits.
  outcome end() {
    const auto start = steady_clock::now();
    while (steady_clock::now() < start + patience && read_some()) continue;
    waitpid(pid_, &seen_.status, 0);
    pid_ = -1;
    seen_.seconds = std::chrono::duration<double>(steady_clock::now() - start).count();
    return seen_;
  }

 private:
  /// False when both ends are closed.
  bool read_some() {
    std::array<pollfd, 2> watched{{{pipes_[0], POLLIN, 0}, {pipes_[1], POLLIN, 0}}};
    poll(watched.data(), watched.size(), 100);
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].revents == 0) continue;
      std::array<char, 4096> buffer;
      const ssize_t bytes = read(pipes_[i], buffer.data(), buffer.size());
      if (bytes > 0) {
        (i == 0 ? seen_.output : seen_.errors).append(buffer.data(), static_cast<std::size_t>(bytes));
      } else {
        close(std::exchange(pipes_[i], -1));
      }
    }
    return pipes_[0] >= 0 || pipes_[1] >= 0;
  }

  pid_t pid_ = -1;
  std::array<int, 2> pipes_{-1, -1};
  outcome seen_;
};

outcome nacre_command(std::vector<std::string> arguments, const std::string& input = "") {
  return launched(std::move(arguments), input).end();
}

int code_of(const outcome& got) { return WIFEXITED(got.status) ? WEXITSTATUS(got.status) : -1; }

std::vector<std::string> run_script(const std::string& ranks, const std::string& script) {
  return {"run", "-n", ranks, "sh", "-c", script};
}

/// The path of this program: /proc/self/exe is another one in the launcher.
const std::string& own_path() {
  static const std::string path = [] {
    std::array<char, 4096> buffer{};
    return readlink("/proc/self/exe", buffer.data(), buffer.size() - 1) > 0 ? std::string(buffer.data()) : "";
  }();
  return path;
}
std::vector<std::string> run_self(const std::string& ranks, const std::string& program) {
  return {"run", "-n", ranks, own_path(), "--as-rank", program, "--nacre.workers=1"};
}

// ---- tests

TEST(nacre_run, connects_the_ranks_of_a_job) {
  for (const unsigned ranks : {1U, 2U, 4U}) {
    const outcome got = nacre_command(run_self(std::to_string(ranks), "meet"));
    EXPECT_EQ(code_of(got), 0) << got.errors;
    EXPECT_EQ(got.errors, "");
    std::set<std::string> expected;
    for (unsigned rank = 0; rank < ranks; ++rank) {
      expected.insert("rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " heard " +
                      std::to_string(ranks * (ranks - 1) / 2));
    }
    const std::vector<std::string> lines = lines_of(got.output);
    EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()), expected);
    EXPECT_EQ(lines.size(), ranks);
  }
}

TEST(nacre_run, ends_a_job_with_one_line_however_a_rank_ends_before_its_time) {
  const std::map<std::string, std::pair<std::string, int>> expected{
      {"abort", {"nacre run: rank 1 was killed by signal 6 (Aborted); ending the job", 128 + SIGABRT}},
      {"exit", {"nacre run: rank 1 exited with code 0 before the job was over; ending the job", 1}},
      {"error", {"nacre run: rank 1 exited with code 7; ending the job", 7}}};
  for (const auto& [program, line_and_code] : expected) {
    const outcome got = nacre_command(run_self("3", program));
    EXPECT_EQ(lines_of(got.errors), std::vector<std::string>{line_and_code.first}) << program;
    EXPECT_EQ(code_of(got), line_and_code.second) << program;
  }
}

TEST(nacre_run_scripts, end_within_five_seconds_although_the_others_take_no_notice) {
  const outcome got = nacre_command(
      run_script("3", "trap '' TERM; if [ $NACRE_JOB_RANK = 2 ]; then kill -9 $$; fi; while :; do sleep 60; done"));
  EXPECT_EQ(lines_of(got.errors),
            std::vector<std::string>{"nacre run: rank 2 was killed by signal 9 (Killed); ending the job"});
  EXPECT_EQ(code_of(got), 128 + SIGKILL);
  EXPECT_LT(got.seconds, 5.0);
  EXPECT_GT(got.seconds, 2.0) << "they have their time to end in peace";
}

TEST(nacre_run_scripts, that_one_rank_leaves_without_joining_end_those_that_wait_for_it) {
  const outcome got =
      nacre_command({"run", "-n", "2", "sh", "-c",
                     "if [ $NACRE_JOB_RANK = 1 ]; then exit 3; fi; exec \"$0\" --as-rank meet", own_path()});
  EXPECT_EQ(lines_of(got.errors), std::vector<std::string>{"nacre run: rank 1 exited with code 3; ending the job"});
  EXPECT_EQ(code_of(got), 3);
}

TEST(nacre_run_scripts, that_start_different_binaries_are_refused_with_a_line_that_says_so) {
  const outcome got = nacre_command({"run", "-n", "2", "sh", "-c",
                                     "if [ $NACRE_JOB_RANK = 1 ]; then exec " NACRE_BIN_DIR
                                     "/uts --tree T1; fi; exec \"$0\" --as-rank meet",
                                     own_path()});
  EXPECT_NE(code_of(got), 0);
  EXPECT_NE(got.errors.find("another binary"), std::string::npos) << got.errors;
}

TEST(nacre_run_scripts, get_rank_and_size_and_labels_tell_their_lines_apart) {
  const outcome got =
      nacre_command({"run", "-n", "3", "--label", "sh", "-c", "echo of $NACRE_JOB_SIZE; echo trouble >&2"});
  EXPECT_EQ(code_of(got), 0);
  const auto sorted_lines_of = [](const std::string& text) {
    std::vector<std::string> lines = lines_of(text);
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  EXPECT_EQ(sorted_lines_of(got.output), (std::vector<std::string>{"[0] of 3", "[1] of 3", "[2] of 3"}));
  EXPECT_EQ(sorted_lines_of(got.errors), (std::vector<std::string>{"[0] trouble", "[1] trouble", "[2] trouble"}));
}

TEST(nacre_run_scripts, of_rank_zero_read_standard_input_and_the_others_find_it_empty) {
  const outcome got = nacre_command(run_script("3", "echo rank $NACRE_JOB_RANK: $(cat)"), "one two\nthree\n");
  std::vector<std::string> lines = lines_of(got.output);
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{"rank 0: one two three", "rank 1:", "rank 2:"}));
}

TEST(nacre_run_scripts, write_lines_that_never_mix) {
  const outcome got = nacre_command(
      run_script("4",
                 "i=0; while [ $i -lt 500 ]; do printf '%s' $NACRE_JOB_RANK$NACRE_JOB_RANK; echo $NACRE_JOB_RANK$i; "
                 "i=$((i+1)); done"));
  const std::vector<std::string> lines = lines_of(got.output);
  EXPECT_EQ(lines.size(), 2000U);
  std::array<int, 4> next{};
  for (const std::string& line : lines) {
    const auto rank = static_cast<std::size_t>(line.at(0) - '0');
    ASSERT_LT(rank, 4U);
    ASSERT_EQ(line, std::string(3, line[0]) + std::to_string(next[rank]++));
  }
}

TEST(nacre_run_scripts, get_the_signals_of_the_launcher) {
  for (const int number : {SIGINT, SIGTERM}) {
    launched job(run_script("2", "trap 'echo got it; exit 0' INT TERM; echo ready; while :; do sleep 0.02; done"));
    job.read_until("ready\nready\n");
    job.signal(number);
    const outcome got = job.end();
    const std::vector<std::string> lines = lines_of(got.output);
    EXPECT_EQ(std::count(lines.begin(), lines.end(), "got it"), 2) << got.output;
    EXPECT_EQ(got.errors.find("nacre run"), std::string::npos) << got.errors;
    EXPECT_EQ(code_of(got), 128 + number);
  }
}

TEST(nacre_run_scripts, that_are_interrupted_twice_are_killed) {
  launched job(run_script("2", "trap '' INT; echo ready; while :; do sleep 0.02; done"));
  job.read_until("ready\nready\n");
  job.signal_until_over(SIGINT);
  const outcome got = job.end();
  EXPECT_EQ(code_of(got), 128 + SIGINT);
  EXPECT_EQ(got.errors, "");
}

struct mistake {
  std::vector<std::string> arguments;
  std::string complaint;
};

TEST(nacre_command_line, answers_mistakes_with_one_line_that_says_what_to_do) {
  const std::vector<mistake> mistakes{
      {{"run", "-n", "2", "no_such_program"}, "there is no program 'no_such_program'"},
      {{"run", "-n", "2", "./no_such_program"}, "there is no program './no_such_program'"},
      {{"run", "-n", "2", "/etc/passwd"}, "'/etc/passwd' is not executable"},
      {{"run", "-n", "2", "/tmp"}, "'/tmp' is a directory"},
      {{"run", "-n", "0", "true"}, "-n 0 is no number of ranks"},
      {{"run", "-n", "100000", "true"}, "choose 1 to 4096"},
      {{"run", "-n", "two", "true"}, "-n two is no number of ranks"},
      {{"run", "-n", "2"}, "no program is given"},
      {{"run", "true"}, "--ranks is required"},
      {{"run", "-n", "2", "--lable", "true"}, "did you mean --label?"},
      {{"run", "-n", "2", "--transport", "tpc", "true"}, "did you mean 'tcp'?"},
      {{"run", "-n", "2", "--transport", "sim", "true"}, "the transport 'sim' connects no processes"},
      {{"run", "-n", "2", "--config", "no_such_file", "true"}, "there is no file 'no_such_file'"},
      {{"rnu"}, "did you mean 'nacre run'?"}};
  for (const mistake& each : mistakes) {
    const outcome got = nacre_command(each.arguments);
    EXPECT_EQ(code_of(got), 2) << each.complaint;
    EXPECT_EQ(lines_of(got.errors).size(), 1U) << got.errors;
    EXPECT_NE(got.errors.find(each.complaint), std::string::npos) << got.errors;
  }
}

TEST(nacre_command_line, explains_itself) {
  EXPECT_NE(nacre_command({"--help"}).output.find("Run a program on several ranks"), std::string::npos);
  EXPECT_NE(nacre_command({"run", "--help"}).output.find("nacre run -n N [OPTIONS] PROGRAM"), std::string::npos);
  const outcome info = nacre_command({"info"});
  for (const char* word : {"nacre", "build", "inproc", "shm", "tcp", "sim", "processor", "cores"}) {
    EXPECT_NE(info.output.find(word), std::string::npos) << word;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "--as-rank") return nacre::run(argc, argv, rank_programs().at(argv[2]));
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
