// SPDX-License-Identifier: Apache-2.0
// The functions behind submitters: doors, and what they hand to their rank.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <nacre/nacre.hpp>

#include "base/exception_text.hpp"
#include "base/forked_child.hpp"
#include "exec/own_thread.hpp"
#include "runtime/engine.hpp"
#include "runtime/submission_queue.hpp"

namespace nacre::detail {
namespace {

/// Closes a door: behind all that came through it, the job need not stay open for it any more.
class door_closing final : public submission {
 public:
  void run(engine& core, thread_context& thread) override { core.outside().submissions.note_closed(thread); }
};

}  // namespace

/// Copies of a submitter share it.
class open_door {
 public:
  open_door(std::shared_ptr<submission_queue> queue, std::uint32_t ranks)
      : queue_(std::move(queue)), ranks_(ranks), closing_(std::make_unique<door_closing>()) {}
  ~open_door() {
    if (!is_forked_child()) queue_->put_last(std::move(closing_));
  }
  open_door(const open_door&) = delete;
  open_door& operator=(const open_door&) = delete;

  [[nodiscard]] submission_queue& queue() const noexcept { return *queue_; }
  [[nodiscard]] std::uint32_t ranks() const noexcept { return ranks_; }

 private:
  std::shared_ptr<submission_queue> queue_;
  std::uint32_t ranks_;
  std::unique_ptr<door_closing> closing_;
};

std::shared_ptr<open_door> make_door(engine& core, thread_context& thread) {
  core.expect_own_thread();
  if (core.messages().deferred()) {
    throw usage_error(
        "a submitter under simulation: other threads have no virtual time, so leave them out there (rt.now() and "
        "rt.after stand in for what comes from outside)");
  }
  auto rule = std::make_shared<open_door>(core.outside().submissions.queue(), core.size());
  core.outside().submissions.note_opened(thread);
  return rule;
}

bool submit(open_door* door, std::unique_ptr<submission> item, when_full when_full) {
  if (door == nullptr) throw usage_error("a submitter that is closed");
  must_not_be_forked_child();
  if (when_full == when_full::wait) expect_outside_thread();
  return door->queue().put(item, when_full);
}

void expect_rank(const open_door* door, rank_id target) {
  if (door == nullptr || target.value() < door->ranks()) return;
  throw usage_error("a message to rank " + std::to_string(target.value()) + " of a job with " +
                    std::to_string(door->ranks()) + " ranks");
}

void expect_object(object_id target) {
  if (!target.valid()) throw usage_error("a message to a mobile_ptr that names no object (it was default-constructed)");
}

void expect_outside_thread() {
  if (!is_thread_of_runtime()) return;
  throw usage_error(
      "a thread of the runtime would wait for itself here: submitters and their futures are for other threads; main "
      "and "
      "handlers have send and call themselves");
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
