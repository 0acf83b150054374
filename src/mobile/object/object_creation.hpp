// SPDX-License-Identifier: Apache-2.0
// New objects at their home.
#pragma once

#include <atomic>
#include <cstdint>

#include <nacre/runtime.hpp>

#include "mobile/directory/homes.hpp"
#include "mobile/directory/location_rules.hpp"
#include "mobile/object/object_activation.hpp"

namespace nacre {

/// Any thread.
class object_creation {
 public:
  object_creation(am_engine& messages, const nacre::homes& homes, const location_rules& rules, directory& entries,
                  const object_names& names, entry_access& access, balancer_view& view, object_activation& activation)
      : messages_(messages),
        homes_(homes),
        rules_(rules),
        entries_(entries),
        names_(names),
        access_(access),
        view_(view),
        activation_(activation) {}

  /// Makes this rank the home of an object. Takes ownership, even when a function of the object's class throws.
  /// `wanted`: the location policy of the object; of_program stands for the policy of its type or of the program.
  [[nodiscard]] object_id adopt(thread_context& thread, const detail::object_type& type, void* object,
                                location_policy wanted = location_policy::of_program);
  /// Makes the entry of an object at its home, which is this rank.
  object_entry& install(thread_context& thread, object_id id, object_state state);
  /// The last number of an object that this rank has made: further ones are numbered behind it.
  [[nodiscard]] std::atomic<std::uint64_t>& last_index() noexcept { return last_index_; }

 private:
  am_engine& messages_;
  const nacre::homes& homes_;
  const location_rules& rules_;
  directory& entries_;
  const object_names& names_;
  entry_access& access_;
  balancer_view& view_;
  object_activation& activation_;
  std::atomic<std::uint64_t> last_index_{0};  // of objects with their home here
};

}  // namespace nacre
