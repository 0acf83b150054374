// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind the containers.
#include <nacre/containers/core.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "runtime/engine.hpp"

namespace nacre::detail {

operation_buffers& buffers_of(engine& core, const thread_context& thread) noexcept {
  return core.containers().buffers(thread);
}

void throttle(engine& core, thread_context& thread) { core.throttle(thread); }

container_plan plan_container(engine& core) {
  return {.number = core.containers().next_container(), .stripes = core.pool().workers()};
}

void fix_stripes(engine& core, std::uint32_t stripes) { core.containers().set_stripes(stripes); }

void open_container(engine& core, std::uint32_t number, container_part& part) { core.containers().open(number, part); }

void check_container(engine& core, std::uint32_t number) { core.containers().check_open(number); }

void end_container(engine& core, thread_context& thread, std::uint32_t number,
                   std::unique_ptr<container_part> part) noexcept {
  if (std::uncaught_exceptions() == 0) {
    try {
      must_be_main(core, "the end of a container");
      core.wait_quiescence(thread);
      core.containers().close(number);
      return;
    } catch (const std::exception& refused) {
      std::fprintf(stderr,
                   "nacre: rank %u: a container of the class %s ends where main must not wait, so its elements stay "
                   "until the job ends: %s\n",
                   core.rank().value(), std::string(part->name()).c_str(), refused.what());
    }
  }
  core.containers().keep(std::move(part));
}

void must_be_main(engine& core, const char* name) {
  if (!core.main_waits()) return;
  throw usage_error(std::string(name) +
                    " is collective: main calls it on every rank; a handler uses `container.handle()`, whose insert, "
                    "erase and visit take its context");
}

void hold_container(engine& core, container_part& part) { core.containers().hold(part); }

void release_container(engine& core, thread_context& thread, container_part& part) noexcept {
  if (is_forked_child()) return;
  core.containers().release(thread, part);
}

stripe_lock::stripe_lock(engine& core, std::uint32_t container, std::uint32_t stripe)
    : core_(core), stripe_(stripe), part_(core.containers().find(container)) {
  if (part_ == nullptr) core.containers().check_open(container);
  core.containers().elements(stripe).lock();
}
stripe_lock::~stripe_lock() { core_.containers().elements(stripe_).unlock(); }

void iterate(engine& core, bool begins) noexcept { core.access().iterate(begins); }

}  // namespace nacre::detail
