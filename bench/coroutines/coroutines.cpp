// SPDX-License-Identifier: Apache-2.0
// What a suspended coroutine handler costs: memory, threads, and the time to resume it.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <program_options.hpp>
#include <string>
#include <thread>
#include <utility>

#include <nacre/nacre.hpp>

namespace {

using nacre::rank_id;
using std::chrono::steady_clock;

/// Both ranks are threads of this process, so that handlers find it by its address.
struct stage {
  std::atomic<bool> open{false};
  std::atomic<std::uint64_t> suspended{0};
  std::atomic<std::uint64_t> sum{0};
};
stage& at(std::uint64_t key) { return *reinterpret_cast<stage*>(key); }

/// Keeps the only worker of its rank, so that what is asked of that rank waits.
void hold(std::uint64_t key) { at(key).open.wait(false); }

std::uint64_t answer(std::uint64_t number) { return number + 1; }

nacre::task<void> ask(nacre::context& ctx, std::uint64_t key, std::uint64_t number) {
  auto reply = ctx.call<answer>(rank_id{1}, number);
  ++at(key).suspended;
  at(key).sum += co_await std::move(reply);
}

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t threads() {
  std::ifstream file("/proc/self/status");
  std::uint64_t count = 0;
  for (std::string word; file >> word;) {
    if (word == "Threads:") file >> count;
  }
  return count;
}

double seconds_since(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

bool measure(nacre::runtime& rt, std::uint64_t handlers) {
  stage local_stage;
  const auto key = reinterpret_cast<std::uintptr_t>(&local_stage);
  rt.send<hold>(rank_id{1}, key);
  const std::uint64_t bytes_before = resident_bytes(), threads_before = threads();
  const auto begin = steady_clock::now();
  for (std::uint64_t number = 0; number < handlers; ++number) rt.send<ask>(rank_id{0}, key, number);
  while (local_stage.suspended != handlers) std::this_thread::yield();
  const double started = seconds_since(begin);
  const std::uint64_t bytes = resident_bytes() - bytes_before, threads_within = threads();
  const auto resumed = steady_clock::now();
  local_stage.open = true;
  local_stage.open.notify_all();
  rt.wait_quiescence();
  const double took = seconds_since(resumed);
  const bool right = local_stage.sum == handlers * (handlers + 1) / 2;
  std::printf("%llu suspended coroutine handlers on one rank\n", static_cast<unsigned long long>(handlers));
  std::printf("memory of one          %8.0f bytes (with the request that it waits for)\n",
              static_cast<double>(bytes) / static_cast<double>(handlers));
  std::printf("threads before, within %8llu %llu\n", static_cast<unsigned long long>(threads_before),
              static_cast<unsigned long long>(threads_within));
  std::printf("seconds to start all   %8.3f\nseconds to resume all  %8.3f\n", started, took);
  std::printf("all have completed     %8s\n", right ? "yes" : "NO");
  return right && threads_within == threads_before;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t handlers = 1'000'000;
  nacre::program_options options{"coroutines", "What a suspended coroutine handler costs"};
  options.add("--handlers", handlers, "how many").between(1, 100'000'000);
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  nacre::config configuration;
  configuration.set("ranks", "2");
  configuration.set("workers", "1");
  bool right = false;
  const int code = nacre::run(configuration, [&](nacre::runtime& rt) {
    rt.barrier();  // all threads of both ranks are there
    if (rt.rank().value() == 0) {
      right = measure(rt, handlers);
    } else {
      rt.wait_quiescence();
    }
  });
  return code != 0 ? code : (right ? 0 : 1);
}
