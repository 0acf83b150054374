// SPDX-License-Identifier: Apache-2.0
// The bookkeeping of ports and buffers.
#include "machine/drop_tail_switch.hpp"

#include <algorithm>
#include <cmath>

#include <nacre/assert.hpp>

namespace nacre::machine {

namespace {

constexpr std::int64_t port_ps_per_ns = 1000;

}  // namespace

drop_tail_switch::drop_tail_switch(const switch_options& options)
    : options_(options),
      ports_(options.ports),
      buffers_(options.sharing == buffer_sharing::shared ? 1 : options.ports) {
  NACRE_EXPECT(options.ports >= 1, "a switch has a port");
  NACRE_EXPECT(options.bytes_per_second >= 1e3, "a port passes at least a kilobyte a second");
  NACRE_EXPECT(options.cell_bytes >= 1, "a cell has a byte");
  NACRE_EXPECT(options.buffer >= 1, "a port without any buffer passes nothing");
}

std::uint64_t drop_tail_switch::units(std::uint64_t bytes) const noexcept {
  switch (options_.unit) {
    case buffer_unit::packets:
      return 1;
    case buffer_unit::cells:
      return (bytes + options_.cell_bytes - 1) / options_.cell_bytes;
    case buffer_unit::bytes:
      break;
  }
  return bytes;
}

std::uint64_t drop_tail_switch::occupied(std::uint32_t port, std::chrono::nanoseconds now) {
  NACRE_EXPECT(port < ports_.size(), "no such port");
  NACRE_EXPECT(now.count() >= present_ns_, "packets arrive in the order of time");
  present_ns_ = now.count();
  buffer& buffer = buffer_of(port);
  while (!buffer.packets.empty() && buffer.packets.top().leaves_ns <= present_ns_) {
    buffer.units -= buffer.packets.top().units;
    buffer.packets.pop();
  }
  return buffer.units;
}

std::optional<std::chrono::nanoseconds> drop_tail_switch::arrive(std::uint32_t port, std::uint64_t bytes,
                                                                 std::chrono::nanoseconds now) {
  const std::uint64_t takes = units(bytes);
  if (occupied(port, now) + takes > options_.buffer) {
    ports_[port].dropped += 1;
    return std::nullopt;
  }
  const auto sending_ps = std::llround(static_cast<double>(bytes) * (1e12 / options_.bytes_per_second));
  std::int64_t& free_ps = ports_[port].free_ps;
  free_ps = std::max(now.count() * port_ps_per_ns, free_ps) + sending_ps;
  const std::int64_t leaves_ns = (free_ps + port_ps_per_ns - 1) / port_ps_per_ns;
  buffer& buffer = buffer_of(port);
  buffer.packets.push({leaves_ns, takes});
  buffer.units += takes;
  return std::chrono::nanoseconds(leaves_ns);
}

}  // namespace nacre::machine
