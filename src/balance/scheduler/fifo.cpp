// SPDX-License-Identifier: Apache-2.0
// The oldest first.
#include "balance/scheduler/fifo.hpp"

namespace nacre {

work* fifo_scheduler::pop(worker_id by) {
  if (looks_around(by)) {
    if (work* const item = take_ownerless(by)) return item;
  }
  if (work* const item = own(by).items.take_oldest()) return item;
  return steal(by);
}

}  // namespace nacre
