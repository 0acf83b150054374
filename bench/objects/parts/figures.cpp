// SPDX-License-Identifier: Apache-2.0
// Measuring mobile objects.
#include "figures.hpp"

#include <algorithm>
#include <vector>

#include "measures.hpp"

namespace objects {
namespace {

using nacre::context;
using nacre::mobile_ptr;
using nacre::rank_id;

struct empty {
  std::uint64_t heard = 0;
  void hear(std::uint64_t number) { heard += number; }
  template <class Archive>
  void serialize(Archive& ar) {
    ar(heard);
  }
};

/// Sends a message to each of many objects, a few in a turn, so that they are run in between.
struct crier {
  void tell(context& ctx, std::uint64_t all, std::uint64_t source) {
    constexpr std::uint64_t in_a_turn = 256;
    const auto& crowd = *reinterpret_cast<const std::vector<mobile_ptr<empty>>*>(all);
    const std::uint64_t end = std::min<std::uint64_t>(source + in_a_turn, crowd.size());
    for (std::uint64_t index = source; index < end; ++index) ctx.send<&empty::hear>(crowd[index], index);
    if (end < crowd.size()) ctx.send<&crier::tell>(ctx.self<crier>(), all, end);
  }
  template <class Archive>
  void serialize(Archive&) {}
};

/// Sends to all elements of an array, so often; from a handler, so that one thread has all the work.
struct announcer {
  void tell(context& ctx, nacre::array_ptr<empty> all, std::uint64_t times) {
    for (std::uint64_t number = 0; number < times; ++number) ctx.send<&empty::hear>(all, number);
  }
  template <class Archive>
  void serialize(Archive&) {}
};

nacre::config of_ranks(const char* ranks) {
  nacre::config configuration;
  configuration.set("ranks", ranks);
  configuration.set("workers", "1");
  configuration.set("spin", "10ms");  // the question is what work costs, not what waking costs
  configuration.set("progress", "shared");
  return configuration;
}

}  // namespace

double other_worker_ns(std::uint64_t messages) {
  double seconds = 0;
  nacre::run(of_ranks("1"), [&](nacre::runtime& rt) {
    std::vector<mobile_ptr<empty>> all;
    for (int index = 0; index < 1000; ++index) all.push_back(rt.create<empty>());
    rt.wait_quiescence();
    const stopwatch running;
    for (std::uint64_t index = 0; index < messages; ++index) rt.send<&empty::hear>(all[index % all.size()], index);
    rt.wait_quiescence();
    seconds = running.seconds();
  });
  return seconds / static_cast<double>(messages) * 1e9;
}

crowd measure_crowd(std::uint64_t count) {
  crowd result{};
  nacre::run(of_ranks("1"), [&](nacre::runtime& rt) {
    std::vector<mobile_ptr<empty>> all(count);
    const auto each = static_cast<double>(count);
    const auto object = rt.create<crier>();
    const auto tell_all = [&] {
      const stopwatch sending;
      rt.send<&crier::tell>(object, reinterpret_cast<std::uintptr_t>(&all), std::uint64_t{0});
      rt.wait_quiescence();
      return sending.seconds() / each * 1e9;
    };
    {  // what messages and queues need is there before
      const auto first = rt.create<empty>();
      for (std::uint64_t index = 0; index < 300'000; ++index) rt.send<&empty::hear>(first, index);
      rt.wait_quiescence();
    }
    const std::uint64_t previous = resident_bytes();
    const stopwatch creating;
    for (auto& p : all) p = rt.create<empty>();
    result.create_seconds = creating.seconds();
    result.bytes_at_rest = static_cast<double>(resident_bytes() - previous) / each;
    result.first_message_ns = tell_all();
    result.bytes_after_message = static_cast<double>(resident_bytes() - previous) / each;
    result.later_message_ns = tell_all();
  });
  return result;
}

double broadcast_ns(std::uint64_t count) {
  constexpr std::uint64_t times = 20;
  double seconds = 0;
  nacre::run(of_ranks("1"), [&](nacre::runtime& rt) {
    const auto all = rt.create_array<empty>(nacre::extents{count}, [](nacre::index) { return empty{}; });
    const auto object = rt.create<announcer>();
    const auto tell_all = [&](std::uint64_t often) {
      rt.send<&announcer::tell>(object, all, often);
      rt.wait_quiescence();
    };
    tell_all(1);
    const stopwatch running;
    tell_all(times);
    seconds = running.seconds();
  });
  return seconds / static_cast<double>(count * times) * 1e9;
}

double idle_quiescence_us() {
  constexpr int rounds = 3000;
  double seconds = 0;
  nacre::run(of_ranks("2"), [&](nacre::runtime& rt) {
    rt.barrier();
    rt.wait_quiescence();
    const stopwatch running;
    for (int round = 0; round < rounds; ++round) rt.wait_quiescence();
    if (rt.rank() == rank_id(0)) seconds = running.seconds();
  });
  return seconds / rounds * 1e6;
}

}  // namespace objects
