// SPDX-License-Identifier: Apache-2.0
// The events of a main that waits.
#include "exec/main_pause.hpp"

#include "trace/phases.hpp"

namespace nacre {

detail::open_phase* pause_main(thread_context& main) {
  detail::open_phase* const paused = main.phases == nullptr ? nullptr : main.phases->suspend(nullptr);
  main.record(trace::event_kind::end);
  return paused;
}

void continue_main(thread_context& main, detail::open_phase* paused) {
  main.record(trace::event_kind::main_begin);
  if (paused != nullptr) main.phases->resume(paused);
}

}  // namespace nacre
