// SPDX-License-Identifier: Apache-2.0
// Sending messages later, and keeping them in images.
#include "runtime/delayed_messages.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <nacre/nacre.hpp>

#include "backplane/timer_queue.hpp"
#include "mobile/image/object_images.hpp"
#include "runtime/engine.hpp"

namespace nacre {
namespace detail {

/// A message that waits for its time. The list of those that wait and the program's handle hold a reference each. A
/// handle that outlives the job finds the message sent, taken back or dropped.
class delayed_state final : public timer {
 public:
  delayed_state(engine& core, const object_pair& object_pair, message_ptr m, std::chrono::nanoseconds time) noexcept
      : timer(&on_due), ends(object_pair), due(time), message(std::move(m)), core_(core) {}

  [[nodiscard]] bool is_over() const noexcept { return is_over_.load(std::memory_order_acquire); }  // pairs with end
  /// From now on the job may end.
  void end() noexcept {
    is_over_.store(true, std::memory_order_release);  // pairs with is_over
    release();
  }
  void release() noexcept {
    // acq_rel: the last holder sees what the other one has done.
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  [[nodiscard]] bool take_back() { return !is_over() && core_.images().delayed().take_back(*this); }

  const object_pair ends;
  const std::chrono::nanoseconds due;
  message_ptr message;
  bool kept = false;  // its time has come while objects were held; under the mutex of the list, as the next two
  delayed_state* next = nullptr;
  delayed_state* previous = nullptr;

 private:
  static void on_due(timer& self, thread_context& thread) {
    auto& state = static_cast<delayed_state&>(self);
    if (state.core_.images().delayed().keeps(state)) return;
    if (state.ends.target.valid()) {
      post_to_object(state.core_, thread, state.ends, std::move(state.message));
    } else {
      post_to_rank(state.core_, thread, state.core_.rank(), std::move(state.message));
    }
    state.end();
  }

  engine& core_;
  std::atomic<bool> is_over_{false};
  std::atomic<int> references_{2};
};

/// Packs the arguments where they may have to leave, since the caller can catch what that throws.
delayed_state* post_after(engine& core, thread_context&, double seconds, const object_pair& ends, message_ptr m) {
  core.expect_own_thread();
  check_seconds(seconds, "a delay");
  const auto due = core.pool().instant_after(seconds);
  if (due == std::chrono::nanoseconds::max()) {
    throw usage_error(fmt::format(
        "a message to be sent after {} s, beyond what the clock can tell: the job would never end, so leave it out",
        seconds));
  }
  const bool may_leave = ends.target.valid() || core.messages().deferred();
  if (may_leave && !m->packed() && !m->ops->simple && !core.messages().by_pointer()) m = packed_by_sender(std::move(m));
  return core.images().delayed().add(ends, std::move(m), due);
}

bool take_back(delayed_state& state) noexcept { return state.take_back(); }
void release(delayed_state& state) noexcept { state.release(); }

}  // namespace detail

using detail::delayed_state;

delayed_messages::delayed_messages(engine& core) : core_(core) { core.messages().held.add(*this); }

delayed_messages::~delayed_messages() {
  while (delayed_state* const each = all_.front()) static_cast<void>(take_back(*each));
}

delayed_state* delayed_messages::add(const detail::object_pair& ends, message_ptr m, instant due) {
  auto result = std::make_unique<delayed_state>(core_, ends, std::move(m), due);
  const std::scoped_lock lock(mutex_);
  core_.pool().set_timer(*result, due);
  all_.push_front(*result);
  ++count_;
  return result.release();
}

bool delayed_messages::take_back(delayed_state& state) {
  {
    const std::scoped_lock lock(mutex_);
    if (!core_.pool().remove_timer(state)) return false;
    all_.remove(state);
    --count_;
  }
  state.message.reset();
  state.end();
  return true;
}

/// The timer's new unit is counted before that of its firing is done.
bool delayed_messages::keeps(delayed_state& state) {
  const std::scoped_lock lock(mutex_);
  if (core_.messages().held.on()) {
    state.kept = true;
    core_.pool().set_timer(state, instant::max());
    return true;
  }
  all_.remove(state);
  --count_;
  return false;
}

std::uint64_t delayed_messages::lying() {
  const std::scoped_lock lock(mutex_);
  return count_;
}

void delayed_messages::go_on(thread_context&) {
  const std::scoped_lock lock(mutex_);
  for (delayed_state* each = all_.front(); each != nullptr; each = each->next) {
    if (each->kept && core_.pool().remove_timer(*each)) core_.pool().set_timer(*each, each->due);
    each->kept = false;
  }
}

std::vector<delayed_image> delayed_messages::pack(image_names& names) {
  std::vector<delayed_image> all;
  const std::scoped_lock lock(mutex_);
  const instant now = core_.pool().duties().now();
  for (delayed_state* each = all_.front(); each != nullptr; each = each->next) {
    message& m = *each->message;
    all.push_back({.seconds = std::chrono::duration<double>(std::max(each->due - now, instant(0))).count(),
                   .object = each->ends.target.value(),
                   .handler = names.number_of(*core_.messages().handlers().handler(m.header.handler)),
                   .kind = m.header.kind,
                   .flags = static_cast<std::uint8_t>(m.header.flags & flag_communication),
                   .way = m.header.channel,
                   .arguments = arguments_of(m)});
  }
  std::reverse(all.begin(), all.end());  // in the order in which they were made
  return all;
}

void delayed_messages::install(const std::vector<delayed_image>& messages, const image_names& names) {
  for (const delayed_image& each : messages) {
    const detail::handler_info* const row = names.handler(each.handler);
    const object_id object = object_id::from_value(each.object);
    const bool fits = each.object == 0 ? each.kind == message_kind::rank
                                       : each.kind == message_kind::object && core_.objects().homes().knows(object);
    if (row == nullptr || !fits || !(each.seconds >= 0) || static_cast<std::size_t>(each.way) >= channel_count)
      throw image_misfit("the image has a message to be sent later that makes no sense");
    message_ptr m = make_message(each.arguments.size());
    m->header.kind = each.kind;
    m->header.handler = row->id.value();
    m->header.flags = each.flags & flag_communication;
    m->header.channel = each.way;
    if (!each.arguments.empty()) std::memcpy(m->body(), each.arguments.data(), each.arguments.size());
    detail::object_pair ends;
    ends.target = object;
    add(ends, std::move(m), core_.pool().instant_after(each.seconds))->release();
  }
}

}  // namespace nacre
