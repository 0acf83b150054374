// SPDX-License-Identifier: Apache-2.0
// Asks for the cores of ranks as the configuration says.
#include "runtime/rank_placement.hpp"

#include <string>

#include <nacre/error.hpp>

#include "runtime/options.hpp"

namespace nacre {
namespace {

binding binding_of(const std::string& name) {
  if (name == "core") return binding::core;
  if (name == "numa") return binding::numa;
  return name == "none" ? binding::none : binding::by_need;
}

}  // namespace

rank_placement::rank_placement(const config& configuration, const transport::fabric& fabric) : cores_(usable_cores()) {
  const auto workers = static_cast<std::uint32_t>(configuration.get_int("workers"));
  const std::uint32_t ranks = fabric.ranks_sharing_cores();
  asked_.mode = binding_of(configuration.get_string("bind"));
  asked_.ranks = ranks;
  asked_.workers = workers != 0 ? workers : workers_by_default(cores_, ranks);
  asked_.poll_thread = polls_alone(configuration, cores_, ranks, asked_.workers);
  asked_.several_processes = fabric.local_ranks().size() < ranks;
  const bool by_need = asked_.mode == binding::by_need;
  if (asked_.mode == binding::none || (by_need && !asked_.several_processes)) return;
  const auto place = fabric.place_on_host();
  if (!place) {
    if (by_need) return;
    const std::string asked = "bind=" + configuration.get_string("bind");
    throw setup_error({.problem = asked + " under a launcher that binds ranks itself",
                       .why = "a rank that it has started does not know which cores are left to it",
                       .remedy = "let the launcher bind: srun --cpu-bind=cores, mpirun --bind-to core"});
  }
  asked_.rank = *place;
  if (by_need && std::uint64_t{ranks} * asked_.workers > cores_) return;  // without a look at the host
  host_ = cores_of_this_host();
}

placement rank_placement::of(std::size_t local) const {
  placement_request request = asked_;
  request.rank += static_cast<std::uint32_t>(local);
  return place_threads(host_, request);
}

}  // namespace nacre
