// SPDX-License-Identifier: Apache-2.0
// The states of nodes, and how they and all else of a block become bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <nacre/error.hpp>
#include "emulator/handler_tables.hpp"
#include "emulator/node_loop.hpp"
#include "emulator/stretch.hpp"

namespace nacre::detail {

namespace {

void pack_extras(writer& out, const emulator::node_extras* extras) {
  out(extras != nullptr);
  if (extras == nullptr) return;
  out(static_cast<std::uint32_t>(extras->waiting.size()));
  for (const emulator::waiting_queue& queue : extras->waiting) out(queue);
  out(extras->input, extras->held_back, extras->port_free);
}

void pack_states(writer& out, const emulator::node_states& states) {
  out(static_cast<std::uint32_t>(states.columns().size()));
  for (const auto& column : states.columns()) {
    out(column->row().id, column->count());
    column->for_each([&](std::uint32_t node, const void* value) {
      out(node);
      column->row().pack(value, out);
    });
  }
}

}  // namespace

void* node_loop::state(std::uint32_t node, const emulated_state& row) { return states_.of(node, row); }

std::vector<std::byte> node_loop::pack() {
  writer out;
  out(window_, counts_, failure_);
  std::vector<std::byte> events;
  const auto append = [&](const emulator::event_list& list) {
    list.for_each_chunk(
        [&](const std::byte* source, std::size_t bytes) { events.insert(events.end(), source, source + bytes); });
  };
  wheel_.for_each(append);
  for (const grouped_window& window : grouped_) std::for_each(window.groups.begin(), window.groups.end(), append);
  out(events);
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    enter(node);
    out(slot_->sent, slot_->used);
    for (std::uint32_t thread = 0; thread < slot_->used; ++thread) out(clock_of(thread));
    pack_extras(out, slot_->extras);
  }
  pack_states(out, states_);
  if (links_) out(*links_);
  const auto bytes = out.bytes();
  return {bytes.begin(), bytes.end()};
}

bool node_loop::unpack(std::span<const std::byte> bytes) {
  reader in(bytes);
  std::vector<std::byte> events;
  in(window_, counts_, failure_, events);
  // The block's window may be the one that it has just run: its events lie in later ones.
  window_begin_ = static_cast<virtual_time>(window_) * width_;
  static_cast<void>(wheel_.take(window_));
  if (!in.ok() || !accept(events)) return false;
  for (std::uint32_t node = 0; node < nodes_.size() && in.ok(); ++node) {
    enter(node);
    std::uint16_t used = 0;
    in(slot_->sent, used);
    if (used > threads_) return false;
    if (used != 0) nodes_.note_use(*slot_, used - 1U);
    for (std::uint32_t thread = 0; thread < used; ++thread) in(clock_of(thread));
    if (!unpack_extras(in)) return false;
  }
  if (!unpack_states(in)) return false;
  if (links_) in(*links_);
  return in.finish() && (!links_ || links_->fit());
}

bool node_loop::unpack_extras(reader& in) {
  bool any = false;
  in(any);
  if (!any) return in.ok();
  emulator::node_extras& node_extras = nodes_.extras_of(*slot_);
  std::uint32_t queues = 0;
  in(queues);
  for (std::uint32_t k = 0; k < queues && in.ok(); ++k) in(node_extras.waiting.emplace_back());
  in(node_extras.input, node_extras.held_back, node_extras.port_free);
  return in.ok() && (node_extras.input.held_back() == 0) == node_extras.held_back.empty();
}

bool node_loop::unpack_states(reader& in) {
  const auto types = emulator::state_table();
  std::uint32_t columns = 0;
  in(columns);
  for (std::uint32_t k = 0; k < columns && in.ok(); ++k) {
    std::uint32_t id = 0, count = 0;
    in(id, count);
    if (id >= types.size() || types[id]->unpack == nullptr) return false;
    for (std::uint32_t value = 0; value < count && in.ok(); ++value) {
      std::uint32_t node = 0;
      in(node);
      if (node >= nodes_.size()) return false;
      types[id]->unpack(state(node, *types[id]), in);
    }
  }
  return in.ok();
}

}  // namespace nacre::detail
