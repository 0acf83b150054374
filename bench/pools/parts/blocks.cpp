// SPDX-License-Identifier: Apache-2.0
// Takes and releases blocks in loops, and hands them from thread to thread.
#include "blocks.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>

#include <nacre/block.hpp>

#include "steady_seconds.hpp"

namespace pools {
namespace {

constexpr std::size_t page = 4096;

/// Fewer large ones, so that a run takes about as long at each size.
std::size_t blocks_of_run(std::size_t bytes) { return std::max<std::size_t>(200, 200'000 / (1 + bytes / page)); }

/// How many are in use at a time, up to a bound of bytes.
std::size_t in_use(std::size_t bytes, std::size_t most) {
  constexpr std::size_t bytes_in_use = std::size_t{16} << 20;
  return std::clamp<std::size_t>(bytes_in_use / bytes, 2, most);
}

void write_pages(void* block, std::size_t bytes, std::uint64_t word) {
  auto* const position = static_cast<volatile unsigned char*>(block);
  for (std::size_t i = page; i < bytes; i += page) position[i] = static_cast<unsigned char>(word);
  *static_cast<volatile std::uint64_t*>(block) = word;
}

/// A bounded queue from one thread to another that costs as little as possible beside what is measured: each side
/// publishes its progress after a part of the queue.
class ring {
 public:
  explicit ring(std::size_t capacity) : slots_(capacity), part_(std::clamp<std::size_t>(capacity / 4, 1, 16)) {}

  void push(void* block) {
    for (unsigned attempt = 0; pushed_ - popped_seen_ == slots_.size(); ++attempt) {
      publish_pushed();
      wait(attempt);
      popped_seen_ = popped_.load(std::memory_order_acquire);  // pairs with the stores in pop
    }
    slots_[pushed_ % slots_.size()] = block;
    if (++pushed_ % part_ == 0) publish_pushed();
  }
  void publish_pushed() { published_.store(pushed_, std::memory_order_release); }  // pairs with the load in pop

  void* pop() {
    for (unsigned attempt = 0; taken_ == published_seen_; ++attempt) {
      wait(attempt);
      popped_.store(taken_, std::memory_order_release);              // pairs with the load in push
      published_seen_ = published_.load(std::memory_order_acquire);  // pairs with publish_pushed
    }
    void* const block = slots_[taken_ % slots_.size()];
    if (++taken_ % part_ == 0) popped_.store(taken_, std::memory_order_release);  // pairs with the load in push
    return block;
  }

 private:
  /// Leaves the core after a while, in case the other thread has none.
  static void wait(unsigned attempt) {
    if (attempt % 256 == 255) std::this_thread::yield();
  }

  std::vector<void*> slots_;
  std::size_t part_;
  alignas(64) std::atomic<std::size_t> published_{0};
  alignas(64) std::atomic<std::size_t> popped_{0};
  alignas(64) std::size_t pushed_ = 0;  // the producer's
  std::size_t popped_seen_ = 0;
  alignas(64) std::size_t taken_ = 0;  // the consumer's
  std::size_t published_seen_ = 0;
};

/// Opened beside the allocator of this process, so that malloc stays glibc's.
void* mimalloc() {
  static void* const library = [] {
    void* const exact = dlopen("libmimalloc.so.2", RTLD_NOW | RTLD_LOCAL);
    return exact != nullptr ? exact : dlopen("libmimalloc.so", RTLD_NOW | RTLD_LOCAL);
  }();
  return library;
}

}  // namespace

std::string_view mimalloc_library() {
  if (mimalloc() == nullptr) return {};
  Dl_info info{};
  return dladdr(dlsym(mimalloc(), "mi_malloc"), &info) != 0 ? info.dli_fname : std::string_view();
}

std::vector<source> all_sources() {
  std::vector<source> all{{"pools", nacre::allocate_block, [](void* block) { nacre::release_block(block); }},
                          {"glibc", [](std::size_t bytes) { return std::malloc(bytes); }, std::free}};
  if (mimalloc() != nullptr) {
    all.push_back({"mimalloc", reinterpret_cast<void* (*)(std::size_t)>(dlsym(mimalloc(), "mi_malloc")),
                   reinterpret_cast<void (*)(void*)>(dlsym(mimalloc(), "mi_free"))});
  }
  return all;
}

double one_thread(const source& source, std::size_t bytes) {
  std::vector<void*> blocks(in_use(bytes, 64));
  const std::size_t rounds = blocks_of_run(bytes) / blocks.size() + 1;
  const double start = bench::steady_seconds();
  for (std::size_t round = 0; round < rounds; ++round) {
    for (void*& block : blocks) write_pages(block = source.take(bytes), bytes, round);
    for (void* const block : blocks) source.release(block);
  }
  return (bench::steady_seconds() - start) / static_cast<double>(rounds * blocks.size());
}

double two_threads(const source& source, std::size_t bytes) {
  const std::size_t blocks = blocks_of_run(bytes);
  const auto queue = std::make_unique<ring>(in_use(bytes, 1024));
  std::uint64_t sum = 0;
  const double start = bench::steady_seconds();
  std::thread consumer([&] {
    for (std::size_t i = 0; i < blocks; ++i) {
      void* const block = queue->pop();
      sum += *static_cast<std::uint64_t*>(block);
      source.release(block);
    }
  });
  for (std::size_t i = 0; i < blocks; ++i) {
    void* const block = source.take(bytes);
    write_pages(block, bytes, i);
    queue->push(block);
  }
  queue->publish_pushed();
  consumer.join();
  const double seconds = bench::steady_seconds() - start;
  if (sum != std::uint64_t{blocks} * (blocks - 1) / 2) throw std::runtime_error("a block was damaged on the way");
  return seconds / static_cast<double>(blocks);
}

}  // namespace pools
