// SPDX-License-Identifier: Apache-2.0
// Declares the options with CLI11.
#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace synthetic {
namespace {

constexpr const char* footer = R"(Examples:
  synthetic --light 0.02 --work sleep --nacre.ranks=10 --nacre.workers=1 --nacre.balancer=diffusion
  synthetic --nacre.transport=sim --nacre.ranks=320                            as the paper places it, 320 ranks of a core
  synthetic --nacre.transport=sim --nacre.ranks=10 --nacre.workers=32 --nacre.balancer=diffusion --nacre.balance.tick=10ms
  synthetic --nacre.help                                                       options of the runtime

Exit code: 0 when every object was computed exactly as often as it should be, 1 when not, 2 when the options are wrong.)";

}  // namespace

command_line parse_command_line(int argc, const char* const* argv) {
  CLI::App app("Objects of two weights, a fifth of them heavy and most of these on the first cores (PREMA 5.3.1).",
               "synthetic");
  app.footer(footer);
  command_line result;
  options& asked = result.asked;
  const std::map<std::string, labour> labours{
      {"charge", labour::charge}, {"spin", labour::spin}, {"sleep", labour::sleep}};
  app.add_option("--cores", asked.cores, "Cores, each with its objects (default: the workers of all ranks)")
      ->check(CLI::Range(1u, 1u << 20))
      ->type_name("COUNT");
  app.add_option("--objects", asked.objects_a_core, "Objects of each core (default 10)")
      ->check(CLI::Range(1u, 1u << 10))
      ->type_name("COUNT");
  app.add_option("--light", asked.light_seconds, "What a light object takes on average (default 32.7)")
      ->check(CLI::Range(1e-6, 1e6))
      ->type_name("SECONDS");
  app.add_option("--heavy", asked.heavy_factor, "How much longer a heavy one takes (default 2.5)")
      ->check(CLI::Range(1.0, 1e3))
      ->type_name("FACTOR");
  app.add_option("--spread", asked.spread, "By which part weights differ from their average at most (default 0.03)")
      ->check(CLI::Range(0.0, 0.9))
      ->type_name("PART");
  app.add_option("--computations", asked.computations, "Messages that make up an object's work (default 10)")
      ->check(CLI::Range(1u, 1u << 16))
      ->type_name("COUNT");
  app.add_option("--bytes", asked.bytes, "Bytes that an object brings along (default 65536)")
      ->check(CLI::Range(0u, 1u << 28))
      ->type_name("BYTES");
  app.add_flag("--declare", asked.declare, "Objects declare what is left to do, as load and as priority");
  app.add_option("--work", asked.how,
                 "charge: time is declared, for sim (default); spin: the worker computes; sleep: it stands still, for "
                 "more workers than this host has cores")
      ->transform(CLI::CheckedTransformer(labours, CLI::ignore_case))
      ->type_name("NAME");
  app.add_option("--seed", asked.seed, "Each seed gives other weights (default 1)")->type_name("NUMBER");
  app.add_flag("--json", asked.json, "Print the result as one JSON object");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    result.exit_code = app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "synthetic: {}: --help shows the options\n", error.what());
    result.exit_code = 2;
  }
  return result;
}

}  // namespace synthetic
