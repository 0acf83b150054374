// SPDX-License-Identifier: Apache-2.0
// The threads of a node: each runs one handler at a time, and messages wait for them in the order of their arrival.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <nacre/error.hpp>
#include "base/exception_text.hpp"
#include "base/processor_time.hpp"
#include "emulator/node_loop.hpp"
#include "emulator/stretch.hpp"
#include "emulator/sum_of_times.hpp"

namespace nacre::detail {

namespace {

constexpr std::uint16_t any_worker = emulated::placement::any_worker;
constexpr std::uint16_t any_communication = emulated::placement::any_communication;
constexpr std::uint32_t none = emulator::no_thread;

emulator::waiting_queue* find(emulator::node_extras* extras, std::uint16_t thread) noexcept {
  if (extras == nullptr) return nullptr;
  for (emulator::waiting_queue& queue : extras->waiting) {
    if (queue.thread == thread) return &queue;
  }
  return nullptr;
}

}  // namespace

std::uint32_t node_loop::idle_thread(std::uint16_t wanted) const noexcept {
  if (wanted < any_communication) return clock_of(wanted) <= start_ ? wanted : none;
  const bool workers = wanted == any_worker || workers_from_ == 0;
  const std::uint32_t end = workers ? threads_ : workers_from_;
  for (std::uint32_t thread = workers ? workers_from_ : 0; thread < end; ++thread) {
    if (clock_of(thread) <= start_) return thread;
  }
  return none;
}

std::uint32_t node_loop::first_free(std::uint16_t wanted) const noexcept {
  if (wanted < any_communication) return wanted;
  const bool workers = wanted == any_worker || workers_from_ == 0;
  const std::uint32_t end = workers ? threads_ : workers_from_;
  std::uint32_t first = workers ? workers_from_ : 0;
  for (std::uint32_t thread = first + 1; thread < end; ++thread) {
    if (clock_of(thread) < clock_of(first)) first = thread;
  }
  return first;
}

void node_loop::execute(const event& e) {
  start_ = e.time;
  if (e.handler < emulator::first_of_program && e.handler != emulator::resume_stretch) {
    if (e.handler == emulator::wake_thread) return execute_waiting(e);
    return e.handler == emulator::depart_packet ? depart(e) : pass_router(e);
  }
  if (slot_->extras && is_packet(e) && hold_back(e)) return;
  arrive(e);
}

/// Runs an event that has reached the node, or lets it wait for a thread.
void node_loop::arrive(const event& e) {
  if (const auto* queue = find(slot_->extras, e.thread); queue != nullptr && !queue->empty()) return wait(e);
  const std::uint32_t thread = idle_thread(e.thread);
  if (thread == none) return wait(e);
  run_on(thread, e);
}

/// Keeps a packet in the network while the input buffer is full. Packets enter it in the order of their arrival.
bool node_loop::hold_back(const event& e) {
  emulator::node_extras& node_extras = *slot_->extras;
  if (!node_extras.input.is_closed(machine_.input_packets)) return false;
  ++counts_.held_back;
  node_extras.input.hold_back();
  node_extras.held_back.push(e, lengths_.of(e));
  return true;
}

/// Lets packets enter the input buffer while it has room.
void node_loop::admit() {
  emulator::node_extras& node_extras = *slot_->extras;
  while (node_extras.input.admits(machine_.input_packets)) {
    alignas(event) std::byte copy[sizeof(event) + packet_bytes_max];
    const std::size_t bytes = lengths_.of(node_extras.held_back.front());
    emulator::copy_event(copy, node_extras.held_back.front(), bytes);
    node_extras.held_back.pop(bytes);
    node_extras.input.let_in();
    arrive(*reinterpret_cast<const event*>(copy));
  }
}

void node_loop::wait(const event& e) {
  emulator::node_extras& node_extras = nodes_.extras_of(*slot_);
  emulator::waiting_queue* queue = find(&node_extras, e.thread);
  if (queue == nullptr) queue = &node_extras.waiting.emplace_back(emulator::waiting_queue{.thread = e.thread});
  ++counts_.delayed;
  if (is_packet(e)) node_extras.input.enter(1);
  const bool first = queue->empty();
  queue->push(e, lengths_.of(e));
  if (first) schedule_wake(*queue);
}

void node_loop::execute_waiting(const event& wake) {
  emulator::waiting_queue& queue = *find(slot_->extras, wake.thread);
  // A message for a certain thread may have taken it meanwhile.
  const std::uint32_t known = queue.next_thread;
  const std::uint32_t thread = known != none && clock_of(known) <= start_ ? known : idle_thread(wake.thread);
  if (thread == none) return schedule_wake(queue);
  // The handler may make other messages wait, which moves the queue's memory.
  alignas(event) std::byte copy[sizeof(event) + packet_bytes_max];
  const std::size_t bytes = lengths_.of(queue.front());
  emulator::copy_event(copy, queue.front(), bytes);
  queue.pop(bytes);
  const bool more = !queue.empty();
  const event& e = *reinterpret_cast<const event*>(copy);
  if (is_packet(e)) slot_->extras->input.leave(1);
  run_on(thread, e);
  if (more) schedule_wake(*find(slot_->extras, wake.thread));
  admit();
}

void node_loop::schedule_wake(emulator::waiting_queue& queue) {
  queue.next_thread = first_free(queue.thread);
  const event wake{clock_of(queue.next_thread), emulator::source_wake, queue.thread, node_, queue.thread,
                   emulator::wake_thread};
  deliver(wake, sizeof(event));
}

void node_loop::run_on(std::uint32_t thread, const event& e) {
  thread_ = thread;
  charged_ = 0;
  const std::uint32_t first_sent = slot_->sent;
  try {
    if (machine_.measured == 0) [[likely]] {
      call(e);
    } else {
      const std::chrono::nanoseconds begin = processor_time();
      call(e);
      charge(measured_cost(begin, clock_cost_, machine_.measured));
    }
    if (start_ + handler_cost_ + charged_ > time_max)
      throw usage_error("virtual time is over: an emulation may last for 73 years");
  } catch (...) {
    fail(handlers_[e.handler]->name);
  }
  const virtual_time cost = handler_cost_ + charged_;
  const virtual_time end = start_ + cost;
  clock_of(thread) = end;
  nodes_.note_use(*slot_, thread);
  ++counts_.events;
  emulator::add_time(counts_.busy, std::chrono::nanoseconds(cost));
  counts_.end = std::max(counts_.end, std::chrono::nanoseconds(end));
  if (recording_) [[unlikely]] {
    records_.add({.arrival = e.time,
                  .start = start_,
                  .end = end,
                  .node = node_,
                  .source = e.source,
                  .number = e.number,
                  .first_sent = first_sent,
                  .thread = static_cast<std::uint16_t>(thread),
                  .handler = e.handler});
  }
  if (staged_words_ != 0) dispatch(end);
}

void node_loop::run_start(const std::function<void(emulated_node&)>& program) {
  start_ = 0;
  thread_ = 0;
  charged_ = 0;
  const std::uint32_t first_sent =
      recording_ ? slot_->sent : 0;  // the memory of a node that does nothing stays untouched
  try {
    if (machine_.measured == 0) {
      program(current_node_);
    } else {
      const std::chrono::nanoseconds begin = processor_time();
      program(current_node_);
      charge(measured_cost(begin, clock_cost_, machine_.measured));
    }
  } catch (...) {
    fail("the start function");
  }
  if (charged_ != 0) {
    clock_of(0) = charged_;
    nodes_.note_use(*slot_, 0);
  }
  counts_.end = std::max(counts_.end, std::chrono::nanoseconds(charged_));
  if (recording_ && (charged_ != 0 || staged_words_ != 0)) {
    emulator::path_record start;
    start.end = charged_;
    start.node = node_;
    start.first_sent = first_sent;
    records_.add(start);
  }
  if (staged_words_ != 0) dispatch(charged_);
}

void node_loop::call(const event& e) {
  const emulated_handler& row = *handlers_[e.handler];
  if (row.run != nullptr) [[likely]]
    return row.run(current_node_, e.payload());
  if (e.handler == emulator::resume_stretch) {
    return run_stretch(static_cast<std::uint32_t>(*reinterpret_cast<const std::uint64_t*>(e.payload())));
  }
  std::uint32_t number = static_cast<std::uint32_t>(stretches_.size());
  if (free_stretches_.empty()) {
    stretches_.emplace_back();
    free_stretches_.reserve(stretches_.size());
  } else {
    number = free_stretches_.back();
    free_stretches_.pop_back();
  }
  stretches_[number] = std::make_unique<stretch>(stretch{current_node_, e.thread});
  stretches_[number]->task.emplace(row.start(stretches_[number]->node, e.payload()));
  run_stretch(number);
}

void node_loop::run_stretch(std::uint32_t number) {
  stretch& one = *stretches_[number];
  current_stretch_ = number;
  in_stretch_ = true;
  const bool ended = one.task->resume();
  in_stretch_ = false;
  if (!ended) return;
  stretches_[number].reset();
  free_stretches_.push_back(number);
}

std::uint32_t node_loop::suspend() const {
  if (!in_stretch_) throw usage_error("co_await in a function that is no handler of the node: await in the handler");
  return current_stretch_;
}

void node_loop::resume_coroutine(std::uint32_t number, virtual_time delay) {
  const std::uint64_t payload = number;
  post_local(emulator::resume_stretch, stretches_[number]->thread, delay, &payload, 1);
}

void node_loop::fail(std::string_view handler) {
  in_stretch_ = false;
  const coordinates& place = current_node_.at();
  failure_ = {.failed = true,
              .time = start_,
              .node = source_ - emulator::first_source,
              .text = "node (" + std::to_string(place.x) + ", " + std::to_string(place.y) + ", " +
                      std::to_string(place.z) + "), thread " + std::to_string(thread_) + ", handler " +
                      std::string(handler) + ", at " + std::to_string(start_) + " ns: " + text_of_thrown()};
  throw emulation_stopped{};
}

}  // namespace nacre::detail
