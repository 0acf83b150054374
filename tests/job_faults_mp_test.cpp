// SPDX-License-Identifier: Apache-2.0
// A job of processes whose rank dies, or that a stranger bothers.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "stopwatch.hpp"
#include "transport/shm/layout.hpp"
#include "transports.hpp"

namespace {

using nacre::channel;
constexpr std::uint64_t shm_ring_bytes = 128u << 10;  // the defaults
constexpr std::uint64_t shm_memory_max = 16u << 20;

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// `nacre run` with a program that would run for minutes, its output in files.
class long_job {
 public:
  long_job(int ranks, const std::string& transport)
      : folder_(fs::temp_directory_path() / ("nacre_faults_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    const std::string count = std::to_string(ranks);
    launcher_ = fork();
    if (launcher_ == 0) {
      const int out = open((folder_ / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      const int err = open((folder_ / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      dup2(out, 1);
      dup2(err, 2);
      nacre::tests::ignore_foreign_leaks(transport);
      execl(NACRE_BIN_DIR "/nacre", "nacre", "run", "-n", count.c_str(), "--transport", transport.c_str(),
            NACRE_BIN_DIR "/uts", "--tree", "T2XXL", "--quiet", "--nacre.workers=1", static_cast<char*>(nullptr));
      _exit(127);
    }
  }
  long_job(const long_job&) = delete;
  long_job& operator=(const long_job&) = delete;
  ~long_job() {
    if (launcher_ > 0) {
      kill(launcher_, SIGKILL);
      waitpid(launcher_, nullptr, 0);
    }
    fs::remove_all(folder_);
  }

  /// The processes of the ranks, once all of them use the processor, which they do only after they have met.
  [[nodiscard]] std::vector<pid_t> working_ranks(std::size_t count) const {
    nacre::tests::stopwatch taken;
    while (taken.look() < 60) {
      std::vector<pid_t> values;
      std::ifstream children("/proc/" + std::to_string(launcher_) + "/task/" + std::to_string(launcher_) + "/children");
      for (pid_t child = 0; children >> child;) {
        if (cpu_ticks(child) > 20) values.push_back(child);
      }
      if (values.size() == count) return values;
      sched_yield();
    }
    return {};
  }

  /// The launcher's exit status, and how many seconds it took to end.
  [[nodiscard]] std::pair<int, double> end(double patience) {
    nacre::tests::stopwatch taken;
    int status = 0;
    while (waitpid(launcher_, &status, WNOHANG) == 0) {
      if (taken.look() > patience) return {-1, patience};
      sched_yield();
    }
    launcher_ = -1;
    return {status, taken.look()};
  }

  [[nodiscard]] std::string errors() const { return contents(folder_ / "err"); }
  [[nodiscard]] pid_t launcher() const noexcept { return launcher_; }

 private:
  /// User and system time of a process, in clock ticks of 10 ms.
  static long cpu_ticks(pid_t process) {
    const std::string stat = contents("/proc/" + std::to_string(process) + "/stat");
    const std::size_t after_name = stat.rfind(')');
    if (after_name == std::string::npos) return 0;
    std::istringstream fields(stat.substr(after_name + 2));
    std::string skipped;
    for (int field = 3; field < 14; ++field) fields >> skipped;
    long user = 0, system = 0;
    fields >> user >> system;
    return user + system;
  }

  fs::path folder_;
  pid_t launcher_ = -1;
};

/// Shared memory of ours that has a name, and so outlives those who use it; others may have theirs at any time. The
/// folders of UCX come and go with other jobs; leftovers_mp_test looks at them.
std::set<std::string> named_segments() {
  std::set<std::string> names;
  for (const auto& each : fs::directory_iterator("/dev/shm")) {
    const std::string name = each.path().filename().string();
    if (name.find("nacre") != std::string::npos && !name.starts_with("nacre_ucx_")) names.insert(name);
  }
  return names;
}

/// Ports on which a process of ours listens, from the kernel's table.
std::vector<std::uint16_t> listening_ports(pid_t process) {
  std::vector<std::string> sockets;
  for (const auto& each : fs::directory_iterator("/proc/" + std::to_string(process) + "/fd")) {
    std::error_code gone;
    const std::string target = fs::read_symlink(each.path(), gone).string();
    if (target.starts_with("socket:[")) sockets.push_back(target.substr(8, target.size() - 9));
  }
  std::vector<std::uint16_t> ports;
  std::ifstream table("/proc/net/tcp");
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string number, local, remote, state, queues, timer, retransmit, user, timeout, inode;
    fields >> number >> local >> remote >> state >> queues >> timer >> retransmit >> user >> timeout >> inode;
    const bool ours = std::find(sockets.begin(), sockets.end(), inode) != sockets.end();
    if (ours && state == "0A") {
      ports.push_back(static_cast<std::uint16_t>(std::stoul(local.substr(local.find(':') + 1), nullptr, 16)));
    }
  }
  return ports;
}

class job_of_processes : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(over, job_of_processes, testing::ValuesIn(nacre::tests::and_ucx({"shm", "tcp", "udp"})),
                         [](const auto& each) { return each.param; });

TEST_P(job_of_processes, ends_within_seconds_with_one_line_when_a_rank_is_killed) {
  const std::set<std::string> words = named_segments();
  long_job job(3, GetParam());
  const std::vector<pid_t> ranks = job.working_ranks(3);
  ASSERT_EQ(ranks.size(), 3u) << job.errors();
  kill(ranks[1], SIGKILL);
  const auto [status, seconds] = job.end(2 * nacre::tests::unhurried_end);
  EXPECT_LT(seconds, nacre::tests::unhurried_end);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_NE(WEXITSTATUS(status), 0);
  const std::string errors = job.errors();
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << errors;
  EXPECT_NE(errors.find("was killed by signal 9"), std::string::npos) << errors;
  for (const pid_t each : ranks) EXPECT_NE(kill(each, 0), 0) << "a rank outlived its job";
  EXPECT_EQ(named_segments(), words) << "memory that nobody will free";
}

TEST_P(job_of_processes, leaves_no_rank_behind_when_the_launcher_is_killed) {
  const std::set<std::string> words = named_segments();
  long_job job(2, GetParam());
  const std::vector<pid_t> ranks = job.working_ranks(2);
  ASSERT_EQ(ranks.size(), 2u) << job.errors();
  kill(job.launcher(), SIGKILL);
  static_cast<void>(job.end(nacre::tests::unhurried_end));
  nacre::tests::stopwatch taken;
  const auto alive = [&] { return std::any_of(ranks.begin(), ranks.end(), [](pid_t r) { return kill(r, 0) == 0; }); };
  while (alive() && taken.look() < nacre::tests::unhurried_end) sched_yield();
  EXPECT_FALSE(alive());
  EXPECT_EQ(named_segments(), words) << "memory that nobody will free";
}

TEST(job_over_tcp, logs_a_stranger_and_goes_on) {
  long_job job(2, "tcp");
  const std::vector<pid_t> ranks = job.working_ranks(2);
  ASSERT_EQ(ranks.size(), 2u) << job.errors();
  const std::vector<std::uint16_t> ports = listening_ports(ranks[0]);
  ASSERT_FALSE(ports.empty()) << "rank 0 does not listen any more, so nobody can bother it";
  const int stranger = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(ports.front());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(stranger, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::string garbage(4096, 'x');
  static_cast<void>(send(stranger, garbage.data(), garbage.size(), MSG_NOSIGNAL));
  nacre::tests::stopwatch taken;
  while (job.errors().find("refused") == std::string::npos && taken.look() < nacre::tests::unhurried_end) sched_yield();
  EXPECT_NE(job.errors().find("refused"), std::string::npos) << job.errors();
  for (const pid_t each : ranks) EXPECT_EQ(kill(each, 0), 0) << "the stranger ended a rank: " << job.errors();
  close(stranger);
}

/// The segment of a rank over shm, as its descriptor shows it; -1 when there is none.
int open_segment(pid_t process) {
  for (const auto& each : fs::directory_iterator("/proc/" + std::to_string(process) + "/fd")) {
    std::error_code gone;
    if (fs::read_symlink(each.path(), gone).string().find("memfd:nacre") == std::string::npos) continue;
    return open(each.path().c_str(), O_RDWR | O_CLOEXEC);
  }
  return -1;
}

/// Puts slots behind the newest one that rank 1 has written for rank 0, each with the number that is awaited there, so
/// that they are read as if rank 1 had written them.
void forge_slots(int segment, channel channel) {
  using namespace nacre::transport::shm;
  const geometry sizes = geometry::fitting(2, shm_ring_bytes, shm_memory_max);
  ASSERT_EQ(lseek(segment, 0, SEEK_END), static_cast<off_t>(sizes.segment_bytes()));
  void* const memory = mmap(nullptr, sizes.segment_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, segment, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const ring_view ring = sizes.ring(static_cast<std::byte*>(memory), 1, static_cast<std::size_t>(channel));
  std::uint64_t newest = 0;
  for (std::uint64_t i = 0; i < ring.slot_count; ++i) {
    newest = std::max(newest, shared(ring.slots[i].stamp).load() >> 8);
  }
  // Half a ring, since behind that there may be genuine slots that have not been read.
  for (std::uint64_t position = newest; position < newest + ring.slot_count / 2; ++position) {
    slot& forged = ring.slots[position % ring.slot_count];
    forged.header.payload_bytes = 0xfffffff0U;
    shared(forged.stamp).store(make_stamp(position, slot_kind::whole));
  }
  munmap(memory, sizes.segment_bytes());
}

TEST(job_over_shm, ends_with_one_line_and_without_a_crash_when_somebody_forges_slots_in_a_segment) {
  long_job job(2, "shm");
  const std::vector<pid_t> ranks = job.working_ranks(2);
  ASSERT_EQ(ranks.size(), 2u) << job.errors();
  EXPECT_TRUE(listening_ports(ranks[0]).empty()) << "nobody is let in once all are there";
  const int segment = open_segment(ranks[0]);
  ASSERT_GE(segment, 0);
  EXPECT_NE(ftruncate(segment, 0), 0) << "a segment that shrinks ends those who use it";
  forge_slots(segment, channel::application);
  close(segment);
  const auto [status, seconds] = job.end(2 * nacre::tests::unhurried_end);
  EXPECT_LT(seconds, nacre::tests::unhurried_end);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  const std::string errors = job.errors();
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << errors;
  EXPECT_NE(errors.find("sent a message that is larger than allowed"), std::string::npos) << errors;
}

}  // namespace
