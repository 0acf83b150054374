// SPDX-License-Identifier: Apache-2.0
// The state of a future for the first of several results.
#include <nacre/when_any.hpp>

#include <atomic>
#include <thread>
#include <utility>

namespace nacre::detail {
namespace {

/// Two things must have come before it ends: the end of `begin`, which registers the waiters, and a winner, which is
/// the first result or the drop of the future. The second of them takes back all waiters that are left, so that the
/// parts can be waited for again, and then completes.
///
/// It holds a reference to each part, and itself has one for each registered waiter: given back by the waiter when it
/// is notified, or by the thread that takes it back.
class first_state final : public future_value<std::size_t> {
 public:
  explicit first_state(any_of all) : parts_(std::move(all)), waiters_(parts_.states.size()) {
    for (future_state* const each : parts_.states) each->acquire();
  }

  void begin() {
    acquire();  // while this function runs
    for (std::size_t index = 0; index < waiters_.size() && winner_ == none; ++index) {
      waiters_[index].notify = &on_part;
      waiters_[index].all = this;
      if (!wait_for_part(index)) win(index, nullptr);
    }
    met(nullptr);
    release();
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  static constexpr std::size_t dropped = none - 1;
  struct part_waiter : waiter {
    part_waiter() noexcept : waiter{nullptr} {}
    first_state* all = nullptr;
    bool registered = false;
  };

  ~first_state() override {
    for (future_state* const each : parts_.states) each->release_part();
    for (const auto& each : parts_.kept) {
      if (future_state* const part = each->release_state(); part != nullptr) part->abandon_part();
    }
  }

  /// False: the part is ready.
  bool wait_for_part(std::size_t index) {
    acquire();
    waiters_[index].registered = true;
    try {
      if (parts_.states[index]->await(waiters_[index])) return true;
    } catch (...) {  // one future twice
      waiters_[index].registered = false;
      release();
      win(dropped, nullptr);
      met(nullptr);
      release();  // of begin
      abandon();  // of the caller, who gets no future
      throw;
    }
    waiters_[index].registered = false;
    release();
    return false;
  }

  static void on_part(waiter& self, thread_context& thread) {
    auto& own_waiter = static_cast<part_waiter&>(self);
    first_state& all = *own_waiter.all;
    all.win(static_cast<std::size_t>(&own_waiter - all.waiters_.data()), &thread);
    all.release();
  }

  void win(std::size_t index, thread_context* thread) {
    std::size_t expected = none;
    if (winner_.compare_exchange_strong(expected, index)) met(thread);
  }

  /// The end of `begin`, or the winner.
  void met(thread_context* thread) {
    if (met_.fetch_add(1) == 0) return;
    for (std::size_t index = 0; index < waiters_.size(); ++index) {
      // A part that cannot be taken back has notified, or is about to: its waiter finds a winner, and does no more.
      if (waiters_[index].registered && parts_.states[index]->withdraw()) release();
    }
    const std::size_t winner = winner_;
    if (winner == dropped) return;
    set_value(winner);
    if (thread == nullptr) return complete_unawaited();
    acquire();
    completion_.complete(*thread);
  }

  void on_abandon() noexcept override {
    win(dropped, nullptr);
    // A winner on another thread takes the waiters back at this moment. The parts must be free when the drop returns.
    while (winner_ != dropped && !ready()) std::this_thread::yield();
  }

  any_of parts_;
  std::vector<part_waiter> waiters_;
  std::atomic<std::size_t> winner_{none};
  std::atomic<int> met_{0};
  part_completion completion_{*this};
};

}  // namespace

future_value<std::size_t>* first_of(any_of all) {
  auto* const state = new first_state(std::move(all));
  state->begin();
  return state;
}

}  // namespace nacre::detail
