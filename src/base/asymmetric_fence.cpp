// SPDX-License-Identifier: Apache-2.0
// The system's part of asymmetric_fence: membarrier.
#include "base/asymmetric_fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include <nacre/assert.hpp>

namespace nacre {
namespace {

bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

const bool asymmetric_fence::by_system_ = ask_system();

bool asymmetric_fence::ask_system() noexcept {
  return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) && membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

void asymmetric_fence::heavy() noexcept {
  if (!by_system_) return full();
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
  // A child of fork that has not been registered; or the system has no memory at this moment.
  while (!ask_system()) {
    NACRE_EXPECT(errno == ENOMEM,
                 "the system still lets this process call membarrier, as it did when the process began");
  }
}

/// Of two of these changes of one word, the later one comes after all that its thread's predecessor there has stored.
void asymmetric_fence::full() noexcept {
  static constinit std::atomic<int> common{0};
  common.fetch_add(1, std::memory_order_acq_rel);  // pairs with itself
}

}  // namespace nacre
