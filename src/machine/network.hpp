// SPDX-License-Identifier: Apache-2.0
// The costs of a message on a simulated machine: when it leaves and arrives, and how long it occupies ports and ranks.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <nacre/emulated_machine.hpp>
#include <nacre/ids.hpp>
#include <nacre/message.hpp>
#include <nacre/rng.hpp>
#include "machine/host_links.hpp"
#include "machine/stream_order.hpp"
#include "machine/topology.hpp"

namespace nacre::machine {

/// The cost of a message between two ranks by LogGP (Alexandrov, Ionescu, Schauser and Scheiman, 1995), except that the
/// message occupies a port at the receiving end too.
struct link_model {
  std::chrono::nanoseconds latency{1500};          ///< L: from port to port, for the first byte; the minimum
  std::chrono::nanoseconds send_overhead{200};     ///< o of the sending processor, for each message
  std::chrono::nanoseconds receive_overhead{200};  ///< o of the receiving processor, for each message
  std::chrono::nanoseconds gap{50};                ///< g: a port rests that long after a message
  double bytes_per_second = 10e9;                  ///< 1/G: a port's bytes a second, at least 1e6; 0 is infinitely fast
  double jitter = 0.1;                             ///< latency is uniform in [L, L * (1 + jitter))
};

struct network_options {
  link_model remote;  ///< between ranks of different hosts
  link_model local{.latency = std::chrono::nanoseconds(300),
                   .send_overhead = std::chrono::nanoseconds(100),
                   .receive_overhead = std::chrono::nanoseconds(100),
                   .gap = std::chrono::nanoseconds(20),
                   .bytes_per_second = 20e9,
                   .jitter = 0.1};            ///< between ranks of one host
  std::uint32_t ranks_per_host = 1;           ///< rank r lives on host r / ranks_per_host
  topology_options wiring;                    ///< of the hosts
  std::chrono::nanoseconds hop_latency{100};  ///< added to a remote latency for each hop beyond the first
  std::chrono::nanoseconds poll{0};           ///< a processor's cost of each poll for messages, also when it finds none
  std::uint64_t switch_buffer = 0;            ///< bytes for each host in the switch before it; 0: no limit
  std::chrono::nanoseconds switch_retry{1'000'000};  ///< a message that the switch has dropped is sent again after that
  double late_probability = 0;         ///< probability that a message's latency is multiplied by late_factor
  double late_factor = 20;             ///< at least 1
  double loss_probability = 0;         ///< of a datagram of an extension module; messages are never lost
  std::vector<coordinates> missing{};  ///< nodes of the wiring's grid that do not exist; hosts live around them
  std::chrono::nanoseconds turn{0};    ///< added to a remote latency on a grid for each change of dimension
  /// The links of the wiring carry one message at a time. Without it only ports are busy.
  bool contention = false;
  double link_bytes_per_second = 0;  ///< of a link with contention; 0: as fast as a port
  std::uint64_t port_buffer = 0;     ///< bytes that wait at a host's port before its senders wait; 0: no limit
  std::uint64_t input_buffer = 0;    ///< bytes that wait at a rank to be taken in; 0: no limit
};

/// One message, or one datagram of an extension module, as the network sees it.
struct transfer {
  rank_id source;
  rank_id target;
  channel on_channel = channel::application;
  bool overtakes = false;   ///< it keeps no order with others: a datagram
  std::uint64_t bytes = 1;  ///< on the wire, header included; at least 1
};

/// The times at which a departed message leaves its sending port and reaches the receiving port.
struct departure {
  /// Its first byte reaches the receiving port: call arrive then. Between hosts, with contention, it asks for its first
  /// link: call cross then.
  std::chrono::nanoseconds head_arrives;
  std::chrono::nanoseconds tail_leaves;  ///< its last byte has left the sending port
  bool late = false;                     ///< a simulated fault has multiplied its latency
};

/// The ports and wires of a machine, as pure bookkeeping: it takes times and returns times. Each host has one port to
/// the network for each direction, which its ranks share; each rank has one for each direction to the other ranks of
/// its host. A port passes one message after the other, so messages from many ranks to one rank queue up at its port
/// (incast). Delivery is reliable; messages of one (source, target, channel) arrive in the order in which they
/// departed. Datagrams of extension modules keep no order, and may be lost.
/// Times are whole nanoseconds, rounded up; ports count in picoseconds, so that rounding does not add up. Two messages
/// are never complete at one port in the same nanosecond. The seed and the order of the calls decide every result.
/// Single-threaded.
class network {
 public:
  /// 100 days: the last time of a departure, which leaves room in 64 bits of picoseconds.
  static constexpr std::chrono::nanoseconds latest = std::chrono::hours(100 * 24);

  /// `ranks` is 1 to 2^24. Throws setup_error when the wiring does not fit the ranks. `chance` decides jitter and
  /// faults.
  network(const network_options& options, std::uint32_t ranks, rng chance);

  /// Returns the costs between two ranks. Between a rank and itself all costs are zero.
  [[nodiscard]] const link_model& link(rank_id source, rank_id target) const noexcept {
    if (source == target) return free_of_charge_;
    return host_of(source) == host_of(target) ? options_.local : options_.remote;
  }

  /// Hands a message to the port of its sender at `now`, the end of the send overhead. The port passes messages in the
  /// order of these calls. A message from a rank to itself arrives at `now`. Aborts beyond `latest`.
  [[nodiscard]] departure depart(const transfer& sent, std::chrono::nanoseconds now);

  /// Whether the wires lose the next datagram.
  [[nodiscard]] bool loses() noexcept {
    return options_.loss_probability > 0 && chance_.uniform() < options_.loss_probability;
  }

  /// How long a sender has to wait at `now` until its host's port takes one more message.
  [[nodiscard]] std::chrono::nanoseconds wait_for_port(rank_id source, rank_id target,
                                                       std::chrono::nanoseconds now) const;
  /// A message of so many bytes takes room at the port from `now` on, though it may be handed to it later. Only its
  /// sender waits for that: others may be at an earlier time.
  void book_port(rank_id source, rank_id target, std::uint64_t bytes, std::chrono::nanoseconds now);

  /// Whether a message between two ranks passes links one by one.
  [[nodiscard]] bool has_links(rank_id source, rank_id target) const noexcept {
    return options_.contention && host_of(source) != host_of(target);
  }
  [[nodiscard]] message_way first_link(rank_id source, rank_id target) const {
    return links_->first_of(host_of(source), host_of(target));
  }
  /// The head of a message asks for its next link at `now`. Callers make the calls in the order of their times.
  struct crossing {
    std::chrono::nanoseconds waited;  ///< for the link
    std::chrono::nanoseconds head;    ///< when it asks for the next one; where is_last: when to call arrive
    bool is_last = false;
  };
  [[nodiscard]] crossing cross(const transfer& sent, message_way& way, std::chrono::nanoseconds now);

  /// Lets a message into the port of its receiver at `now`, which is its head_arrives; returns the time at which its
  /// last byte is there. Callers make the calls in the order of their times. Not for messages from a rank to itself.
  [[nodiscard]] std::chrono::nanoseconds arrive(const transfer& received, std::chrono::nanoseconds now);

  /// Whether the switch has room for a message whose first byte reaches the receiving port at `now`: no more than its
  /// buffer waits there. The message itself takes no room: the port passes its bytes as fast as they come.
  [[nodiscard]] bool admits(const transfer& received, std::chrono::nanoseconds now) noexcept;

  [[nodiscard]] std::uint32_t host_of(rank_id rank) const noexcept { return rank.value() / options_.ranks_per_host; }
  [[nodiscard]] std::uint32_t ranks() const noexcept { return ranks_; }
  [[nodiscard]] const network_options& options() const noexcept { return options_; }
  /// Returns the least time between departure and arrival of a message to another rank.
  [[nodiscard]] std::chrono::nanoseconds latency_min() const noexcept;

 private:
  struct port {
    std::int64_t free_ps = 0;
    std::int64_t complete_ns = -1;  // of the message that passed last
  };
  /// When the port has passed all that one rank has given it without a pause, and when that began.
  struct booking {
    std::int64_t begin_ps = 0;
    std::int64_t end_ps = 0;
  };
  struct direction {
    std::vector<port> hosts;  // to other hosts
    std::vector<port> ranks;  // to other ranks of the host; empty when there are none
  };

  [[nodiscard]] bool bounds_port(rank_id source, rank_id target) const noexcept {
    return options_.port_buffer != 0 && options_.remote.bytes_per_second > 0 && host_of(source) != host_of(target);
  }
  [[nodiscard]] port& port_of(direction& side, const transfer& passed, rank_id end) noexcept;
  [[nodiscard]] std::uint32_t hops(const transfer& sent, std::int64_t& turns_ns) const;
  [[nodiscard]] std::int64_t flight_ns(const transfer& sent, const link_model& model, bool& late);

  network_options options_;
  link_model free_of_charge_;
  std::uint32_t ranks_;
  std::unique_ptr<const topology> wiring_;
  std::unique_ptr<host_links> links_;  // null where nodes are neither missing nor turns counted nor links busy
  direction out_;
  direction in_;
  std::vector<booking> bookings_;  // by rank; empty where ports are not bounded
  stream_order order_;
  std::int64_t present_ns_ = 0;  // time of the last `arrive`; no message that departs later reaches a port before it
  rng chance_;
};

}  // namespace nacre::machine
