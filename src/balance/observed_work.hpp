// SPDX-License-Identifier: Apache-2.0
// What the objects of a rank have done lately, as a balancer sees it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <nacre/balancer.hpp>

#include "base/clock.hpp"
#include "mobile/directory/directory.hpp"
#include "mobile/life/migration_costs.hpp"
#include "mobile/object/balancer_view.hpp"
#include "mobile/object/step_record.hpp"
#include "mobile/object/traffic_counter.hpp"

namespace nacre {

/// Windows of time over the step_record of a rank. The poll loop.
class observed_work final : public work_observer {
 public:
  struct objects {
    const directory& entries;
    const balancer_view& view;
    traffic_counter& traffic;
    const migration_costs& costs;
    step_record& steps;
  };
  /// `always_counts`: whether traffic is counted outside of windows, too.
  observed_work(am_engine& messages, const objects& subjects, clock& time, bool always_counts)
      : messages_(messages), objects_(subjects), time_(time), began_(time.now()), always_counts_(always_counts) {}

  void begin_window(bool counts_traffic) override;
  [[nodiscard]] work_window window() override;
  [[nodiscard]] lasting_work lasting() override;
  [[nodiscard]] worked_objects worked(std::size_t most) override;
  /// How many windows that count traffic have begun.
  [[nodiscard]] std::uint32_t counting_windows() const noexcept { return counting_windows_; }

 private:
  am_engine& messages_;
  objects objects_;
  clock& time_;
  std::chrono::nanoseconds began_;
  bool always_counts_;
  std::uint32_t counting_windows_ = 0;
  std::vector<object_load> worked_;  // result of the last call of `worked`
};

}  // namespace nacre
