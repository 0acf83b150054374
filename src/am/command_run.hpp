// SPDX-License-Identifier: Apache-2.0
// One run of a program of commands.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <nacre/command_program.hpp>

#include "am/extension_module.hpp"
#include "am/memory_module.hpp"

namespace nacre {

/// Executes the steps of a program inside the poll loop. One unit for quiescence, from its start to its end.
///
/// | state | gather, scatter | command | wait, or end of steps | an answer | the last answer |
/// |---|---|---|---|---|---|
/// | running | copies; next step | sends; next step | waiting if an answer is open, else next step | noted | noted |
/// | waiting | - | - | - | noted | running at the next step; ended if there is none |
///
/// A step that fails ends the run, once the answers that are still open have come.
class command_run final : public std::enable_shared_from_this<command_run> {
 public:
  command_run(memory_module& memory, extension_module& extensions, std::shared_ptr<const detail::program_steps> steps,
              detail::future_state& done);
  ~command_run() { done_.release(); }
  command_run(const command_run&) = delete;
  command_run& operator=(const command_run&) = delete;

  /// Inside the poll loop, once.
  void begin(thread_context& thread);

 private:
  /// A command of this run, and its answer.
  struct sent_command : detail::waiter {
    command_run* run = nullptr;
    std::size_t step = 0;
    detail::future_value<std::vector<std::byte>>* answer = nullptr;
  };
  void go_on(thread_context& thread);
  bool take_step(thread_context& thread, const detail::program_step& next);
  bool copy(const detail::program_step& next);
  void send(thread_context& thread, const detail::program_step& next);
  void take_answers();
  void fail(std::size_t step, const std::string& reason);
  void end(thread_context& thread);

  memory_module& memory_;
  extension_module& extensions_;
  const std::shared_ptr<const detail::program_steps> steps_;
  detail::future_state& done_;
  std::shared_ptr<command_run> self_;  // while the run is under way
  std::size_t next_ = 0;               // step
  std::vector<std::byte> buffer_;
  std::size_t taken_ = 0;          // bytes at the front of the buffer that have been scattered
  std::deque<sent_command> sent_;  // since the last wait
  std::size_t open_ = 0;           // of those without an answer
  bool waiting_ = false;
  std::string problem_;  // empty: none
};

}  // namespace nacre
