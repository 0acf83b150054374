// SPDX-License-Identifier: Apache-2.0
// How a rank's main waits, while its thread runs other work.
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <nacre/error.hpp>

#include "runtime/engine.hpp"
#include "runtime/timed_wait.hpp"

namespace nacre {
namespace {

/// Refuses a wait inside a handler; `remedy`: the expression that a coroutine writes instead.
void must_be_application(const thread_context& thread, std::string_view remedy) {
  if (thread.role() == thread_role::application) return;
  throw usage_error(
      "a blocking wait inside a handler would stop its worker: make the handler a coroutine that returns nacre::task "
      "and write `" +
      std::string(remedy) + "`");
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

void engine::wait_as_application(thread_context& thread, quiescence::main_wait main_wait,
                                 const std::function<void(std::function<void(thread_context&)>)>& begin) {
  must_be_application(thread, "co_await ctx.call<...>(...)");
  expect_own_thread();
  access_.must_not_hold();
  thread.flush_operations();  // what it throws comes to main, which does not wait then
  std::atomic<bool> is_over{false};
  main_wait_.store(main_wait, std::memory_order_relaxed);
  main_active_.store(false, std::memory_order_release);  // pairs with the acquire in poll
  messages_.commit(thread, [&] {
    begin([this, &is_over](thread_context& caller) {
      caller.counters().created.add(1);
      main_active_.store(true, std::memory_order_release);  // pairs with the acquire in poll
      is_over.store(true, std::memory_order_release);       // pairs with the acquire below; `is_over` may be gone then
      pool_->wake_application(caller);
    });
  });
  thread.counters().done.add(1);
  pool_->wait_until([&is_over] { return is_over.load(std::memory_order_acquire); });
}

void engine::wait_for(thread_context& thread, detail::future_state& state) {
  if (access_.holds() && state.ready()) return;
  struct application_waiter : detail::waiter {
    std::function<void(thread_context&)> end;
  };
  application_waiter w;
  w.notify = [](detail::waiter& self, thread_context& current_thread) {
    const auto end = static_cast<application_waiter&>(self).end;  // a copy: the waiter ends with the wait
    end(current_thread);
  };
  if (thread.role() == thread_role::application) state.expect_no_waiter();
  wait_as_application(thread, quiescence::main_wait::result, [&](std::function<void(thread_context&)> end) {
    w.end = end;
    if (!state.await(w)) end(thread);
  });
}

bool engine::wait_until(thread_context& thread, detail::future_state& state, std::chrono::nanoseconds due) {
  must_be_application(thread, "co_await nacre::when_any(f, ctx.sleep(seconds))");
  expect_own_thread();
  if (state.ready()) return true;
  access_.must_not_hold();
  state.expect_no_waiter();
  if (due <= time_.now()) return detail::look_again(thread) && state.ready();
  return timed_wait().run(
      *this, thread, quiescence::main_wait::result, state,
      [&](timer& end) {
        const bool timed = due != std::chrono::nanoseconds::max();
        if (timed) pool_->set_timer(end, due);
        return timed;
      },
      [this](timer& end) { return pool_->remove_timer(end); });
}

void engine::wait_quiescence(thread_context& thread) {
  wait_as_application(thread, quiescence::main_wait::quiescence, [&](std::function<void(thread_context&)> end) {
    quiet_.request(thread, std::move(end), quiescence_module::answer_by::hold);
  });
}

}  // namespace nacre
