// SPDX-License-Identifier: Apache-2.0
// The ATM adapter of a sending host: one processor, which prepares messages and sends their cells.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

#include "machine/cell_port.hpp"

namespace nacre::machine {

enum class cell_urgency : std::uint8_t { message, control };

/// An adapter sends one cell after the other, at the rate of its line. Cells of one message follow each other; those of
/// a control message go between them, ahead of all that wait. While a message's cell is on the line, the processor is
/// busy with that; else it prepares the next message. So a host that sends message after message takes, for each, its
/// preparation and its cells.
///
/// Pure bookkeeping: it takes times and returns times. Its line counts in picoseconds, so that rounding does not add
/// up. Single-threaded.
class cell_adapter {
 public:
  explicit cell_adapter(double bytes_per_second);

  struct packet {
    std::uint32_t circuit = 0;
    std::uint64_t number = 0;  ///< within the circuit
    std::uint64_t cells = 1;
    cell_urgency urgency = cell_urgency::message;
  };
  /// The packet is ready to leave. One of the same urgency that has been sent before goes first.
  void send(const packet& packet, std::chrono::nanoseconds now);

  struct sent_cell {
    atm_cell cell;
    cell_urgency urgency;
  };
  /// When the cell on the line has left it; max() where there is none.
  [[nodiscard]] std::chrono::nanoseconds due() const noexcept;
  /// Takes that cell, at that time or later; the next one has begun when it left.
  [[nodiscard]] sent_cell take();

  /// The processor has to work for `work` on the next message. It works on one at a time.
  void prepare(std::chrono::nanoseconds work, std::chrono::nanoseconds now);
  [[nodiscard]] bool is_preparing() const noexcept { return preparation_.has_value(); }
  /// When the preparation is done, if no cell of a message comes before; max() during one, or without a preparation.
  [[nodiscard]] std::chrono::nanoseconds prepared_at() const noexcept;
  /// That time has come.
  void finish_preparation();

 private:
  struct outgoing {
    packet whole;
    std::uint64_t left = 0;  // cells that have left
  };
  struct preparation {
    std::int64_t lacks_ps;
    std::int64_t since_ps;  // when the processor has taken it up, or will after the cell on the line
  };

  [[nodiscard]] std::deque<outgoing>& queue_of(cell_urgency urgency) noexcept {
    return urgency == cell_urgency::control ? control_ : messages_;
  }
  void begin_cell(std::int64_t begin_ps);
  [[nodiscard]] bool is_sending() const noexcept { return line_ == cell_urgency::message; }

  std::int64_t cell_ps_;
  std::deque<outgoing> messages_, control_;
  std::optional<cell_urgency> line_;  // of the cell on the line
  std::int64_t line_free_ps_ = 0;
  std::optional<preparation> preparation_;
};

}  // namespace nacre::machine
