// SPDX-License-Identifier: Apache-2.0
// One object as one rank knows it: where it is, and, while it is here, the object with all that waits for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <nacre/mobile_ptr.hpp>
#include <nacre/work.hpp>

#include "base/cache_line.hpp"
#include "mobile/access/access_gate.hpp"
#include "mobile/location/fact.hpp"
#include "mobile/object/inbox.hpp"
#include "mobile/ordering/streams.hpp"

namespace nacre {

/// What moves when an object moves. Owned by the entry's activation, or by the arrival message on its way.
struct resident {
  void* object = nullptr;
  const detail::object_type* type = nullptr;
  std::uint32_t epoch = 1;
  streams order;
  message_list pending;      ///< in sequence, not run yet
  double handler_seconds = 0;  ///< moving average of what one message costs

  resident() = default;
  resident(const resident&) = delete;
  resident& operator=(const resident&) = delete;
  ~resident() {
    if (object != nullptr) type->destroy(object);
  }
};

/// A row of the directory. Being work, it is the ticket that a scheduler orders: running it processes the inbox.
/// What is not atomic belongs to the activation (inbox.hpp); atomics name who else touches them.
class alignas(cache_line_bytes) entry final : public work {
 public:
  entry(object_id named, location_fact first, runner activate) noexcept : work(activate), id(named), fact(first) {}

  const object_id id;
  inbox arrivals;                             // any lane pushes
  shared_fact fact;                           // any lane reads
  std::atomic<std::uint32_t> next_sequence{0};  // any lane that sends numbers its message here
  access_gate gate;                           // lanes that run shared handlers leave here
  std::atomic<std::uint32_t> wanted_by{nobody};  // a balancer's wish, a rank number; the activation fulfils it

  /// A coroutine handler with exclusive access. `inline_` until its first call returns; the exchange of activation and end
  /// decides who lets the activation go on.
  enum class coroutine : std::uint8_t { none, inline_, suspended, ended };
  std::atomic<coroutine> exclusive_coroutine{coroutine::none};

  std::unique_ptr<resident> body;  // null while the object is elsewhere

  // For balancers; written by the activation, read by the poll loop as estimates.
  std::atomic<std::uint32_t> pending_estimate{0};
  std::atomic<double> declared_load{0};
  std::atomic<double> seconds_a_message{0};

  /// The directory holds one until no lane can find the entry; so does every ticket that a balancer has made stale.
  void release_reference() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }

  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

 private:
  std::atomic<std::uint32_t> references_{1};
};

}  // namespace nacre
