// SPDX-License-Identifier: Apache-2.0
// All that a block keeps of one node, beside the clocks of its threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <nacre/emulator/handler.hpp>
#include "emulator/event.hpp"

namespace nacre::emulator {

/// A value of some type that a node keeps as its state.
class state_value {
 public:
  explicit state_value(const detail::emulated_state& row) : row_(&row), value_(row.make()) {}
  state_value(state_value&& other) noexcept : row_(other.row_), value_(std::exchange(other.value_, nullptr)) {}
  state_value& operator=(state_value&& other) noexcept {
    std::swap(row_, other.row_);
    std::swap(value_, other.value_);
    return *this;
  }
  ~state_value() {
    if (value_ != nullptr) row_->destroy(value_);
  }
  [[nodiscard]] const detail::emulated_state& row() const noexcept { return *row_; }
  [[nodiscard]] void* value() const noexcept { return value_; }

 private:
  const detail::emulated_state* row_;
  void* value_;
};

/// Messages that wait for one thread, or for any thread of a category: first come, first served.
struct waiting_queue {
  std::uint16_t thread = 0;  ///< as event::thread
  std::vector<std::byte> events{};
  std::size_t first = 0;  ///< offset of the first that still waits
  [[nodiscard]] bool empty() const noexcept { return first == events.size(); }
};

/// Made for a node when it first keeps a state or a message has to wait.
struct node_extras {
  std::vector<state_value> states;
  std::vector<waiting_queue> waiting;
  std::uint32_t waiting_count = 0;  ///< messages in all queues
};

struct node_slot {
  std::unique_ptr<node_extras> extras;
  std::uint32_t sent = 0;  ///< events that the node has sent: the number of the next one
};

}  // namespace nacre::emulator
