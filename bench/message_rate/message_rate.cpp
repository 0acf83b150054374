// SPDX-License-Identifier: Apache-2.0
// How many small active messages to random ranks are sent, run and counted in a second?
#include <atomic>
#include <cstdint>
#include <functional>

#include <fmt/format.h>
#include <program_options.hpp>

#include <nacre/nacre.hpp>

namespace {

/// What the handlers of this process have seen; ranks that share a process share it, and the check knows.
struct seen {
  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> sum{0};
};
seen& here() {
  static seen all;
  return all;
}

void hit(std::uint64_t value) {
  here().messages.fetch_add(1, std::memory_order_relaxed);  // only counts, read after quiescence
  here().sum.fetch_add(value, std::memory_order_relaxed);
}

/// A small fast generator, so that drawing a target costs nothing beside sending.
struct mixer {
  std::uint64_t state;
  std::uint64_t next() noexcept {
    state += 0x9e3779b97f4a7c15U;
    std::uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9U;
    return z ^ (z >> 27);
  }
};

bool measure(nacre::runtime& rt, std::uint64_t messages, bool remote_only) {
  mixer random{rt.rank().value() + 1u};
  const std::uint32_t size = rt.size();
  std::uint64_t sum = 0;
  rt.barrier();
  const double begin = rt.now();
  for (std::uint64_t i = 0; i < messages; ++i) {
    const std::uint64_t draw = random.next();
    std::uint32_t target = static_cast<std::uint32_t>(((draw >> 32) * size) >> 32);
    if (remote_only && target == rt.rank().value()) target = target + 1 == size ? 0 : target + 1;
    rt.send<hit>(nacre::rank_id{target}, i);
    sum += i;
  }
  rt.wait_quiescence();
  const double seconds = rt.all_reduce(rt.now() - begin, [](double a, double b) { return a < b ? b : a; });
  // Ranks that share a process would count the same numbers twice: the processes' counts are what they are.
  const std::uint64_t sent = rt.all_reduce(messages, std::plus<>{});
  const std::uint64_t sent_sum = rt.all_reduce(sum, std::plus<>{});
  const bool shared = rt.all_reduce(here().messages.load(), std::plus<>{}) != sent;
  const std::uint64_t ran = shared ? here().messages.load() : sent;
  const std::uint64_t ran_sum = shared ? here().sum.load() : rt.all_reduce(here().sum.load(), std::plus<>{});
  const bool complete = ran == sent && ran_sum == sent_sum;
  if (rt.rank().value() == 0) {
    fmt::print("{} messages, {} ranks, {:.3f} s: {:.2f} M messages/s, {}\n", sent, size, seconds,
               static_cast<double>(sent) / seconds * 1e-6, complete ? "all run and counted" : "SOME ARE MISSING");
  }
  return complete;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const nacre::config configuration = nacre::read_config(argc, argv);
    std::uint64_t messages = 10'000'000;
    bool remote_only = false;
    nacre::program_options options("message_rate",
                                   "Small messages to random ranks: how many are sent, run and counted?");
    options.add("--messages", messages, "Messages that each rank sends");
    options.add("--remote", remote_only, "None to a rank itself");
    if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
    std::atomic<bool> complete = true;
    const int code = nacre::run(configuration, [&](nacre::runtime& rt) {
      if (!measure(rt, messages, remote_only)) complete = false;
    });
    return code != 0 ? code : (complete ? 0 : 1);
  } catch (const nacre::setup_error& error) {
    fmt::print(stderr, "message_rate: {}\n", error.what());
    return 2;
  }
}
