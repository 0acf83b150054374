// SPDX-License-Identifier: Apache-2.0
// The handler that a thread context runs at this moment, for watchers and for the line about a crash.
#pragma once

#include <atomic>
#include <cstdint>

#include <nacre/ids.hpp>

namespace nacre {

/// Written by the thread that runs the handler: three plain stores a handler. Read by other threads, and by a signal
/// handler of the same thread. A reader in another thread that wants the two numbers of one run compares
/// thread_counters::handlers, which advances with each, before and after.
class running_handler {
 public:
  struct names {
    std::uint32_t handler = 0;  ///< its number in the handler table; 0: no handler runs
    std::uint64_t object = 0;   ///< the object that it runs on; 0: none
  };

  void begin(handler_id handler, std::uint64_t object) noexcept {
    object_.store(object, std::memory_order_relaxed);  // only numbers, as are the others
    handler_.store(handler.value(), std::memory_order_relaxed);
  }
  void end() noexcept { handler_.store(0, std::memory_order_relaxed); }
  [[nodiscard]] names read() const noexcept {
    return {handler_.load(std::memory_order_relaxed), object_.load(std::memory_order_relaxed)};
  }

 private:
  std::atomic<std::uint32_t> handler_{0};
  std::atomic<std::uint64_t> object_{0};
};

}  // namespace nacre
