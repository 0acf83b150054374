// SPDX-License-Identifier: Apache-2.0
// The untyped function behind messages under flow control, and the options of links.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include <nacre/nacre.hpp>

#include "runtime/engine.hpp"

namespace nacre {

flow::link_settings flow_settings_of(const config& configuration, bool simulated) {
  double gigabytes = configuration.get_double("flow_bandwidth");
  if (gigabytes == 0) gigabytes = simulated ? configuration.get_double("sim.bandwidth") : 1.25;
  gigabytes = std::max(gigabytes, 1e-3);  // at less, times would overflow
  return {.bytes_per_second = gigabytes * 1e9 * flow::usable_part,
          .buffer_bytes = static_cast<std::uint64_t>(configuration.get_int("flow_buffer")),
          .early = configuration.get_duration("flow_early"),
          .patience = configuration.get_duration("flow_patience"),
          .turn_bytes = static_cast<std::uint64_t>(configuration.get_int("flow_turn")),
          .small_bytes = static_cast<std::uint64_t>(configuration.get_int("flow_small")),
          .permits = static_cast<std::uint32_t>(configuration.get_int("flow_permits")),
          .receive_bytes = static_cast<std::uint64_t>(configuration.get_int("flow_receive"))};
}

namespace detail {

void post_with_flow_control(engine& core, thread_context& thread, rank_id target, flow_policy policy, message_ptr m) {
  if (target.value() >= core.size()) {
    throw usage_error("a message to rank " + std::to_string(target.value()) + " of a job with " +
                      std::to_string(core.size()) + " ranks");
  }
  if (policy > flow_policy::automatic) {
    throw usage_error("send_with_flow_control under a policy that does not exist: number " +
                      std::to_string(static_cast<unsigned>(policy)));
  }
  core.throttle(thread);
  core.flow_.post(thread, target, policy, std::move(m));
}

}  // namespace detail
}  // namespace nacre
