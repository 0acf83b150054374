// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind the public templates: each calls the module of the rank that does the work.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nacre/nacre.hpp>

#include "runtime/engine.hpp"

namespace nacre {

worker_id context::worker() const noexcept { return thread_->id(); }

void context::charge(double seconds) noexcept { thread_->pool().charge(*thread_, seconds); }

bool context::wanted_elsewhere() const noexcept {
  return thread_->pool().hungry_beside(*thread_) || core_->balance().wanted();
}

namespace detail {

std::uint32_t life_of(engine& core) noexcept { return core.messages().calls().life().number(); }
rank_id rank_of(const engine& core) noexcept { return core.rank(); }
std::uint32_t size_of(const engine& core) noexcept { return core.size(); }
std::uint32_t workers_of(const engine& core) noexcept { return core.pool().workers(); }
bool stop_requested(engine& core) noexcept { return core.outside().stops.requested(); }
void handle_signals(engine& core) {
  core.expect_own_thread();
  core.outside().stops.handle_signals();
}
double seconds_of(engine& core, const thread_context& thread) {
  static_cast<void>(look_again(thread));
  return core.job_time().seconds();
}

void post_to_rank(engine& core, thread_context& thread, rank_id target, message_ptr m, future_state* result) {
  if (target.value() >= core.size()) {
    throw usage_error("a message to rank " + std::to_string(target.value()) + " of a job with " +
                      std::to_string(core.size()) + " ranks");
  }
  core.throttle(thread);
  core.messages().post(thread, target, std::move(m), result);
}

void post_to_all(engine& core, thread_context& thread, message_ptr m) {
  const message_ptr packed = packed_by_sender(std::move(m));
  for (std::uint32_t rank = 0; rank < core.size(); ++rank) {
    core.throttle(thread);
    message_ptr copy = make_message(packed->header.payload_bytes);
    copy->header = packed->header;
    std::memcpy(copy->body(), packed->body(), packed->header.payload_bytes);
    core.messages().post(thread, rank_id(rank), std::move(copy));
  }
}

void post_to_object(engine& core, thread_context& thread, const object_pair& ends, message_ptr m,
                    future_state* result) {
  core.throttle(thread);
  core.objects().traffic().note(thread, ends, *m);
  core.objects().sender().post(thread, ends.target, std::move(m), result);
}

object_id adopt_object(engine& core, thread_context& thread, const object_type& type, void* object) {
  try {
    core.expect_own_thread();
    must_be_numbered(core.messages().handlers(), type);
  } catch (...) {
    type.destroy(object);
    throw;
  }
  return core.objects().creation().adopt(thread, type, object);
}

void post_migrate(engine& core, thread_context& thread, object_id object, rank_id target, future_state& done) {
  core.throttle(thread);
  core.objects().sender().post_migrate(thread, object, target, done);
}

void post_destroy(engine& core, thread_context& thread, object_id object) {
  core.throttle(thread);
  core.objects().sender().post_destroy(thread, object);
}

void post_colocate(engine& core, thread_context& thread, std::span<const object_id> objects, message_ptr function,
                   future_state* result) {
  core.throttle(thread);
  core.objects().colocated().request(thread, objects, std::move(function), result);
}

void* lock_object(engine& core, thread_context& thread, object_id object, object_access object_access,
                  const void* key) {
  core.expect_own_thread();
  if (thread.role() != thread_role::application) {
    throw usage_error(
        "with_exclusive and with_shared are for main: a handler has access to the object that it runs on, and to reach "
        "another one writes `ctx.send<&T::member>(p, ...)`, or `co_await ctx.call<&T::member>(p, ...)` in a coroutine");
  }
  auto* state = new future_value<void>;
  future<void> granted(core, thread, state);
  core.access().must_not_hold();
  core.throttle(thread);
  core.objects().locks().request(thread, object, object_access, *state);
  granted.get();
  const main_lock::held_object locked = core.objects().locks().locked(thread, object);
  if (!same_class(locked.type.key, key)) {
    core.objects().locks().unlock(thread, object, object_access);
    throw usage_error("a mobile_ptr to an object of another class, " + std::string(locked.type.name));
  }
  core.access().hold(true);
  return locked.object;
}

/// The end of an access may call functions of the object's class. Such a call counts as the runtime's, not as main's.
void unlock_object(engine& core, thread_context& thread, object_id object, object_access object_access) noexcept {
  core.access().hold(false);
  core.messages().commit(thread, [&] { core.objects().locks().unlock(thread, object, object_access); });
}

rank_id home_of(engine& core, object_id object) {
  const homes& all = core.objects().homes();
  if (!all.knows(object)) throw usage_error("home_of a mobile_ptr that names no object of this job");
  return all.home_of(object);
}

bool is_local(engine& core, thread_context& thread, object_id object) noexcept {
  return core.objects().is_local(thread, object);
}

void enable_balancing(engine& core, bool is_on) noexcept { core.balance().enable(is_on); }

void wait_quiescence(engine& core, thread_context& thread) { core.wait_quiescence(thread); }

void post_on_quiescence(engine& core, thread_context& thread, message_ptr m) {
  core.expect_own_thread();
  core.post_on_quiescence(thread, std::move(m));
}

rank_counters counters_of(const engine& core) noexcept { return core.counters(); }

void set_error_handler(engine& core, thread_context& thread, std::function<void(const delivery_error&)> handler) {
  core.expect_own_thread();
  core.objects().errors().on_delivery_error(thread, std::move(handler));
}

void wait_in_application(engine& core, thread_context& thread, future_state& state) { core.wait_for(thread, state); }

void post_reply(engine& core, thread_context& thread, const message_header& request, message_ptr reply) {
  if (is_forked_child()) [[unlikely]]
    end_forked_child(0);
  core.messages().post_reply(thread, request, std::move(reply));
}

void make_runnable(engine& core, thread_context& thread, work& item) {
  core.pool().make_ready(thread, item, worker_pool::made_on(thread, worker_pool::origin::resumption));
}

void make_runnable_last(engine& core, thread_context& thread, work& item) { core.pool().make_ready(thread, item); }

thread_context& thread_of(const context& ctx) noexcept { return ctx.current_thread(); }

std::vector<std::byte> run_collective(engine& core, thread_context& thread, collective_call call) {
  core.expect_own_thread();
  check_payload(call.value.size(), enclosed_bytes_max);
  if (call.root.value() >= core.size()) {
    throw usage_error("a collective with root " + std::to_string(call.root.value()) + " in a job with " +
                      std::to_string(core.size()) + " ranks");
  }
  const bool ends = call.kind == collective_kind::end_of_main;
  const auto main_wait = ends ? quiescence::main_wait::end_of_job : quiescence::main_wait::collective;
  const auto wait = [&](const auto& begin) { core.wait_as_application(thread, main_wait, begin); };
  return core.collectives().run(thread, wait, std::move(call));
}

}  // namespace detail
}  // namespace nacre
