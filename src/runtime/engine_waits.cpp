// SPDX-License-Identifier: Apache-2.0
// How a rank's main waits, while its thread runs other work.
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <nacre/error.hpp>

#include "runtime/engine.hpp"

namespace nacre {
namespace {

/// A wait of main that ends with a result or with its time, whichever comes first. It lives on main's stack, so the
/// notifier and the timer each say when they have left it.
struct timed_wait final : detail::waiter, timer {
  timed_wait() noexcept : waiter{&on_result}, timer(&on_due) {}

  void finish(thread_context& by) {
    if (!finished.test_and_set()) end(by);
  }
  static void on_result(detail::waiter& self, thread_context& by) {
    auto& own = static_cast<timed_wait&>(self);
    own.finish(by);
    own.notifier_left.store(true);
  }
  static void on_due(timer& self, thread_context& by) {
    auto& own = static_cast<timed_wait&>(self);
    own.finish(by);
    own.timer_left.store(true);
  }

  std::function<void(thread_context&)> end;
  std::atomic_flag finished;
  std::atomic<bool> notifier_left{false}, timer_left{false};
};

/// Refuses a wait inside a handler; `remedy`: the expression that a coroutine writes instead.
void must_be_application(const thread_context& on, std::string_view remedy) {
  if (on.role() == thread_role::application) return;
  throw usage_error(
      "a blocking wait inside a handler would stop its worker: make the handler a coroutine that returns nacre::task "
      "and write `" +
      std::string(remedy) + "`");
}

/// The other thread has woken this one already, and needs a few more instructions to leave.
void wait_to_leave(const std::atomic<bool>& left) {
  while (!left) std::this_thread::yield();
}

}  // namespace

void refuse_thread() {
  must_not_be_forked_child();
  throw usage_error(is_thread_of_runtime()
                        ? "a thread of another rank uses the runtime of this one: each rank has its own"
                        : "a thread of the program's own calls the runtime: take `nacre::submitter door = "
                          "rt.submitter()` in main, and let the thread write door.send or door.call");
}

void main_access::must_not_hold() const {
  if (iterations_ != 0) {
    throw usage_error(
        "a blocking wait or a collective inside for_all, while operations on the container wait for its end: do it "
        "before or after for_all");
  }
  if (!holds_) return;
  throw usage_error(
      "a blocking wait inside with_exclusive or with_shared, while others may wait for the object: wait before or "
      "after it; to work on several objects at once write `rt.colocate<function>(p, q, ...)`");
}

void engine::wait_as_application(thread_context& on, quiescence::main_wait how,
                                 const std::function<void(std::function<void(thread_context&)>)>& begin) {
  must_be_application(on, "co_await ctx.call<...>(...)");
  expect_own_thread();
  access_.must_not_hold();
  on.flush_operations();  // what it throws comes to main, which does not wait then
  std::atomic<bool> over{false};
  main_wait_.store(how, std::memory_order_relaxed);
  main_active_.store(false, std::memory_order_release);  // pairs with the acquire in poll
  messages_.commit(on, [&] {
    begin([this, &over](thread_context& by) {
      by.counters().created.add(1);
      main_active_.store(true, std::memory_order_release);  // pairs with the acquire in poll
      over.store(true, std::memory_order_release);          // pairs with the acquire below; `over` may be gone then
      pool_->wake_application(by);
    });
  });
  on.counters().done.add(1);
  pool_->wait_until([&over] { return over.load(std::memory_order_acquire); });
}

void engine::wait_for(thread_context& on, detail::future_state& state) {
  if (access_.holds() && state.ready()) return;
  struct application_waiter : detail::waiter {
    std::function<void(thread_context&)> end;
  };
  application_waiter w;
  w.notify = [](detail::waiter& self, thread_context& by) {
    const auto end = static_cast<application_waiter&>(self).end;  // a copy: the waiter ends with the wait
    end(by);
  };
  if (on.role() == thread_role::application) state.expect_no_waiter();
  wait_as_application(on, quiescence::main_wait::result, [&](std::function<void(thread_context&)> end) {
    w.end = end;
    if (!state.await(w)) end(on);
  });
}

bool engine::wait_until(thread_context& on, detail::future_state& state, std::chrono::nanoseconds due) {
  must_be_application(on, "co_await nacre::when_any(f, ctx.sleep(seconds))");
  expect_own_thread();
  access_.must_not_hold();
  state.expect_no_waiter();
  if (state.ready()) return true;
  if (due <= time_.now()) return detail::look_again(on) && state.ready();
  timed_wait w;
  bool awaits = false, timed = false;
  wait_as_application(on, quiescence::main_wait::result, [&](std::function<void(thread_context&)> end) {
    w.end = std::move(end);
    awaits = state.await(w);
    if (!awaits) return w.finish(on);
    timed = due != std::chrono::nanoseconds::max();
    if (timed) pool_->set_timer(w, due);
  });
  // Another thread may still be in one of the two calls that end the wait.
  if (timed && !pool_->remove_timer(w)) wait_to_leave(w.timer_left);
  if (!awaits) return true;
  if (state.withdraw()) return false;
  wait_to_leave(w.notifier_left);
  return true;
}

void engine::wait_quiescence(thread_context& on) {
  wait_as_application(on, quiescence::main_wait::quiescence,
                      [&](std::function<void(thread_context&)> end) { quiet_.request(on, std::move(end)); });
}

}  // namespace nacre
