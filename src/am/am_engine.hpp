// SPDX-License-Identifier: Apache-2.0
// Active messages of one rank: routes messages that are sent, runs messages that arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nacre/future.hpp>
#include <nacre/handler.hpp>
#include <nacre/invoke.hpp>

#include "am/address_warnings.hpp"
#include "am/aggregator.hpp"
#include "am/cancellations.hpp"
#include "am/handler_table.hpp"
#include "am/held_units.hpp"
#include "am/main_aggregator.hpp"
#include "am/main_send_window.hpp"
#include "am/message_packing.hpp"
#include "am/ordered_messages.hpp"
#include "am/pending_calls.hpp"
#include "backplane/backplane.hpp"
#include "base/sparse_table.hpp"
#include "exec/worker_pool.hpp"

namespace nacre {

class object_activation;  // of mobile/

/// Takes messages to objects; mobile/ implements it. Any thread; `m` has been counted as created.
class object_sink {
 public:
  object_activation* const activation;  ///< for the runner of entries, which are too small to name it

  virtual void accept(thread_context& thread, message_ptr m) = 0;
  /// A handler of this rank has sent the message, and the time that it had spent is over.
  virtual void accept_own(thread_context& thread, message_ptr m) = 0;
  /// A bundle of the form bundle::objects, whose parts have been counted. Inside the poll loop.
  virtual void accept_bundle(thread_context& thread, message_ptr m) = 0;
  /// The messages from `first` on, of any kind, are to be accepted next: brings what that needs into the cache.
  virtual void prefetch(const message* first) const noexcept = 0;
  /// A coroutine handler on an object has ended: its access ends. `seconds`: see detail::coroutine_finished.
  virtual void coroutine_ended(thread_context& thread, const message_header& request,
                               const detail::handler_info& handler, double seconds) = 0;

 protected:
  explicit object_sink(object_activation& runs_entries) noexcept : activation(&runs_entries) {}
  ~object_sink() = default;
};

/// The active-message engine of a rank. All sends pass `post`, all arrivals pass `deliver`.
///
/// Counting for quiescence: a message that may start user code counts as created when it is posted for the first time
/// and as done when its handler has ended; forwarding changes neither. Modules' messages are uncounted unless they say
/// so.
class am_engine final : public message_sink {
 public:
  held_units held;  ///< see object_hold; in front, beside the pool, which each step of an object reads

  /// Which values are packed.
  enum class packing : std::uint8_t { where_needed, always };  ///< `always`: also values that stay on this rank

  /// `fail` ends the job: bytes of a peer that make no sense, a peer that died, an exception in a handler. Its argument
  /// is the reason, empty when it has been printed already.
  am_engine(engine& core, backplane& link, worker_pool& pool, packing values,
            std::function<void(const std::string&)> fail);
  /// From now on small messages of one thread context to one rank travel together. Before anything runs.
  void aggregate(const aggregator::settings& settings);
  /// From now on small messages of main to its own rank travel together; `to_objects` as in main_aggregator::settings.
  /// After bound_main, before anything runs. Returns the bundles, or null where that cannot be.
  main_aggregator* aggregate_own(const aggregator::settings& settings, std::function<work*(message_ptr)> to_objects);

  /// From now on messages that main sends within this address space take room in its window. Before anything runs.
  void bound_main(std::uint64_t bytes_max);
  /// Null: main is not bounded.
  [[nodiscard]] main_send_window* window() const noexcept { return window_.get(); }
  /// `m` stays in this address space: takes room in the window of the sender, if it has one.
  static void acquire_window(const thread_context& thread, message& m) {
    if (main_send_window* const window = thread.window(); window != nullptr) window->acquire(m);
  }

  /// The size of `m` in bytes, its values included; an estimate. Throws what measuring the values throws.
  [[nodiscard]] static std::size_t size_of(const message& m) {
    return sizeof m + (m.packed() ? m.header.payload_bytes : m.ops->packed_size(m));
  }

  void attach_objects(object_sink& objects) noexcept { objects_ = &objects; }
  [[nodiscard]] object_sink& objects() const noexcept { return *objects_; }
  [[nodiscard]] const handler_table& handlers() const noexcept { return table_; }
  /// Makes the member handlers of T reachable on this rank; `target` outlives the engine's last progress.
  template <class T>
  void attach_module(T& target) {
    modules_.push_back({detail::key_of<T>(), &target});
  }

  [[nodiscard]] rank_id rank() const noexcept { return link_.rank(); }
  [[nodiscard]] std::uint32_t size() const noexcept { return link_.size(); }
  [[nodiscard]] worker_pool& pool() const noexcept { return pool_; }
  [[nodiscard]] engine& core() const noexcept { return core_; }
  [[nodiscard]] pending_calls& calls() noexcept { return calls_; }
  [[nodiscard]] nacre::cancellations& cancellations() noexcept { return cancellations_; }
  /// True where live values may cross between ranks.
  [[nodiscard]] bool by_pointer() const noexcept { return link_.declared().by_pointer && !packs_all_; }
  /// Packs a message that waits on this rank and has to leave it. An exception of the arguments has no caller any more,
  /// so its text names their handler.
  [[nodiscard]] static message_ptr packed_to_leave(message_ptr m);
  /// Returns the form in which its receiver gets a message that stays on this rank.
  [[nodiscard]] message_ptr as_received(message_ptr m) const {
    return packs_all_ ? packed_by_sender(std::move(m)) : std::move(m);
  }
  /// Copies from memory to memory, where the transport has that; else null.
  [[nodiscard]] transport::direct_memory* direct() noexcept { return link_.direct(); }
  /// True under virtual time: a message to the own rank must not take effect before the sender's present.
  [[nodiscard]] bool deferred() const noexcept { return link_.declared().virtual_time; }
  /// Wakes the poll loop if it sleeps. Any thread.
  void wake_poll_loop() { link_.wake(); }

  /// The first step of sending, which may throw an exception of the user's code: packs values that are not simple and
  /// leave this address space, checks that they fit, takes room in main's window. `stays`: on this rank, as a live
  /// value. Before the message is counted, numbered, or awaited, so that a caller that catches has sent nothing.
  [[nodiscard]] message_ptr prepare(const thread_context& thread, bool stays, message_ptr m);
  /// The second step of sending. If memory runs out here, the job ends: a number or a count has been taken already that
  /// no message would use.
  template <class Action>
  void commit(thread_context& thread, Action&& action) {
    try {
      action();
    } catch (...) {
      escaped(thread);
    }
  }

  /// Stamps and counts a message to a rank, and sends it; `result`, if not null, gets the reply. Any thread. When it
  /// throws nothing has happened.
  void post(thread_context& thread, rank_id target, message_ptr m, detail::future_state* result = nullptr);
  /// Whether a message may go into a bundle. `never`: different threads route one sender's messages in order.
  enum class bundling : std::uint8_t { allowed, never };
  /// Sends a message that has been posted before on its way, uncounted: forwarding, and messages to objects.
  void route(thread_context& thread, rank_id target, message_ptr m, bundling bundling = bundling::allowed);
  /// Sends to a member of the module T of another rank; runs in its poll loop. Uncounted unless `counted`.
  template <auto F, class... Args>
  void post_to_module(thread_context& thread, rank_id target, Args&&... args) {
    post_module_message(thread, target, detail::make_typed<F>(std::forward<Args>(args)...), channel::system,
                        flag_uncounted);
  }
  template <auto F, class... Args>
  void post_counted_to_module(thread_context& thread, rank_id target, Args&&... args) {
    post_module_message(thread, target, detail::make_typed<F>(std::forward<Args>(args)...), channel::system, 0);
  }
  /// Counted, and under the flow control of application messages.
  template <auto F, class... Args>
  void post_application_to_module(thread_context& thread, rank_id target, Args&&... args) {
    post_module_message(thread, target, detail::make_typed<F>(std::forward<Args>(args)...), channel::application, 0);
  }
  /// Counted, and on the channel where much data delays no other messages.
  template <auto F, class... Args>
  void post_bulk_to_module(thread_context& thread, rank_id target, Args&&... args) {
    post_module_message(thread, target, detail::make_typed<F>(std::forward<Args>(args)...), channel::bulk, 0);
  }
  /// The result of the call that `request` was; `reply` holds it.
  void post_reply(thread_context& thread, const message_header& request, message_ptr reply);
  /// A reply that says why there is no result. `type`: of the exception, if one was thrown.
  [[nodiscard]] static message_ptr make_failure(std::string_view name, std::string_view type);
  void post_failure(thread_context& thread, const message_header& request, std::string_view name,
                    std::string_view type = {});
  /// In place of a type where there is nobody to run the handler: the caller gets absent_error. No C++ type has it.
  static constexpr std::string_view type_of_absence = "no target";

  /// Inside the poll loop: flushes aggregators that have held messages for too long. Returns when it must be called
  /// again at the latest, in ticks from now; 0: no message is held.
  std::uint64_t flush_overdue(thread_context& thread);

  void deliver(thread_context& thread, message_list& arrived) override;
  void flush(thread_context& thread) override;
  void peer_failed(const transport::failure& failure) override;
  void escaped(thread_context& thread) override;
  bool idle() const override { return pool_.idle_workers() == pool_.workers(); }

  /// Runs the handler of a message and counts it done, unless it is a coroutine, which counts itself in the end.
  void run(thread_context& thread, message_ptr m, void* target);
  /// Runs the message's handler, which is `row` and fits the target, and counts as above.
  void run(thread_context& thread, const detail::handler_info& row, message_ptr m, void* target);
  /// Runs the handler, but leaves the message to the caller, for the next target, unless the handler has kept it. The
  /// caller counts it done. False: it has failed.
  bool run_and_leave(thread_context& thread, const detail::handler_info& row, message_ptr& m, void* target);
  /// Runs what a worker has taken out of `ordered_messages`: a bundle, or a single message.
  void run_taken(thread_context& thread, message_ptr m, ordered_messages& ordered_messages);
  void fail(const std::string& reason) { fail_(reason); }
  /// Fails because of a message that makes no sense.
  void refuse(const message& m, std::string_view reason);

 private:
  struct module {
    const void* key;
    void* target;
  };
  /// The messages for workers that have arrived from one rank.
  struct arrived {
    arrived(std::uint32_t rank, ordered_messages::first taken) noexcept : source(rank), messages(taken) {}
    [[nodiscard]] std::uint32_t key() const noexcept { return source; }
    const std::uint32_t source;
    ordered_messages messages;
  };
  void post_module_message(thread_context& thread, rank_id target, message_ptr m, channel channel, std::uint8_t flags);
  void dispatch(thread_context& thread, message_ptr m);
  void dispatch_bundle(thread_context& thread, message_ptr m);
  void make_ready(thread_context& thread, message_ptr m);
  void run_bundle(thread_context& thread, message_ptr m, ordered_messages& ordered_messages);
  void share_bundle(thread_context& thread, message& m, std::size_t offset, std::size_t bytes_min,
                    ordered_messages& ordered_messages);
  void dispatch_reply(thread_context& thread, message_ptr m);
  static void run_rank_message(work& item, thread_context& thread);
  void run_measured(thread_context& thread, message_ptr m);

  engine& core_;
  backplane& link_;
  worker_pool& pool_;
  const bool packs_all_;
  std::function<void(const std::string&)> fail_;
  const handler_table& table_;
  address_warnings address_warnings_;  // by handler
  object_sink* objects_ = nullptr;
  pending_calls calls_;
  nacre::cancellations cancellations_;
  std::vector<module> modules_;
  const ordered_messages::first taken_first_;  // of messages from another rank
  sparse_table<arrived> arrived_;              // by source
  std::unique_ptr<main_send_window> window_;
  std::vector<std::unique_ptr<aggregator>> aggregators_;  // by thread context; empty: everything leaves at once
  std::unique_ptr<main_aggregator> own_bundles_;          // null: each message of main is an item of its own
};

}  // namespace nacre
