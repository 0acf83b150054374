// SPDX-License-Identifier: Apache-2.0
// The table of the runtime's own costs, and the function that reads them.
#include "machine/runtime_cost_table.hpp"

#include <cmath>
#include <string_view>

#include <nacre/config.hpp>

namespace nacre::machine {
namespace {

using enum option_kind;

constexpr std::string_view factor = "sim.cost.factor";

constexpr std::string_view charged = "sim.charge";

/// One row for each kind of work, in the order of own_work, then the others.
constexpr std::array cost_rows{
    option{"sim.cost.send", duration, "50ns", "", "0..1s",
           "Work of the runtime for a message to another rank, besides sim.send_overhead"},
    option{"sim.cost.send_local", duration, "25ns", "", "0..1s",
           "Work of the runtime for a message to the rank that sends it"},
    option{"sim.cost.receive", duration, "80ns", "", "0..1s",
           "Work of the runtime for a message from another rank, besides sim.receive_overhead"},
    option{"sim.cost.item", duration, "40ns", "", "0..1s",
           "Work of the runtime to take an item of work from its scheduler"},
    option{"sim.cost.dispatch", duration, "20ns", "", "0..1s", "Work of the runtime to begin and end a handler"},
    option{"sim.cost.create", duration, "120ns", "", "0..1s", "Work of the runtime to create an object"},
    option{"sim.cost.forward", duration, "10ns", "", "0..1s",
           "Work of the runtime to send a message on, besides receiving and sending it"},
    option{"sim.cost.move_out", duration, "600ns", "", "0..1s", "Work of the runtime where an object leaves"},
    option{"sim.cost.move_in", duration, "350ns", "", "0..1s", "Work of the runtime where an object arrives"},
    option{"sim.cost.pack", real, "4", "GB/s", "0..1000000",
           "Speed at which objects that leave are packed; 0: at once"},
    option{"sim.cost.unpack", real, "2.5", "GB/s", "0..1000000",
           "Speed at which objects that arrive are unpacked; 0: at once"},
    option{"sim.cost.look", duration, "200ns", "", "0..1s", "Work of the runtime for a look of a balancer"},
    option{"sim.cost.look_step", duration, "10ns", "", "0..1s",
           "Work of the runtime for each object or rank that a look considers"},
    option{factor, real, "1", "times", "0..1000000", "What all sim.cost times are multiplied by; 0: they are free"},
    option{
        charged, choice, "declared", "", "declared|measured",
        "What handlers and main take: declared, what they say by ctx.charge; measured, the time of this processor as "
        "well, in place of sim.cost"},
};
static_assert(cost_rows.size() == own_work_count + 2);

}  // namespace

std::span<const option> runtime_cost_rows() noexcept { return cost_rows; }

runtime_costs read_runtime_costs(const config& configuration) {
  constexpr double ps_per_ns = 1000;
  const double times = configuration.get_double(factor);
  runtime_costs result;
  for (std::size_t index = 0; index < own_work_count; ++index) {
    const option& row = cost_rows[index];
    double each_ns = 0;
    if (row.kind == duration) {
      each_ns = static_cast<double>(configuration.get_duration(row.name).count());
    } else if (const double bytes_a_ns = configuration.get_double(row.name); bytes_a_ns > 0) {
      each_ns = 1 / bytes_a_ns;
    }
    result.set_picoseconds(static_cast<own_work>(index),
                           static_cast<std::uint64_t>(std::llround(each_ns * ps_per_ns * times)));
  }
  result.set_measured(configuration.get_string(charged) == "measured");
  return result;
}

}  // namespace nacre::machine
