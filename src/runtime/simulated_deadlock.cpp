// SPDX-License-Identifier: Apache-2.0
// Deadlock detection over all ranks of a simulation, and the description of the waiting ranks.
#include "runtime/simulated_deadlock.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/report_lines.hpp"
#include "mobile/object/waiting_report.hpp"

namespace nacre {
namespace {

constexpr std::size_t told_max = 8;  // ranks, or objects, by name

std::string listed(const report_lines& all, std::string_view separator) {
  std::string text;
  for (const report_lines::line& each : all.lines()) text += (text.empty() ? "" : std::string(separator)) + each.text;
  const std::uint64_t told = all.lines().size();
  if (all.count() > told) text += std::string(separator) + "and " + std::to_string(all.count() - told) + " more";
  return text;
}

/// The first told_max of them, and the number of the others.
std::string listed(const std::vector<std::string>& all, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), told_max); ++i) {
    text += (i == 0 ? "" : std::string(separator)) + all[i];
  }
  if (all.size() > told_max) text += std::string(separator) + "and " + std::to_string(all.size() - told_max) + " more";
  return text;
}

}  // namespace

deadlock::deadlock(transport::sim_fabric& fabric, const rank_engines& engines) : fabric_(fabric), engines_(engines) {
  const auto note = [&](const detail::handler_info& row) { fabric.note_idle(row.id); };
  note(detail::handler_of<&quiescence_module::on_detector_message>());
  note(detail::handler_of<&balancing::on_balancer_message>());
  note(detail::handler_of<&progress_module::on_question>());
  note(detail::handler_of<&progress_module::on_answer>());
  note(detail::handler_of<&location_updates::on_location>());
  note(detail::handler_of<&entry_review::on_collect_asked>());
  note(detail::handler_of<&entry_review::on_collect_answered>());
  note(detail::handler_of<&extension_module::on_handled>());
}

bool deadlock::reached() const {
  if (fabric_.effects_under_way() != 0) return false;
  quiescence::unit_counters sum;
  bool waits = false, asked = false;
  for (const auto& each : engines_) {
    if (each->ended()) continue;
    if (!each->has_nothing_under_way()) return false;
    waits = true;
    asked |= each->quiet().asked();
  }
  if (!waits || !asked) return waits;  // when all mains have ended, the job has
  for (const auto& each : engines_) {
    const quiescence::unit_counters unit_counters = each->quiet().counters();
    sum += unit_counters;
  }
  return sum.created - sum.done - sum.lying != fabric_.idle_units_under_way();
}

bool deadlock::give_up_waits() const {
  bool any = false;
  for (const auto& each : engines_) {
    if (each->ended() || each->objects().waits().held_up() == 0) continue;
    each->objects().waits().give_up_soon();
    each->on_arrival();  // so that it polls
    any = true;
  }
  return any;
}

std::string deadlock::description() const {
  std::vector<std::string> mains, kept;
  report_lines objects(told_max);
  for (const auto& each : engines_) {
    if (!each->ended() && each->main_waits()) mains.push_back(std::to_string(each->rank().value()));
    each->objects().contributed().name_incomplete(objects);
    each->objects().waiting().name_waiting(objects);
    each->groups().requests().name_waiting(each->messages().handlers(), each->rank(), objects);
    each->extensions().name_deferred(objects);
    if (kept.size() <= told_max) each->objects().backlog().name_waiting(told_max, kept);
  }
  std::string text = "deadlock: nothing can happen any more, while main waits on rank " + listed(mains, ", ") +
                     " for a result or for the others";
  if (objects.count() != 0) text += "; " + listed(objects, "; ");
  if (!kept.empty()) text += "; " + listed(kept, "; ");
  return text;
}

}  // namespace nacre
