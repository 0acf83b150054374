// SPDX-License-Identifier: Apache-2.0
// The table of schedulers: built-in ones, and ones that the program registers.
#include "balance/scheduler/registry.hpp"

#include <string>
#include <utility>

#include <nacre/error.hpp>

#include "balance/policy_table.hpp"
#include "balance/scheduler/fifo.hpp"
#include "balance/scheduler/lifo.hpp"
#include "balance/scheduler/priority.hpp"
#include "balance/scheduler/shared.hpp"
#include "balance/scheduler/steal.hpp"

namespace nacre {
namespace {

constexpr option rows[] = {
    {"scheduler", option_kind::text, "steal", "", "",
     "which ready work a worker runs next: steal, fifo, lifo, shared, priority, or a name that the program has "
     "registered"},
};

using scheduler_table = balance::policy_table<scheduler, const scheduler_site&>;

template <class Scheduler>
std::unique_ptr<scheduler> make_built_in(const config&, const scheduler_site& site) {
  return std::make_unique<Scheduler>(site);
}

constexpr scheduler_table::built_in built_in_schedulers[] = {
    {"steal", &make_built_in<steal_scheduler>},       {"fifo", &make_built_in<fifo_scheduler>},
    {"lifo", &make_built_in<lifo_scheduler>},         {"shared", &make_built_in<shared_scheduler>},
    {"priority", &make_built_in<priority_scheduler>},
};

scheduler_table& all_schedulers() {
  static scheduler_table known("scheduler", built_in_schedulers);
  return known;
}

}  // namespace

void register_scheduler(std::string_view name, scheduler_factory make) { all_schedulers().add(name, std::move(make)); }

bool is_registered_scheduler(std::string_view name) { return all_schedulers().has_own(name); }

std::unique_ptr<scheduler> make_scheduler(std::string_view name, const config& configuration,
                                          const scheduler_site& site) {
  std::unique_ptr<scheduler> result = all_schedulers().make(name, configuration, site);
  if (result == nullptr) {
    throw setup_error({.problem = "the scheduler '" + std::string(name) + "' is null",
                       .why = "a rank cannot run anything without one",
                       .remedy = "let the function given to register_scheduler return one"});
  }
  return result;
}

std::span<const option> scheduler_options() noexcept { return rows; }

}  // namespace nacre
