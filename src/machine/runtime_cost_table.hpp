// SPDX-License-Identifier: Apache-2.0
// The costs of the runtime's own work on a simulated machine: one table, in virtual time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nacre {

class config;
struct option;

/// A kind of work that the runtime does for the program. The code that does the work charges it to its worker pool, see
/// worker_pool::charge_own.
enum class own_work : std::uint8_t {
  send,         ///< stamping, packing and routing a message to another rank
  send_local,   ///< sending a message to the sending rank itself
  receive,      ///< decoding a message of another rank, and queuing it for its handler
  item,         ///< a work item; a pass of the poll loop that has found work; an update of an object's location or end
  dispatch,     ///< beginning and ending a handler
  create,       ///< making and naming an object
  forward,      ///< forwarding a message, in addition to receiving and sending it
  move_out,     ///< sending an object to another rank
  move_in,      ///< installing an object that has arrived
  pack_byte,    ///< packing a byte of an object that leaves, or of the messages that wait for it
  unpack_byte,  ///< unpacking such a byte where the object arrives
  look,         ///< one run of a balancer: for a tick, or for a message of another balancer
  look_step,    ///< an object or a rank that such a run considers
  handler       ///< a handler of the program, by the machine that runs it: node_options, and no row of this table
};
/// The kinds of work that have a row.
inline constexpr std::size_t own_work_count = static_cast<std::size_t>(own_work::look_step) + 1;

namespace machine {

/// The time of one unit of each kind of work. Each is 0 unless set.
class runtime_costs {
 public:
  /// The time of one unit in picoseconds, since a byte takes a fraction of a nanosecond.
  [[nodiscard]] std::uint64_t picoseconds(own_work item) const noexcept {
    return picoseconds_[static_cast<std::size_t>(item)];
  }
  /// Whether the time of this processor is charged, in place of these times but that of a handler.
  [[nodiscard]] bool measured() const noexcept { return measured_; }
  void set_measured(bool whether) noexcept { measured_ = whether; }
  void set_picoseconds(own_work item, std::uint64_t each) noexcept {
    picoseconds_[static_cast<std::size_t>(item)] = each;
  }

 private:
  std::array<std::uint64_t, own_work_count + 1> picoseconds_{};
  bool measured_ = false;
};

/// Returns the options named "sim.cost.*", for the configuration, with the defaults of docs/simulation.md.
[[nodiscard]] std::span<const option> runtime_cost_rows() noexcept;

/// Reads the costs from a configuration that has declared these rows.
[[nodiscard]] runtime_costs read_runtime_costs(const config& configuration);

}  // namespace machine
}  // namespace nacre
