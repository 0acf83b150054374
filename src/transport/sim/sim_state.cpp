// SPDX-License-Identifier: Apache-2.0
// The way of a message through the simulated network.
#include "transport/sim/sim_state.hpp"

#include <algorithm>
#include <utility>

#include <nacre/assert.hpp>

namespace nacre::transport {

namespace {

constexpr std::uint64_t network_stream = 3;  // of the seed; the simulation itself forks 1 and 2

[[nodiscard]] constexpr std::uint64_t joined(std::uint64_t high, std::uint64_t low) noexcept {
  return high << 32 | low;
}

/// So long after its activity's start that other ranks have done much meanwhile.
constexpr std::chrono::microseconds far_ahead{10};

constexpr std::uint32_t datagrams_max = 1024;  // of one sender, under way

[[nodiscard]] constexpr std::uint64_t stream_of(rank_id source, rank_id target, channel on_channel) noexcept {
  return joined(source.value(), target.value()) * channel_count + static_cast<std::uint64_t>(on_channel);
}

/// A hash that tells a message from others.
[[nodiscard]] std::uint64_t identity_of(const message_header& head) noexcept {
  std::uint64_t word = 0;
  for (const std::uint64_t part :
       {joined(static_cast<std::uint64_t>(head.kind) << 8 | static_cast<std::uint64_t>(head.channel), head.handler),
        head.object, joined(head.sequence, head.payload_bytes)}) {
    word = (word ^ part) * 0x9e3779b97f4a7c15U;
    word ^= word >> 32;
  }
  return word;
}

}  // namespace

sim_fabric::state::state(std::uint32_t count, const sim_options& options)
    : clock(options.machine),
      net(options.network, count, rng(options.machine.seed).fork(network_stream)),
      simulated_ranks(count),
      copies(*this, count),
      inputs_(options.network.input_buffer != 0 ? count : 0) {
  ranks.reserve(count);
  for (std::uint32_t rank = 0; rank < count; ++rank) ranks.emplace_back(rank);
}

sim_fabric::state::~state() {
  for (const flight& each : flights_) {
    if (each.carried != nullptr) release_message(each.carried);
  }
}

/// Whether messages of the source already wait for room in the target's input buffer, which then refuses further ones.
/// Notes the refusal.
bool sim_fabric::state::refuses(rank_id source, rank_id target) {
  if (held_pairs_.empty()) return false;
  const auto match = held_pairs_.find(joined(source.value(), target.value()));
  if (match == held_pairs_.end()) return false;
  if (match->second.messages != 0) {
    if (!std::exchange(match->second.refused, true)) ++refused_senders;
    return true;
  }
  --refused_senders;
  held_pairs_.erase(match);
  return false;
}

void sim_fabric::state::submit_remote(rank_id source, rank_id target, message_list& batch) {
  if (refuses(source, target)) return;
  simulated_rank& sender = at(source);
  const std::chrono::nanoseconds overhead = net.link(source, target).send_overhead;
  while (message_ptr next = batch.pop_front()) {
    clock.spend(overhead);
    expect_time_left(source);
    clock.spend(net.wait_for_port(source, target, clock.now()));
    const channel on_channel = next->header.channel;
    const std::uint32_t index = begin_flight(std::move(next), source, target);
    const std::uint32_t bytes = flights_[index].bytes;
    net.book_port(source, target, bytes, clock.now());
    sender.traffic.messages_sent += 1;
    sender.traffic.bytes_sent += bytes;
    traffic.messages += 1;
    traffic.bytes += bytes;
    if (!leaves_later(index, on_channel)) depart(index, on_channel);
  }
}

bool sim_fabric::state::submit_datagram(rank_id source, rank_id target, message_ptr carried) {
  simulated_rank& sender = at(source);
  clock.spend(net.link(source, target).send_overhead);
  if (sender.datagrams_under_way >= datagrams_max) return false;
  sender.datagrams_under_way += 1;
  const std::uint32_t index = begin_flight(std::move(carried), source, target);
  flights_[index].datagram = true;
  traffic.datagrams += 1;
  if (!leaves_later(index, channel::system)) depart(index, channel::system);
  return true;
}

/// Drops a datagram that the network has lost.
void sim_fabric::state::lose(std::uint32_t index) {
  traffic.datagrams_lost += 1;
  traffic.in_flight -= 1;
  const message_ptr lost = end_flight(index);
}

void sim_fabric::state::depart(std::uint32_t index, channel on_channel) {
  flight& leaving = flights_[index];
  const machine::departure way = send_off({.source = leaving.source,
                                           .target = leaving.target,
                                           .on_channel = on_channel,
                                           .overtakes = leaving.datagram,
                                           .bytes = leaving.bytes});
  at(leaving.source).tail_leaves_ns = way.tail_leaves.count();
  traffic.late += way.late ? 1 : 0;
  const bool over_links = net.has_links(leaving.source, leaving.target);
  if (over_links) leaving.way = net.first_link(leaving.source, leaving.target);
  clock.at(way.head_arrives, over_links ? &cross : &reach, this, index);
}

machine::departure sim_fabric::state::send_off(const machine::transfer& sent) {
  expect_time_left(sent.source);
  return net.depart(sent, clock.now());
}

machine::network::crossing sim_fabric::state::take_link(const machine::transfer& sent, machine::message_way& way) {
  const machine::network::crossing link = net.cross(sent, way, clock.now());
  traffic.link_waits += link.waited.count() != 0 ? 1 : 0;
  traffic.link_wait += link.waited;
  return link;
}

void sim_fabric::state::cross(void* self, std::uint64_t flight_index) {
  auto& shared = *static_cast<state*>(self);
  flight& passing = shared.flights_[static_cast<std::uint32_t>(flight_index)];
  const machine::transfer sent{.source = passing.source, .target = passing.target, .bytes = passing.bytes};
  const machine::network::crossing link = shared.take_link(sent, passing.way);
  shared.clock.at(link.head, link.is_last ? &reach : &cross, self, flight_index);
}

/// Whether the message leaves by an event of its own: its sender has worked for long before it, and messages that
/// others send meanwhile must not wait for that. Later messages of its stream stay behind it.
bool sim_fabric::state::leaves_later(std::uint32_t index, channel on_channel) {
  const std::chrono::nanoseconds now = clock.now();
  const bool far = now - clock.event_time() > far_ahead;
  if (!far && late_streams_.empty()) return false;
  const flight& leaving = flights_[index];
  const std::uint64_t stream = stream_of(leaving.source, leaving.target, on_channel);
  auto match = late_streams_.find(stream);
  if (match == late_streams_.end()) {
    if (!far) return false;
    match = late_streams_.emplace(stream, late_stream{}).first;
  }
  match->second.leaves = std::max(now, match->second.leaves + std::chrono::nanoseconds(1));
  match->second.messages += 1;
  simulated_rank& sender = at(leaving.source);
  sender.tail_leaves_ns = std::max(sender.tail_leaves_ns, match->second.leaves.count());
  clock.at(match->second.leaves, &leave, this, index);
  return true;
}

void sim_fabric::state::leave(void* self, std::uint64_t flight_index) {
  auto& shared = *static_cast<state*>(self);
  const auto index = static_cast<std::uint32_t>(flight_index);
  const flight& leaving = shared.flights_[index];
  const channel on_channel = leaving.carried->header.channel;
  const auto match = shared.late_streams_.find(stream_of(leaving.source, leaving.target, on_channel));
  if (--match->second.messages == 0) shared.late_streams_.erase(match);
  if (leaving.source != leaving.target) return shared.depart(index, on_channel);
  simulated_rank& receiver = shared.at(leaving.target);
  shared.deliver(index);
  if (receiver.arrived != nullptr) receiver.arrived(receiver.subject);
}

void sim_fabric::state::submit_own(rank_id rank, message_list& batch) {
  if (batch.empty()) return;
  simulated_rank& sender = at(rank);
  traffic.self_messages += batch.size();
  std::uint64_t count = 0;
  while (message_ptr next = batch.pop_front()) {
    const channel on_channel = next->header.channel;
    const std::uint32_t index = begin_flight(std::move(next), rank, rank);
    if (leaves_later(index, on_channel)) continue;
    push(sender.loopback, index);
    ++count;
  }
  if (count == 0) return;
  sender.own_arrives_ns = std::max(sender.own_arrives_ns, clock.now().count());
  clock.at(std::chrono::nanoseconds(sender.own_arrives_ns), &loop_back, this, joined(count, rank.value()));
}

sim_fabric::state::receipt sim_fabric::state::receive(rank_id rank) {
  const std::uint32_t index = pop(at(rank).inbox);
  const rank_id source = flights_[index].source;
  if (needs_room(flights_[index])) {
    buffered_input& receiver = inputs_[rank.value()];
    receiver.input.leave(flights_[index].bytes);
    if (!receiver.admits && receiver.input.admits(net.options().input_buffer)) {
      receiver.admits = true;
      clock.at(clock.now(), &admit, this, rank.value());
    }
  }
  clock.spend(net.link(source, rank).receive_overhead);
  const bool datagram = flights_[index].datagram;
  return {.carried = end_flight(index), .source = source, .datagram = datagram};
}

void sim_fabric::state::close(rank_id rank) noexcept {
  simulated_rank& closing = at(rank);
  closing.now = phase::closed;
  closing.arrived = nullptr;
  copies.close(rank);
  while (closing.inbox.count != 0) {
    const message_ptr unread = end_flight(pop(closing.inbox));
    traffic.dropped += 1;
  }
  if (inputs_.empty()) return;
  buffered_input& input = inputs_[rank.value()];
  if (input.held_back.count != 0 && !std::exchange(input.admits, true))
    clock.at(clock.now(), &admit, this, rank.value());
}

void sim_fabric::state::reach(void* self, std::uint64_t flight_index) {
  auto& shared = *static_cast<state*>(self);
  const auto index = static_cast<std::uint32_t>(flight_index);
  if (shared.flights_[index].datagram && shared.net.loses()) return shared.lose(index);
  if (shared.net.options().switch_buffer == 0) return shared.land(index);
  const flight& landing = shared.flights_[index];
  const machine::transfer passed{.source = landing.source, .target = landing.target, .bytes = landing.bytes};
  if (landing.datagram) return shared.net.admits(passed, shared.clock.now()) ? shared.land(index) : shared.lose(index);
  const std::uint64_t stream = stream_of(landing.source, landing.target, landing.carried->header.channel);
  const auto next = shared.dropped_streams_.find(stream);
  if (next != shared.dropped_streams_.end()) return next->second.push_back(index);
  if (shared.net.admits(passed, shared.clock.now())) return shared.land(index);
  shared.traffic.switch_drops += 1;
  shared.dropped_streams_[stream].push_back(index);
  shared.clock.at(shared.clock.now() + shared.net.options().switch_retry, &retry, self, stream);
}

void sim_fabric::state::land(std::uint32_t index) {
  const flight& landing = flights_[index];
  const machine::transfer passed{.source = landing.source, .target = landing.target, .bytes = landing.bytes};
  clock.at(net.arrive(passed, clock.now()), &complete, this, index);
}

void sim_fabric::state::retry(void* self, std::uint64_t stream) {
  auto& shared = *static_cast<state*>(self);
  std::deque<std::uint32_t>& waiting = shared.dropped_streams_[stream];
  while (!waiting.empty()) {
    const flight& landing = shared.flights_[waiting.front()];
    const machine::transfer passed{.source = landing.source, .target = landing.target, .bytes = landing.bytes};
    if (!shared.net.admits(passed, shared.clock.now())) {
      shared.traffic.switch_drops += 1;
      return shared.clock.at(shared.clock.now() + shared.net.options().switch_retry, &retry, self, stream);
    }
    shared.land(waiting.front());
    waiting.pop_front();
  }
  shared.dropped_streams_.erase(stream);
}

void sim_fabric::state::complete(void* self, std::uint64_t flight_index) {
  auto& shared = *static_cast<state*>(self);
  const auto index = static_cast<std::uint32_t>(flight_index);
  simulated_rank& receiver = shared.at(shared.flights_[index].target);
  receiver.traffic.messages_received += 1;
  receiver.traffic.bytes_received += shared.flights_[index].bytes;
  const bool is_closed =
      receiver.now != phase::closed && shared.needs_room(shared.flights_[index]) &&
      shared.inputs_[shared.flights_[index].target.value()].input.is_closed(shared.net.options().input_buffer);
  if (is_closed) return shared.hold_back(index);
  shared.deliver(index);
  if (receiver.arrived != nullptr) receiver.arrived(receiver.subject);
}

void sim_fabric::state::hold_back(std::uint32_t index) {
  const flight& held = flights_[index];
  buffered_input& receiver = inputs_[held.target.value()];
  receiver.input.hold_back();
  push(receiver.held_back, index);
  held_pairs_[joined(held.source.value(), held.target.value())].messages += 1;
  traffic.held_back += 1;
}

/// Lets the first message that is held back into the inbox, and wakes the ranks that wait for that.
void sim_fabric::state::let_in(std::uint32_t index) {
  const rank_id source = flights_[index].source, target = flights_[index].target;
  const simulated_rank& receiver = at(target);
  inputs_[target.value()].input.let_in();
  deliver(index);
  if (receiver.arrived != nullptr) receiver.arrived(receiver.subject);
  const auto match = held_pairs_.find(joined(source.value(), target.value()));
  if (--match->second.messages != 0) return;
  if (!match->second.refused) {
    held_pairs_.erase(match);
  } else if (const simulated_rank& sender = at(source); sender.arrived != nullptr) {
    sender.arrived(sender.subject);
  }
}

void sim_fabric::state::admit(void* self, std::uint64_t rank) {
  auto& shared = *static_cast<state*>(self);
  buffered_input& receiver = shared.inputs_[rank];
  receiver.admits = false;
  const bool is_open = shared.simulated_ranks[rank].now != phase::closed;
  while (is_open ? receiver.input.admits(shared.net.options().input_buffer) : receiver.held_back.count != 0)
    shared.let_in(shared.pop(receiver.held_back));
}

void sim_fabric::state::loop_back(void* self, std::uint64_t rank_and_count) {
  auto& shared = *static_cast<state*>(self);
  simulated_rank& receiver = shared.simulated_ranks[rank_and_count & ~std::uint32_t{0}];
  for (std::uint64_t count = rank_and_count >> 32; count != 0; --count) shared.deliver(shared.pop(receiver.loopback));
  if (receiver.arrived != nullptr) receiver.arrived(receiver.subject);
}

/// Makes a message visible to its receiver, and adds it to the trace.
void sim_fabric::state::deliver(std::uint32_t index) {
  const flight& landing = flights_[index];
  clock.trace(joined(landing.source.value(), landing.target.value()), landing.identity);
  simulated_rank& receiver = at(landing.target);
  traffic.in_flight -= 1;
  if (receiver.now == phase::closed) {
    const message_ptr unwanted = end_flight(index);
    traffic.dropped += 1;
    return;
  }
  if (needs_room(landing)) inputs_[landing.target.value()].input.enter(landing.bytes);
  push(receiver.inbox, index);
}

std::uint32_t sim_fabric::state::begin_flight(message_ptr carried, rank_id source, rank_id target) {
  const message_header& head = carried->header;
  NACRE_EXPECT(carried->packed(), "live values do not travel through a network");
  NACRE_EXPECT(head.payload_bytes <= capabilities{}.payload_bytes_max, "the layers above split what is larger");
  const auto bytes = static_cast<std::uint32_t>(sizeof(message_header) + head.payload_bytes);
  const std::uint64_t identity = identity_of(head);
  const bool idle = is_idle(head), idle_unit = idle && carried->counted();
  std::uint32_t index = free_;
  if (index == flight_queue::none) {
    NACRE_EXPECT(flights_.size() < flight_queue::none, "2^32 messages are on their way");
    index = static_cast<std::uint32_t>(flights_.size());
    flights_.emplace_back();
  } else {
    free_ = flights_[index].next;
  }
  flights_[index] = {.carried = carried.release(),
                     .source = source,
                     .target = target,
                     .identity = identity,
                     .bytes = bytes,
                     .idle = idle,
                     .idle_unit = idle_unit};
  effects_in_flight += idle ? 0 : 1;
  idle_units_in_flight += idle_unit ? 1 : 0;
  traffic.in_flight += 1;
  traffic.in_flight_max = std::max(traffic.in_flight_max, traffic.in_flight);
  return index;
}

bool sim_fabric::state::is_idle(const message_header& header) const noexcept {
  switch (header.kind) {
    case message_kind::credit:
      return true;
    case message_kind::module:
      return header.handler < idle_handlers_.size() && idle_handlers_[header.handler];
    case message_kind::arrival:
      return header.sequence == 0;  // whether messages wait for the object
    default:
      return false;
  }
}

message_ptr sim_fabric::state::end_flight(std::uint32_t index) noexcept {
  message_ptr carried(std::exchange(flights_[index].carried, nullptr));
  effects_in_flight -= flights_[index].idle ? 0 : 1;
  idle_units_in_flight -= flights_[index].idle_unit ? 1 : 0;
  if (flights_[index].datagram) at(flights_[index].source).datagrams_under_way -= 1;
  flights_[index].next = std::exchange(free_, index);
  return carried;
}

void sim_fabric::state::push(flight_queue& queue, std::uint32_t index) noexcept {
  flights_[index].next = flight_queue::none;
  (queue.count == 0 ? queue.first : flights_[queue.last].next) = index;
  queue.last = index;
  ++queue.count;
}

std::uint32_t sim_fabric::state::pop(flight_queue& queue) noexcept {
  const std::uint32_t index = queue.first;
  queue.first = flights_[index].next;
  --queue.count;
  return index;
}

}  // namespace nacre::transport
