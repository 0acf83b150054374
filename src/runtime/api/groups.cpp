// SPDX-License-Identifier: Apache-2.0
// The untyped functions behind the public templates of groups.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <nacre/nacre.hpp>

#include "base/exception_text.hpp"
#include "runtime/engine.hpp"
#include "runtime/group_ends.hpp"

namespace nacre::detail {
namespace {

/// One rank's part in making or ending a group; all ranks get the combination of all parts.
struct group_step {
  std::string what;
  std::string failure;  ///< empty: none
  template <class Archive>
  void serialize(Archive& ar) {
    ar(what, failure);
  }
};

/// Collective: all ranks pass an equal `what`; otherwise the job ends with a line that has two different ones. Returns
/// the failure of the lowest rank that has one.
std::string agree_on_group(engine& core, thread_context& thread, const group_step& step) {
  const auto combine = [](std::vector<std::byte>& accumulated, std::span<const std::byte> contribution) {
    auto one = unpack_own<group_step>(accumulated);
    const auto other = unpack_own<group_step>(contribution);
    if (one.what != other.what) {
      throw usage_error("the ranks do not make and destroy the same groups in the same order: " + one.what + "; " +
                        other.what);
    }
    if (one.failure.empty()) one.failure = other.failure;
    accumulated = pack(one);
  };
  const collective_call call{collective_kind::group, {}, pack(step), combine, type_mark<group_step>()};
  return unpack_own<group_step>(run_collective(core, thread, call)).failure;
}

std::string describe(std::uint32_t number, const group_type& type) {
  return "group " + std::to_string(number) + " of " + std::string(type.name);
}

}  // namespace

std::uint32_t make_group(engine& core, thread_context& thread, const group_type& type,
                         const std::function<void*()>& make) {
  core.expect_own_thread();
  core.access().must_not_hold();
  group_table& groups = core.groups();
  const std::uint32_t number = groups.open(type);
  std::exception_ptr thrown;
  group_step step{"makes " + describe(number, type), {}};
  try {
    groups.adopt(number, make());
  } catch (...) {
    thrown = std::current_exception();
    step.failure = "create_group: the constructor of " + std::string(type.name) + " threw on rank " +
                   std::to_string(core.rank().value()) + ": " + text_of_thrown();
  }
  const std::string failure = agree_on_group(core, thread, step);
  if (failure.empty()) return number;
  if (void* const member = groups.withdraw(number)) type.destroy(member);
  if (thrown != nullptr) std::rethrow_exception(thrown);
  throw std::runtime_error(failure);
}

void destroy_group(engine& core, thread_context& thread, std::uint32_t number, const group_type& type) {
  core.expect_own_thread();
  core.access().must_not_hold();
  static_cast<void>(local_member(core, number, type));
  static_cast<void>(agree_on_group(core, thread, {"destroys " + describe(number, type), {}}));
  core.wait_quiescence(thread);  // no handler uses the object any more
  end_requests(core, thread, number);
  void* const member = core.groups().withdraw(number);
  static_cast<void>(run_collective(core, thread, {}));  // from here on no main sends what could still find one
  type.destroy(member);
}

void* local_member(engine& core, std::uint32_t number, const group_type& type) {
  return core.groups().member(number, type);
}

}  // namespace nacre::detail
