// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind coroutines that wait for messages to their object.
#include <nacre/nacre.hpp>

#include <string>
#include <utility>

#include "runtime/engine.hpp"
#include "runtime/object_ends.hpp"

namespace nacre::detail {

context& context_of(const message_waiter& by) noexcept { return by.coroutine->ctx; }

bool take_kept_messages(message_waiter& by, const void* target_key) {
  return context_of(by).core().objects().waits().take(by, target_key);
}

void keep_again(message_waiter& by) { context_of(by).core().objects().waits().keep_again(by); }

void await_message(message_waiter& by) { context_of(by).core().objects().waits().wait(by); }

void* object_of(const message_waiter& by) { return by.entry->object(); }

void tell_caller(const message_waiter& by, const message_header& request) {
  context& ctx = context_of(by);
  handler_failed(ctx.core(), ctx.current_thread(), request, handler_id(by.handler), handler_phase::running);
}

void reply_to_caller(const message_waiter& by, const message_header& request, message_ptr reply) {
  context& ctx = context_of(by);
  post_reply(ctx.core(), ctx.current_thread(), request, std::move(reply));
}

void throw_given_up(const message_waiter& by) {
  const handler_info* const row = context_of(by).core().messages().handlers().handler(by.handler);
  throw object_ends("the object ends: the message that its handler waits for, " + std::string(row->name) +
                    " with the number " + std::to_string(by.tag) + ", cannot come any more");
}

void refuse_kept_message(engine& core, const message_header& request) {
  const std::string why = "rank " + std::to_string(request.source) + " sent a message that does not decode";
  core.messages().fail(why);
  throw usage_error(why);
}

}  // namespace nacre::detail
