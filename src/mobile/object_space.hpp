// SPDX-License-Identifier: Apache-2.0
// The mobile objects of one rank: makes the parts, and connects them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <nacre/runtime.hpp>

#include "am/am_engine.hpp"
#include "mobile/array/array_table.hpp"
#include "mobile/backlog/source_backlog.hpp"
#include "mobile/colocate/colocations.hpp"
#include "mobile/colocate/main_lock.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/directory/location_rules.hpp"
#include "mobile/elements/array_lifetime.hpp"
#include "mobile/elements/broadcasts.hpp"
#include "mobile/elements/contributions.hpp"
#include "mobile/elements/place_messages.hpp"
#include "mobile/elements/place_rows.hpp"
#include "mobile/image/object_images.hpp"
#include "mobile/life/arrivals.hpp"
#include "mobile/life/departures.hpp"
#include "mobile/life/object_ends.hpp"
#include "mobile/location/entry_review.hpp"
#include "mobile/location/location_updates.hpp"
#include "mobile/location/next_hop.hpp"
#include "mobile/object/balancer_view.hpp"
#include "mobile/object/delivery_errors.hpp"
#include "mobile/object/entry_access.hpp"
#include "mobile/object/message_table.hpp"
#include "mobile/object/message_waits.hpp"
#include "mobile/object/move_requests.hpp"
#include "mobile/object/object_activation.hpp"
#include "mobile/object/object_creation.hpp"
#include "mobile/object/send_entries.hpp"
#include "mobile/object/step_clock.hpp"
#include "mobile/object/traffic_counter.hpp"
#include "mobile/object/waiting_report.hpp"
#include "mobile/outgoing/incoming.hpp"
#include "mobile/outgoing/local_delivery.hpp"
#include "mobile/outgoing/message_forwarding.hpp"
#include "mobile/outgoing/object_bundles.hpp"
#include "mobile/outgoing/object_sender.hpp"

namespace nacre {

/// The mobile object layer (Clam section 3.1, PREMA sections 3 and 4.1.2). Each part owns its state, and takes the
/// parts that it uses, which stand before it here; what a lower part asks of a higher one stands in the message table.
///
/// | part | does |
/// |---|---|
/// | entries, homes, rules, arrays | what the rank knows: objects, their homes, location policies, arrays |
/// | table | which part does what with a message |
/// | activation | runs the messages of an object that is here, one step at a time |
/// | access, waits, clock | how handlers have their object, messages that coroutines await, what messages cost |
/// | numbers, creation | entries and numbers for sending; new objects |
/// | view, requests, traffic | how balancers see the objects, and ask them to move |
/// | errors | messages that cannot be delivered |
/// | hop, review, updates | where objects are believed to be, and news of it |
/// | backlog | messages that wait at their source |
/// | forwarding, arriving, bundles, local, sender | the way of a message to its object |
/// | departing, landing, ends | an object leaves, comes, ends |
/// | all_elements, contributed, places, lifetime | messages to all elements, reductions that they start, their places |
/// | locks, colocated | access of main; objects brought to one rank, and a function on them |
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

  object_space(am_engine& messages, const options& limits);
  ~object_space();

  void accept(thread_context& thread, message_ptr m) override {
    if (!bundles_.enqueue_behind(thread, m)) arriving_.accept(thread, std::move(m));
  }
  void accept_own(thread_context& thread, message_ptr m) override { arriving_.accept(thread, std::move(m), true); }
  void accept_bundle(thread_context& thread, message_ptr m) override { bundles_.accept(thread, std::move(m)); }
  void prefetch(const message* first) const noexcept override { arriving_.prefetch(first); }
  void coroutine_ended(thread_context& thread, const message_header& request, const detail::handler_info& handler,
                       double seconds) override {
    activation_.end_coroutine(thread, request, handler, seconds);
  }

  [[nodiscard]] bool is_local(thread_context& thread, object_id object) const noexcept;
  /// Objects that this rank knows of, here or elsewhere.
  [[nodiscard]] std::size_t known() const noexcept { return entries_.size(); }
  /// The runner of an object's activation; see scheduler_site::readable.
  [[nodiscard]] static work::runner activator() noexcept { return &object_activation::activate_work; }
  /// Takes images of the objects of this rank, and makes them from one.
  [[nodiscard]] object_images images(thread_context& thread) noexcept;

  // For the public interface, the engine and balancers.
  [[nodiscard]] nacre::homes& homes() noexcept { return homes_; }
  [[nodiscard]] directory& entries() noexcept { return entries_; }
  [[nodiscard]] array_table& arrays() noexcept { return arrays_; }
  [[nodiscard]] step_clock& clock() noexcept { return clock_; }
  [[nodiscard]] message_waits& waits() noexcept { return waits_; }
  [[nodiscard]] balancer_view& view() noexcept { return view_; }
  [[nodiscard]] object_activation& activation() noexcept { return activation_; }
  [[nodiscard]] send_entries& numbers() noexcept { return numbers_; }
  [[nodiscard]] object_creation& creation() noexcept { return creation_; }
  [[nodiscard]] move_requests& requests() noexcept { return requests_; }
  [[nodiscard]] traffic_counter& traffic() noexcept { return traffic_; }
  [[nodiscard]] const waiting_report& waiting() const noexcept { return waiting_; }
  [[nodiscard]] delivery_errors& errors() noexcept { return errors_; }
  [[nodiscard]] location_updates& updates() noexcept { return updates_; }
  [[nodiscard]] source_backlog& backlog() noexcept { return backlog_; }
  [[nodiscard]] message_forwarding& forwarding() noexcept { return forwarding_; }
  [[nodiscard]] object_bundles& bundles() noexcept { return bundles_; }
  [[nodiscard]] local_delivery& local() noexcept { return local_; }
  [[nodiscard]] object_sender& sender() noexcept { return sender_; }
  [[nodiscard]] departures& departing() noexcept { return departing_; }
  [[nodiscard]] broadcasts& all_elements() noexcept { return all_elements_; }
  [[nodiscard]] contributions& contributed() noexcept { return contributed_; }
  [[nodiscard]] array_lifetime& lifetime() noexcept { return lifetime_; }
  [[nodiscard]] main_lock& locks() noexcept { return locks_; }
  [[nodiscard]] colocations& colocated() noexcept { return colocated_; }

 private:
  am_engine& messages_;
  nacre::homes homes_;
  location_rules rules_;
  directory entries_;
  array_table arrays_;
  message_table table_;
  step_clock clock_;
  entry_access access_;
  message_waits waits_;
  balancer_view view_;
  object_activation activation_;
  send_entries numbers_;
  object_creation creation_;
  move_requests requests_;
  traffic_counter traffic_;
  waiting_report waiting_;
  delivery_errors errors_;
  next_hop hop_;
  entry_review review_;
  location_updates updates_;
  source_backlog backlog_;
  message_forwarding forwarding_;
  incoming arriving_;
  object_bundles bundles_;
  local_delivery local_;
  object_sender sender_;
  departures departing_;
  arrivals landing_;
  object_ends ends_;
  place_messages place_messages_;
  broadcasts all_elements_;
  contributions contributed_;
  place_rows places_;
  array_lifetime lifetime_;
  main_lock locks_;
  colocations colocated_;
};

}  // namespace nacre
