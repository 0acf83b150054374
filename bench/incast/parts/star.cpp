// SPDX-License-Identifier: Apache-2.0
// One run in the star: a process for each host, and what the switch has dropped.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "figures.hpp"
#include "jobs.hpp"
#include "star_rank.hpp"

namespace incast {
namespace {

constexpr nanoseconds start_up = std::chrono::milliseconds(200);
constexpr int busy_processes = 2;

/// What the processes of a run tell, in memory that they share.
struct results {
  receiver_result receiver;
  sender_result senders[star_senders_max];
};

class shared_results {
 public:
  shared_results()
      : memory_(::mmap(nullptr, sizeof(results), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) fail("mmap");
  }
  shared_results(const shared_results&) = delete;
  shared_results& operator=(const shared_results&) = delete;
  ~shared_results() { ::munmap(memory_, sizeof(results)); }
  [[nodiscard]] results& get() const { return *static_cast<results*>(memory_); }

 private:
  void* memory_;
};

/// Starts a process that ends with this one.
[[nodiscard]] pid_t begin_process(const std::function<void()>& body) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) fail("fork");
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int code = 0;
  try {
    body();
  } catch (const std::exception& error) {
    fmt::print(stderr, "incast: {}\n", error.what());
    code = 1;
  }
  ::_exit(code);
}

[[nodiscard]] bool ended_well(pid_t child) {
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// What the port to the receiver has dropped since the star was made.
[[nodiscard]] std::uint64_t dropped_packets() {
  const bench::outcome told = bench::run_command({"tc", "-j", "-s", "qdisc", "show", "dev", "port0", "root"});
  std::string text;
  for (const std::string& line : told.lines) text += line;
  return nlohmann::json::parse(text).at(0).at("drops").get<std::uint64_t>();
}

/// Works until it is killed.
void keep_busy() {
  stay_with_receiver();
  become_ordinary();
  for (volatile std::uint64_t count = 0;;) count = count + 1;
}

[[nodiscard]] outcome outcome_of(const plan& plan, const results& got, nanoseconds length) {
  outcome done;
  std::vector<double> shares, latencies;
  for (std::uint32_t sender = 0; sender < plan.senders; ++sender) {
    done.messages += got.receiver.complete[sender];
    shares.push_back(static_cast<double>(got.receiver.complete[sender]));
    done.retries += got.senders[sender].retries;
    if (got.senders[sender].token_us > 0) latencies.push_back(got.senders[sender].token_us);
  }
  const double seconds = std::chrono::duration<double>(length).count();
  const double message = std::chrono::duration<double>(wire_time(plan)).count();
  done.goodput_fraction = static_cast<double>(done.messages) * message / seconds;
  done.bits_per_second = static_cast<double>(done.messages * plan.bytes * 8) / seconds;
  done.fairness = jain(shares);
  std::sort(latencies.begin(), latencies.end());
  if (!latencies.empty()) done.token_us = latencies[latencies.size() / 2];
  std::vector<double> rounds(got.receiver.round_seconds, got.receiver.round_seconds + got.receiver.rounds);
  std::sort(rounds.begin(), rounds.end());
  if (!rounds.empty()) {
    done.round_ratio = rounds[rounds.size() / 2] / (message * plan.senders);
    done.round_p99_ms = rounds[rounds.size() * 99 / 100] * 1e3;
  }
  return done;
}

}  // namespace

outcome measure_star(const plan& plan) {
  const shared_results shared;
  results& results = shared.get();
  const nanoseconds begin = star_now() + start_up;
  const nanoseconds length(static_cast<std::int64_t>(plan.seconds * 1e9));
  const nanoseconds end = begin + length;
  const bool tcp = plan.scheme == coordination::tcp;
  const std::uint64_t dropped_before = dropped_packets();
  std::vector<pid_t> busy, ranks;
  for (int i = 0; plan.busy_receiver && i < busy_processes; ++i) busy.push_back(begin_process(keep_busy));
  ranks.push_back(begin_process([&] {
    enter_host(0);
    if (plan.busy_receiver) become_ordinary();
    (tcp ? run_tcp_receiver : run_receiver)(plan, begin, end, results.receiver);
  }));
  for (std::uint32_t sender = 1; sender <= plan.senders; ++sender) {
    ranks.push_back(begin_process([&, sender] {
      enter_host(sender);
      if (tcp) return run_tcp_sender(plan, sender, begin, end);
      results.senders[sender - 1] = run_sender(plan, sender, begin, end);
    }));
  }
  bool good = true;
  for (const pid_t each : ranks) good = ended_well(each) && good;
  for (const pid_t each : busy) {
    ::kill(each, SIGKILL);
    static_cast<void>(ended_well(each));
  }
  if (!good) throw std::runtime_error("a process of the star has failed; its own line says why");
  outcome done = outcome_of(plan, results, length);
  done.drops = dropped_packets() - dropped_before;
  return done;
}

void enter_star(int argc, char** argv, const plan& plan) {
  if (std::getenv("NACRE_STAR") != nullptr) return;
  const double megabits = plan.bits_per_second / 1e6;
  std::vector<std::string> words{(bench::own_folder() / NACRE_STAR_TOOL).string(),
                                 "--hosts",
                                 std::to_string(std::max(plan.senders, 3U) + 1),
                                 "--rate",
                                 fmt::format("{}", megabits),
                                 "--buffer",
                                 std::to_string(plan.buffer_bytes),
                                 "--burst",
                                 std::to_string(plan.burst_bytes),
                                 (bench::own_folder() / "incast").string()};
  words.insert(words.end(), argv + 1, argv + argc);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(pointers.front(), pointers.data());
  fail(("starting " + words.front()).c_str());
}

}  // namespace incast
