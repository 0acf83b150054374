// SPDX-License-Identifier: Apache-2.0
// Does a rank that is overrun slow its senders, and does its memory stay bounded? Peak memory of each rank, and the
// count.
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <nacre/nacre.hpp>

namespace {

struct plan {
  std::uint64_t messages = 1'000'000;  // by each flooding rank
  double work_seconds = 1e-6;
  double peak_mib_max = 0;  // more memory than this is a failure; 0: none is
  std::string_view pattern =
      "one";  // one: rank 0 floods rank 1; two: both; all: everybody everybody; echo: from handlers; self: its own rank
};

/// Messages run, by rank: several may share this process.
std::atomic<std::uint64_t>& run_on(nacre::rank_id rank) {
  static std::array<std::atomic<std::uint64_t>, 64> all;
  return all[rank.value() % all.size()];
}

void work_for(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) continue;
}

using cargo = std::array<std::uint64_t, 8>;

void sink(nacre::context& ctx, cargo, double seconds) {
  work_for(seconds);
  run_on(ctx.rank()).fetch_add(1, std::memory_order_relaxed);  // read after quiescence
}

/// A flood out of handlers: each starts two more of half the size.
void split(nacre::context& ctx, cargo what, std::uint64_t left, double seconds) {
  if (left > 1) {
    for (const std::uint64_t half : {left / 2, left - left / 2}) {
      const nacre::rank_id to{static_cast<std::uint32_t>((ctx.rank().value() + 1) % ctx.size())};
      ctx.send<split>(to, what, half, seconds);
    }
    return;
  }
  sink(ctx, what, seconds);
}

double peak_mib() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_maxrss) / 1024.0;
}

bool flood(nacre::runtime& rt, const plan& how) {
  const std::uint32_t self = rt.rank().value();
  const double before = peak_mib();
  rt.barrier();
  const double begin = rt.now();
  std::uint64_t sent = 0;
  if (how.pattern == "echo") {
    rt.send<split>(nacre::rank_id{(self + 1) % rt.size()}, cargo{}, how.messages, how.work_seconds);
    sent = how.messages;
  } else if (how.pattern != "one" || self == 0) {
    for (std::uint64_t i = 0; i < how.messages; ++i) {
      std::uint32_t offset = how.pattern == "self" ? 0 : 1;
      if (how.pattern == "all") offset = static_cast<std::uint32_t>(1 + i % (rt.size() - 1));
      rt.send<sink>(nacre::rank_id{(self + offset) % rt.size()}, cargo{i}, how.work_seconds);
      ++sent;
    }
  }
  rt.wait_quiescence();
  const double seconds = rt.now() - begin;
  const std::uint64_t all_sent = rt.all_reduce(sent, std::plus<>{});
  const std::uint64_t all_run = rt.all_reduce(run_on(rt.rank()).load(), std::plus<>{});
  fmt::print("rank {}: {} sent, {} run, {:.2f} s, peak memory {:.0f} MiB ({:.0f} MiB before)\n", self, sent,
             run_on(rt.rank()).load(), seconds, peak_mib(), before);
  if (all_sent != all_run) fmt::print("rank {}: messages are missing\n", self);
  const bool bounded = how.peak_mib_max == 0 || peak_mib() <= how.peak_mib_max;
  if (!bounded) fmt::print("rank {}: more memory than {:.0f} MiB\n", self, how.peak_mib_max);
  return all_sent == all_run && bounded;
}

}  // namespace

int main(int argc, char** argv) {
  std::atomic<bool> well = true;
  const int code = nacre::run(argc, argv, [&](nacre::runtime& rt) {
    plan how;
    for (int i = 1; i < argc && argv[i] != nullptr; ++i) {
      const std::string_view word = argv[i];
      if (word.starts_with("--messages=")) how.messages = std::stoull(std::string(word.substr(11)));
      if (word.starts_with("--work=")) how.work_seconds = std::stod(std::string(word.substr(7))) * 1e-6;
      if (word.starts_with("--peak-max=")) how.peak_mib_max = std::stod(std::string(word.substr(11)));
      if (word.starts_with("--pattern=")) how.pattern = word.substr(10);
    }
    if (!flood(rt, how)) well = false;
  });
  return code != 0 ? code : (well ? 0 : 1);
}
