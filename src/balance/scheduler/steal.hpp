// SPDX-License-Identifier: Apache-2.0
// The default scheduler: a queue for each lane, and stealing from random others.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <nacre/scheduler.hpp>

#include "base/rng.hpp"
#include "base/ws_deque.hpp"

namespace nacre {

/// Every lane pushes to its own deque. A worker takes the oldest of its own, so that messages of one rank start in the order
/// in which they arrived, then the oldest of other lanes, beginning with a random one. Lanes: workers, application,
/// poll loop. The last two have no worker of their own, so once in `turns_between_looks` a worker looks there first: else
/// workers whose handlers keep sending to themselves would never come to what main has sent or the poll loop received.
class steal_scheduler final : public scheduler {
 public:
  static constexpr std::uint32_t turns_between_looks = 32;

  steal_scheduler(std::uint32_t workers, std::uint64_t seed);
  void push(worker_id by, work& item) override;
  [[nodiscard]] work* pop(worker_id by) override;
  [[nodiscard]] std::size_t waiting(worker_id by) const override;
  /// Items that `by` took from others.
  [[nodiscard]] std::uint64_t steals(worker_id by) const noexcept { return lanes_[by.value()]->steals; }

 private:
  struct alignas(64) lane_queue {
    explicit lane_queue(rng r) : random(r) {}
    ws_deque<work> items;
    rng random;
    std::uint64_t steals = 0;  // owner only
    std::uint32_t turns = 0;   // owner only
  };
  std::vector<std::unique_ptr<lane_queue>> lanes_;
};

}  // namespace nacre
