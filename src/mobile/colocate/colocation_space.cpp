// SPDX-License-Identifier: Apache-2.0
// Colocations: the messages between the initiator's state machine and the objects on all ranks.
#include "mobile/colocate/colocation_space.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nacre/assert.hpp>

#include "base/marks.hpp"
#include "mobile/object_space.hpp"

namespace nacre {

colocation_space::colocation_space(object_space& space, am_engine& messages) : space_(space), messages_(messages) {
  messages_.attach_module(*this);
}

void colocation_space::request(thread_context& thread, std::span<const object_id> objects, message_ptr function,
                               detail::future_state* result) {
  std::array<object_id, coordinator::participants_max> sorted;
  NACRE_EXPECT(objects.size() <= sorted.size(), "a colocation has 2 to 16 objects");
  const auto end = std::copy(objects.begin(), objects.end(), sorted.begin());
  std::sort(sorted.begin(), end, [](object_id a, object_id b) { return a.value() < b.value(); });
  if (!sorted.front().valid()) throw usage_error("colocate with a mobile_ptr that names no object");
  if (std::adjacent_find(sorted.begin(), end) != end) {
    throw usage_error("colocate with one object twice: its function would have two references to it, and both alone");
  }
  check_payload(function->header.payload_bytes, enclosed_bytes_max);
  if (result != nullptr) function->header.reply = messages_.calls().open(*result);
  // Requests one colocation after the other, so that their joins stand in the same order in all streams from this rank:
  // else each of two could be first at one object and wait for ever for the other object.
  const std::scoped_lock one_at_a_time(asking_);
  const std::uint32_t handler = function->header.handler;
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(guard_);
    number = asked_.begin(objects);
    functions_.emplace(number, colocation_function{{objects.begin(), objects.end()}, std::move(function)});
  }
  for (const object_id each : objects) {
    message_ptr join = make_message(0);
    join->header.kind = message_kind::join;
    join->header.handler = handler;
    join->header.reply = number;
    space_.sender().post(thread, each, std::move(join));
  }
}

/// A rank's news to itself does not pass the poll loop, unless time is simulated: another thread may own that loop.
bool colocation_space::at_once(rank_id target) const noexcept {
  return target == messages_.rank() && !messages_.deferred();
}

void colocation_space::tell_initiator(thread_context& thread, const colocation_name& name, const colocate_news& news) {
  const rank_id initiator(name.rank);
  colocate_news told = news;
  told.number = name.number;
  if (told.step == colocate_step::gone) {  // the join is done now, so quiescence must wait for this message
    messages_.post_counted_to_module<&colocation_space::on_news>(thread, initiator, told);
  } else if (at_once(initiator)) {
    take_news(thread, initiator, told);
  } else {
    messages_.post_to_module<&colocation_space::on_news>(thread, initiator, told);
  }
}

void colocation_space::on_news(context& ctx, const colocate_news& news) {
  if (news.step == colocate_step::gone) space_.ends().learn_of_late_end(ctx, news.object);
  take_news(detail::thread_of(ctx), ctx.source(), news);
}

void colocation_space::take_news(thread_context& thread, rank_id source, const colocate_news& news) {
  std::vector<colocate_action> next;
  message_header failed;  // copied: another thread may take the function away before the failure is reported
  {
    const std::scoped_lock lock(guard_);
    if (!asked_.on(source, news, next)) {
      return messages_.fail("rank " + std::to_string(source.value()) + " told of a colocation what cannot be");
    }
    for (const colocate_action& each : next) {
      if (each.what == colocate_action::kind::fail) failed = functions_.at(each.number).call->header;
    }
  }
  for (const colocate_action& each : next) act(thread, each, failed);
}

void colocation_space::act(thread_context& thread, const colocate_action& action, const message_header& failed) {
  switch (action.what) {
    case colocate_action::kind::acquire:
    case colocate_action::kind::let_go:
      return send_claim(thread, action);
    case colocate_action::kind::release:
    case colocate_action::kind::go:
      return send_order(thread, action);
    case colocate_action::kind::run:
      return send_function(thread, action.number, action.to);
    case colocate_action::kind::fail:
      return report_failure(thread, action, failed);
    case colocate_action::kind::over: {
      const std::scoped_lock lock(guard_);
      functions_.erase(action.number);
    }
  }
}

void colocation_space::send_claim(thread_context& thread, const colocate_action& action) {
  object_entry* const entry = space_.sender().entry_to_send_by(thread, action.object);
  if (entry == nullptr) return;  // destroyed; its join reports that
  const known_location location = entry->location.read();
  message_ptr m = make_message(0);
  m->header.kind = message_kind::claim;
  m->header.handler = static_cast<std::uint32_t>(action.what);
  m->header.reply = action.number;
  m->header.object = action.object.value();
  m->header.source = messages_.rank().value();
  m->header.epoch = location.epoch;
  m->header.flags = flag_uncounted;  // the join counts until the colocation is over
  if (location.rank == messages_.rank() && !messages_.deferred())
    return space_.push(*entry, thread, std::move(m), thread.in_item());
  messages_.route(thread, location.rank, std::move(m));
}

void colocation_space::send_order(thread_context& thread, const colocate_action& action) {
  const std::uint32_t target = action.what == colocate_action::kind::go ? action.to.value() : nowhere;
  if (at_once(action.rank)) return take_order(thread, action.rank, action.number, action.object, target);
  messages_.post_to_module<&colocation_space::on_order>(thread, action.rank, action.number, action.object, target);
}

void colocation_space::send_function(thread_context& thread, std::uint64_t number, rank_id target) {
  colocation_function function;
  {
    const std::scoped_lock lock(guard_);
    const auto match = functions_.find(number);
    NACRE_ASSERT(match != functions_.end(), "a colocation has lost its function");
    function = std::move(match->second);
    functions_.erase(match);
  }
  const message& m = *function.call;
  colocate_call call{
      number, m.header.handler, m.header.reply, std::move(function.objects), {m.payload().begin(), m.payload().end()}};
  if (at_once(target)) return take_function(thread, target, std::move(call));
  messages_.post_to_module<&colocation_space::on_function>(thread, target, std::move(call));
}

void colocation_space::report_failure(thread_context& thread, const colocate_action& action, message_header header) {
  NACRE_MARK("a colocation fails");
  if (header.reply != 0) {
    header.source = messages_.rank().value();
    header.object = action.object.value();
    return messages_.post_failure(thread, header, action.why);
  }
  space_.errors().report(thread, {action.object, messages_.handlers().handler(header.handler)->name, action.why});
}

}  // namespace nacre
