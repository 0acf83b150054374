// SPDX-License-Identifier: Apache-2.0
// How fast are pooled blocks, in one thread and handed from one thread to another, against malloc in the same run?
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <nacre/block.hpp>

namespace {

struct pooled {
  static void* allocate(std::size_t bytes) { return nacre::allocate_block(bytes); }
  static void release(void* block) { nacre::release_block(block); }
};

struct from_malloc {
  static void* allocate(std::size_t bytes) { return std::malloc(bytes); }
  static void release(void* block) { std::free(block); }
};

/// A bounded queue from one thread to another that costs as little as possible beside what is measured: each side
/// publishes its progress every 16 blocks.
class ring {
 public:
  void push(void* block) {
    for (unsigned attempt = 0; pushed_ - popped_seen_ == slots_.size(); ++attempt) {
      publish_pushed();
      wait(attempt);
      popped_seen_ = popped_.load(std::memory_order_acquire);  // pairs with the store in pop
    }
    slots_[pushed_ % slots_.size()] = block;
    if (++pushed_ % batch == 0) publish_pushed();
  }
  void publish_pushed() { published_.store(pushed_, std::memory_order_release); }  // pairs with the load in pop

  void* pop() {
    for (unsigned attempt = 0; taken_ == published_seen_; ++attempt) {
      wait(attempt);
      popped_.store(taken_, std::memory_order_release);              // pairs with the load in push
      published_seen_ = published_.load(std::memory_order_acquire);  // pairs with publish_pushed
    }
    void* const block = slots_[taken_ % slots_.size()];
    if (++taken_ % batch == 0) popped_.store(taken_, std::memory_order_release);  // pairs with the load in push
    return block;
  }

 private:
  /// Leaves the core after a while, in case the other thread has none.
  static void wait(unsigned attempt) {
    if (attempt % 256 == 255) std::this_thread::yield();
  }

  static constexpr std::size_t batch = 16;
  alignas(64) std::array<void*, 1024> slots_{};
  alignas(64) std::atomic<std::size_t> published_{0};
  alignas(64) std::atomic<std::size_t> popped_{0};
  alignas(64) std::size_t pushed_ = 0;  // the producer's
  std::size_t popped_seen_ = 0;
  alignas(64) std::size_t taken_ = 0;  // the consumer's
  std::size_t published_seen_ = 0;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Nanoseconds for one allocation and its release in one thread, `window` blocks at a time.
template <class Source>
double same_thread_ns(std::size_t bytes, std::size_t operations, std::size_t window) {
  std::vector<void*> blocks(window);
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t done = 0; done < operations; done += window) {
    for (void*& block : blocks) {
      block = Source::allocate(bytes);
      *static_cast<volatile std::size_t*>(block) = done;
    }
    for (void* const block : blocks) Source::release(block);
  }
  return seconds_since(start) * 1e9 / static_cast<double>(operations);
}

/// Million blocks a second that one thread allocates and writes and another reads and releases.
template <class Source>
double two_threads_mops(std::size_t bytes, std::size_t operations) {
  const auto channel = std::make_unique<ring>();
  std::size_t sum = 0;
  const auto start = std::chrono::steady_clock::now();
  std::thread consumer([&] {
    for (std::size_t i = 0; i < operations; ++i) {
      void* const block = channel->pop();
      sum += *static_cast<std::size_t*>(block);
      Source::release(block);
    }
  });
  for (std::size_t i = 0; i < operations; ++i) {
    void* const block = Source::allocate(bytes);
    *static_cast<std::size_t*>(block) = i;
    channel->push(block);
  }
  channel->publish_pushed();
  consumer.join();
  const double mops = static_cast<double>(operations) / seconds_since(start) / 1e6;
  if (sum != operations * (operations - 1) / 2) {
    fmt::print(stderr, "pools: blocks were lost or damaged on the way\n");
    std::exit(EXIT_FAILURE);
  }
  return mops;
}

struct spread {
  double median, least, most;
};

spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

/// One line: both variants, measured in turns, and the ratio of their medians, larger when the pools are better.
template <class Pooled, class Malloc>
void compare(std::string_view what, std::string_view unit, int runs, const Pooled& pools, const Malloc& malloc,
             bool smaller_is_better) {
  std::vector<double> ours, theirs;
  for (int run = 0; run < runs; ++run) {
    ours.push_back(pools());
    theirs.push_back(malloc());
  }
  const spread left = spread_of(ours);
  const spread right = spread_of(theirs);
  const double ratio = smaller_is_better ? right.median / left.median : left.median / right.median;
  fmt::print("{:<34} {:>8.2f} ({:.2f} to {:.2f}) {:>8.2f} ({:.2f} to {:.2f}) {:>5} {:>7.2f}\n", what, left.median,
             left.least, left.most, right.median, right.least, right.most, unit, ratio);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Pooled blocks against malloc: median (least to most) of alternating runs");
  int runs = 5;
  std::size_t operations = 1'000'000;
  app.add_option("--runs", runs, "Runs of each variant")->check(CLI::Range(1, 1000));
  app.add_option("--operations", operations, "Blocks per run")->check(CLI::Range(1000, 1'000'000'000));
  CLI11_PARSE(app, argc, argv);

  fmt::print("{} runs of {} blocks; ratio > 1: the pools are faster\n", runs, operations);
  fmt::print("{:<34} {:<24} {:<24} {:>5} {:>7}\n", "", "pools", "malloc", "unit", "ratio");
  for (const std::size_t window : {1, 64}) {
    for (const std::size_t bytes : {64, 256, 4096}) {
      compare(
          fmt::format("one thread, {} B, {} at a time", bytes, window), "ns", runs,
          [=] { return same_thread_ns<pooled>(bytes, operations, window); },
          [=] { return same_thread_ns<from_malloc>(bytes, operations, window); }, true);
    }
  }
  for (const std::size_t bytes : {64, 256, 4096}) {
    compare(
        fmt::format("two threads, {} B", bytes), "Mop/s", runs,
        [=] { return two_threads_mops<pooled>(bytes, operations); },
        [=] { return two_threads_mops<from_malloc>(bytes, operations / 10); }, false);
  }
}
