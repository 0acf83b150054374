// SPDX-License-Identifier: Apache-2.0
// Affinity masks of any length.
#include "exec/thread_binding.hpp"

#include <sched.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace nacre {
namespace {

struct mask_deleter {
  void operator()(cpu_set_t* mask) const noexcept { CPU_FREE(mask); }
};
using mask_ptr = std::unique_ptr<cpu_set_t, mask_deleter>;

constexpr std::size_t processors_max = 1U << 18;

}  // namespace

processor_list processors_of_this_thread() {
  processor_list list;
  for (std::size_t count = 1024; count <= processors_max; count *= 2) {  // the kernel refuses a mask that is too short
    const mask_ptr mask(CPU_ALLOC(count));
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    if (mask == nullptr) return list;
    if (::sched_getaffinity(0, bytes, mask.get()) != 0) {
      if (errno != EINVAL) return list;
      continue;
    }
    for (std::size_t each = 0; each < count; ++each) {
      if (CPU_ISSET_S(each, bytes, mask.get())) list.push_back(static_cast<std::uint32_t>(each));
    }
    return list;
  }
  return list;
}

bool bind_this_thread(const processor_list& list) noexcept {
  if (list.empty()) return true;
  const std::size_t count = list.back() + std::size_t{1};
  const mask_ptr mask(CPU_ALLOC(count));
  if (mask == nullptr) return false;
  const std::size_t bytes = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(bytes, mask.get());
  for (const std::uint32_t each : list) CPU_SET_S(each, bytes, mask.get());
  return ::sched_setaffinity(0, bytes, mask.get()) == 0;
}

}  // namespace nacre
