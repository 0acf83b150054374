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

  constexpr explicit work(runner how) noexcept : run_(how) {}
  /// Runs the item on the calling thread, whose context is `on`. The item may end.
  void run(thread_context& on) { run_(*this, on); }
  /// Whether `how` runs this item, by which the maker of an item recognises its kind.
  [[nodiscard]] bool runs_by(runner how) const noexcept { return run_ == how; }

 protected:
  ~work() = default;
  runner run_;
};

}  // namespace nacre
