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

void object_ends::handle_news(activation_step& now, message_ptr news) {
  if (now.at.object() != nullptr) {
    return messages_.fail("rank " + std::to_string(news->header.source) + " told of the end of an object that lives");
  }
  const known_location last = now.at.location.read();
  static_cast<void>(now.at.location.learn({last.rank, ~std::uint32_t{0}, last.policy, false, true}));
  entries_.forget(now.at, now.on);
  updates_.told(now.at.id, now.on);
  now.on.counters().done.add(1);
}

step_end object_ends::end_object(activation_step& now) {
  message_waits::note_ending_run(now.at, *now.pending.front());
  object_entry& entry = now.at;
  thread_context& thread = now.on;
  const message_ptr m = now.pending.pop_front();
  object_state state = entry.take_state();
  state.pending.append(now.pending);
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
  end_entry(now, state);
  if (m->header.reply != 0) messages_.post_reply(thread, m->header, make_message(0));
  thread.counters().done.add(1);
  return step_end::empty;
}

void object_ends::end_entry(activation_step& now, object_state& state) {
  now.at.location.learn({messages_.rank(), state.epoch + 1, state.policy, false, true});
  view_.drop_extra(now.at, now.on);
  entries_.forget(now.at, now.on);
  errors_.report_kept(now.on, state);
  state.order.take_early(state.pending);
  while (message_ptr left = state.pending.pop_front()) {
    NACRE_MARK("an object is destroyed before messages that wait for it");
    errors_.undeliverable(now.on, std::move(left));
  }
}

}  // namespace nacre
