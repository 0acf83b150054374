// SPDX-License-Identifier: Apache-2.0
// Collectives as a module of a running rank: the tree's messages, and the main that waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "am/collective.hpp"

namespace nacre {

/// Gives the collective engine its messages, which quiescence counts, because each will let some main go on.
class collectives_module final : private collective_host {
 public:
  explicit collectives_module(am_engine& messages);

  /// Ends the wait of the application's main; to be called once, on any thread.
  using end_of_wait = std::function<void(thread_context&)>;
  /// Calls its argument, which begins an action, and waits on the application's thread until that calls end_of_wait.
  using wait_function = std::function<void(const std::function<void(end_of_wait)>&)>;

  /// Enters the next collective and returns its value when it is over. Application thread only, through `wait`.
  [[nodiscard]] std::vector<std::byte> run(thread_context& thread, const wait_function& wait, collective_call call);

  /// For the engines of other ranks.
  void on_collective_message(context& ctx, collective_message m);

 private:
  void send(rank_id target, collective_message m) override;
  void complete(std::uint32_t number, std::vector<std::byte> value) override;
  void mismatch(const collective_mismatch& collective_mismatch) override;
  void tell_the_waiting(thread_context& thread);

  am_engine& messages_;
  std::mutex mutex_;
  collective_engine engine_;          // under mutex_
  thread_context* thread_ = nullptr;  // under mutex_: the thread context that calls the engine
  end_of_wait end_;                   // under mutex_: of the one main that waits
  bool is_over_ = false;              // under mutex_
  std::vector<std::byte> result_;     // under mutex_
};

}  // namespace nacre
