// SPDX-License-Identifier: Apache-2.0
// Coroutine handlers that wait for messages to their own object.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "am/am_engine.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/entry/activation_step.hpp"
#include "mobile/object/entry_access.hpp"

namespace nacre {

/// The protocol of kept_messages. A message to a member that returns awaited is set aside when it arrives, before older
/// messages that wait have run, unless its own rank has sent an ending before it. So a coroutine that holds the object
/// can take it while it waits. For quiescence the message already counts as done: it is part of the object, travels
/// with it, and is reported as undeliverable when the object ends.
///
/// An ending that waits for such a coroutine holds up the job when no message comes. Then the coroutine gives up: on
/// real threads when rank 0 has found the job still (quiescence/deadlock_detector.hpp), under simulation when it is in
/// deadlock.
class message_waits {
 public:
  message_waits(am_engine& messages, directory& entries, entry_access& access);

  /// Whether objects of the class keep messages: it has members that return nacre::awaited.
  [[nodiscard]] bool keeps(const detail::object_type& type) const noexcept {
    return used_ && std::find(keeping_.begin(), keeping_.end(), type.key) != keeping_.end();
  }
  /// The activation admits a message, which it would put behind `step.pending`: keeps it, if it is of that kind.
  void admit(activation_step& step, message_ptr m) {
    if (used_) return admit_checked(step, std::move(m));
    step.pending.push_back(std::move(m));
  }
  /// The activation has come to a message of that kind which had to wait, and which is the first of `step.pending`.
  void keep_front(activation_step& step, const detail::handler_info& row);
  /// Whether a coroutine on the object waits, so that nothing may run. The activation.
  [[nodiscard]] static bool has_waiter(const object_entry& entry) noexcept;
  /// A coroutine waits: wakes it if its message has come. Returns how the step ends.
  [[nodiscard]] step_end hold(activation_step& step);
  /// A message that ends the element, or makes the next one, runs now: of these, one less waits.
  static void note_ending_run(object_entry& entry, const message& m) noexcept;
  /// The object has come with what it keeps.
  static void recount(activation_step& step);
  /// An element has been inserted: it keeps those of the messages behind the insertion that it can.
  void keep_behind_insertion(activation_step& step);

  /// The number of objects here whose end waits for a coroutine that awaits a message. Any thread; an estimate.
  [[nodiscard]] std::size_t held_up() const noexcept { return held_up_count_.load(std::memory_order_relaxed); }
  /// Under simulation: in the next pass of the poll loop, all coroutines of the objects in take_held_up give up.
  void give_up_soon() noexcept { gives_up_ = true; }
  [[nodiscard]] bool gives_up() const noexcept { return gives_up_; }
  /// Returns the objects whose coroutines must give up, because nothing else can happen in the job. The poll loop.
  [[nodiscard]] std::vector<object_id> take_held_up();
  /// Makes the coroutine that waits on the object give up: no message will come.
  void give_up(activation_step& step);

  // For coroutines, see next.hpp.
  [[nodiscard]] bool take(detail::message_waiter& waiter, const void* target_key);
  void wait(detail::message_waiter& waiter);
  void keep_again(detail::message_waiter& waiter);

 private:
  void admit_checked(activation_step& step, message_ptr m);
  [[nodiscard]] const detail::handler_info* kept_row(const object_entry& entry, const message& m) const;
  [[nodiscard]] bool is_to_be_kept(const message& m) const;
  [[nodiscard]] kept_messages& kept_by(object_entry& entry, const message_list* waiting);
  [[nodiscard]] object_entry& entry_of(const detail::message_waiter& waiter);
  [[nodiscard]] bool keep(activation_step& step, const detail::handler_info& row, message_ptr m);

  void note_held_up(const object_entry& entry, kept_messages& kept, bool held_up);

  am_engine& messages_;
  directory& entries_;
  entry_access& access_;
  std::mutex mutex_;
  std::unordered_set<std::uint64_t> held_up_;   // under the mutex
  std::atomic<std::size_t> held_up_count_ = 0;  // its size
  bool gives_up_ = false;                       // under simulation: give_up_soon has been called
  const std::vector<const void*> keeping_;      // keys of the classes that have members which return nacre::awaited
  const bool used_;                             // keeping_ is not empty
};

}  // namespace nacre
