// SPDX-License-Identifier: Apache-2.0
// What the runtime's own work takes on a simulated machine: one table, in virtual time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nacre {

class config;
struct option;

/// A kind of work that the runtime does for the program. Whoever does it says so to its worker_pool; see worker_pool::charge_own.
enum class own_work : std::uint8_t {
  send,         ///< a message to another rank: stamped, packed, routed
  send_local,   ///< a message to the own rank
  receive,      ///< a message of another rank: decoded, and put where it waits for its handler
  item,         ///< an item of work; a pass of the poll loop that has found something; a piece of news of an object
  dispatch,     ///< a handler, begun and ended
  create,       ///< an object, made and named
  forward,      ///< a message that is sent on, besides its receiving and its sending
  move_out,     ///< an object that leaves
  move_in,      ///< an object that arrives
  pack_byte,    ///< a byte of an object that leaves, and of the messages that wait for it
  unpack_byte,  ///< the same where it arrives
  look,         ///< a look of a balancer: a tick, or a message of another balancer
  look_step     ///< an object, or a rank, that a look considers
};
inline constexpr std::size_t own_work_count = static_cast<std::size_t>(own_work::look_step) + 1;

namespace machine {

/// The time of each kind of work, for one unit of it. All are free unless set.
class runtime_costs {
 public:
  /// In picoseconds, since a byte takes a fraction of a nanosecond.
  [[nodiscard]] std::uint64_t picoseconds(own_work what) const noexcept {
    return picoseconds_[static_cast<std::size_t>(what)];
  }
  void set_picoseconds(own_work what, std::uint64_t each) noexcept {
    picoseconds_[static_cast<std::size_t>(what)] = each;
  }

 private:
  std::array<std::uint64_t, own_work_count> picoseconds_{};
};

/// Rows for the configuration, all named "sim.cost.*", with the defaults of docs/simulation.md.
[[nodiscard]] std::span<const option> runtime_cost_rows() noexcept;

/// What a configuration that has declared the rows says.
[[nodiscard]] runtime_costs read_runtime_costs(const config& configuration);

}  // namespace machine
}  // namespace nacre
