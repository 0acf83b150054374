// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind images.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <nacre/containers/core.hpp>
#include <nacre/nacre.hpp>

#include "runtime/engine.hpp"

namespace nacre::detail {

bool wait_with_kept(engine& core, thread_context& thread, const kept_value& kept, image_wish wish) {
  return core.images().wait(thread, kept, wish);
}

std::optional<std::vector<std::byte>> restored_bytes(engine& core, thread_context& thread, std::string_view class_name,
                                                     std::uint32_t mark) {
  return core.images().restore(thread, class_name, mark);
}

void refuse_kept(std::string_view class_name) {
  throw setup_error(
      fmt::format("the kept value of the image, of the class {}, does not unpack: its serialize has "
                  "changed since the image was taken",
                  class_name));
}

container_plan plan_saved_container(engine& core, std::uint32_t number) {
  if (!core.images().has_container(number)) {
    throw usage_error(
        "a container is made from a handle that names none of the image, or one that has been taken over: an empty "
        "handle makes a new container");
  }
  return {.number = number, .stripes = core.pool().workers()};
}

std::unique_ptr<container_part> take_container(engine& core, std::uint32_t number, std::string_view name) {
  return core.images().give_container(number, name);
}

}  // namespace nacre::detail
