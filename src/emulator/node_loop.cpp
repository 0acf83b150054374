// SPDX-License-Identifier: Apache-2.0
// Brings the events of a window into the order of their nodes, and runs node after node.
#include "emulator/node_loop.hpp"

#include <algorithm>
#include <utility>

#include <nacre/error.hpp>
#include "base/processor_time.hpp"
#include "emulator/handler_tables.hpp"
#include "emulator/stretch.hpp"

namespace nacre::detail {

namespace {

/// A window with at least this many events is sorted group by group, each group small enough for the cache. So many are
/// more than the cache holds, and fill a chunk of each group. A block of few nodes is sorted by groups from fewer
/// events on.
std::uint64_t dense_events_for(std::uint64_t nodes, std::uint64_t groups) {
  constexpr std::uint64_t in_all = 8192, of_group = 64, of_node = 2;
  return std::min(std::max(in_all, of_group * groups), of_node * nodes);
}

/// Memory that a node usually needs: two short events.
constexpr std::uint64_t usual_bytes_of_a_node = 64;

/// The nodes of a group, as a power of two: with an event for each thread a group has some ten thousand events.
std::uint32_t group_shift_for(std::uint32_t nodes, std::uint32_t threads) {
  constexpr std::uint64_t events = 12'800;
  constexpr std::uint32_t groups_max = 2048;
  std::uint32_t shift = 4;
  while (shift < 10 && (std::uint64_t{threads} << shift) < events) ++shift;
  while ((nodes >> shift) >= groups_max) ++shift;
  while (shift > 0 && (nodes >> shift) < 4) --shift;  // the groups of a small block are small
  return shift;
}

/// Of ways around missing nodes, in each block; some 60 bytes each.
constexpr std::size_t rests_max = std::size_t{1} << 17;

struct later {
  bool operator()(const emulator::event* a, const emulator::event* b) const noexcept {
    return emulator::earlier(*b, *a);
  }
};

}  // namespace

emulator::virtual_time node_loop::window_width(const emulated_machine& machine) {
  if (machine.contention) return std::max<virtual_time>(machine.hop.count(), 1);  // from router to router
  // A packet that waits for the port leaves later than its handler's end, so the handler's cost is no part of it.
  const virtual_time time = machine.injection.count() > 0 ? machine.injection.count() : machine.handler.count();
  const virtual_time width = time + machine::travel_times(machine).least();
  if (width > 0) return width;
  throw setup_error({"a message between two nodes takes no time on this machine",
                     "the emulator runs nodes beside each other for as long as no message can arrive",
                     "set handler, hop or turn to 1ns or more"});
}

node_loop::node_loop(const emulated_machine& machine, std::uint32_t blocks, std::uint32_t block,
                     const emulator::handler_records& records, emulated_order order)
    : machine_(machine),
      partition_(machine.grid, blocks),
      block_(block),
      brick_(partition_.brick_of(block)),
      times_(machine_, rests_max),
      handlers_(emulator::handler_table()),
      lengths_(handlers_),
      width_(window_width(machine)),
      handler_cost_(machine.handler.count()),
      clock_cost_(machine.measured != 0 ? cost_of_processor_time() : std::chrono::nanoseconds(0)),
      threads_(machine.threads),
      workers_from_(machine.communication_threads),
      group_shift_(group_shift_for(brick_.nodes(), machine.threads)),
      pool_(std::uint64_t{brick_.nodes()} * usual_bytes_of_a_node),
      nodes_(brick_.nodes(), machine.threads),
      states_(brick_.nodes()),
      links_(machine.contention ? std::make_unique<emulator::link_clocks>(times_, brick_.nodes()) : nullptr),
      through_network_(machine.contention || machine.injection.count() > 0),
      bundles_(partition_.blocks()),
      records_(records),
      recording_(records.any()),
      block_order_(order),
      node_order_(brick_.nodes()),
      current_node_(*this, {}, 0) {
  for (grouped_window& window : grouped_) window.groups.resize((brick_.nodes() >> group_shift_) + 1);
}

node_loop::~node_loop() = default;

void node_loop::enter(std::uint32_t node) noexcept {
  node_ = node;
  const coordinates place = brick_.at(node);
  current_node_ = emulated_node(*this, place, node);
  source_ = partition_.number_of(place) + emulator::first_source;
  slot_ = &nodes_[node];
}

std::uint64_t node_loop::first_window() const noexcept {
  // Windows of groups are the two after the one that ran last.
  for (std::uint64_t window = window_ + 1; window <= window_ + 2; ++window) {
    if (grouped_[window % grouped_.size()].events != 0) return std::min(window, wheel_.first());
  }
  return wheel_.first();
}

void node_loop::run_window(std::uint64_t window) {
  emulator::event_list events = wheel_.take(window);
  window_ = window;
  window_begin_ = static_cast<virtual_time>(window) * width_;
  grouped_window& grouped = grouped_[window % grouped_.size()];
  const std::uint64_t count = events.count() + grouped.events;
  dense_ = count >= dense_events_for(brick_.nodes(), grouped.groups.size()) && grouped.groups.size() > 1;
  running_ = true;
  if (dense_ || grouped.events != 0) {
    distribute(events, grouped);
    run_groups(grouped);
  } else {
    run_group(events, 0, brick_.nodes());
  }
  events.clear(pool_);
  running_ = false;
  counts_.bytes = pool_.bytes() + nodes_.bytes();
}

void node_loop::distribute(emulator::event_list& events, grouped_window& window) {
  while (emulator::event_chunk* const chunk = events.take_chunk()) {
    for (std::size_t index = 0; index < chunk->used;) {
      const event& e = *reinterpret_cast<const event*>(chunk->events + index);
      const std::size_t bytes = lengths_.of(e);
      emulator::copy_event(window.groups[e.node >> group_shift_].append(pool_, bytes), e, bytes);
      index += bytes;
    }
    pool_.give_back(chunk);
  }
}

void node_loop::run_groups(grouped_window& window) {
  const std::uint32_t nodes = brick_.nodes();
  for (std::uint32_t group = 0; group < window.groups.size(); ++group) {
    const std::uint32_t first = group << group_shift_;
    emulator::event_list& events = window.groups[group];
    if (group + 1 < window.groups.size()) window.groups[group + 1].fetch();
    if (!events.empty()) run_group(events, first, std::min(nodes - first, 1u << group_shift_));
    events.clear(pool_);
  }
  window.events = 0;
}

void node_loop::run_group(emulator::event_list& events, std::uint32_t first, std::uint32_t nodes) {
  events.for_each(lengths_, [&](const event& e) { node_order_.count(e.node - first); });
  runs_.clear();
  std::uint32_t end = 0;
  node_order_.walk(nodes, [&](std::uint32_t node, std::uint32_t& count) {
    const std::uint32_t begin = end;
    end += std::exchange(count, begin);
    runs_.push_back({first + node, end});
  });
  order_.resize(end);
  events.for_each(lengths_, [&](const event& e) { order_[node_order_[e.node - first]++] = &e; });
  for (const node_run& run : runs_) node_order_[run.node - first] = 0;
  run_in_order();
}

/// Runs nodes with the events that are theirs in order_. While one runs, the memory of later ones is on its way.
void node_loop::run_in_order() {
  constexpr std::size_t stages = 2, gap = 12;  // nodes from one line of a node to the next
  std::uint32_t begin = 0;
  for (std::size_t k = 0; k < runs_.size(); ++k) {
    if (const std::size_t ahead = k + stages * gap; ahead < runs_.size()) {
      __builtin_prefetch(order_[runs_[ahead - 1].end]);
      states_.fetch(runs_[ahead].node);
      for (std::uint32_t stage = 0; stage < stages; ++stage) nodes_.fetch(runs_[ahead - stage * gap].node, stage);
    }
    run_node(runs_[k].node, {order_.data() + begin, runs_[k].end - begin});
    begin = runs_[k].end;
  }
}

void node_loop::run_node(std::uint32_t node, std::span<const event*> events) {
  const auto prologue = [](const event* a, const event* b) { return emulator::earlier(*a, *b); };
  if (!std::is_sorted(events.begin(), events.end(), prologue)) std::sort(events.begin(), events.end(), prologue);
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
    if (times_.exists(current_node_.at())) run_start(program);
  }
}

void node_loop::finish(const std::function<void(emulated_node&)>& program, virtual_time end) {
  start_ = end;
  thread_ = 0;
  charged_ = 0;
  try {
    for (std::uint32_t node = 0; node < brick_.nodes(); ++node) {
      enter(node);
      if (!times_.exists(current_node_.at())) continue;
      program(current_node_);
      if (staged_words_ == 0 && charged_ == 0) continue;
      throw usage_error("the emulation has ended: only read the node's states here");
    }
  } catch (...) {
    try {
      fail("the finish function");
    } catch (const emulation_stopped&) {
    }
  }
}

bool node_loop::movable() const noexcept {
  return !states_.unpackable() && stretches_.size() == free_stretches_.size();
}

}  // namespace nacre::detail
