// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind the containers.
#include <nacre/containers/core.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "runtime/engine.hpp"

namespace nacre::detail {

operation_buffers& buffers_of(engine& core, const thread_context& on) noexcept { return core.containers().buffers(on); }

void throttle(engine& core, thread_context& on) { core.throttle(on); }

container_plan plan_container(engine& core) noexcept {
  return {.number = core.containers().next_container(), .stripes = core.pool().workers()};
}

void fix_stripes(engine& core, std::uint32_t stripes) { core.containers().set_stripes(stripes); }

void open_container(engine& core, std::uint32_t number, container_part& part) { core.containers().open(number, part); }

void check_container(engine& core, std::uint32_t number) { core.containers().check_open(number); }

void close_container(engine& core, std::uint32_t number) noexcept { core.containers().close(number); }

void keep_part(engine& core, std::unique_ptr<container_part> part) noexcept { core.containers().keep(std::move(part)); }

void must_be_main(engine& core, const char* what) {
  if (!core.main_waits()) return;
  throw usage_error(std::string(what) +
                    " is collective: main calls it on every rank; a handler uses `container.handle()`, whose insert, "
                    "erase and visit take its context");
}

void hold_container(engine& core, container_part& part) { core.containers().hold(part); }

void release_container(engine& core, thread_context& on, container_part& part) noexcept {
  core.containers().release(on, part);
}

stripe_lock::stripe_lock(engine& core, std::uint32_t container, std::uint32_t stripe)
    : core_(core), stripe_(stripe), part_(core.containers().find(container)) {
  if (part_ == nullptr) core.containers().check_open(container);
  core.containers().elements(stripe).lock();
}
stripe_lock::~stripe_lock() { core_.containers().elements(stripe_).unlock(); }

void iterate(engine& core, bool begins) noexcept { core.iterate(begins); }

bool is_unwinding() noexcept { return std::uncaught_exceptions() != 0; }

}  // namespace nacre::detail
