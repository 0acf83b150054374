// SPDX-License-Identifier: Apache-2.0
// Messages that cannot be delivered, and the reports of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"

namespace nacre {

class object_space;

/// The sender of a lost message hears of it: a call by its failure, another message by the handler of delivery errors
/// on its rank.
class delivery_errors {
 public:
  delivery_errors(object_space& space, am_engine& messages);
  ~delivery_errors() { delete report_.load(); }
  delivery_errors(const delivery_errors&) = delete;
  delivery_errors& operator=(const delivery_errors&) = delete;

  /// Sets the handler of delivery errors. Any thread, also while threads call the previous handler, which lives until
  /// no thread can call it.
  void on_delivery_error(thread_context& thread, std::function<void(const delivery_error&)> handler);
  void undeliverable(thread_context& thread, message_ptr m);
  /// Reports a message of this rank that had no receiver.
  void report_lost(thread_context& thread, object_id object, std::uint32_t handler);
  /// `what.why` is read before this returns.
  void report(thread_context& thread, const delivery_error& error);

  // A handler that other ranks call.
  void on_undeliverable(context& ctx, std::uint64_t object, std::uint32_t handler);

 private:
  using error_handler = std::function<void(const delivery_error&)>;

  object_space& space_;
  am_engine& messages_;
  std::atomic<const error_handler*> report_;  // owned; read under the directory's guard, see epoch_guard.hpp
};

}  // namespace nacre
