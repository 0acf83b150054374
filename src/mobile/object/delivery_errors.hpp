// SPDX-License-Identifier: Apache-2.0
// Messages that cannot be delivered, and the reports of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "mobile/array/array_table.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/object/message_table.hpp"
#include "mobile/object/object_activation.hpp"

namespace nacre {

/// The sender of a lost message hears of it: a call by its failure, another message by the handler of delivery errors
/// on its rank.
class delivery_errors {
 public:
  delivery_errors(am_engine& messages, const nacre::homes& homes, directory& entries, const array_table& arrays,
                  const message_table& table, object_activation& activation);
  ~delivery_errors() { delete report_.load(); }
  delivery_errors(const delivery_errors&) = delete;
  delivery_errors& operator=(const delivery_errors&) = delete;

  /// Sets the handler of delivery errors. Any thread, also while threads call the previous handler, which lives until
  /// no thread can call it.
  void on_delivery_error(thread_context& thread, std::function<void(const delivery_error&)> handler);
  void undeliverable(thread_context& thread, message_ptr m);
  /// The object has ended: reports the messages that it has kept for its coroutines. Here, so that a test that replaces
  /// `undeliverable` when it is linked gets these, too.
  void report_kept(thread_context& thread, object_state& state) {
    if (state.kept == nullptr) return;
    message_list left = state.kept->take_all();
    state.kept.reset();
    while (message_ptr m = left.pop_front()) {
      if (m->counted()) thread.counters().created.add(1);  // it was done when the object took it
      undeliverable(thread, std::move(m));
    }
  }
  /// Reports a message of this rank that had no receiver.
  void report_lost(thread_context& thread, object_id object, std::uint32_t handler);
  /// A message of this rank to a key of a keyed array, which has no element. `key`: for people.
  void report_absent(thread_context& thread, const message& m, const std::string& key);
  /// `error.why` is read before this returns.
  void report(thread_context& thread, const delivery_error& error);

  /// The report has come that an object to which this rank has sent is gone.
  void note_remote_end(context& ctx, object_id id);

  // Handlers that other ranks call.
  void on_undeliverable(context& ctx, std::uint64_t object, std::uint32_t handler);
  void on_gone(context& ctx, std::uint64_t object);

 private:
  using error_handler = std::function<void(const delivery_error&)>;

  void print(const delivery_error& error) const;

  am_engine& messages_;
  const nacre::homes& homes_;
  directory& entries_;
  const array_table& arrays_;
  const message_table& table_;
  object_activation& activation_;
  std::atomic<const error_handler*> report_;  // owned; read under the directory's guard, see epoch_guard.hpp
};

}  // namespace nacre
