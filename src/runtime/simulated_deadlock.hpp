// SPDX-License-Identifier: Apache-2.0
// Finds out whether a simulated job can still go on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/engine.hpp"
#include "transport/sim/sim_fabric.hpp"

namespace nacre {

/// Events never cease in a job: timers tick, balancers ask each other and move objects, waves of termination go round.
/// So the detector counts *effects*. An effect is anything that can make user code run:
///
/// | effect | counted by |
/// |---|---|
/// | a sent message, not idle, that its rank has not got yet; a copy under way | sim_fabric |
/// | a message that waits for credit or for its link | backplane |
/// | a message that waits in a send buffer to be aggregated | the send buffers of the threads |
/// | ready work, now or after the time that its worker still spends; a main about to go on | sim_pool |
/// | a main that runs | engine |
/// | a sleep, a time limit, or a message to be sent later | timer_queue |
/// | a message that waits for the location of its object | object_space |
/// | quiescence, if a function or main waits for it and no unit is open but moving objects | quiescence_module |
///
/// Rule. The job is in deadlock when, between two events, no rank has an effect.
///
/// Proof that the rule never holds falsely. User code runs as ready work, as a message that a rank receives, or in a
/// main. So in a state without effects none runs until an event makes an effect. The events left are idle messages,
/// steps of workers and timers. These run only code of the runtime, and each leaves a state without effects:
/// - Waves end in a declaration of quiescence only if all units are done. If any function or main waits for it and only
///   moving objects are open units, that is an effect already; otherwise it does not come or changes nothing.
/// - Balancers send idle messages and move objects. An object moves only while no handler has it. Messages that wait
///   for it are ready work, or travel with it, so that its arrival is an effect. Without such messages it is a unit
///   that is open until it arrives.
/// - Locations and grants of credit let waiting messages go on; these messages are effects already.
/// By induction no user code ever runs again. A main that polls is a main that runs.
///
/// Proof that a deadlock is found. Once no user code runs any more, the remaining effects come to an end, since each
/// message reaches its object or is reported as undeliverable, and credit is granted in the end. From then on the only
/// effects are objects that balancers move, and these end, too. A look between two moves sees no effect.
class deadlock {
 public:
  using rank_engines = std::vector<std::unique_ptr<engine>>;

  /// Before anything runs: tells the fabric which messages are idle.
  deadlock(transport::sim_fabric& fabric, const rank_engines& engines);

  /// Between two events. Looks at one number, or as far as the first rank that has an effect.
  [[nodiscard]] bool reached() const;
  /// In a deadlock: lets coroutines give up to wait that hold up the end of their object. False: there are none.
  [[nodiscard]] bool give_up_waits() const;
  /// One line that names the waiting mains and messages.
  [[nodiscard]] std::string description() const;

 private:
  const transport::sim_fabric& fabric_;
  const rank_engines& engines_;
};

}  // namespace nacre
