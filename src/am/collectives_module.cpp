// SPDX-License-Identifier: Apache-2.0
// Between the collective engine and the rank.
#include "am/collectives_module.hpp"

#include <string>
#include <utility>

namespace nacre {

collectives_module::collectives_module(am_engine& messages)
    : messages_(messages), engine_({.self = messages.rank(), .size = messages.size()}) {
  messages_.attach_module(*this);
}

std::vector<std::byte> collectives_module::run(thread_context& thread, const wait_function& wait,
                                               collective_call call) {
  wait([&](end_of_wait end) {
    {
      const std::scoped_lock lock(mutex_);
      end_ = std::move(end);
      is_over_ = false;
      thread_ = &thread;
      static_cast<void>(engine_.start(*this, std::move(call)));
    }
    tell_the_waiting(thread);
  });
  const std::scoped_lock lock(mutex_);
  return std::move(result_);
}

void collectives_module::on_collective_message(context& ctx, collective_message m) {
  thread_context& thread = ctx.current_thread();
  {
    const std::scoped_lock lock(mutex_);
    thread_ = &thread;
    if (!engine_.on_message(*this, ctx.source(), std::move(m))) {
      messages_.fail("rank " + std::to_string(ctx.source().value()) +
                     " sent a part of a collective that nobody awaits");
    }
  }
  tell_the_waiting(thread);
}

/// Calls end_of_wait outside of the lock, because main may enter the next collective at once.
void collectives_module::tell_the_waiting(thread_context& thread) {
  end_of_wait end;
  {
    const std::scoped_lock lock(mutex_);
    if (is_over_) end = std::exchange(end_, nullptr);
  }
  if (end) end(thread);
}

void collectives_module::send(rank_id target, collective_message m) {
  messages_.post_counted_to_module<&collectives_module::on_collective_message>(*thread_, target, std::move(m));
}

void collectives_module::complete(std::uint32_t, std::vector<std::byte> value) {
  result_ = std::move(value);
  is_over_ = true;
}

void collectives_module::mismatch(const collective_mismatch& collective_mismatch) {
  messages_.fail(describe(collective_mismatch));
}

}  // namespace nacre
