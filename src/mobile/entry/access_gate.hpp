// SPDX-License-Identifier: Apache-2.0
// Access privileges of one object: any number of shared handlers, or one exclusive one.
#pragma once

#include <atomic>
#include <cstdint>

namespace nacre {

/// Counts the shared handlers that run on an object, and remembers that its activation waits for them, or that a
/// balancer's wish does.
///
/// Only the activation (one at a time, see inbox.hpp) lets handlers in, in the order of their messages, so a stream of
/// shared ones cannot starve an exclusive one. Shared handlers leave from any thread.
///
/// | state | enter_shared | try_exclusive | leave_shared |
/// |---|---|---|---|
/// | r = 0 | r = 1 | true | - |
/// | r > 0 | r + 1 | waits; false | r - 1 |
/// | r > 1, waits | - | - | r - 1 |
/// | r = 1, waits | - | - | r = 0; `activation`: the caller now owns the activation and must let it go on |
/// | r = 1, wished | r + 1 | waits; false | r = 0; `wish`: the caller must have the activation look at the wish again |
///
/// A wish waits beside the activation where a reader is a coroutine: what that one awaits may be behind the messages
/// that the activation would keep back.
class access_gate {
 public:
  enum class reader : std::uint8_t { handler, coroutine };
  enum class left : std::uint8_t { nothing, activation, wish };

  void enter_shared(reader kind = reader::handler) noexcept {
    readers_.fetch_add(1, std::memory_order_relaxed);  // the thread that starts the handler releases it later
    if (kind == reader::coroutine)
      readers_.fetch_or(coroutines, std::memory_order_relaxed);  // a flag of the activation
  }
  /// acquire: pairs with the release in leave_shared, so that an exclusive handler sees the writes of shared ones.
  [[nodiscard]] bool try_exclusive() noexcept {
    if (idle()) return true;
    if ((readers_.fetch_or(waits, std::memory_order_acq_rel) & count) != 0) return false;
    readers_.fetch_and(~waits, std::memory_order_relaxed);  // the last reader left in between; no other thread is here
    return true;
  }
  /// Whether a reader may be a coroutine. The activation.
  [[nodiscard]] bool has_coroutine() const noexcept {
    const std::uint32_t known = readers_.load(std::memory_order_relaxed);  // written by the activation
    return (known & count) != 0 && (known & coroutines) != 0;
  }
  /// True: no handler runs. Else the last reader is told `wish` as it leaves, and the activation may let others in. The
  /// activation, which has seen the wish: the exchange passes it on to that reader.
  [[nodiscard]] bool try_wish() noexcept {
    if ((readers_.fetch_or(wished, std::memory_order_acq_rel) & count) != 0) return false;
    readers_.fetch_and(~wished, std::memory_order_relaxed);  // the activation's own flag; no reader is left to see it
    return true;
  }
  [[nodiscard]] left leave_shared() noexcept {
    const std::uint32_t state = readers_.fetch_sub(1, std::memory_order_acq_rel);
    if ((state & count) != 1 || state == 1) return left::nothing;
    if ((state & waits) != 0) {
      readers_.store(0, std::memory_order_relaxed);  // the activation waits: no other thread is here
      return left::activation;
    }
    std::uint32_t flags = state - 1;
    // Fails where the activation has let others in: then the last one of them does this. acq_rel: as above.
    if (!readers_.compare_exchange_strong(flags, 0, std::memory_order_acq_rel, std::memory_order_relaxed))
      return left::nothing;
    return (state & wished) != 0 ? left::wish : left::nothing;
  }
  [[nodiscard]] bool idle() const noexcept { return (readers_.load(std::memory_order_acquire) & count) == 0; }

 private:
  static constexpr std::uint32_t waits = 1u << 31, wished = 1u << 30, coroutines = 1u << 29, count = coroutines - 1;
  std::atomic<std::uint32_t> readers_{0};
};

}  // namespace nacre
