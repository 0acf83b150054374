// SPDX-License-Identifier: Apache-2.0
// Programs of commands: steps that the communication component executes by itself, once they are started.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <nacre/extension.hpp>
#include <nacre/memory.hpp>

namespace nacre {

namespace detail {

/// One step of a program. Which members count depends on the kind.
struct program_step {
  enum class kind : std::uint8_t { gather, command, wait, scatter };
  kind operation = kind::wait;
  memory_name memory{};
  std::uint64_t offset = 0;  ///< in bytes
  std::uint64_t bytes = 0;
  rank_id rank{};
  extension_target target{};
};

using program_steps = std::vector<program_step>;

/// Throws usage_error for a step that no program can have: of memory of another rank, or beyond all limits.
void check_step(const engine& core, const program_steps& program_steps, const program_step& next);
[[nodiscard]] future<void> start_program(engine& core, thread_context& thread,
                                         std::shared_ptr<const program_steps> steps);

}  // namespace detail

/// A sequence of steps that is built once and then started by one signal, any number of times (DVCM section 3). The
/// steps run inside the poll loop, one after the other, without a worker or main: they gather exposed memory of this
/// rank into a buffer, send the buffer as a command to extension modules, wait for the answers, and scatter these into
/// exposed memory. The buffer holds at most buffer_bytes_max. Belongs to the main or handler that made it.
class command_program {
 public:
  static constexpr std::size_t buffer_bytes_max = std::size_t{1} << 20;

  /// Valid as long as `operations`, a runtime or a context.
  explicit command_program(const operations& operations) : place_(operations.extension({})) {}

  /// Appends `count` elements of exposed memory of this rank, from index `offset` on, to the buffer.
  template <class T>
  command_program& gather(const remote_memory<T>& remote_memory, std::size_t offset, std::size_t count) {
    return add(memory_step<T>(detail::program_step::kind::gather, remote_memory.name(), offset, count));
  }
  /// Sends the buffer as a command to the module on a rank. The buffer is empty afterwards. Does not wait.
  command_program& command(const extension_ref& module, rank_id target, std::uint32_t number) {
    detail::program_step next{.operation = detail::program_step::kind::command};
    next.rank = target;
    next.target = module.target(number);
    return add(next);
  }
  /// Waits for the answers to all commands so far. They become the buffer, in the order of the commands.
  command_program& wait() { return add({.operation = detail::program_step::kind::wait}); }
  /// Takes `count` elements from the front of the buffer and writes them to exposed memory of this rank, from index
  /// `offset` on.
  template <class T>
  command_program& scatter(const remote_memory<T>& remote_memory, std::size_t offset, std::size_t count) {
    return add(memory_step<T>(detail::program_step::kind::scatter, remote_memory.name(), offset, count));
  }

  /// Starts the steps. The future is ready when the last one is over and all commands are answered. It fails with
  /// call_error, which names the step, when memory is withdrawn or a range is not inside, when a command fails, or when
  /// the answers are shorter than what is to be scattered; the steps behind do not run. Several runs may be under way;
  /// each has a buffer of its own. Quiescence waits for them.
  [[nodiscard]] future<void> start() {
    return detail::start_program(place_.core(), place_.thread(), std::make_shared<const detail::program_steps>(steps_));
  }

 private:
  template <class T>
  static detail::program_step memory_step(detail::program_step::kind kind, const detail::memory_name& memory,
                                          std::size_t offset, std::size_t count) {
    constexpr std::uint64_t beyond_all = ~std::uint64_t{0};
    const bool countable = offset <= beyond_all / sizeof(T) && count <= beyond_all / sizeof(T);
    return {.operation = kind,
            .memory = memory,
            .offset = countable ? offset * sizeof(T) : beyond_all,
            .bytes = countable ? count * sizeof(T) : beyond_all};
  }
  command_program& add(const detail::program_step& next) {
    detail::check_step(place_.core(), steps_, next);
    steps_.push_back(next);
    return *this;
  }

  extension_ref place_;  // of no module: the rank and the thread
  detail::program_steps steps_;
};

}  // namespace nacre
