// SPDX-License-Identifier: Apache-2.0
// The state that all endpoints of a simulated network share: the machine, the messages in flight, the inboxes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "machine/input_buffer.hpp"
#include "transport/sim/sim_copies.hpp"
#include "transport/sim/sim_fabric.hpp"

namespace nacre::transport {

/// Indices into the table of flights, linked first-in first-out.
struct flight_queue {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t first = none;
  std::uint32_t last = none;
  std::size_t count = 0;
};

/// The way of a message: `submit` puts it into the table of flights. Event `leave` hands it to the sending port, if its
/// sender was far ahead of the others by then. Where links have contention, it asks for each by an event `cross`. Event
/// `reach` lets its head into the receiving port. If the switch drops
/// it, event `retry` lets it in later, and those of its stream behind it. Event `complete` puts it into the inbox.
/// Where the input buffer is full it waits in `held_back` instead, and `submit` refuses messages of its sender to its
/// receiver meanwhile; event `admit` lets it into the inbox when `poll` has made room. `poll` takes it from the inbox
/// and out of the table. A message to the own rank waits in the rank's `loopback` queue instead, which keeps the order,
/// for one event `loop_back` for each `submit`.
struct sim_fabric::state {
  /// The fields of a message that events need, so that they need not touch the message.
  struct flight {
    message* carried = nullptr;  // owned; null: the entry is free
    rank_id source;
    rank_id target;
    std::uint64_t identity = 0;  // of the message, for the trace
    std::uint32_t bytes = 0;     // on the wire
    std::uint32_t next = flight_queue::none;
    bool idle = false;           // see sim_fabric::is_idle
    bool idle_unit = false;      // idle, but still a unit of quiescence
    bool datagram = false;       // may be lost, and keeps no order; `carried` is its bytes, with the label as object
    machine::message_way way{};  // where links have contention
  };
  enum class phase : std::uint8_t { absent, open, closed };
  struct simulated_rank {
    flight_queue inbox;
    flight_queue loopback;
    std::int64_t own_arrives_ns = 0;  // of the youngest message in `loopback`
    std::int64_t tail_leaves_ns = 0;  // of the youngest message to others
    sim_endpoint::hook arrived = nullptr;
    void* subject = nullptr;
    phase now = phase::absent;
    std::uint32_t datagrams_under_way = 0;  // sent by it
    rank_traffic traffic;
  };

  state(std::uint32_t count, const sim_options& options);
  ~state();
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  /// Leaves the messages in `batch` while the target's input buffer holds back others of the source.
  void submit_remote(rank_id source, rank_id target, message_list& batch);
  void submit_own(rank_id rank, message_list& batch);
  /// A datagram to another rank. False: too many of its sender are under way.
  [[nodiscard]] bool submit_datagram(rank_id source, rank_id target, message_ptr carried);
  /// The oldest message or datagram of the inbox, which must not be empty; spends the receive overhead.
  struct receipt {
    message_ptr carried;
    rank_id source;
    bool datagram = false;
  };
  [[nodiscard]] receipt receive(rank_id rank);
  /// Drops the messages in the inbox, and all that still arrive.
  void close(rank_id rank) noexcept;

  /// Ends the job where that is too late for a departure.
  void expect_time_left(rank_id source) const {
    if (clock.now() > machine::network::latest && time_ended != nullptr) time_ended(source);
  }
  /// Hands a transfer to the port of its sender.
  [[nodiscard]] machine::departure send_off(const machine::transfer& sent);
  /// The head of a transfer asks for its next link.
  [[nodiscard]] machine::network::crossing take_link(const machine::transfer& sent, machine::message_way& way);

  void note_idle(handler_id handler) {
    if (handler.value() >= idle_handlers_.size()) idle_handlers_.resize(handler.value() + std::size_t{1});
    idle_handlers_[handler.value()] = true;
  }
  /// See sim_fabric.
  [[nodiscard]] bool is_idle(const message_header& header) const noexcept;

  [[nodiscard]] simulated_rank& at(rank_id rank) noexcept { return simulated_ranks[rank.value()]; }

  machine::simulation clock;
  machine::network net;
  std::vector<rank_id> ranks;
  std::vector<simulated_rank> simulated_ranks;
  network_traffic traffic;
  std::uint64_t effects_in_flight = 0;  // flights that are not idle, until they are handed out
  std::uint64_t refused_senders = 0;    // pairs of ranks: `submit` has refused messages, and has taken none since
  std::uint64_t idle_units_in_flight = 0;
  sim_copies copies;
  void (*time_ended)(rank_id source) = nullptr;  // see set_end_of_time

 private:
  /// Messages of one rank to one rank on one channel that leave by events of their own, in the order of submission.
  struct late_stream {
    std::chrono::nanoseconds leaves{0};  // the youngest of them
    std::uint32_t messages = 0;
  };

  /// The input buffer of one rank.
  struct buffered_input {
    machine::input_buffer input;  // of bytes from other hosts in `inbox`
    flight_queue held_back;
    bool admits = false;  // an event `admit` is to come
  };
  /// Of one rank to one rank: messages that the input buffer holds back, and whether others have been refused.
  struct held_pair {
    std::uint32_t messages = 0;
    bool refused = false;
  };

  static void leave(void* self, std::uint64_t flight_index);
  static void cross(void* self, std::uint64_t flight_index);
  static void reach(void* self, std::uint64_t flight_index);
  static void retry(void* self, std::uint64_t stream);
  static void complete(void* self, std::uint64_t flight_index);
  static void admit(void* self, std::uint64_t rank);
  static void loop_back(void* self, std::uint64_t rank_and_count);

  void land(std::uint32_t index);
  [[nodiscard]] bool needs_room(const flight& flight) const noexcept {
    return net.options().input_buffer != 0 && net.host_of(flight.source) != net.host_of(flight.target);
  }
  [[nodiscard]] bool refuses(rank_id source, rank_id target);
  void hold_back(std::uint32_t index);
  void let_in(std::uint32_t index);
  void lose(std::uint32_t index);
  [[nodiscard]] bool leaves_later(std::uint32_t index, channel on_channel);
  void depart(std::uint32_t index, channel on_channel);
  [[nodiscard]] std::uint32_t begin_flight(message_ptr carried, rank_id source, rank_id target);
  [[nodiscard]] message_ptr end_flight(std::uint32_t index) noexcept;
  void push(flight_queue& queue, std::uint32_t index) noexcept;
  [[nodiscard]] std::uint32_t pop(flight_queue& queue) noexcept;
  void deliver(std::uint32_t index);

  std::vector<flight> flights_;
  std::vector<buffered_input> inputs_;  // by rank; empty where input buffers have no limit
  std::uint32_t free_ = flight_queue::none;
  std::vector<bool> idle_handlers_;                                               // by number
  std::unordered_map<std::uint64_t, held_pair> held_pairs_;                       // by source and target
  std::unordered_map<std::uint64_t, late_stream> late_streams_;                   // by stream_of
  std::unordered_map<std::uint64_t, std::deque<std::uint32_t>> dropped_streams_;  // by stream_of; what is sent again
};

}  // namespace nacre::transport
