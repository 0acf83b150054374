// SPDX-License-Identifier: Apache-2.0
// Brings the events of a window into the order of their nodes, and runs node after node.
#include "emulator/node_loop.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <numeric>

#include <nacre/error.hpp>
#include "emulator/handler_tables.hpp"
#include "emulator/stretch.hpp"

namespace nacre::detail {

namespace {

/// The nodes whose events are brought into order together, so that they stay in the cache.
constexpr std::uint32_t group_shift = 8;
/// From so many events on it pays to divide the events of a window into groups of nodes first.
constexpr std::uint64_t group_events_min = 8192;

struct later {
  bool operator()(const emulator::event* a, const emulator::event* b) const noexcept {
    return emulator::earlier(*b, *a);
  }
};

std::unique_ptr<emulator::virtual_time[], void (*)(void*)> make_clocks(std::uint64_t count) {
  // calloc gets large memory from the system, which zeroes a page when it is first touched: a thread that never runs
  // costs nothing.
  auto* const clocks = static_cast<emulator::virtual_time*>(std::calloc(count, sizeof(emulator::virtual_time)));
  if (clocks == nullptr) throw std::bad_alloc();
  return {clocks, &std::free};
}

}  // namespace

emulator::virtual_time node_loop::window_width(const emulated_machine& machine) {
  const virtual_time width = machine.handler.count() + emulator::travel_times(machine).least();
  if (width > 0) return width;
  throw setup_error({"a message between two nodes takes no time on this machine",
                     "the emulator runs nodes beside each other for as long as no message can arrive",
                     "set handler, hop or turn to 1ns or more"});
}

node_loop::node_loop(const emulated_machine& machine, std::uint32_t blocks, std::uint32_t block)
    : machine_(machine),
      partition_(machine.grid, blocks),
      block_(block),
      brick_(partition_.brick_of(block)),
      times_(machine_),
      handlers_(emulator::handler_table()),
      width_(window_width(machine)),
      handler_cost_(machine.handler.count()),
      threads_(machine.threads),
      workers_from_(machine.communication_threads),
      slots_(brick_.nodes()),
      clocks_(make_clocks(std::uint64_t{brick_.nodes()} * ((machine.threads + 7) / 8 * 8))),
      bundles_(partition_.blocks()),
      groups_((brick_.nodes() >> group_shift) + 1),
      here_(*this, {}, 0) {
  for (const emulated_handler* row : handlers_) lengths_.push_back(static_cast<std::uint16_t>(8 * row->payload_words));
}

node_loop::~node_loop() = default;

void node_loop::enter(std::uint32_t node) noexcept {
  node_ = node;
  const coordinates at = brick_.at(node);
  here_ = emulated_node(*this, at, node);
  source_ = partition_.number_of(at) + 1;
  slot_ = &slots_[node];
  clocks_of_node_ = clocks_.get() + std::size_t{node} * 8;
}

void node_loop::run_window(std::uint64_t window) {
  emulator::event_list events = wheel_.take(window);
  window_ = window;
  window_begin_ = static_cast<virtual_time>(window) * width_;
  running_ = true;
  if (events.count() >= group_events_min && groups_.size() > 1) {
    distribute(events);
  } else if (events.count() < brick_.nodes() / 4) {
    run_sparse(events);
  } else {
    run_group(events, 0, brick_.nodes());
  }
  events.clear(pool_);
  running_ = false;
  counts_.bytes = pool_.bytes() + slots_.size() * (sizeof(emulator::node_slot) + threads_ * sizeof(virtual_time));
}

void node_loop::distribute(emulator::event_list& events) {
  while (emulator::event_chunk* const chunk = events.take_chunk()) {
    for (std::size_t at = 0; at < chunk->used;) {
      const event& e = *reinterpret_cast<const event*>(chunk->events + at);
      const std::size_t bytes = bytes_of(e);
      emulator::copy_event(groups_[e.node >> group_shift].append(pool_, bytes), e, bytes);
      at += bytes;
    }
    pool_.give_back(chunk);
  }
  const std::uint32_t nodes = brick_.nodes();
  for (std::uint32_t group = 0; group < groups_.size(); ++group) {
    const std::uint32_t first = group << group_shift;
    if (!groups_[group].empty()) run_group(groups_[group], first, std::min(nodes - first, 1u << group_shift));
    groups_[group].clear(pool_);
  }
}

void node_loop::run_group(emulator::event_list& events, std::uint32_t first, std::uint32_t nodes) {
  begins_.assign(nodes + 1, 0);
  const auto for_each = [&](auto visit) {
    for (const emulator::event_chunk* chunk = events.head(); chunk != nullptr; chunk = chunk->next) {
      for (std::size_t at = 0; at < chunk->used;) {
        const event& e = *reinterpret_cast<const event*>(chunk->events + at);
        visit(e);
        at += bytes_of(e);
      }
    }
  };
  for_each([&](const event& e) { ++begins_[e.node - first + 1]; });
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  order_.resize(begins_.back());
  // Placing an event advances its node's begin; afterwards each begin is that of the next node.
  for_each([&](const event& e) { order_[begins_[e.node - first]++] = &e; });
  for (std::uint32_t begin = 0, node = 0; node < nodes; ++node) {
    const std::uint32_t end = begins_[node];
    if (end != begin) run_node(first + node, {order_.data() + begin, end - begin});
    begin = end;
  }
}

void node_loop::run_sparse(emulator::event_list& events) {
  order_.clear();
  for (const emulator::event_chunk* chunk = events.head(); chunk != nullptr; chunk = chunk->next) {
    for (std::size_t at = 0; at < chunk->used; at += bytes_of(*order_.back())) {
      order_.push_back(reinterpret_cast<const event*>(chunk->events + at));
    }
  }
  std::sort(order_.begin(), order_.end(), [](const event* a, const event* b) {
    return a->node != b->node ? a->node < b->node : emulator::earlier(*a, *b);
  });
  for (std::size_t begin = 0; begin < order_.size();) {
    std::size_t end = begin + 1;
    while (end < order_.size() && order_[end]->node == order_[begin]->node) ++end;
    run_node(order_[begin]->node, {order_.data() + begin, end - begin});
    begin = end;
  }
}

void node_loop::run_node(std::uint32_t node, std::span<const event*> events) {
  const auto before = [](const event* a, const event* b) { return emulator::earlier(*a, *b); };
  if (!std::is_sorted(events.begin(), events.end(), before)) std::sort(events.begin(), events.end(), before);
  enter(node);
  for (const event* const e : events) {
    if (!local_.empty()) run_local_before(e);
    execute(*e);
  }
  if (!local_.empty()) run_local_before(nullptr);
  if (!local_events_.empty()) local_events_.clear(pool_);
}

void node_loop::run_local_before(const event* next) {
  while (!local_.empty() && (next == nullptr || emulator::earlier(*local_.front(), *next))) {
    std::pop_heap(local_.begin(), local_.end(), later{});
    const event* const first = local_.back();
    local_.pop_back();
    execute(*first);
  }
}

void node_loop::start(const std::function<void(emulated_node&)>& program) {
  for (std::uint32_t node = 0; node < brick_.nodes(); ++node) {
    enter(node);
    run_start(program);
  }
}

bool node_loop::movable() const noexcept {
  return unpackable_states_ == 0 && stretches_.size() == free_stretches_.size();
}

}  // namespace nacre::detail
