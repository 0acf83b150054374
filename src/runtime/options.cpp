// SPDX-License-Identifier: Apache-2.0
// The options of a rank: names, defaults, bounds and help.
#include "runtime/options.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "balance/balancer/registry.hpp"
#include "balance/scheduler/registry.hpp"
#include "base/cgroup_limits.hpp"
#include "base/nearest_name.hpp"
#include "base/option_spelling.hpp"
#include "transport/transport.hpp"

namespace nacre {
namespace {

constexpr option runtime_options[] = {
    {"transport", option_kind::choice, "inproc", "", "inproc|shm|tcp|udp|ucx|auto|mpi|sim",
     "what carries messages: inproc between threads of this process, shm, tcp or udp between processes that `nacre "
     "run` starts, over shared memory, sockets or datagrams, ucx the same by UCX, auto over shm, tcp or ucx, whichever "
     "fits each pair, mpi between processes that mpirun starts, sim on a simulated machine in virtual time. In a "
     "program that no launcher (`nacre run`, srun) has started, all ranks are in this process, as many as `ranks` "
     "says, "
     "also over shm, tcp, udp, ucx and auto"},
    {"ranks", option_kind::integer, "1", "ranks", "1..1000000",
     "how many ranks this process holds when no launcher has started it, outside of sim at most "
     "4096; under `nacre run` its -n decides"},
    {"workers", option_kind::integer, "0", "threads", "0..65536",
     "worker threads of each rank; 0 shares out the cores that the process may use, by its affinity and its control "
     "groups, and means under sim those of a node of sim.machine, else 1"},
    {"bind", option_kind::choice, "auto", "", "auto|core|numa|none",
     "which cores the threads of a rank use, of those that the process may use: core, one for each worker; numa, those "
     "of a NUMA domain; none, any; auto, a share of its own for each rank that `nacre run` starts, if there is a "
     "processor for each thread"},
    {"seed", option_kind::integer, "1", "", "0..",
     "where every random choice is drawn from; under sim, an equal seed gives an equal run"},
    {"progress", option_kind::choice, "auto", "", "auto|shared|dedicated",
     "who sends and receives messages: shared, the workers in turns; dedicated, a thread of its own for each rank; "
     "auto, that thread if there is a core to spare for it"},
    {"progress_patience", option_kind::duration, "1ms", "", "0us..1s",
     "where workers take turns: when all of them compute, and none has looked for messages for so long, a thread of "
     "the rank looks; 0 for never"},
    {"spin", option_kind::duration, "20us", "", "0us..10ms",
     "how long a worker that has nothing to do looks for "
     "work before it sleeps; who was woken soon may take up to 160us"},
    {"location", option_kind::choice, "jump_update", "",
     "lazy_forwarding|jump_update|path_update|home|broadcast_update|subscriber_update",
     "who is told where a mobile object has moved, besides its home: nobody; who sent to an old place; also the ranks "
     "that forwarded that; who sent, while old places send to the home; every rank, of every migration; who sent to an "
     "old place, of later migrations. For types of objects that do not choose for themselves"},
    {"location_cache", option_kind::integer, "65536", "objects", "1..1000000000",
     "of how many objects that have left a rank remembers the place though it never sends to them; messages for older "
     "ones go by the object's home"},
    {"hops_max", option_kind::integer, "8", "ranks", "1..200",
     "how often a message follows its object from rank to rank before it is sent to the object's home"},
    {"check_serialization", option_kind::boolean, "false", "", "",
     "to find errors in serialize on one rank: pack and unpack the arguments of all messages, and every object when it "
     "is made and after each exclusive access to it; one that is different then ends the job"},
    {"aggregate", option_kind::choice, "auto", "", "auto|on|off",
     "whether small messages of one thread to one rank travel together; auto, wherever they travel as bytes, but not "
     "under sim"},
    {"aggregate_bytes", option_kind::bytes, "8KiB", "", "512B..64KiB", "how much travels together at most"},
    {"aggregate_bound", option_kind::duration, "20us", "", "1us..10ms",
     "after which a thread that has other work sends the messages that wait for others, if it sends any more; the poll "
     "loop sends them after twice as long"},
    {"receive_memory", option_kind::bytes, "256MiB", "", "1KiB..1TiB",
     "how much all other ranks together may send ahead to a busy rank; each gets its share, "
     "at least 2 KiB and at most 4 MiB for each of its two channels. A rank "
     "with more than that to do for itself takes the newest first. The same for all ranks. By default at most an "
     "eighth of the memory that the control groups of `nacre run`, or of a job in one process, leave to all ranks of a "
     "host"},
    {"send_memory", option_kind::bytes, "16MiB", "", "1KiB..1TiB",
     "how much may wait to be sent before main waits in send, and workers put off what their handlers have sent to the "
     "own rank"},
    {"spare_memory", option_kind::bytes, "64MiB", "", "0B..1TiB",
     "how much of the memory of large messages, above 64 KiB each, a process keeps for the next ones; what none has "
     "needed for a second is returned"},
    {"direct_min", option_kind::bytes, "16KiB", "", "1KiB..1TiB",
     "how long a piece of a put or get is at least that shm and ucx copy from one rank's memory to the other's, and "
     "not into messages and out of them"},
    {"extension", option_kind::text, "", "files", "",
     "load extension modules from these shared objects, on every rank, before main: paths, or bare names of files "
     "beside the executable or in the folder of Nacre's plugins; separated by commas"},
    {"extension_memory", option_kind::bytes, "16MiB", "", "4KiB..1TiB",
     "the heap of an extension module on each rank; one that needs more is deactivated"},
    {"extension_time", option_kind::duration, "10ms", "", "0us..60s",
     "how much of a processor's time a call of an extension module may take, under sim how much virtual time it may "
     "declare; one that takes more is deactivated. 0us: any"},
    {"extension_patience", option_kind::duration, "10s", "", "0s..60min",
     "how long a call of an extension module may go on before the job ends with a line that names it; 0s: for ever"},
    {"flow_bandwidth", option_kind::real, "0", "GB/s", "0..1000000",
     "of send_with_flow_control: the speed of the link to a rank; 0: 1.25, which is 10 Gbit/s, and under sim that of "
     "sim.bandwidth"},
    {"flow_buffer", option_kind::bytes, "0B", "", "0B..1TiB",
     "of send_with_flow_control: the buffer of a switch's port, of which at most three quarters are filled; "
     "0B: do not rely on any"},
    {"flow_early", option_kind::duration, "1ms", "", "0us..1s",
     "of send_with_flow_control: how long before the next sender may use the link it is told so"},
    {"flow_patience", option_kind::duration, "10ms", "", "10us..60s",
     "of send_with_flow_control: after what time without an answer a rank asks again; then all ranks, and at last the "
     "receiver replaces a lost token"},
    {"flow_turn", option_kind::bytes, "1B", "", "1B..1TiB",
     "of send_with_flow_control: how much a sender sends in a turn while others wait; at least one message, and "
     "what its link carries while the token travels"},
    {"flow_small", option_kind::bytes, "512B", "", "0B..1GiB",
     "of send_with_flow_control: messages up to that size, header included, leave at once"},
    {"flow_permits", option_kind::integer, "1", "", "1..64",
     "of send_with_flow_control: tokens of a link; so many senders share it at a time, each with its part of the "
     "speed"},
    {"flow_receive", option_kind::bytes, "0B", "", "0B..1TiB",
     "of send_with_flow_control: messages that a receiver may hold that have not run, which its tokens carry as room "
     "to "
     "send; 0B: tokens carry no room"},
    {"quiescence_calm", option_kind::duration, "20us", "", "0us..100ms",
     "how long a rank that has nothing to do waits at most before it takes part in finding out that nobody has; it "
     "begins with 1us while waves find the rank changed, and with nothing when it is quiet"},
    {"checkpoint.folder", option_kind::text, "", "folder", "",
     "where images of the job are written, from which it can go on: all ranks must reach it under this name. Made when "
     "it is missing; the two newest images stay"},
    {"checkpoint.every", option_kind::duration, "0s", "", "0s..1000000s",
     "how long after an image the next one is due, which rt.wait_quiescence(kept) takes at its end, or in its middle "
     "if "
     "it lasts; less than 1us: at the end of each; 0s: only rt.checkpoint(kept) takes one"},
    {"checkpoint.compression", option_kind::choice, "none", "", "none|zstd", "whether images are compressed"},
    {"checkpoint.signal", option_kind::choice, "TERM", "", "TERM|USR1|USR2|none",
     "the signal, to `nacre run` or to any process of a job without it, that asks for a last image, behind which the "
     "job "
     "ends with code 75; only with a folder, and where the program does not handle that signal itself"},
    {"checkpoint.grace", option_kind::duration, "60s", "", "10ms..1000000s",
     "how long after that signal the job ends without an image, with code 75 if there is an older one"},
    {"restore", option_kind::text, "", "folder", "",
     "go on from the newest image in this folder, from the beginning if it has none; or from that image of which this "
     "is the path, or the newest of that life"},
    {"summary", option_kind::boolean, "false", "", "",
     "at the end, print where the time went and what was sent and moved"},
    {"summary_json", option_kind::text, "", "file", "", "at the end, write that summary as JSON to this file"},
    {"progress_line", option_kind::duration, "3s", "", "0s..60min",
     "how long a run lasts before a line on the terminal, if standard error is one (that of nacre run, too), tells how "
     "it "
     "gets on; 0s: never"},
    {"deadlock_patience", option_kind::duration, "10s", "", "0s..60min",
     "how long nothing has happened on any rank, though calls or messages are open or code has not returned, before "
     "rank 0 says so on standard error; the job goes on. 0s: never. Under sim, where a deadlock ends the run, how long "
     "one event has run, or virtual time has not advanced"},
    {"trace", option_kind::text, "", "file", "",
     "write what every worker does, and when, to this file, for `nacre report`; a job of several processes writes "
     "FILE.0, FILE.1 and so on, one for each rank"},
    {"trace_memory", option_kind::bytes, "64MiB", "", "64KiB..1TiB",
     "what the threads of a process may hold of the trace before they write; each has 4 KiB to 256 KiB"},
    {"trace_shared", option_kind::duration, "2us", "", "0us..1s",
     "handlers shorter than this share readings of the clock in the trace; with 0us each has its own begin and end"},
    {"record_load", option_kind::text, "", "file", "",
     "at the end, write to this file what every object has done over time, for `nacre replay`"},
    {"record_load_interval", option_kind::duration, "10ms", "", "1us..1000000s", "the steps of that time"},
    {"record_load_rows", option_kind::integer, "4194304", "rows", "1..4294967296",
     "how many such steps of objects all ranks together hold; where there are more, a rank doubles the steps of time"},
    {"trace_hash", option_kind::boolean, "false", "", "",
     "at the end of a simulation, print a number that two runs share only if everything in them happened alike"},
    {"homes.scramble", option_kind::integer, "0", "", "0..",
     "a seed from which the homes of objects are drawn; 0: none is", true},
};

}  // namespace

std::vector<option_table> all_option_tables() {
  std::vector<option_table> tables{
      {"runtime", runtime_options}, {"scheduler", scheduler_options()}, {"balance", balance_options()}};
  for (const transport::backend& each : transport::backends()) {
    if (!each.options.empty()) tables.push_back({each.name, each.options});
  }
  return tables;
}

std::vector<std::string> warnings_about_variables(const char* const* environment) {
  static constexpr std::array<std::string_view, 5> of_installation{"NACRE_ROOT", "NACRE_DIR", "NACRE_HOME",
                                                                   "NACRE_PREFIX", "NACRE_VERSION"};
  std::vector<std::string> options{environment_name("config"), environment_name("help")};
  for (const option_table& table : all_option_tables()) {
    for (const option& each : table.options) options.push_back(environment_name(each.name));
  }
  const std::vector<std::string_view> known(options.begin(), options.end());
  std::vector<std::string> warnings;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::string_view name = entry.substr(0, entry.find('='));
    if (!name.starts_with(environment_prefix) || name.starts_with(launcher_prefix)) continue;
    if (std::ranges::find(known, name) != known.end()) continue;
    if (std::ranges::find(of_installation, name) != of_installation.end()) continue;
    const auto nearest = nearest_name(name, known);
    warnings.push_back("the environment variable " + std::string(name) + " is no option (it has no effect): " +
                       (nearest ? "did you mean " + std::string(*nearest) + "? " : "") +
                       "--nacre.help lists all options");
  }
  return warnings;
}

std::vector<std::string> warnings_about_effects(const config& configuration, bool is_launched) {
  std::vector<std::string> warnings;
  const auto note = [&](std::string_view name, const char* reason) {
    if (configuration.source_of(name) == setting_source::command_line)
      warnings.push_back("--nacre." + std::string(name) + " has no effect: " + reason);
  };
  const std::string& transport = configuration.get_string("transport");
  if (is_launched && transport != "sim" && transport != "inproc")
    note("ranks", "the launcher decides how many ranks there are (nacre run -n N, mpirun -n N, srun -n N)");
  if (configuration.get_string("checkpoint.folder").empty())
    note("checkpoint.every", "--nacre.checkpoint.folder=DIR says where images go");
  if (transport == "sim") return warnings;
  for (const option_table& table : all_option_tables()) {
    for (const option& each : table.options) {
      if (each.name.starts_with("sim."))
        note(each.name, "it describes a simulated machine, which --nacre.transport=sim takes");
    }
  }
  return warnings;
}

std::uint32_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return cores_within(static_cast<std::uint32_t>(CPU_COUNT(&set)), limits_of_this_process().processors);
}

std::uint32_t cores_within(std::uint32_t processors, std::optional<double> bound) {
  const auto cores = static_cast<double>(processors);
  return static_cast<std::uint32_t>(std::max(1.0, std::floor(std::min(cores, bound.value_or(cores)))));
}

std::uint32_t workers_by_default(std::uint32_t cores, std::uint32_t ranks_sharing_cores) {
  return std::max(1u, cores / std::max(1u, ranks_sharing_cores));
}

bool polls_alone(const config& configuration, std::uint32_t cores, std::uint32_t ranks_sharing_cores,
                 std::uint32_t workers) {
  const std::string& progress = configuration.get_string("progress");
  return progress == "dedicated" ||
         (progress == "auto" && std::uint64_t{ranks_sharing_cores} * (workers + 1ULL) <= cores);
}

}  // namespace nacre
