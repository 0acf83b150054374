// SPDX-License-Identifier: Apache-2.0
// Asks the kernel how often a thread has lost its processor.
#include "exec/preemption.hpp"

#include <sys/resource.h>

namespace nacre {

long preemption_watch::times_lost() noexcept {
  rusage spent{};
  return getrusage(RUSAGE_THREAD, &spent) == 0 ? spent.ru_nivcsw : 0;
}

}  // namespace nacre
