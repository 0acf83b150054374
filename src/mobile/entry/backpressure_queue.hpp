// SPDX-License-Identifier: Apache-2.0
// Messages to one object of the own rank that wait under backpressure: in order, behind one ready item.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <nacre/assert.hpp>
#include <nacre/message.hpp>
#include <nacre/work.hpp>

namespace nacre {

/// All messages of a rank to one of its own objects are one stream, so they must run in the order sent. If each message
/// were an item of its own, a scheduler that takes the newest first would reverse them, and all but the last would be
/// early. So there is one item for each object: the scheduler orders objects, and their messages keep their order.
///
/// | state | push | push_behind | take, by the item | finish, by the item |
/// |---|---|---|---|---|
/// | nothing | waiting, true: make the item ready | false: send it as usual | - | - |
/// | waiting, some pushed | waiting | true | gives the oldest | false: make the item ready again |
/// | waiting, none pushed | waiting | true | gives the oldest of those taken before | nothing, if none is left |
///
/// Invariant: the item is in the scheduler, or runs, exactly while the state is `waiting`. So the item exists once, and
/// the messages that it has taken belong to it. A thread that finds the state `waiting` pushes behind the queued
/// messages, so no message overtakes another of its thread. The queue does not depend on the place of the object: the
/// item hands each message on to the object's present place.
class backpressure_queue final : public work {
 public:
  /// `part`: what `function` works for.
  explicit backpressure_queue(runner function, void* part = nullptr) noexcept : work(function), owner(part) {}
  backpressure_queue(const backpressure_queue&) = delete;
  backpressure_queue& operator=(const backpressure_queue&) = delete;

  void* const owner;

  /// Any thread that holds a reference, or knows that one stays. True: the caller makes the item ready, and adds a
  /// reference for it.
  [[nodiscard]] bool push(message_ptr m) noexcept { return link(*m.release(), true) == linked::first; }
  /// Pushes while the state is `waiting`; otherwise returns false, and `m` stays with the caller.
  [[nodiscard]] bool push_behind(message_ptr& m) noexcept {
    if (link(*m, false) == linked::no) return false;
    static_cast<void>(m.release());
    return true;
  }

  /// By the item: the oldest message, or null.
  [[nodiscard]] message_ptr take() noexcept {
    if (taken_.empty()) take_pushed();
    return taken_.pop_front();
  }
  /// By the item, which gives up its reference when true: no message is left.
  [[nodiscard]] bool finish() noexcept {
    std::uintptr_t known = waiting;
    // release: the next item takes over the list of taken messages; pairs with the acquire in link.
    return taken_.empty() &&
           newest_.compare_exchange_strong(known, nothing, std::memory_order_acq_rel, std::memory_order_relaxed);
  }

  /// The caller knows of another reference.
  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }  // orders nothing
  void release_reference() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;  // acquires the writes of other holders
  }

 private:
  static constexpr std::uintptr_t nothing = 0, waiting = 1;  // else: the newest message pushed
  enum class linked : std::uint8_t { no, first, behind };

  ~backpressure_queue() {
    take_pushed();  // the list ends them
  }

  linked link(message& m, bool may_begin) noexcept {
    std::uintptr_t known = newest_.load(std::memory_order_relaxed);  // the exchange below decides
    do {
      if (known == nothing && !may_begin) return linked::no;
      m.next = known > waiting ? reinterpret_cast<message*>(known) : nullptr;
      // release: pairs with the acquire of take_pushed. acquire: pairs with the release of finish.
    } while (!newest_.compare_exchange_weak(known, reinterpret_cast<std::uintptr_t>(&m), std::memory_order_acq_rel,
                                            std::memory_order_relaxed));
    return known == nothing ? linked::first : linked::behind;
  }

  void take_pushed() noexcept {
    if (newest_.load(std::memory_order_relaxed) <= waiting) return;  // a hint: finish sees what this misses
    const std::uintptr_t pushed = newest_.exchange(waiting, std::memory_order_acquire);  // pairs with link
    message* oldest = nullptr;
    for (auto* each = reinterpret_cast<message*>(pushed); each != nullptr;) {
      message* const packet = each->next;
      each->next = oldest;
      oldest = each;
      each = packet;
    }
    while (oldest != nullptr) {
      message* const later = oldest->next;
      taken_.push_back(message_ptr(oldest));
      oldest = later;
    }
  }

  std::atomic<std::uintptr_t> newest_{nothing};  // any thread pushes
  std::atomic<std::uint32_t> references_{1};     // of the extra, and of the item while it waits
  message_list taken_;                           // the item's
};

}  // namespace nacre
