// SPDX-License-Identifier: Apache-2.0
// The step of the event loop.
#include "machine/simulation.hpp"

namespace nacre::machine {

bool simulation::step() {
  NACRE_EXPECT(!running_, "an event cannot make the next event happen inside itself");
  if (queue_.empty()) return false;
  const event next = queue_.pop();
  event_ns_ = next.when_ns;
  spent_ns_ = 0;
  ++events_;
  mix(next.when_ns);
  running_ = true;
  next.run(next.subject, next.argument);
  running_ = false;
  return true;
}

}  // namespace nacre::machine
