// SPDX-License-Identifier: Apache-2.0
// The mobile objects of one rank: the directory, and the parts that send to them, run, move and end them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "mobile/access/handler_access.hpp"
#include "mobile/access/main_lock.hpp"
#include "mobile/access/message_waits.hpp"
#include "mobile/array/array_places.hpp"
#include "mobile/array/array_space.hpp"
#include "mobile/array/contributions.hpp"
#include "mobile/backlog/source_backlog.hpp"
#include "mobile/colocate/colocation_space.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/location/location_updates.hpp"
#include "mobile/location/message_forwarding.hpp"
#include "mobile/location/policies.hpp"
#include "mobile/migration/object_migration.hpp"
#include "mobile/object/balancer_view.hpp"
#include "mobile/object/delivery_errors.hpp"
#include "mobile/object/object_activation.hpp"
#include "mobile/object/object_bundles.hpp"
#include "mobile/object/object_ends.hpp"
#include "mobile/object/object_sender.hpp"
#include "mobile/object/own_messages.hpp"
#include "mobile/object/traffic_counter.hpp"

namespace nacre {

/// The mobile object layer (Clam section 3.1, PREMA sections 3 and 4.1.2): the directory of a rank, sending, and the
/// parts. Each part owns its state; it reaches the others through here.
///
/// | part | does |
/// |---|---|
/// | sender | sends messages of this rank to objects |
/// | activation | runs the messages of an object that is here, one step at a time |
/// | bundles | many short messages that have arrived together |
/// | access, locks | how handlers, and main, take and keep access to an object |
/// | waits | messages that an object keeps for its coroutine handlers |
/// | migration, ends | an object leaves, arrives, ends |
/// | forwarding, updates | the way of messages to an object elsewhere, and news of its location |
/// | backlog, own | messages that wait at their source |
/// | arrays, places | arrays: messages to all elements; places with and without an element |
/// | contributed | reductions that elements of arrays start |
/// | colocations | objects brought to one rank, and a function on them |
/// | loads, traffic | how balancers see the objects |
/// | errors | messages that cannot be delivered |
///
/// Order: every rank numbers its messages to an object (streams.hpp). Location: a rank knows locations with epochs
/// (location.hpp), which a policy keeps fresh. A message that has been forwarded `hops_max` times goes to the object's
/// home; every rank where the object arrives tells the home.
class object_space final : public object_sink {
 public:
  struct options {
    std::uint32_t hops_max = 8;
    bool check_serialization = false;  ///< pack and unpack every object when an exclusive access to it has ended
    location_policy location = location_policy::jump_update;  ///< of objects that name none
    std::size_t forwarding_max = 65536;                       ///< entries that the rank keeps only to forward by
    std::shared_ptr<const home_table> homes{};                ///< null: births
  };
  /// Returns the object space of the rank that owns this thread context.
  [[nodiscard]] static object_space& on_thread(thread_context& thread) noexcept {
    return static_cast<object_space&>(thread.messages().objects());
  }

  object_space(am_engine& messages, const options& limits);
  ~object_space();

  /// Makes this rank the home of an object. Takes ownership, even when a function of the object's class throws.
  /// `wanted`: the location policy of the object; of_program stands for the policy of its type or of the program.
  [[nodiscard]] object_id adopt(thread_context& thread, const detail::object_type& type, void* object,
                                location_policy wanted = location_policy::of_program);
  object_entry& install_new(thread_context& thread, object_id id, object_state state);
  /// The last number of an object that this rank has made: further ones are numbered behind it.
  [[nodiscard]] std::atomic<std::uint64_t>& last_index() noexcept { return last_index_; }
  void accept(thread_context& thread, message_ptr m) override {
    if (!bundles_.takes_behind(thread, m)) accept(thread, std::move(m), false);
  }
  void accept_bundle(thread_context& thread, message_ptr m) override { bundles_.accept(thread, std::move(m)); }
  void prefetch(const message* first) const noexcept override;
  /// `by_handler`: a handler of this rank has sent the message.
  void accept(thread_context& thread, message_ptr m, bool by_handler);
  /// Puts a message into the inbox of an entry, and makes the entry ready if it was idle.
  void push(object_entry& entry, thread_context& thread, message_ptr m, bool by_handler = false);
  [[nodiscard]] bool is_local(thread_context& thread, object_id object) noexcept;
  /// Objects that this rank knows of, here or elsewhere.
  [[nodiscard]] std::size_t known() const noexcept { return entries_.size(); }
  void coroutine_ended(thread_context& thread, const message_header& request, const detail::handler_info& handler,
                       double seconds) override;
  /// The runner of an object's activation; see scheduler_site::readable.
  [[nodiscard]] static work::runner activator() noexcept { return &object_activation::activate_work; }

  [[nodiscard]] am_engine& messages() const noexcept { return messages_; }
  [[nodiscard]] nacre::homes& homes() noexcept { return homes_; }
  /// Whether this rank is the home of an object.
  [[nodiscard]] bool is_home_of(object_id id) const noexcept { return homes_.home_of(id) == messages_.rank(); }
  [[nodiscard]] directory& entries() noexcept { return entries_; }
  [[nodiscard]] const directory& entries() const noexcept { return entries_; }
  [[nodiscard]] const location_rules& rules() const noexcept { return rules_; }

  [[nodiscard]] object_sender& sender() noexcept { return sender_; }
  [[nodiscard]] object_activation& activation() noexcept { return activation_; }
  [[nodiscard]] object_bundles& bundles() noexcept { return bundles_; }
  [[nodiscard]] handler_access& access() noexcept { return access_; }
  [[nodiscard]] message_waits& waits() noexcept { return waits_; }
  [[nodiscard]] main_lock& locks() noexcept { return locks_; }
  [[nodiscard]] object_migration& migration() noexcept { return migration_; }
  [[nodiscard]] object_ends& ends() noexcept { return ends_; }
  [[nodiscard]] message_forwarding& forwarding() noexcept { return forwarding_; }
  [[nodiscard]] location_updates& updates() noexcept { return updates_; }
  [[nodiscard]] source_backlog& backlog() noexcept { return backlog_; }
  [[nodiscard]] own_messages& own() noexcept { return own_; }
  [[nodiscard]] array_space& arrays() noexcept { return arrays_; }
  [[nodiscard]] array_places& places() noexcept { return places_; }
  [[nodiscard]] contributions& contributed() noexcept { return contributed_; }
  [[nodiscard]] colocation_space& colocations() noexcept { return colocations_; }
  [[nodiscard]] balancer_view& loads() noexcept { return loads_; }
  [[nodiscard]] traffic_counter& traffic() noexcept { return traffic_; }
  [[nodiscard]] delivery_errors& errors() noexcept { return errors_; }

 private:
  am_engine& messages_;
  nacre::homes homes_;
  location_rules rules_;
  directory entries_;
  object_sender sender_;
  object_activation activation_;
  object_bundles bundles_;
  handler_access access_;
  message_waits waits_;
  main_lock locks_;
  object_migration migration_;
  object_ends ends_;
  message_forwarding forwarding_;
  location_updates updates_;
  source_backlog backlog_;
  own_messages own_;
  array_space arrays_;
  array_places places_;
  contributions contributed_;
  colocation_space colocations_;
  balancer_view loads_;
  traffic_counter traffic_;
  delivery_errors errors_;
  std::atomic<std::uint64_t> last_index_{0};  // of objects with their home here
};

}  // namespace nacre
