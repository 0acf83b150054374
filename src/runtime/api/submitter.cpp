// SPDX-License-Identifier: Apache-2.0
// The functions behind submitters: doors, and what they hand to their rank.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <nacre/nacre.hpp>

#include "base/exception_text.hpp"
#include "base/forked_child.hpp"
#include "base/rank_life.hpp"
#include "exec/own_thread.hpp"
#include "runtime/engine.hpp"
#include "runtime/submission_queue.hpp"

namespace nacre::detail {
namespace {

/// Whether this thread is in the main of the rank, and not in a handler that it runs while main waits.
bool is_in_main(engine& core) {
  const thread_context& main = core.pool().application();
  return context_of_this_thread.load(std::memory_order_relaxed) == &main && !main.in_item();  // its own thread's
}

using shared_mark = std::shared_ptr<future_value<void>>;

/// Main can wait for it; `reach` ends that.
shared_mark make_mark() {
  return {new future_value<void>, [](future_value<void>* mark) { mark->release(); }};
}
void reach(const shared_mark& mark, thread_context& thread) { mark->complete_with(make_message(0), thread); }

/// Tells main that all that was handed in before has been taken.
class taken_mark final : public submission {
 public:
  explicit taken_mark(shared_mark mark) : mark_(std::move(mark)) {}
  void run(engine&, thread_context& thread) override { reach(mark_, thread); }

 private:
  shared_mark mark_;
};

bool wait_as_main(outside_result& result, std::optional<double> seconds) {
  if (result.core == nullptr || rank_life::is_over(result.life)) {
    throw usage_error("an outside_future whose job has ended: wait for it while a submitter is open");
  }
  engine& core = *result.core;
  core.expect_own_thread();
  if (!is_in_main(core)) {
    throw usage_error(
        "waiting for an outside_future in a handler would stop its worker: make the handler a coroutine that returns "
        "nacre::task and write `co_await ctx.call<...>(...)`");
  }
  const shared_mark mark = make_mark();
  {
    const std::scoped_lock lock(result.mutex);
    if (result.ready) return true;
    result.wake_main = [mark](thread_context& thread) { reach(mark, thread); };
  }
  thread_context& main = core.pool().application();
  if (seconds) {
    static_cast<void>(core.wait_until(main, *mark, core.pool().instant_after(*seconds)));
  } else {
    core.wait_for(main, *mark);
  }
  const std::scoped_lock lock(result.mutex);
  result.wake_main = {};
  return result.ready;
}

/// Closes a door: behind all that came through it, the job need not stay open for it any more.
class door_closing final : public submission {
 public:
  void run(engine& core, thread_context& thread) override { core.outside().submissions.note_closed(thread); }
};

}  // namespace

/// Copies of a submitter share it.
class open_door {
 public:
  open_door(engine& core, std::shared_ptr<submission_queue> queue, std::uint32_t ranks)
      : core_(core),
        life_(life_of(core)),
        queue_(std::move(queue)),
        ranks_(ranks),
        closing_(std::make_unique<door_closing>()) {}
  ~open_door() {
    if (!is_forked_child()) queue_->put_last(std::move(closing_));
  }
  open_door(const open_door&) = delete;
  open_door& operator=(const open_door&) = delete;

  /// Gone behind the job, which is open while somebody runs in it.
  [[nodiscard]] engine& core() const noexcept { return core_; }
  [[nodiscard]] std::uint32_t life() const noexcept { return life_; }
  [[nodiscard]] submission_queue& queue() const noexcept { return *queue_; }
  [[nodiscard]] std::uint32_t ranks() const noexcept { return ranks_; }

 private:
  engine& core_;
  const std::uint32_t life_;
  std::shared_ptr<submission_queue> queue_;
  std::uint32_t ranks_;
  std::unique_ptr<door_closing> closing_;
};

void note_rank(outside_result& result, const open_door* door) noexcept {
  if (door == nullptr) return;  // which `submit` refuses
  result.core = &door->core();
  result.life = door->life();
}

std::shared_ptr<open_door> make_door(engine& core, thread_context& thread) {
  core.expect_own_thread();
  if (core.messages().deferred()) {
    throw usage_error(
        "a submitter under simulation: other threads have no virtual time, so leave them out there (rt.now() and "
        "rt.after stand in for what comes from outside)");
  }
  auto rule = std::make_shared<open_door>(core, core.outside().submissions.queue(), core.size());
  core.outside().submissions.note_opened(thread);
  return rule;
}

bool submit(open_door* door, std::unique_ptr<submission> item, when_full when_full) {
  if (door == nullptr) throw usage_error("a submitter that is closed");
  must_not_be_forked_child();
  const bool waits = when_full == when_full::wait;
  if (!waits || !is_thread_of_runtime()) return door->queue().put(item, when_full);
  // A thread of the runtime would wait for itself, so it hands in all the same; a main waits until that is taken.
  if (door->queue().put(item, when_full::refuse)) return true;
  door->queue().put_last(std::move(item));
  engine& core = door->core();
  if (!is_in_main(core) || !core.access().may_wait()) return true;
  const shared_mark mark = make_mark();
  door->queue().put_last(std::make_unique<taken_mark>(mark));
  core.wait_for(core.pool().application(), *mark);
  return true;
}

void expect_rank(const open_door* door, rank_id target) {
  if (door == nullptr || target.value() < door->ranks()) return;
  throw usage_error("a message to rank " + std::to_string(target.value()) + " of a job with " +
                    std::to_string(door->ranks()) + " ranks");
}

void expect_object(object_id target) {
  if (!target.valid()) throw usage_error("a message to a mobile_ptr that names no object (it was default-constructed)");
}

void complete(outside_result& result, engine& core, thread_context& thread) {
  std::function<void()> callback;
  std::function<void(thread_context&)> wake_main;
  {
    const std::scoped_lock lock(result.mutex);
    result.ready = true;
    callback = std::move(result.callback);
    wake_main = std::exchange(result.wake_main, {});
  }
  result.changed.notify_all();  // without the mutex, for which the woken thread would wait again
  if (wake_main) wake_main(thread);
  if (!callback) return;
  try {
    callback();
  } catch (...) {
    callback_threw(core);
  }
}

bool wait_for_result(outside_result& result, std::optional<double> seconds) {
  if (is_thread_of_runtime()) return wait_as_main(result, seconds);
  std::unique_lock lock(result.mutex);
  const auto is_ready = [&] { return result.ready; };
  if (!seconds) {
    result.changed.wait(lock, is_ready);
    return true;
  }
  constexpr double longest = 1e8;  // some years; the clock cannot count much more
  return result.changed.wait_for(lock, std::chrono::duration<double>(std::min(*seconds, longest)), is_ready);
}

void submission_threw(engine& core) noexcept {
  core.messages().fail("work that a submitter handed in threw: " + text_of_thrown());
}

void callback_threw(engine& core) noexcept {
  core.messages().fail("a function given to outside_future::then threw: " + text_of_thrown());
}

}  // namespace nacre::detail

namespace nacre {

submitter runtime::submitter() { return nacre::submitter(detail::make_door(*core_, *thread_)); }

}  // namespace nacre
