// SPDX-License-Identifier: Apache-2.0
// The step of the event loop.
#include "machine/simulation.hpp"

namespace nacre::machine {

bool simulation::step() {
  NACRE_EXPECT(!running_, "an event cannot make the next event happen inside itself");
  if (queue_.empty()) return false;
  const event next = queue_.pop();
  event_ns_.store(next.when_ns, std::memory_order_relaxed);
  spent_ns_ = 0;
  events_.store(events_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  mix(next.when_ns);
  running_ = true;
  next.run(next.subject, next.argument);
  running_ = false;
  return true;
}

}  // namespace nacre::machine
