// SPDX-License-Identifier: Apache-2.0
// Objects leave this rank.
#pragma once

#include <cstddef>
#include <string>

#include "am/am_engine.hpp"
#include "mobile/backlog/source_backlog.hpp"
#include "mobile/directory/homes.hpp"
#include "mobile/directory/location_rules.hpp"
#include "mobile/entry/activation_step.hpp"
#include "mobile/entry/object_functions.hpp"
#include "mobile/life/migration_costs.hpp"
#include "mobile/life/object_codec.hpp"
#include "mobile/location/entry_review.hpp"
#include "mobile/object/balancer_view.hpp"
#include "mobile/object/message_table.hpp"

namespace nacre {

/// The first half of docs/protocols/migration.md; the other half is `arrivals`. The activation of the object's entry.
class departures {
 public:
  departures(am_engine& messages, const nacre::homes& homes, const location_rules& rules, const object_names& names,
             message_table& table, balancer_view& view, entry_review& review, source_backlog& backlog);

  /// Departs unless the object refuses or cannot move; returns the reason, which is empty when it departs.
  [[nodiscard]] std::string leave_for(activation_step& step, rank_id target, const migration_request& asked,
                                      wish_kind wish = wish_kind::always);
  void depart(activation_step& step, rank_id target, const migration_request& asked);
  /// The reason why the object, which is here, must not move at this moment; null when it may.
  [[nodiscard]] const char* refusal(const object_entry& entry) const;
  /// Measures the object packed. Returns the reason why it cannot be packed, or is too long with what waits for it;
  /// empty when it can move.
  [[nodiscard]] std::string measure(const activation_step& step, std::size_t& bytes) const;

  /// Any thread; estimates.
  [[nodiscard]] const migration_costs& costs() const noexcept { return costs_; }

 private:
  step_end migrate_front(activation_step& step);
  void leave_for_balancer(activation_step& step, rank_id target, wish_kind wish);
  [[nodiscard]] bool is_worth_migrating(const activation_step& step, std::size_t bytes) const;
  [[nodiscard]] bool exceeds_message_limit(const activation_step& step, std::size_t bytes) const;

  am_engine& messages_;
  const nacre::homes& homes_;
  const location_rules& rules_;
  const object_names& names_;
  balancer_view& view_;
  entry_review& review_;
  source_backlog& backlog_;
  migration_costs costs_;
};

}  // namespace nacre
