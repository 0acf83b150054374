// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind mains that wait for messages to their objects of groups.
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include <nacre/nacre.hpp>

#include "runtime/engine.hpp"
#include "runtime/group_ends.hpp"

namespace nacre::detail {

void ask_for_message(thread_context& thread, group_request& request, const group_type& type) {
  engine& core = request.core();
  core.expect_own_thread();
  static_cast<void>(local_member(core, request.key().group, type));
  message_ptr kept = core.groups().requests().ask(request);
  if (kept == nullptr) return;
  request.message = std::move(kept);
  thread.counters().created.add(1);
  core.pool().make_ready(thread, request);
}

bool withdraw_request(group_request& request) noexcept { return request.core().groups().requests().withdraw(request); }

void give_to_main(engine& core, thread_context& thread, const group_key& key, message_ptr m) {
  return_credit(*m);
  group_request* const request = core.groups().requests().give(key, m);
  if (request != nullptr) request->run_message(thread, std::move(m));
}

void refuse_caller(engine& core, thread_context& thread, const message_header& request) {
  core.messages().post_failure(thread, request,
                               "the result goes to main and cannot be copied for a caller: send the message");
}

}  // namespace nacre::detail

namespace nacre {

void end_requests(engine& core, thread_context& thread, std::uint32_t group) {
  group_requests::leftovers left = core.groups().requests().end_group(group);
  const std::string of_group = " of group " + std::to_string(group);
  const auto name_of = [&](std::uint32_t handler) {
    return std::string(core.messages().handlers().handler(handler)->name);
  };
  for (detail::group_request* const request : left.requests) {
    request->fail("the group ends: " + name_of(request->key().handler) + " with the number " +
                      std::to_string(request->key().tag) + of_group + " has not come",
                  thread);
  }
  std::map<std::uint32_t, std::size_t> lost;  // by handler
  while (const message_ptr m = left.messages.pop_front()) {
    if (m->header.reply == 0) {
      ++lost[m->header.handler];
    } else {
      core.messages().post_failure(thread, m->header,
                                   "the group has ended, and its main has not asked for the message");
    }
  }
  for (const auto& [handler, count] : lost) {
    const std::string line = "nacre: rank " + std::to_string(core.rank().value()) + ": main has not asked for " +
                             std::to_string(count) + (count == 1 ? " message (" : " messages (") + name_of(handler) +
                             ")" + of_group + ", which ends\n";
    std::fputs(line.c_str(), stderr);
  }
}

}  // namespace nacre
