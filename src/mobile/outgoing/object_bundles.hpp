// SPDX-License-Identifier: Apache-2.0
// Bundles of messages to objects: short messages run where they lie, with no block and no item of work of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "am/am_engine.hpp"
#include "am/bundle.hpp"
#include "base/sparse_table.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/entry/inbox.hpp"
#include "mobile/entry/object_entry.hpp"
#include "mobile/object/entry_access.hpp"
#include "mobile/object/object_activation.hpp"
#include "mobile/object/step_clock.hpp"
#include "mobile/outgoing/incoming.hpp"

namespace nacre {

/// A message to an object costs a block, a place in an inbox, and an item of work, which together take several times as
/// long as a short handler. A bundle of messages to short handlers is one item instead; its runner takes the
/// activation of each object, runs the handler, and gives it back.
///
/// | a part | the runner |
/// |---|---|
/// | its object is idle, and the part needs only a plain handler | runs it here |
/// | its object is idle | makes a message of it, and runs a step of the object |
/// | any other | makes a message of it, and accepts that as if it had arrived alone |
///
/// The bundles of one rank run one after the other, so that no message overtakes another one and has to be set aside.
/// Bundles to handlers that are not known to be short are taken apart, so that other workers and balancers see each
/// message: at once if no bundle of that rank waits, else when they reach the front. The rest of a bundle that turns
/// out to be long is taken apart, too.
///
/// Main's short messages to objects of its own rank come in bundles as well; see main_aggregator.
class object_bundles {
 public:
  object_bundles(am_engine& messages, directory& entries, step_clock& clock, entry_access& access,
                 object_activation& activation, incoming& arrivals);

  /// A bundle has arrived; bundle::objects says so. Inside the poll loop.
  void accept(thread_context& thread, message_ptr m);
  /// Takes a message that has arrived alone, if bundles of its rank wait before it. Inside the poll loop.
  [[nodiscard]] bool enqueue_behind(thread_context& thread, message_ptr& m);

  /// Whether a message of main to an object that is here may go into a bundle. Any thread.
  [[nodiscard]] bool may_join_own(const message& m) const noexcept;
  /// The next bundle of the rank's own main, by one thread at a time; returns what to make ready, or null.
  [[nodiscard]] work* enqueue_main_bundle(message_ptr m) noexcept;
  /// Takes a message of main to an object that is here, which goes into no bundle, if bundles of main wait before it.
  /// The application's thread.
  [[nodiscard]] bool enqueue_main_behind(thread_context& main, message_ptr& m);

 private:
  /// The bundles of one rank. Running it runs them.
  struct arrived : work {
    arrived(object_bundles& owner, std::uint32_t rank) noexcept : work(&run_arrived), bundles(owner), source(rank) {}
    arrived(const arrived&) = delete;
    arrived& operator=(const arrived&) = delete;
    ~arrived() {  // the job has failed if messages are left
      if (arrivals.claim_any(rest) == inbox::begun::no) arrivals.take(rest);
    }
    [[nodiscard]] std::uint32_t key() const noexcept { return source; }
    [[nodiscard]] bool waits() const noexcept { return arrivals.waits() || arrivals.active(); }
    object_bundles& bundles;
    const std::uint32_t source;
    inbox arrivals;     // bundles, and messages that have come behind them
    message_list rest;  // taken out of arrivals; the activation's
  };
  struct slice;
  struct group;

  static void run_arrived(work& item, thread_context& thread);
  [[nodiscard]] bool is_long(std::uint32_t handler) const noexcept;
  [[nodiscard]] bool begins_long(const message& bundle) const noexcept;
  void take_apart(thread_context& thread, message_ptr m, std::size_t offset);
  void run_first(thread_context& thread, message_list& rest, slice& time);
  void run_group(thread_context& thread, group& parts, slice& time);
  void run_part(thread_context& thread, object_entry* entry, message& bundle, const bundle::part& part, slice& time);
  [[nodiscard]] const detail::handler_info* plain_handler(object_entry& entry, const message_header& header) const;
  void run_here(thread_context& thread, object_entry& entry, const detail::handler_info& row, const bundle::part& part,
                slice& time);

  am_engine& messages_;
  directory& entries_;
  step_clock& clock_;
  entry_access& access_;
  object_activation& activation_;
  incoming& incoming_;
  sparse_table<arrived> arrived_;  // by source
  arrived main_bundles_;           // of this rank's main
};

}  // namespace nacre
