// SPDX-License-Identifier: Apache-2.0
// One object as one rank knows it: where it is, and, while it is here, the object with all that waits for it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <nacre/location.hpp>
#include <nacre/object_type.hpp>
#include <nacre/work.hpp>

#include "base/cache_line.hpp"
#include "mobile/entry/access_gate.hpp"
#include "mobile/entry/backpressure_queue.hpp"
#include "mobile/entry/compact_estimate.hpp"
#include "mobile/entry/inbox.hpp"
#include "mobile/entry/kept_messages.hpp"
#include "mobile/entry/location.hpp"
#include "mobile/entry/participation.hpp"
#include "mobile/entry/source_windows.hpp"
#include "mobile/entry/subscribers.hpp"
#include "mobile/entry/traffic_sketch.hpp"
#include "mobile/ordering/streams.hpp"

namespace nacre {

/// All that moves when an object moves. It owns the object.
struct object_state {
  void* object = nullptr;
  const detail::object_type* type = nullptr;
  std::uint32_t epoch = 1;
  location_policy policy = location_policy::of_program;  ///< never of_program once the object has been adopted
  double pace = 0;  ///< how much longer its messages take than those of others to the same handlers; 0: not known
  streams order;
  message_list pending;                        ///< in sequence, not run yet
  std::unique_ptr<participation> colocations;  ///< null while it takes part in no colocation
  std::unique_ptr<subscribers> listeners;      ///< null while there are none
  std::unique_ptr<source_windows> windows;     ///< null while no messages wait at their sources
  traffic_sketch traffic;                      ///< empty while traffic is not counted
  std::unique_ptr<kept_messages> kept;         ///< null while the object keeps none
  std::uint32_t contributed = 0;  ///< messages with values that an element has sent (elements/contributions.hpp)

  object_state() = default;
  object_state(object_state&& other) noexcept
      : object(std::exchange(other.object, nullptr)),
        type(other.type),
        epoch(other.epoch),
        policy(other.policy),
        pace(other.pace),
        order(std::move(other.order)),
        pending(std::move(other.pending)),
        colocations(std::move(other.colocations)),
        listeners(std::move(other.listeners)),
        windows(std::move(other.windows)),
        traffic(other.traffic),
        kept(std::move(other.kept)),
        contributed(other.contributed) {}
  object_state& operator=(object_state&&) = delete;
  ~object_state() {
    if (object != nullptr) type->destroy(object);
  }
};

/// Whether an object that a balancer wants elsewhere leaves in any case, or if the work that waits for it then is worth
/// the migration of its bytes.
enum class wish_kind : std::uint8_t { always, if_worth };

/// The part of an entry that few objects need: those that are busy, wanted elsewhere, used by several ranks, or that
/// declare a load. It is made when first needed, and given up when the object leaves.
struct object_entry_extra {
  explicit object_entry_extra(void* bytes) noexcept : object(bytes) {}
  object_entry_extra(const object_entry_extra&) = delete;
  object_entry_extra& operator=(const object_entry_extra&) = delete;
  ~object_entry_extra() {
    delete traffic.load(std::memory_order_relaxed);  // no other thread can reach it any more
    if (backpressure_queue* const last = backpressure.load(std::memory_order_relaxed); last != nullptr)
      last->release_reference();
  }
  /// Whether nothing waits here, and nobody waits for the object. The activation.
  [[nodiscard]] bool only_has_streams() const noexcept {
    // A balancer's wish that comes later keeps the activation from finishing: see inbox::claim_any.
    return pending.empty() && colocations == nullptr && windows == nullptr && kept == nullptr &&
           wanted_by.load(std::memory_order_relaxed) == nobody;
  }
  /// Any thread while the object is here; the first caller makes it.
  [[nodiscard]] shared_traffic& need_traffic();
  /// Any thread while the object is here; the first caller makes it.
  [[nodiscard]] backpressure_queue& need_backpressure(work::runner function, void* owner);

  void note_packed_bytes(std::size_t bytes) noexcept {
    packed_bytes.store(static_cast<std::uint32_t>(std::min<std::size_t>(bytes, ~std::uint32_t{0})),
                       std::memory_order_relaxed);
  }
  /// The object has run, and may have become smaller: what is known of its size counts less and less, until a balancer
  /// wants the object and its size is determined again. The activation.
  void forget_some_bytes() noexcept {
    constexpr std::uint32_t part = 16;
    const std::uint32_t known = packed_bytes.load(std::memory_order_relaxed);
    if (known != 0) packed_bytes.store(known - std::max(known / part, 1U), std::memory_order_relaxed);
  }

  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  std::atomic<void*> object;  ///< moved here from the entry; written by the activation
  message_list pending;       ///< in sequence, not run yet; the activation's, which takes them out during a step
  streams order;              ///< the activation's; empty while the entry's lone stream is enough
  std::unique_ptr<participation> colocations;        ///< the activation's, or the holding colocation's
  std::unique_ptr<subscribers> listeners;            ///< null while there are none; the activation's
  std::unique_ptr<source_windows> windows;           ///< null while no messages wait at their sources; the activation's
  std::unique_ptr<kept_messages> kept;               ///< null while it has kept none; of the activation, or of the
                                                     ///< coroutine that has it
  bool may_wait_to_be_kept = true;                   ///< messages to keep may be among the pending; the activation's
  std::uint32_t ran = 0;                             ///< messages run since the object came or this was made; the
                                                     ///< activation's
  std::uint32_t wish_waits = 0;                      ///< steps in which a balancer's wish has waited; the activation's
  std::atomic<std::uint32_t> contributed{0};         ///< see object_state; counted by handlers on the object
  std::atomic<std::uint32_t> wanted_by{nobody};      ///< a balancer's request: a rank; the activation fulfils it
  std::atomic<wish_kind> wanted{wish_kind::always};  ///< of that request
  std::atomic<shared_traffic*> traffic{nullptr};     ///< null while not counted; made by handlers, see need_traffic
  std::atomic<backpressure_queue*> backpressure{
      nullptr};  ///< made by threads under backpressure, see need_backpressure
  // For balancers; written by the activation, read by the poll loop as estimates.
  std::atomic<std::uint32_t> pending_estimate{0};
  std::atomic<double> pending_seconds{0};      ///< that these messages will take at a pace of 1
  std::atomic<bool> stays{false};              ///< it refuses to move
  std::atomic<std::uint32_t> packed_bytes{0};  ///< of a large object that has come or was not worth its migration; 0:
                                               ///< not known
  std::atomic<double> declared_load{0};
  std::atomic<double> declared_cost{0};  ///< seconds that the class adds to those of a migration
  std::uint32_t index_place = 0;         ///< position in load_index, which writes it
  std::atomic<double> indexed{0};        ///< the load under which load_index has it, 0: not in it; load_index writes it
  std::atomic<double> priority{0};  ///< for schedulers; written by the activation, read by the thread that makes it
                                    ///< ready
};

/// A row of the directory: one cache line. An entry is itself the work item that a scheduler orders; running it
/// processes the inbox. Members that are not atomic belong to the activation (inbox.hpp); atomic ones name the threads
/// that use them.
class alignas(cache_line_bytes) object_entry final : public work {
 public:
  object_entry(object_id named, known_location first, runner activate, inbox::first state = inbox::first::idle) noexcept
      : work(activate), id(named), arrivals(state), location(first) {}
  object_entry(const object_entry&) = delete;
  object_entry& operator=(const object_entry&) = delete;
  ~object_entry();
  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory) noexcept;

  const object_id id;
  inbox arrivals;            // any thread pushes
  shared_location location;  // any thread reads; while the object is here, its epoch and policy are the object's

  /// The object; null while it is elsewhere. Only the holder of the activation and running handlers may use it; any
  /// thread that is a reader of the directory may compare it with null.
  [[nodiscard]] void* object() const noexcept {
    const std::uintptr_t known = body_.load(std::memory_order_acquire);  // pairs with need_extra
    if ((known & is_extra) == 0) return reinterpret_cast<void*>(known);
    return extra_in(known)->object.load(std::memory_order_acquire);  // pairs with set_object
  }
  /// For the holder of the activation while no handler runs.
  void set_object(void* object) noexcept;
  /// Null until something needs it. Threads that are readers of the directory; it goes when the object leaves.
  [[nodiscard]] object_entry_extra* extra() const noexcept {
    const std::uintptr_t known = body_.load(std::memory_order_acquire);  // pairs with need_extra
    return (known & is_extra) != 0 ? extra_in(known) : nullptr;
  }
  object_entry_extra& need_extra();
  /// Prefetches the object, or the extra, which an activation will need soon. Any thread; relaxed: nothing is read.
  void prefetch_object() const noexcept {
    __builtin_prefetch(reinterpret_cast<void*>(body_.load(std::memory_order_relaxed) & ~is_extra), 1);
  }

  /// Takes the object's state out, without the pending messages of the step. The activation.
  [[nodiscard]] object_state take_state() noexcept;
  /// Puts an object's state in; `state.pending` stays with the caller. The activation.
  void put_state(object_state& state);
  /// All streams of the object, which replace its lone one, if there is one. The activation.
  [[nodiscard]] streams& all_streams();
  /// Gives up the extra of an object that has left; null when there is none. The caller retires it.
  [[nodiscard]] object_entry_extra* drop_extra() noexcept;

 private:
  static constexpr std::uintptr_t is_extra = 1;
  [[nodiscard]] static object_entry_extra* extra_in(std::uintptr_t state) noexcept {
    return reinterpret_cast<object_entry_extra*>(state & ~is_extra);
  }
  std::atomic<std::uintptr_t> body_{0};  // the object, or the extra, which has it; any thread may make the extra

 public:
  std::uint16_t type = 0;          // number of the object's type while it is here
  compact_estimate inbox_seconds;  // that the messages in the inbox will take at a pace of 1; see handler_costs
  std::atomic<std::uint32_t> next_sequence{0};  // any sending thread numbers its message here
  access_gate gate;                             // threads that run shared handlers leave here
  lone_stream order;                            // empty once the extra has streams
  compact_estimate pace;                        // as in the object's state; the poll loop reads it

  /// A coroutine handler with exclusive access. `inline_` until its first call returns; then the activation and the end
  /// of the coroutine each do an exchange, and the later one lets the activation go on. `parked`: the coroutine began
  /// to wait for a message of its object before the activation did its exchange, so the activation may go on.
  enum class coroutine : std::uint8_t { none, inline_, suspended, ended, parked };
  std::atomic<coroutine> exclusive_coroutine{coroutine::none};

  /// The directory holds one reference until no thread can find the entry, and each stale item in a scheduler holds
  /// one. A balancer that looks into a queue may still read an entry that has just been taken out of it; so the thread
  /// that took the item out releases the reference through reader reclamation, after all such looks are over.
  void release_reference() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /// False: the count is at its maximum. The caller knows of a reference that stays.
  [[nodiscard]] bool add_reference() noexcept {
    if (references_.load(std::memory_order_relaxed) >= references_max) return false;
    references_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

 private:
  static constexpr std::uint8_t references_max = 200;  // only the poll loop adds, so none slips by
  std::atomic<std::uint8_t> references_{1};
};
static_assert(sizeof(object_entry) == cache_line_bytes, "a program may have millions");

}  // namespace nacre
