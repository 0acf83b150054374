// SPDX-License-Identifier: Apache-2.0
// The steps of a program of commands.
#include "am/command_run.hpp"

#include <utility>

#include "base/exception_text.hpp"

namespace nacre {

using step_kind = detail::program_step::kind;

command_run::command_run(memory_module& memory, extension_module& extensions,
                         std::shared_ptr<const detail::program_steps> steps, detail::future_state& done)
    : memory_(memory), extensions_(extensions), steps_(std::move(steps)), done_(done) {
  done_.acquire();
}

void command_run::begin(thread_context& thread) {
  self_ = shared_from_this();
  go_on(thread);
}

void command_run::go_on(thread_context& thread) {
  waiting_ = false;
  while (problem_.empty() && next_ < steps_->size()) {
    if (!take_step(thread, (*steps_)[next_])) return;
    ++next_;
  }
  waiting_ = open_ != 0;
  if (!waiting_) end(thread);
}

/// False: the step waits, and is taken again.
bool command_run::take_step(thread_context& thread, const detail::program_step& next) {
  switch (next.operation) {
    case step_kind::gather:
    case step_kind::scatter:
      return copy(next);
    case step_kind::command:
      send(thread, next);
      return true;
    case step_kind::wait:
      waiting_ = open_ != 0;
      if (!waiting_) take_answers();
      return !waiting_;
  }
  return true;
}

bool command_run::copy(const detail::program_step& next) {
  const bool gathers = next.operation == step_kind::gather;
  auto range = memory_.access_own(next.memory, next.offset, next.bytes,
                                  gathers ? memory_segments::intent::read : memory_segments::intent::write);
  if (!range) {
    fail(next_, describe(range.error()));
  } else if (gathers) {
    buffer_.insert(buffer_.end(), range->bytes().begin(), range->bytes().end());
  } else if (next.bytes > buffer_.size() - taken_) {
    fail(next_, "the answers have only " + std::to_string(buffer_.size() - taken_) + " bytes left");
  } else {
    copy_bytes(range->bytes().data(), buffer_.data() + taken_, next.bytes);
    taken_ += next.bytes;
  }
  return true;
}

void command_run::send(thread_context& thread, const detail::program_step& next) {
  auto* const answer = new detail::future_value<std::vector<std::byte>>;
  sent_command& one = sent_.emplace_back();
  one.run = this;
  one.step = next_;
  one.answer = answer;
  one.notify = [](detail::waiter& completed, thread_context& current_thread) {
    command_run& run = *static_cast<sent_command&>(completed).run;
    if (--run.open_ == 0 && run.waiting_) run.go_on(current_thread);
  };
  static_cast<void>(answer->await(one));
  ++open_;
  try {
    extensions_.command(thread, next.rank, next.target, buffer_, *answer);
  } catch (...) {
    --open_;
    fail(next_, text_of_thrown());
  }
  buffer_.clear();
  taken_ = 0;
}

void command_run::take_answers() {
  buffer_.clear();
  taken_ = 0;
  for (sent_command& each : sent_) {
    if (const call_error* const error = each.answer->ready() ? each.answer->error() : nullptr) {
      fail(each.step, error->what());
    } else if (each.answer->ready()) {
      const std::vector<std::byte> bytes = each.answer->value();
      buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
    }
    each.answer->release();
  }
  sent_.clear();
}

void command_run::fail(std::size_t step, const std::string& reason) {
  if (problem_.empty()) problem_ = "step " + std::to_string(step + 1) + " of a program of commands failed: " + reason;
}

void command_run::end(thread_context& thread) {
  take_answers();
  const std::shared_ptr<command_run> last = std::move(self_);
  if (problem_.empty()) {
    done_.complete_with(make_message(0), thread);
  } else {
    done_.complete_with_error(problem_, thread);
  }
  thread.counters().done.add(1);
}

}  // namespace nacre
