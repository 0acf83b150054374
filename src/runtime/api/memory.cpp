// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind the public templates of one-sided memory.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <nacre/memory.hpp>

#include "runtime/engine.hpp"

namespace nacre::detail {
namespace {

future<void> transfer(engine& core, thread_context& thread, const memory_name& name, const memory_range& range,
                      memory_transfer::intent intent) {
  core.expect_own_thread();
  constexpr std::uint64_t beyond_all = std::numeric_limits<std::uint64_t>::max();
  const bool countable = range.offset <= beyond_all / range.element_bytes;
  auto* state = new memory_transfer({.name = name,
                                     .direction = intent,
                                     .offset = countable ? range.offset * range.element_bytes : beyond_all,
                                     .local_memory = range.local_memory});
  future<void> ended(core, thread, state);
  core.memory().begin(thread, *state);
  return ended;
}

}  // namespace

memory_name expose(engine& core, std::span<std::byte> bytes, memory_access access) {
  core.expect_own_thread();
  return core.memory().expose(bytes, access);
}

void withdraw(engine& core, const memory_name& name) {
  core.expect_own_thread();
  core.memory().withdraw(name);
}

future<void> put(engine& core, thread_context& thread, const memory_name& name, const memory_range& range) {
  return transfer(core, thread, name, range, memory_transfer::intent::write);
}

future<void> get(engine& core, thread_context& thread, const memory_name& name, const memory_range& range) {
  return transfer(core, thread, name, range, memory_transfer::intent::read);
}

}  // namespace nacre::detail
