// SPDX-License-Identifier: Apache-2.0
// What does each layer add to a message? Floors, active messages, and mobile objects over each transport, in turns.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <program_options.hpp>

#include <nacre/nacre.hpp>

#include "calibration/cost_table.hpp"
#include "calibration/rungs.hpp"
#include "figures_file.hpp"
#include "jobs.hpp"
#include "parts/figures.hpp"
#include "parts/floors.hpp"
#include "parts/report.hpp"

namespace {

namespace calibration = nacre::calibration;
using namespace std::string_literals;

struct plan {
  std::vector<std::string> transports{};
  std::vector<std::size_t> sizes{};
  int runs = 3;
  std::vector<std::string> only{};  // the name of a rung must contain one of them; empty: all
  std::string json{}, svg{}, costs{};
  std::size_t mtu = 0;  // of udp; 0: that of the route
  bool full = false;
  bool as_job = false;  // started by the ladder itself, as a rank
};

const std::vector<std::size_t> quick_sizes{8, 256, 4096, 65536, 1u << 20, 4u << 20};

void measure_raw_mpi(const std::string& flavour, const plan& plan, ladder::figures& figures);
void measure_raw_ucx(const plan& plan, ladder::figures& figures);

bool wanted(const plan& plan, std::string_view transport, std::string_view name) {
  const std::string whole = fmt::format("{}, {}", transport, name);
  return plan.only.empty() || std::any_of(plan.only.begin(), plan.only.end(), [&](const std::string& part) {
           return whole.find(part) != std::string::npos;
         });
}

void say(const std::string& name) { fmt::print(stderr, "ladder: {}\n", name); }

/// One datagram in each system call; and, if they are short, many.
template <class Floor>
void measure_datagram_floors(std::size_t mtu, const Floor& floor) {
  const auto measure = [&](std::string_view name, const ladder::datagram_way& way) {
    floor(
        name, [way](std::size_t bytes) { return ladder::raw_datagrams(bytes, way); }, 1, SIZE_MAX);
  };
  const ladder::datagram_way plain = ladder::way_of_mtu(mtu);
  measure("raw loopback datagrams, polled", plain);
  if (plain.longest <= 32'000) measure("raw datagrams, UDP_SEGMENT and UDP_GRO, polled", {plain.longest, true});
}

/// The floors of a transport, at all sizes.
void measure_floors(const std::string& transport, const plan& plan, ladder::figures& figures) {
  const auto floor = [&](std::string_view name, const std::function<calibration::sample(std::size_t)>& measure,
                         std::size_t least, std::size_t most) {
    if (!wanted(plan, transport, name)) return;
    for (const std::size_t bytes : plan.sizes) {
      if (bytes >= least && bytes <= most) figures.add(transport, name, ladder::role::floor, measure(bytes));
    }
  };
  constexpr std::size_t any = SIZE_MAX;
  if (transport == "inproc")
    floor(
        "two cache lines between two threads", [](auto) { return ladder::cache_lines(); }, 8, 8);
  if (transport == "shm") {
    floor("raw ring of slots, polled", ladder::shared_ring, 1, any);
    floor("raw single copy (process_vm_readv)", ladder::single_copy, 4096, any);
  }
  if (transport == "tcp") floor("raw loopback socket, polled", ladder::raw_socket, 1, any);
  if (transport == "udp") measure_datagram_floors(plan.mtu, floor);
  if (transport == "ucx") measure_raw_ucx(plan, figures);
  if (transport == "openmpi" || transport == "mpich") measure_raw_mpi(transport, plan, figures);
}

/// MPI by itself is a program of its own, since the ladder is linked with no MPI.
void measure_raw_mpi(const std::string& flavour, const plan& plan, ladder::figures& figures) {
  const std::map<std::string, std::string> names{{"mpi_iprobe", "raw MPI, MPI_Iprobe and MPI_Recv"},
                                                 {"mpi_persistent", "raw MPI, persistent receives"}};
  std::vector<std::string> command = bench::launcher_of(flavour, 2).words;
  command.push_back((bench::own_folder() / ("raw_mpi_" + flavour)).string());
  const std::size_t words = command.size();
  for (const auto& [variant, name] : names) {
    if (wanted(plan, flavour, name)) command.insert(command.end(), {"--only", variant});
  }
  if (command.size() == words) return;
  command.insert(command.end(), {"--runs", "1"});
  for (const std::size_t bytes : plan.sizes) command.insert(command.end(), {"--bytes", std::to_string(bytes)});
  const bench::outcome got = bench::run_command(command);
  if (got.exit_code != 0) throw std::runtime_error(fmt::format("{} ended with {}", command.front(), got.exit_code));
  for (const std::string& line : got.lines) {
    const auto row = bench::read_json(line);
    if (!row.is_object()) continue;
    figures.add(
        flavour, names.at(row.at("variant")), ladder::role::floor,
        {row.at("bytes"), row.at("round_trip_ns").get<double>() * 1e-9, row.at("one_way_ns").get<double>() * 1e-9});
  }
}

/// So is UCX.
void measure_raw_ucx(const plan& plan, ladder::figures& figures) {
  constexpr std::string_view name = "raw UCX, ucp_am_send_nbx";
  if (!wanted(plan, "ucx", name)) return;
  std::vector<std::string> command{(bench::own_folder() / "raw_ucx").string()};
  for (const std::size_t bytes : plan.sizes) command.insert(command.end(), {"--bytes", std::to_string(bytes)});
  const bench::outcome got = bench::run_command(command);
  if (got.exit_code != 0) throw std::runtime_error(fmt::format("{} ended with {}", command.front(), got.exit_code));
  for (const std::string& line : got.lines) {
    const auto row = bench::read_json(line);
    if (!row.is_object()) continue;
    figures.add(
        "ucx", name, ladder::role::floor,
        {row.at("bytes"), row.at("round_trip_ns").get<double>() * 1e-9, row.at("one_way_ns").get<double>() * 1e-9});
  }
}

nacre::config job_config() {
  nacre::config configuration;
  configuration.set("spin", "10ms");  // the question is what a message costs, not what waking costs
  return configuration;
}

/// Starts the ladder again as so many ranks, and reads what its rank 0 has measured.
void measure_job(const std::string& transport, int ranks, const plan& plan, ladder::figures& figures) {
  std::vector<std::string> command = bench::launcher_of(transport, ranks).words;
  command.push_back((bench::own_folder() / "ladder").string());
  command.insert(command.end(), {"--as-job", "--transport", transport});
  for (const std::string& part : plan.only) command.insert(command.end(), {"--only", part});
  command.push_back("--sizes");
  for (const std::size_t bytes : plan.sizes) command.push_back(std::to_string(bytes));
  const bench::outcome got = bench::run_command(command);
  if (got.exit_code != 0) {
    throw std::runtime_error(fmt::format("the ranks under {} ended with {}", command.front(), got.exit_code));
  }
  for (const std::string& line : got.lines) {
    const auto row = bench::read_json(line);
    if (!row.is_object()) continue;
    figures.add(transport, row.at("rung").get<std::string>(), ladder::role::rung,
                {row.at("bytes"), row.at("round_trip_seconds"), row.at("one_way_seconds")});
  }
}

/// What a rank of such a job does: rank 0 prints a line of JSON for each result.
int serve_job(const plan& plan, int argc, char** argv) {
  nacre::config configuration = nacre::read_config(argc, argv);
  configuration.set("spin", "10ms");
  const std::string& transport = plan.transports.front();
  return calibration::climb(
      configuration, plan.sizes, [&](std::string_view name) { return wanted(plan, transport, name); },
      [](std::string_view name, const calibration::sample& value) {
        bench::print_json({{"rung", name},
                           {"bytes", value.bytes},
                           {"round_trip_seconds", value.round_trip_seconds},
                           {"one_way_seconds", value.one_way_seconds}});
        std::fflush(stdout);
      });
}

void measure_rungs(const std::string& transport, const plan& plan, ladder::figures& figures) {
  const auto keep = [&](std::string_view name) { return wanted(plan, transport, name); };
  const bool pair = keep(calibration::rung::poll_loop) || keep(calibration::rung::control) ||
                    keep(calibration::rung::worker) || keep(calibration::rung::moved) ||
                    keep(calibration::rung::object);
  for (const int ranks : {2, 3}) {
    if (ranks == 2 ? !pair : !(keep(calibration::rung::direct) || keep(calibration::rung::forwarded))) continue;
    if (transport != "inproc") {
      measure_job(transport, ranks, plan, figures);
      continue;
    }
    nacre::config configuration = job_config();
    configuration.set("transport", transport);
    configuration.set("ranks", std::to_string(ranks));
    const int code = calibration::climb(configuration, plan.sizes, keep,
                                        [&](std::string_view name, const calibration::sample& value) {
                                          figures.add(transport, name, ladder::role::rung, value);
                                        });
    if (code != 0) throw std::runtime_error("the ranks of this process failed");
  }
  constexpr std::string_view local = "message to a local object, sent and run";
  if (transport == "inproc" && keep(local)) {
    figures.add(transport, local, ladder::role::rung, calibration::local_object_message(),
                "processor time of a message");
  }
}

/// Takes away what cannot be measured here, and says why.
std::vector<std::string> available(const std::vector<std::string>& asked) {
  std::vector<std::string> result;
  for (const std::string& transport : asked) {
    const std::string missing = transport == "inproc" ? ""s : bench::launcher_of(transport, 2).missing;
    if (missing.empty())
      result.push_back(transport);
    else
      say(fmt::format("{} is left out: {}", transport, missing));
  }
  return result;
}

/// The network between ranks of one transport, by LogGP, from its floors: a stream's message takes the overhead, a
/// round trip two latencies and four overheads, and what a long message takes longer is its bytes. Where others
/// compute, streams wait for processors, and may seem to take more than a round trip has room for.
calibration::cost_rows network_rows(const ladder::figures& measured, const plan& plan) {
  const std::size_t small = plan.sizes.front(), large = plan.sizes.back();
  const ladder::figures::best least = measured.floor_of(measured.all().front(), small);
  const ladder::figures::best most = measured.floor_of(measured.all().front(), large);
  if (least.one_way.empty() || least.round_trip.empty() || most.one_way.empty() || small == large) {
    throw std::runtime_error("--costs needs floors of the first transport in two sizes, such as --sizes 8,1MiB");
  }
  const double round_trip_ns = least.round_trip.median * 1e9;
  const double overhead_ns = std::min(least.one_way.median * 1e9, round_trip_ns / 4);
  const double bytes_ns = (most.one_way.median - least.one_way.median) * 1e9;
  calibration::cost_rows rows{{"sim.latency", calibration::duration_text(round_trip_ns / 2 - 2 * overhead_ns)},
                              {"sim.send_overhead", calibration::duration_text(overhead_ns)},
                              {"sim.receive_overhead", calibration::duration_text(overhead_ns)}};
  if (bytes_ns > 0) rows["sim.bandwidth"] = fmt::format("{:.3f}", static_cast<double>(large - small) / bytes_ns);
  return rows;
}

int measure_all(const plan& plan) {
  ladder::figures measured;
  std::vector<std::string> left = available(plan.transports);
  bool complete = true;
  for (int run = 0; run < plan.runs; ++run) {
    for (auto transport = left.begin(); transport != left.end();) {
      try {
        measure_floors(*transport, plan, measured);
        measure_rungs(*transport, plan, measured);
        ++transport;
      } catch (const std::exception& problem) {
        say(fmt::format("{} is given up: {}", *transport, problem.what()));
        transport = left.erase(transport);
        complete = false;
      }
    }
  }
  if (measured.all().empty()) {
    say("nothing was measured: no rung fits --only, or no transport is left");
    return 1;
  }
  ladder::print_table(measured, plan.runs);
  if (!plan.json.empty()) ladder::write_json(measured, plan.runs, plan.json);
  if (!plan.svg.empty()) ladder::write_plot(measured, plan.svg);
  if (!plan.costs.empty()) calibration::update_costs(plan.costs, network_rows(measured, plan));
  return complete ? 0 : 1;
}

void declare(nacre::program_options& options, plan& plan) {
  options
      .add("--transport", plan.transports,
           "Only these: inproc, shm, tcp, udp, ucx, openmpi, mpich; mpi is the last two")
      .one_of({"inproc", "shm", "tcp", "udp", "ucx", "mpi", "openmpi", "mpich"});
  options.add("--sizes", plan.sizes, "Bytes of a message, such as 8,4KiB,1MiB; 6 sizes from 8 B to 4 MiB if not given")
      .of_bytes()
      .between(8, 64 << 20);
  options.add("--full", plan.full, "Every power of two from 8 B to 4 MiB; takes some minutes");
  options.add("--runs", plan.runs, "Runs of every rung").between(1, 100);
  options.add("--only", plan.only, "Only floors and rungs whose name, or \"TRANSPORT, NAME\", contains one of these")
      .verbatim();
  options.add("--mtu", plan.mtu, "The longest packet of udp, such as 1500; 65535 bytes over the loopback interface")
      .of_bytes()
      .between(1280, 65535)
      .otherwise("that of the route");
  options.add("--json", plan.json, "Also write the figures to this file").called("FILE");
  options.add("--svg", plan.svg, "Also plot latency and bandwidth over size to this file").called("FILE");
  options
      .add("--costs", plan.costs,
           "Also write the floors of the first transport, as a network, into this file of options for "
           "--nacre.transport=sim")
      .called("FILE");
  options.add("--as-job", plan.as_job, "").hidden();  // for the ladder itself
}

}  // namespace

int main(int argc, char** argv) {
  plan plan;
  nacre::program_options options(
      "ladder",
      "What each layer adds to a message: raw transport, active message, mobile object, forwarded mobile object. "
      "Floors "
      "and rungs alternate; run it on an idle machine.");
  declare(options, plan);
  if (const auto exit_code = options.parse(argc, argv)) return *exit_code;
  if (plan.full) {
    for (std::size_t bytes = 8; bytes <= 4u << 20; bytes *= 2) plan.sizes.push_back(bytes);
  }
  if (plan.sizes.empty()) plan.sizes = quick_sizes;
  std::sort(plan.sizes.begin(), plan.sizes.end());
  plan.sizes.erase(std::unique(plan.sizes.begin(), plan.sizes.end()), plan.sizes.end());
  if (plan.transports.empty()) plan.transports = {"inproc", "shm", "tcp", "udp", "ucx", "mpi"};
  if (const auto mpi = std::find(plan.transports.begin(), plan.transports.end(), "mpi"); mpi != plan.transports.end()) {
    plan.transports.insert(plan.transports.erase(mpi), {"openmpi", "mpich"});
  }
  if (plan.mtu != 0) ::setenv("NACRE_UDP_MTU", std::to_string(plan.mtu).c_str(), 1);  // the ranks inherit it
  try {
    return plan.as_job ? serve_job(plan, argc, argv) : measure_all(plan);
  } catch (const std::exception& problem) {
    say(problem.what());
    return 1;
  }
}
