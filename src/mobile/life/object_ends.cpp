// SPDX-License-Identifier: Apache-2.0
// The end of objects: here, and the news of it from other ranks.
#include "mobile/life/object_ends.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/marks.hpp"
#include "mobile/object/message_waits.hpp"

namespace nacre {

object_ends::object_ends(am_engine& messages, const nacre::homes& homes, directory& entries, message_table& table,
                         balancer_view& view, location_updates& updates, delivery_errors& errors)
    : messages_(messages), homes_(homes), entries_(entries), view_(view), updates_(updates), errors_(errors) {
  table.set_admitted({receiver::object}, news_of_end, message_table::needs::nothing,
                     message_table::admit_function::of<&object_ends::handle_news>(*this));
  table.set_run({receiver::object}, message_kind::destroy,
                message_table::run_function::of<&object_ends::end_object>(*this), true);
}

void object_ends::handle_news(activation_step& step, message_ptr news) {
  if (step.entry.object() != nullptr) {
    return messages_.fail("rank " + std::to_string(news->header.source) + " told of the end of an object that lives");
  }
  const known_location last = step.entry.location.read();
  static_cast<void>(step.entry.location.learn({last.rank, ~std::uint32_t{0}, last.policy, false, true}));
  entries_.forget(step.entry, step.thread);
  updates_.told(step.entry.id, step.thread);
  step.thread.counters().done.add(1);
}

step_end object_ends::end_object(activation_step& step) {
  message_waits::note_ending_run(step.entry, *step.pending.front());
  object_entry& entry = step.entry;
  thread_context& thread = step.thread;
  const message_ptr m = step.pending.pop_front();
  object_state state = entry.take_state();
  state.pending.append(step.pending);
  if (state.colocations != nullptr) {
    NACRE_MARK("an object is destroyed that a colocation waits for");
    for (message_ptr& join : state.colocations->dissolve(state.pending)) state.pending.push_back(std::move(join));
  }
  std::vector<rank_id> keepers = state.order.sources();  // their entries stay until they are told
  const rank_id home = homes_.home_of(entry.id);
  std::erase(keepers, home);
  keepers.push_back(home);
  for (const rank_id each : keepers) {
    if (each != messages_.rank()) updates_.queue(thread, each, {.object = entry.id.value(), .gone = 1});
  }
  end_entry(step, state);
  if (m->header.reply != 0) messages_.post_reply(thread, m->header, make_message(0));
  thread.counters().done.add(1);
  return step_end::empty;
}

void object_ends::end_entry(activation_step& step, object_state& state) {
  step.entry.location.learn({messages_.rank(), state.epoch + 1, state.policy, false, true});
  view_.drop_extra(step.entry, step.thread);
  entries_.forget(step.entry, step.thread);
  errors_.report_kept(step.thread, state);
  state.order.take_early(state.pending);
  while (message_ptr left = state.pending.pop_front()) {
    NACRE_MARK("an object is destroyed before messages that wait for it");
    errors_.undeliverable(step.thread, std::move(left));
  }
}

}  // namespace nacre
