// SPDX-License-Identifier: Apache-2.0
// Messages that a handler sends, checked at once and sent when the handler ends; and the events that arrive.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <nacre/error.hpp>
#include "emulator/node_loop.hpp"
#include "emulator/stretch.hpp"
#include "emulator/sum_of_times.hpp"

namespace nacre::detail {

namespace {

using emulator::virtual_time;

std::string text_of(const coordinates& place) {
  return "(" + std::to_string(place.x) + ", " + std::to_string(place.y) + ", " + std::to_string(place.z) + ")";
}

void check_thread(std::uint16_t thread, std::uint32_t threads) {
  if (thread < threads || thread >= emulated::placement::any_communication) return;
  throw usage_error("the node has no thread " + std::to_string(thread) + ": its threads are 0 to " +
                    std::to_string(threads - 1));
}

void check_delay(virtual_time delay) {
  if (delay < 0) throw usage_error("a delay of " + std::to_string(delay) + " ns: time does not run backwards");
  if (delay > node_loop::time_max)
    throw usage_error("a delay of " + std::to_string(delay) + " ns is longer than virtual time");
}

/// Out of line, so that its caller is short enough to be inlined.
[[gnu::noinline]] std::unique_ptr<std::uint64_t[]> larger_copy(const std::uint64_t* words, std::size_t count,
                                                               std::size_t room) {
  auto larger = std::make_unique_for_overwrite<std::uint64_t[]>(room);
  std::copy_n(words, count, larger.get());
  return larger;
}

}  // namespace

inline emulator::event& node_loop::stage(const emulator::packet_way& way, virtual_time delay, std::size_t bytes) {
  const std::size_t index = staged_words_;
  staged_words_ += 2 + bytes / 8;
  if (staged_words_ > staged_room_) [[unlikely]] {
    staged_room_ = 2 * staged_words_ + 64;
    staged_ = larger_copy(staged_.get(), index, staged_room_);
  }
  staged_[index] = std::bit_cast<std::uint64_t>(way);
  staged_[index + 1] = static_cast<std::uint64_t>(delay);
  return *reinterpret_cast<event*>(staged_.get() + index + 2);
}

void node_loop::post_packet(const emulated_handler& row, const packet_target& target, const std::uint64_t* payload) {
  if (!partition_.contains(target.target)) {
    throw usage_error("a message to " + text_of(target.target) + ", which is outside of the grid of " +
                      text_of(machine_.grid) + " nodes");
  }
  if (row.payload_bytes > machine_.packet_bytes) {
    throw usage_error("a message of " + std::to_string(row.payload_bytes) +
                      " bytes does not fit this machine's packet of " + std::to_string(machine_.packet_bytes) +
                      ": split it");
  }
  check_thread(target.placement.code(), threads_);
  check_delay(target.delay.count());
  if (!times_.exists(target.target))
    throw usage_error("a message from " + text_of(current_node_.at()) + " to " + text_of(target.target) +
                      ", a node that is missing");
  const machine::route way = times_.route_of(current_node_.at(), target.target);
  const emulator::node_place place = partition_.place_of(target.target);
  ++counts_.messages;
  if (way.hops >= counts_.by_hops.size()) [[unlikely]]
    counts_.by_hops.resize(way.hops + 1);
  ++counts_.by_hops[way.hops];
  emulator::packet_way staged{.block = static_cast<std::uint16_t>(place.block)};
  if (links_) staged.destination = partition_.number_of(target.target);
  event& e = stage(staged, target.delay.count(), sizeof(event) + 8 * std::size_t{row.payload_words});
  e = {times_.time_of(way), source_, slot_->sent++, place.node, target.placement.code(), row.id};
  auto* const words = reinterpret_cast<std::uint64_t*>(e.payload());
  for (std::size_t k = 0; k < row.payload_words; ++k) words[k] = payload[k];
}

void node_loop::post_local(std::uint16_t handler, std::uint16_t thread, virtual_time delay,
                           const std::uint64_t* payload, std::size_t words) {
  check_delay(delay);
  check_thread(thread, threads_);
  event& e = stage({.block = static_cast<std::uint16_t>(block_)}, delay, sizeof(event) + 8 * words);
  e = {0, source_, slot_->sent++, node_, thread, handler};
  if (words != 0) std::memcpy(e.payload(), payload, 8 * words);
}

void node_loop::charge(virtual_time cost) {
  if (cost < 0) throw usage_error("a charge of " + std::to_string(cost) + " ns: time does not run backwards");
  if (cost > node_loop::time_max - charged_) throw usage_error("the handler's charges are longer than virtual time");
  charged_ += cost;
}

void node_loop::dispatch(virtual_time end) {
  for (std::size_t index = 0; index < staged_words_;) {
    const auto way = std::bit_cast<emulator::packet_way>(staged_[index]);
    const auto delay = static_cast<virtual_time>(staged_[index + 1]);
    event& e = *reinterpret_cast<event*>(staged_.get() + index + 2);
    const std::size_t bytes = lengths_.of(e);
    index += 2 + bytes / 8;
    if (through_network_ && (way.block != block_ || e.node != node_)) {
      if (machine_.injection.count() > 0) {
        queue_departure(way, e, bytes, end, delay);
      } else {
        enter_network(way, e, bytes, end + delay);
      }
      continue;
    }
    e.time += end + delay;
    if (way.block == block_) {
      deliver(e, bytes);
    } else {
      forward(way.block, e, bytes);
    }
  }
  staged_words_ = 0;
}

/// A packet gets its place at the port when it departs, because a handler that begins later may end sooner.
void node_loop::queue_departure(const emulator::packet_way& way, const event& packet, std::size_t bytes,
                                virtual_time end, virtual_time delay) {
  // No thread waits for a packet that departs after its handler's end.
  const auto thread = delay == 0 ? static_cast<std::uint16_t>(thread_) : emulated::placement::any_worker;
  carry({end + delay, emulator::source_departure, packet.number, node_, thread, emulator::depart_packet}, way, packet,
        bytes, block_);
}

void node_loop::depart(const event& e) {
  const virtual_time injection = machine_.injection.count();
  virtual_time& port_free = nodes_.extras_of(*slot_).port_free;
  virtual_time enters = e.time;
  if (machine_.output_packets != 0) {
    enters = std::max(enters, port_free - (machine_.output_packets - 1) * injection);
  }
  if (enters > e.time) {
    ++counts_.stalled;
    if (e.thread != emulated::placement::any_worker) {
      virtual_time& clock = clock_of(e.thread);
      // A handler without cost may have left its thread to another one at this instant, which has made it busy.
      emulator::add_time(counts_.stall,
                         std::chrono::nanoseconds(std::max(enters - std::max(clock, e.time), virtual_time{0})));
      clock = std::max(clock, enters);
      counts_.end = std::max(counts_.end, std::chrono::nanoseconds(enters));
    }
  }
  port_free = std::max(enters, port_free) + injection;
  const emulator::packet_way way = emulator::way_of(e);
  const std::size_t bytes = lengths_.of(emulator::packet_in(e));
  if (links_) return enter_network(way, emulator::packet_in(e), bytes, port_free);
  alignas(event) std::byte copy[sizeof(event) + packet_bytes_max];
  emulator::copy_event(copy, emulator::packet_in(e), bytes);
  event& packet = *reinterpret_cast<event*>(copy);
  packet.time += port_free;
  forward(way.block, packet, bytes);
}

void node_loop::deliver(const event& e, std::size_t bytes) {
  if (running_ && e.node == node_ && e.time - window_begin_ < width_) {
    std::byte* const room = local_events_.append(pool_, bytes);
    emulator::copy_event(room, e, bytes);
    local_.push_back(reinterpret_cast<const event*>(room));
    std::push_heap(local_.begin(), local_.end(),
                   [](const event* a, const event* b) { return emulator::earlier(*b, *a); });
    return;
  }
  emulator::copy_event(room_for(e, bytes), e, bytes);
}

std::byte* node_loop::room_for(const event& e, std::size_t bytes) {
  const std::uint64_t window = window_of(e.time);
  if (!dense_ || window - window_ - 1 >= 2) return wheel_.at(window).append(pool_, bytes);
  grouped_window& grouped = grouped_[window % grouped_.size()];
  ++grouped.events;
  return grouped.groups[e.node >> group_shift_].append(pool_, bytes);
}

/// Delivers an event of any block.
void node_loop::forward(std::uint32_t block, const event& e, std::size_t bytes) {
  if (block == block_) return deliver(e, bytes);
  std::vector<std::byte>& bundle = bundles_[block];
  if (bundle.empty()) bundled_.push_back(block);
  first_bundled_window_ = std::min(first_bundled_window_, window_of(e.time));
  const std::size_t index = bundle.size();
  bundle.resize(index + bytes);
  emulator::copy_event(bundle.data() + index, e, bytes);
}

void node_loop::clear_bundles() noexcept {
  for (const std::uint32_t block : bundled_) bundles_[block].clear();
  bundled_.clear();
  first_bundled_window_ = emulator::timing_wheel::no_window;
}

bool node_loop::accept(std::span<const std::byte> bundle) {
  while (!bundle.empty()) {
    const std::size_t bytes = lengths_.checked(bundle, {nodes_.size(), partition_.blocks(), machine_.nodes()});
    if (bytes == 0) return false;
    const event& e = *reinterpret_cast<const event*>(bundle.data());
    if (e.time < window_begin_ && block_order_ == emulated_order::exact) return false;
    if (block_order_ == emulated_order::arrival && e.time < window_begin_ + width_ && window_ != 0) ++counts_.late;
    emulator::copy_event(room_for(e, bytes), e, bytes);
    bundle = bundle.subspan(bytes);
  }
  return true;
}

void post_packet(node_loop& loop, const emulated_handler& row, const packet_target& target,
                 const std::uint64_t* payload) {
  loop.post_packet(row, target, payload);
}
void post_task(node_loop& loop, const emulated_handler& row, emulated::placement placement,
               std::chrono::nanoseconds delay, const std::uint64_t* payload) {
  loop.post_local(row.id, placement.code(), delay.count(), payload, row.payload_words);
}
void* state_of(node_loop& loop, std::uint32_t node, const emulated_state& row) { return loop.state(node, row); }
const emulated_machine& machine_of(const node_loop& loop) noexcept { return loop.machine(); }
std::chrono::nanoseconds now_of(const node_loop& loop) noexcept { return std::chrono::nanoseconds(loop.now()); }
std::uint32_t thread_of(const node_loop& loop) noexcept { return loop.thread(); }
bool node_exists(const node_loop& loop, const coordinates& place) noexcept {
  return loop.partition_.contains(place) && loop.times_.exists(place);
}
void charge_handler(node_loop& loop, std::chrono::nanoseconds cost) { loop.charge(cost.count()); }
void resume_after(node_loop& loop, std::chrono::nanoseconds delay) {
  loop.resume_coroutine(loop.suspend(), delay.count());
}
std::uint32_t suspend_coroutine(node_loop& loop) { return loop.suspend(); }
void resume_coroutine(node_loop& loop, std::uint32_t number) { loop.resume_coroutine(number, 0); }

}  // namespace nacre::detail
