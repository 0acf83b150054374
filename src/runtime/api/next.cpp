// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind coroutines that wait for messages to their object.
#include <nacre/nacre.hpp>

#include <string>
#include <utility>

#include "runtime/engine.hpp"
#include "runtime/object_ends.hpp"

namespace nacre::detail {

context& context_of(const message_waiter& waiter) noexcept { return waiter.coroutine->ctx; }

bool take_kept_messages(message_waiter& waiter, const void* target_key) {
  return context_of(waiter).core().objects().waits().take(waiter, target_key);
}

void keep_again(message_waiter& waiter) { context_of(waiter).core().objects().waits().keep_again(waiter); }

void await_message(message_waiter& waiter) { context_of(waiter).core().objects().waits().wait(waiter); }

void* object_of(const message_waiter& waiter) { return waiter.entry->object(); }

void tell_caller(const message_waiter& waiter, const message_header& request) {
  context& ctx = context_of(waiter);
  handler_failed(ctx.core(), ctx.current_thread(), request, handler_id(waiter.handler), handler_phase::running);
}

void reply_to_caller(const message_waiter& waiter, const message_header& request, message_ptr reply) {
  context& ctx = context_of(waiter);
  post_reply(ctx.core(), ctx.current_thread(), request, std::move(reply));
}

void throw_given_up(const message_waiter& waiter) {
  const handler_info* const row = context_of(waiter).core().messages().handlers().handler(waiter.handler);
  throw object_ends("the object ends: the message that its handler waits for, " + std::string(row->name) +
                    " with the number " + std::to_string(waiter.tag) + ", cannot come any more");
}

void refuse_kept_message(engine& core, const message_header& request) {
  const std::string reason = "rank " + std::to_string(request.source) + " sent a message that does not decode";
  core.messages().fail(reason);
  throw usage_error(reason);
}

}  // namespace nacre::detail
