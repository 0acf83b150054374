// SPDX-License-Identifier: Apache-2.0
// A wait for quiescence that images interrupt, and the hold of all objects for one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <nacre/future.hpp>

#include "exec/thread_context.hpp"
#include "runtime/main_alarm.hpp"

namespace nacre {

class engine;

/// One for each rank; all mains call the same functions. Only rank 0 waits for quiescence: the other mains wait for its
/// word, so all hear the same. Main's thread.
class long_wait {
 public:
  explicit long_wait(engine& core) noexcept : core_(core) {}
  long_wait(const long_wait&) = delete;
  long_wait& operator=(const long_wait&) = delete;

  enum class outcome : std::uint8_t { quiet, due, wish };
  /// In seconds of the job's time; rank 0's count.
  struct limits {
    double due = 0;
    double wish_from = 0;  ///< no signal counts before
  };
  /// Waits for quiescence, or, if that comes first, until `due` or a signal that asks for a last image.
  [[nodiscard]] outcome until(thread_context& thread, const limits& limits);
  /// Holds all objects, and waits until all open units lie. Returns why they do not, empty if they do; the objects are
  /// held in both cases.
  [[nodiscard]] std::string hold(thread_context& thread);
  /// The objects go on.
  void release(thread_context& thread);

 private:
  [[nodiscard]] bool wait_or_alarm(thread_context& thread, detail::future_state& state,
                                   const main_alarm::settings& settings);
  [[nodiscard]] std::string in_the_way();

  engine& core_;
  std::shared_ptr<detail::future_value<void>> quiet_;  // on rank 0, from the first `until` on
};

}  // namespace nacre
