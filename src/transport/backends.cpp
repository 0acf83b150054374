// SPDX-License-Identifier: Apache-2.0
// The table of backends and the search in it.
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest_name.hpp"
#include "join/launch/foreign_launcher.hpp"
#include "join/launch/job_credentials.hpp"
#include "transport/auto/backend.hpp"
#include "transport/inproc/backend.hpp"
#include "transport/mpi/backend.hpp"
#include "transport/mpi/flavour.hpp"
#include "transport/shm/backend.hpp"
#include "transport/sim/sim_fabric.hpp"
#include "transport/tcp/backend.hpp"
#include "transport/transport.hpp"
#include "transport/ucx/backend.hpp"
#include "transport/udp/backend.hpp"

namespace nacre::transport {
namespace {

backend sim_backend() noexcept {
  return {.name = "sim",
          .help = "ranks are simulated in virtual time on a machine of your choice; everything follows from the seed",
          .options = sim_option_rows(),
          .virtual_time = true,
          .make_local = make_sim_fabric,
          .join_job = nullptr};
}

}  // namespace

std::span<const backend> backends() noexcept {
  static const std::array table{
      inproc::make_backend(),         shm::make_backend(), tcp::make_backend(), udp::make_backend(),
      auto_transport::make_backend(), ucx::make_backend(), mpi::make_backend(), sim_backend()};
  return table;
}

std::string_view backend_of_launcher() noexcept {
  if (launch::started_by_launcher()) return "shm";
  if (mpi::started_by_mpirun()) return "mpi";
  return launch::started_by_pmix() ? "auto" : "";
}

const backend& find_backend(std::string_view name) {
  std::vector<std::string_view> names;
  std::string all;
  for (const backend& each : backends()) {
    if (each.name == name) return each;
    all.append(all.empty() ? "" : ", ").append(each.name);
    names.push_back(each.name);
  }
  const auto nearest = nearest_name(name, names);
  throw setup_error({.problem = "there is no transport '" + std::string(name) + "'",
                     .why = "a transport carries the messages between ranks",
                     .remedy = nearest ? "did you mean '" + std::string(*nearest) + "'?" : "choose one of " + all});
}

}  // namespace nacre::transport
