// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind contributions.
#include <nacre/nacre.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/engine.hpp"

namespace nacre::detail {

void contribute(engine& core, thread_context& thread, object_id element, const contribution_step& step,
                std::span<const std::byte> value, const contribution_rows& rows, const contribution_target& target) {
  core.expect_own_thread();
  using kind = contribution_target::kind;
  if (target.target_kind == kind::rank && target.name >= core.size()) {
    throw usage_error("contribute for rank " + std::to_string(target.name) + " of a job with " +
                      std::to_string(core.size()) + " ranks");
  }
  if (target.target_kind != kind::rank && target.name == 0) {
    throw usage_error("contribute for a mobile_ptr or array_ptr that names nothing (it was default-constructed)");
  }
  core.throttle(thread);
  core.objects().contributed().contribute(thread, element, value,
                                          {.first = step.section.array(),
                                           .section = step.section.number(),
                                           .step = step.step,
                                           .handler = rows.handler.value(),
                                           .row = rows.combines.value(),
                                           .kind = static_cast<std::uint8_t>(target.target_kind),
                                           .target = target.name});
}

}  // namespace nacre::detail
