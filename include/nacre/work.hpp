// SPDX-License-Identifier: Apache-2.0
// A unit of work of a rank, which a scheduler orders.
#pragma once

namespace nacre {

class thread_context;

/// One thing that a worker can run: the activation of a mobile object, a message to the rank, a resumed coroutine.
/// A scheduler stores pointers to it and never looks inside. The runtime owns it; running it may end its life.
class work {
 public:
  using runner = void (*)(work&, thread_context&);

  constexpr explicit work(runner function) noexcept : run_(function) {}
  /// Runs the item on the calling thread, whose context is `thread`. The item may end.
  void run(thread_context& thread) { run_(*this, thread); }
  /// Whether `function` runs this item, by which the maker of an item recognises its kind.
  [[nodiscard]] bool runs_by(runner function) const noexcept { return run_ == function; }

 protected:
  ~work() = default;
  runner run_;
};

}  // namespace nacre
