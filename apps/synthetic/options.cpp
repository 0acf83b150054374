// SPDX-License-Identifier: Apache-2.0
// Declares the options.
#include "options.hpp"

#include <nacre/error.hpp>
#include <program_options.hpp>

namespace synthetic {
namespace {

constexpr const char* footer = R"(Examples:
  synthetic --light 0.02 --work sleep --nacre.ranks=10 --nacre.workers=1 --nacre.balancer=diffusion
  synthetic --nacre.transport=sim --nacre.ranks=320                            as the paper places it, 320 ranks of a core
  synthetic --nacre.transport=sim --nacre.ranks=10 --nacre.workers=32 --nacre.balancer=diffusion --nacre.balance.tick=10ms
  synthetic --nacre.help                                                       options of the runtime

Exit code: 0 when every object was computed exactly as often as it should be, 1 when not, 2 when the options are wrong.)";

}  // namespace

command_line parse_command_line(int argc, const char* const* argv, const std::string& transport) {
  nacre::program_options parser(
      "synthetic", "Objects of two weights, a fifth of them heavy and most of these on the first cores (PREMA 5.3.1).");
  parser.footer(footer);
  command_line result;
  options& asked = result.asked;
  parser.add("--cores", asked.cores, "Cores, each with its objects")
      .called("COUNT")
      .between(1, 1u << 20)
      .otherwise("the workers of all ranks");
  parser.add("--objects", asked.objects_a_core, "Objects of each core").called("COUNT").between(1, 1u << 10);
  parser.add("--light", asked.light_seconds, "What a light object takes on average")
      .called("SECONDS")
      .between(1e-6, 1e5);  // all of a core's take less than 100 days
  parser.add("--heavy", asked.heavy_factor, "How much longer a heavy one takes").called("FACTOR").between(1, 1e3);
  parser.add("--spread", asked.spread, "By which part weights differ from their average at most")
      .called("PART")
      .between(0, 0.9);
  parser
      .add("--recorded", asked.recorded, "Take the objects and their costs from this file, which mesh3d --costs writes")
      .called("FILE");
  parser.add("--core-seconds", asked.core_seconds, "Multiply recorded costs so that a core has so much on average")
      .called("SECONDS")
      .between(0, 1e6)
      .otherwise("as they are");
  parser.add("--computations", asked.computations, "Messages that make up an object's work")
      .called("COUNT")
      .between(1, 1u << 16);
  parser.add("--bytes", asked.bytes, "Bytes that an object brings along").called("BYTES").between(0, 1u << 28);
  parser.add("--declare", asked.declare, "Objects declare what is left to do, as load and as priority");
  parser.add_choice("--work", asked.labour_kind,
                    {{"charge", labour::charge}, {"spin", labour::spin}, {"sleep", labour::sleep}},
                    "charge: time is declared, for sim; spin: the worker computes; sleep: it stands still, for more "
                    "workers than this host has cores");
  parser.add("--seed", asked.seed, "Each seed gives other weights").called("NUMBER");
  parser.add("--json", asked.json, "Print the result as one JSON object");
  result.exit_code = parser.parse(argc, argv);
  if (!result.exit_code && transport == "sim" && asked.labour_kind != labour::charge) {
    throw nacre::setup_error({"--work spin and --work sleep have no time to take under sim",
                              "virtual time stands still while a handler runs, so spinning would never end",
                              "leave out --work, or write --work charge"});
  }
  return result;
}

}  // namespace synthetic
