// SPDX-License-Identifier: Apache-2.0
// Floors and rivals: what the same costs by hand.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "figures.hpp"
#include "measures.hpp"

namespace objects {
namespace {

struct listener {
  virtual ~listener() = default;
  virtual void hear(std::uint64_t number) = 0;
};
struct adder final : listener {
  std::uint64_t sum = 0;
  void hear(std::uint64_t number) override { sum += number; }
};

}  // namespace

crowd measure_map(std::uint64_t count) {
  crowd result{};
  const std::uint64_t previous = resident_bytes();
  std::unordered_map<std::uint64_t, std::unique_ptr<listener>> all;
  stopwatch creating;
  for (std::uint64_t index = 0; index < count; ++index) all.emplace(index, std::make_unique<adder>());
  result.create_seconds = creating.seconds();
  const auto each = static_cast<double>(count);
  result.bytes_at_rest = result.bytes_after_message = static_cast<double>(resident_bytes() - previous) / each;
  for (double* const figure : {&result.first_message_ns, &result.later_message_ns}) {
    stopwatch sending;
    for (std::uint64_t index = 0; index < count; ++index) all.find(index)->second->hear(index);
    *figure = sending.seconds() / each * 1e9;
  }
  return result;
}

double virtual_calls_ns(std::uint64_t count) {
  constexpr std::uint64_t times = 20;
  std::vector<std::unique_ptr<listener>> all;
  for (std::uint64_t index = 0; index < count; ++index) all.push_back(std::make_unique<adder>());
  stopwatch running;
  for (std::uint64_t number = 0; number < times; ++number) {
    for (const auto& each : all) each->hear(number);
  }
  return running.seconds() / static_cast<double>(count * times) * 1e9;
}

double locked_queue_ns(std::uint64_t messages) {
  std::mutex mutex;
  std::deque<std::function<void()>> queue;
  std::uint64_t sum = 0;
  stopwatch running;
  for (std::uint64_t index = 0; index < messages; ++index) {
    {
      const std::scoped_lock lock(mutex);
      queue.emplace_back([&sum, index] { sum += index; });
    }
    std::function<void()> next;
    {
      const std::scoped_lock lock(mutex);
      next = std::move(queue.front());
      queue.pop_front();
    }
    next();
  }
  return sum == 0 ? 0 : running.seconds() / static_cast<double>(messages) * 1e9;
}

double copy_us(std::uint32_t bytes) {
  const std::uint32_t rounds = std::max(20u, (1u << 30) / bytes / 4);
  std::vector<std::byte> one(bytes, std::byte{1}), other(bytes, std::byte{2});
  stopwatch running;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    std::memcpy((round % 2 == 0 ? other : one).data(), (round % 2 == 0 ? one : other).data(), bytes);
    asm volatile("" : : "r"(one.data()), "r"(other.data()) : "memory");  // none of the copies is left out
  }
  return running.seconds() / rounds * 1e6;
}

double meeting_us() {
  constexpr std::uint32_t rounds = 100'000;
  std::atomic<std::uint32_t> entered{0};
  const auto meet = [&](std::uint32_t round) {
    entered.fetch_add(1);
    while (entered.load() < 2 * (round + 1)) continue;
  };
  std::thread peer([&] {
    for (std::uint32_t round = 0; round < rounds; ++round) meet(round);
  });
  stopwatch running;
  for (std::uint32_t round = 0; round < rounds; ++round) meet(round);
  const double seconds = running.seconds();
  peer.join();
  return seconds / rounds * 1e6;
}

}  // namespace objects
