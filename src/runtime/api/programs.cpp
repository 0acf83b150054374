// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind programs of commands.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <nacre/command_program.hpp>
#include <nacre/error.hpp>

#include "am/command_run.hpp"
#include "runtime/engine.hpp"

namespace nacre::detail {

void check_step(const engine& core, const program_steps& program_steps, const program_step& next) {
  const bool copies = next.operation == program_step::kind::gather || next.operation == program_step::kind::scatter;
  if (copies && next.memory.rank != core.rank().value()) {
    throw usage_error("a step of a program gathers or scatters memory of rank " + std::to_string(next.memory.rank) +
                      " on rank " + std::to_string(core.rank().value()) +
                      ": use memory that this rank has exposed, and commands for that of others");
  }
  if (next.operation == program_step::kind::command && next.rank.value() >= core.size()) {
    throw usage_error("a command to rank " + std::to_string(next.rank.value()) + " of a job with " +
                      std::to_string(core.size()) + " ranks");
  }
  std::uint64_t gathered = 0;
  if (next.operation == program_step::kind::gather) {
    for (auto each = program_steps.rbegin();
         each != program_steps.rend() && each->operation == program_step::kind::gather; ++each) {
      gathered += each->bytes;
    }
  }
  constexpr std::uint64_t most = command_program::buffer_bytes_max;
  if (next.bytes <= most && gathered <= most - next.bytes) return;
  throw usage_error("a program of commands handles at most " + std::to_string(most) +
                    " bytes at a time, because it runs inside the poll loop: write several commands, or put and get");
}

future<void> start_program(engine& core, thread_context& thread, std::shared_ptr<const program_steps> steps) {
  core.expect_own_thread();
  auto* const state = new future_value<void>;
  future<void> ended(core, thread, state);
  auto run = std::make_shared<command_run>(core.memory(), core.extensions(), std::move(steps), *state);
  thread.counters().created.add(1);
  core.messages().commit(thread, [&] {
    core.extensions().run_inside(thread, [run](extension_space&, thread_context& caller) { run->begin(caller); });
  });
  return ended;
}

}  // namespace nacre::detail
