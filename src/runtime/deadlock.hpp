// SPDX-License-Identifier: Apache-2.0
// Tells a simulated job in which nothing can happen any more from one that takes its time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/engine.hpp"
#include "transport/sim/sim_fabric.hpp"

namespace nacre {

/// Timers tick for ever, balancers ask each other and move objects, waves of termination go round: that events still
/// happen says nothing. So an *effect* is anything that can bring user code on:
///
/// | effect | counted by |
/// |---|---|
/// | a message that has been sent and not been handed to its rank, unless it is idle; a copy under way | sim_fabric |
/// | a message that waits for credit or for its link | backplane |
/// | a message that waits for company | the send_buffers of the thread contexts |
/// | work that is ready, or will be when the time is over that has been spent; a main that is about to go on | sim_pool |
/// | a main that runs | engine |
/// | a message that waits for news of where its object is | object_space |
/// | quiescence, if somebody waits for it and no unit is open but objects that move | quiescence_module |
///
/// Rule. The job is in deadlock when, between two events, there is no effect on any rank.
///
/// Proof that it is never said falsely. User code runs as ready work, as a message that a rank takes, or in a main; so
/// without effects none runs until some event makes one. Such an event would be an idle message, a step of a worker, or
/// a timer, and what these run is the runtime's own: waves, balancers, news of locations, grants of credit, objects
/// that move while nothing waits for them. Waves end in a declaration only if all units are done, which is an effect
/// when anybody waits for it and no unit but moving objects is open, and otherwise does not come or changes nothing. Balancers send idle messages and move objects. An object
/// moves only while no handler has it; what waits for it then is ready work, or travels with it, which makes its arrival
/// an effect; else it is a unit that is open only until it arrives. News and grants let messages go on that wait for them, and these are effects. So each event leaves a state
/// without effects, and by induction no user code ever runs again. A main that polls is a main that runs.
///
/// Proof that it is found. Once no user code runs any more, the effects that are left come to their ends, since each
/// message reaches its object or the report that there is none, and credit is granted in the end; from then on an effect
/// is at most an object that a balancer moves, which comes and goes. A look that happens between two moves sees none.
class deadlock {
 public:
  using rank_engines = std::vector<std::unique_ptr<engine>>;

  /// Before anything runs: tells the fabric which messages are idle.
  deadlock(transport::sim_fabric& fabric, const rank_engines& engines);

  /// Between two events. Looks at one number, or as far as the first rank that has an effect.
  [[nodiscard]] bool reached() const;
  /// Who waits where, in a line.
  [[nodiscard]] std::string description() const;

 private:
  const transport::sim_fabric& fabric_;
  const rank_engines& engines_;
};

}  // namespace nacre
