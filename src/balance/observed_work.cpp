// SPDX-License-Identifier: Apache-2.0
// Looks at the objects that have worked in a window.
#include "balance/observed_work.hpp"

#include <algorithm>

namespace nacre {
namespace {
constexpr std::size_t sample_of_window = 256;  // objects that have worked
}

void observed_work::begin_window(bool counts_traffic) {
  objects_.steps.clear();
  began_ = time_.now();
  if (counts_traffic) ++counting_windows_;
  objects_.traffic.count(counts_traffic || always_counts_);
}

work_window observed_work::window() {
  const step_record::sums sums = objects_.steps.so_far();
  return {.length = std::chrono::duration<double>(time_.now() - began_).count(),
          .active = static_cast<double>(sums.last - sums.first) * messages_.pool().seconds_a_tick(),
          .seconds = sums.seconds,
          .objects = sums.objects,
          .steps = sums.steps};
}

lasting_work observed_work::lasting() {
  lasting_work lasting;
  for (const step_record::row& each : objects_.steps.some(sample_of_window)) {
    const object_entry* const entry = objects_.entries.find(each.object);
    lasting.steps += each.steps;
    const bool has_left =
        entry != nullptr && !entry->location.read().gone && entry->location.read().rank != messages_.rank();
    lasting.objects += has_left ? 0 : 1;
  }
  lasting.steps /= static_cast<double>(std::max<std::size_t>(lasting.objects, 1));
  return lasting;
}

worked_objects observed_work::worked(std::size_t most) {
  worked_.clear();
  double seconds = objects_.steps.so_far().seconds;
  std::size_t here = 0;
  for (const step_record::row& each : objects_.steps.rows()) {
    const object_entry* const entry = objects_.entries.find(each.object);
    messages_.pool().charge_own(own_work::look_step);
    if (entry == nullptr || entry->location.read().rank != messages_.rank()) {
      seconds -= each.seconds;
      continue;
    }
    ++here;
    object_estimate estimate{};
    if (!objects_.view.look_at(each.object, estimate)) continue;
    worked_.push_back({.object = each.object,
                       .load = each.seconds,
                       .messages = estimate.messages,
                       .migration_cost = objects_.costs.of(estimate.packed_bytes) + estimate.declared_cost,
                       .running = estimate.running,
                       .seconds = each.seconds});
  }
  const auto heavier = [](const object_load& a, const object_load& b) { return a.load > b.load; };
  if (worked_.size() > most) {
    std::nth_element(worked_.begin(), worked_.begin() + static_cast<std::ptrdiff_t>(most), worked_.end(), heavier);
    worked_.resize(most);
  }
  std::stable_sort(worked_.begin(), worked_.end(), heavier);
  return {.seconds = std::max(seconds, 0.0), .objects = here, .movable = worked_};
}

}  // namespace nacre
